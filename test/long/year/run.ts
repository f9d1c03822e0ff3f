/**
 * `bun run test:long year [--seed N] [--days N] [--people N]`: a year of 500 users with sponsors, companies and quarterly reviews, in the tests'
 * clock, held against an oracle each hour. Exit code 1 if anything differs.
 */

import process from "node:process";
import { parseArgs } from "node:util";
import { stopTestServer } from "../../support/database.ts";
import { runYear } from "./year.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    days: { type: "string", default: "365" },
    people: { type: "string", default: "500" },
  },
});
const [seed, days, people] = [Number(values.seed), Number(values.days), Number(values.people)];
console.log(`seed ${seed}, ${days} days, ${people} users`);
const size = { seed, days, people, sponsors: 20, firms: 8, every: 91, tell: console.log };
const { findings, figures } = await runYear(size);
for (const finding of findings) console.log(finding);
for (const [what, times] of [...figures].sort()) console.log(`${what.padEnd(50)} ${times}`);
console.log(`seed ${seed}: ${findings.length} findings`);
await stopTestServer();
process.exit(findings.length === 0 ? 0 : 1);
