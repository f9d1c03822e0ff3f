/**
 * `bun run test:long pairs [--trials N] [--only WORDS] [--seed N] [--minutes N] [--real]`: every two operations that change a user
 * at the same instant, so many times each, on two replicas in this process with a host in memory; with `--real` on the built
 * binary, over HTTP and with real accounts, in an order drawn at random. What neither order gives is printed, with what differs.
 * `--only` takes the pairs whose name has the words in it.
 */

import { parseArgs } from "node:util";
import { verifyAudit } from "../../../src/domain/audit/verify.ts";
import { seededRandom } from "../../support/audit-log.ts";
import { stopTestServer } from "../../support/database.ts";
import { openWorld } from "../../support/pairs/here.ts";
import { allPairs, type Pair } from "../../support/pairs/operations.ts";
import { tryPair } from "../../support/pairs/run.ts";
import type { World } from "../../support/pairs/world.ts";
import { openRealWorld, REAL_STATES } from "./real.ts";

const { values } = parseArgs({
  options: {
    trials: { type: "string", default: "200" },
    only: { type: "string", default: "" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    minutes: { type: "string", default: "240" },
    real: { type: "boolean", default: false },
  },
});
const [trials, seed] = [Number(values.trials), Number(values.seed)];
const WORLDS = 3;
/** What the clock does. */
const BY_CLOCK = /expire|recycle|purge/;

const begin = performance.now();
const end = begin + Number(values.minutes) * 60_000;
const found: string[] = [];
let [pairs, tried, first, second] = [0, 0, 0, 0];
if (values.real) await tryReal();
else await tryHere();
const minutes = ((performance.now() - begin) / 60_000).toFixed(1);
console.log(`\n${pairs} pairs, ${tried} trials in ${minutes} minutes, seed ${seed}: ${found.length} findings`);
console.log(`${first} ended as only the first order does, ${second} as only the second; the rest are the same in both`);
process.exit(found.length === 0 ? 0 : 1);

async function tryHere(): Promise<void> {
  const todo = allPairs()
    .filter(({ name }) => name.includes(values.only))
    .reverse();
  console.log(`${todo.length} pairs, ${trials} times each, seed ${seed}`);
  const works = Array.from({ length: WORLDS }, async (_, index) => {
    const world = await openWorld();
    const random = seededRandom(seed + index);
    for (let pair = todo.pop(); pair !== undefined && performance.now() < end; pair = todo.pop()) {
      await report(world, pair, random);
      if (world.app.host.accounts.size > 0) found.push(`${pair.name}: the host has an account left`);
    }
    const { fault } = await verifyAudit(world.app.services);
    if (fault !== undefined) found.push(fault.message);
    await world.close();
  });
  await Promise.all(works);
  await stopTestServer();
}

async function tryReal(): Promise<void> {
  if (process.geteuid?.() !== 0) throw new Error("This makes host accounts named ext_tq…: run it as root");
  const random = seededRandom(seed);
  const possible = allPairs().filter(
    ({ name, state }) => name.includes(values.only) && REAL_STATES.includes(state) && !BY_CLOCK.test(name),
  );
  const todo = possible.map((pair) => ({ pair, order: random() })).sort((a, b) => a.order - b.order);
  console.log(`${todo.length} pairs, ${trials} times each, seed ${seed}, on this host`);
  const world = await openRealWorld();
  try {
    for (const { pair } of todo) {
      if (performance.now() > end) break;
      await report(world, { ...pair, withDrift: false }, random);
    }
  } catch (error) {
    console.log(`${error}\nThe service said:\n${world.log().split("\n").slice(-30).join("\n")}`);
    found.push(String(error));
  }
  const { status, output } = await world.verify();
  if (status !== 0) found.push(output);
  await world.close();
}

async function report(world: World, pair: Pair, random: () => number): Promise<void> {
  const tryOut = await tryPair(world, pair, trials, random);
  pairs++;
  tried += trials;
  first += tryOut.first;
  second += tryOut.second;
  const faults = [...tryOut.faults].map(([text, count]) => `${pair.name}: ${count} of ${trials}\n${text}`);
  found.push(...faults);
  const word = faults.length === 0 ? "ok  " : "FAIL";
  console.log(`${word} ${pair.name}: ${tryOut.first} as the first order, ${tryOut.second} as the second`);
  for (const text of faults) console.log(text);
}
