/**
 * Lighthouse's scores. It is no dependency: it brings 190 packages, wants a newer Node.js than anything here, and only these figures
 * need it. It is installed at this version, with its Node.js, into dist/cache when first asked for.
 */

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { env } from "node:process";
import { PROJECT } from "../../src/build/packages.ts";
import { CHROMIUM } from "../console/support/chromium.ts";

const PLACE = join(PROJECT, "dist/cache/lighthouse");
const PACKAGES = ["lighthouse@13.5.0", "node@22.23.3"];
const CATEGORIES = ["performance", "accessibility", "best-practices"];

/** "100, 100, 100" for performance, accessibility and best practices, and what costs points; or why it cannot be had. */
export async function lighthouse(url: string): Promise<string> {
  const program = join(PLACE, "node_modules/lighthouse/cli/index.js");
  if (!existsSync(program)) {
    mkdirSync(PLACE, { recursive: true });
    writeFileSync(join(PLACE, "package.json"), '{"private":true}\n');
    const install = ["install", "--no-audit", "--no-fund", "--save-exact", ...PACKAGES];
    if (spawnSync("npm", install, { cwd: PLACE, stdio: "ignore" }).status !== 0) return "could not be installed";
  }
  const report = join(PLACE, "report.json");
  let run = measure(program, url, report);
  // Chromium's trace is sometimes not there.
  if (run.status !== 0) run = measure(program, url, report);
  const { status, stderr } = run;
  if (status !== 0) return `failed: ${stderr.trim().split("\n").at(-1) ?? ""}`;
  const { categories, audits } = JSON.parse(readFileSync(report, "utf8")) as Report;
  const scores = CATEGORIES.map((name) => Math.round((categories[name]?.score ?? 0) * 100));
  const costs = Object.entries(audits).filter(([, { score, weight = 1 }]) => score === 0 && weight > 0);
  const names = scores.every((score) => score === 100) ? [] : costs.map(([name]) => name);
  return [scores.join(", "), ...names].join("; ");
}

function measure(program: string, url: string, report: string) {
  return spawnSync(
    join(PLACE, "node_modules/.bin/node"),
    [
      ...[program, url, "--quiet", "--output=json", `--output-path=${report}`, "--no-enable-error-reporting"],
      ...[`--only-categories=${CATEGORIES.join(",")}`, "--chrome-flags=--headless=new --no-sandbox --disable-gpu"],
    ],
    { env: { ...env, CHROME_PATH: CHROMIUM }, encoding: "utf8" },
  );
}

interface Report {
  readonly categories: Readonly<Record<string, { readonly score: number | null }>>;
  readonly audits: Readonly<Record<string, { readonly score: number | null; readonly weight?: number }>>;
}
