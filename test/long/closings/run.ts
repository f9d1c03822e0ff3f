/** `bun run test:long closings [--seed N] [--rounds N] [--minutes N]`: rounds of proof on this host. One seed repeats one round: `--seed N --rounds 1`. */

import { existsSync } from "node:fs";
import { parseArgs } from "node:util";
import { runRounds } from "./rounds.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: String(Date.now() % 1_000_000_000) },
    rounds: { type: "string", default: "500" },
    minutes: { type: "string", default: "240" },
  },
});
if (process.geteuid?.() !== 0) throw new Error("This makes host accounts named ext_tp…: run it as root");
if (!existsSync("/usr/bin/strace")) throw new Error("strace is missing: apt-get install strace");
const tell = (line: string): void => console.log(line);
const [seed, rounds] = [Number(values.seed), Number(values.rounds)];
tell(`seed ${seed}, ${rounds} rounds`);
const outcome = await runRounds({ seed, rounds, within: Number(values.minutes) * 60_000, thorough: true, tell });
for (const failure of outcome.failures) tell(`\n${failure}`);
tell(
  `\n${outcome.rounds} rounds in ${(outcome.seconds / 60).toFixed(1)} minutes, seed ${seed}: ${outcome.failures.length} failures`,
);
process.exit(outcome.failures.length === 0 ? 0 : 1);
