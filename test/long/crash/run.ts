/**
 * `bun run test:long crash [--seed N] [--rounds N] [--minutes N] [--worlds N] [--only DEED]`: processes killed at each step of each
 * deed, and at any moment under load, on this host.
 */

import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { build } from "../../../src/build/build.ts";
import { ownArchitecture, PROJECT } from "../../../src/build/packages.ts";
import { runRounds } from "./rounds.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: String(Date.now() % 1_000_000_000) },
    rounds: { type: "string", default: "2000" },
    minutes: { type: "string", default: "240" },
    worlds: { type: "string", default: "3" },
    only: { type: "string" },
  },
});
if (process.geteuid?.() !== 0) throw new Error("This makes host accounts named ext_tc…: run it as root");

/** As the release is built, but with the fault points; and from the sources as they are. */
async function buildProgram(): Promise<string> {
  const cache = join(PROJECT, "dist/cache");
  const outfile = join(PROJECT, "dist/uam-crash");
  if (!existsSync(cache)) mkdirSync(cache, { recursive: true });
  const entry = join(PROJECT, "src/main.ts");
  const what = { architecture: ownArchitecture(), version: "0.0.0", entry, outfile, cache, level: 19 };
  await build({ ...what, postgres: "source", faultPoints: true });
  return outfile;
}

const [seed, rounds, worlds] = [Number(values.seed), Number(values.rounds), Number(values.worlds)];
const tell = (line: string): void => console.log(line);
tell(`seed ${seed}, ${rounds} rounds in ${worlds} worlds`);
const program = [await buildProgram()];
const within = Number(values.minutes) * 60_000;
const outcome = await runRounds({ seed, rounds, within, worlds, program, tell, only: values.only });
for (const failure of outcome.failures) tell(`\n${failure}`);
tell(`\n${outcome.summary}, seed ${seed}`);
process.exit(outcome.failures.length === 0 ? 0 : 1);
