/**
 * `bun run test:long pairs [--trials N] [--only WORDS] [--seed N] [--minutes N]`: every two operations that change a user at the
 * same instant, so many times each, on two replicas in this process with a host in memory. What is found that neither order
 * gives is printed, with what differs. `--only` takes pairs whose name has the words in it.
 */

import { parseArgs } from "node:util";
import { verifyAudit } from "../../../src/domain/audit/verify.ts";
import { seededRandom } from "../../support/audit-log.ts";
import { stopTestServer } from "../../support/database.ts";
import { openWorld } from "../../support/pairs/here.ts";
import { allPairs } from "../../support/pairs/operations.ts";
import { tryPair } from "../../support/pairs/run.ts";

const { values } = parseArgs({
  options: {
    trials: { type: "string", default: "200" },
    only: { type: "string", default: "" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    minutes: { type: "string", default: "240" },
  },
});
const [trials, seed] = [Number(values.trials), Number(values.seed)];
const WORLDS = 3;

const begin = performance.now();
const end = begin + Number(values.minutes) * 60_000;
const todo = [...allPairs()].filter(({ name }) => name.includes(values.only)).reverse();
console.log(`${todo.length} pairs, ${trials} times each, seed ${seed}`);
const found: string[] = [];
let [pairs, tried, first, second] = [0, 0, 0, 0];
const works = Array.from({ length: WORLDS }, async (_, index) => {
  const world = await openWorld();
  const random = seededRandom(seed + index);
  for (let pair = todo.pop(); pair !== undefined && performance.now() < end; pair = todo.pop()) {
    const report = await tryPair(world, pair, trials, random);
    pairs++;
    tried += trials;
    first += report.first;
    second += report.second;
    const faults = [...report.faults].map(([text, count]) => `${pair.name}: ${count} of ${trials}\n${text}`);
    found.push(...faults);
    console.log(
      `${faults.length === 0 ? "ok  " : "FAIL"} ${pair.name}: ${report.first} as the first order, ${report.second} as the second`,
    );
    for (const text of faults) console.log(text);
    if (world.app.host.accounts.size > 0) found.push(`${pair.name}: the host has an account left`);
  }
  const { fault } = await verifyAudit(world.app.services);
  if (fault !== undefined) found.push(fault.message);
  await world.close();
});
await Promise.all(works);
await stopTestServer();
const minutes = ((performance.now() - begin) / 60_000).toFixed(1);
console.log(`\n${pairs} pairs, ${tried} trials in ${minutes} minutes, seed ${seed}: ${found.length} findings`);
console.log(`${first} ended as only the first order does, ${second} as only the second; the rest are the same in both`);
process.exit(found.length === 0 ? 0 : 1);
