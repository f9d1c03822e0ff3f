/** What the benchmarks need besides Bun. */

import { existsSync } from "node:fs";
import { BINARY } from "../support/service.ts";

/** How to get each. */
const REMEDIES = {
  wrk: "wrk makes the load: apt-get install wrk",
  psql: "psql is what the export is compared with: apt-get install postgresql-client",
  node: "Node.js runs the rival that it is compared with: https://nodejs.org, or apt-get install nodejs",
  chromium: "chromium is the browser that opens the pages: apt-get install chromium",
  npm: "npm installs Lighthouse: https://nodejs.org, or apt-get install npm",
  git: "git checks the other commit out: apt-get install git",
  unshare: "unshare makes a mount namespace: apt-get install util-linux",
  "dist/uam": "dist/uam is the program that is measured: bun run build",
} as const;

export type Need = keyof typeof REMEDIES;

/** A sentence for each that is missing, with how to get it. */
export function missing(needs: readonly Need[]): readonly string[] {
  return [...new Set(needs)].filter((need) => !isThere(need)).map((need) => `${need} is missing. ${REMEDIES[need]}`);
}

function isThere(need: Need): boolean {
  return need === "dist/uam" ? existsSync(BINARY) : Bun.which(need, { PATH: process.env.PATH ?? "" }) !== null;
}
