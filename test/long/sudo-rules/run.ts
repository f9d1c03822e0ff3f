/**
 * `bun run test:long sudo-rules [--seed N] [--tries N]`: sudo is asked, as the service's user, about changed commands, and those whose
 * arguments it cannot tell apart are run. Needs root and takes one turn among the tests of the host.
 */

import { parseArgs } from "node:util";
import { openDataLock } from "../../../src/store/postgres/data-lock.ts";
import { startAttempt } from "./attempt.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: String(Date.now() % 1_000_000_000) },
    tries: { type: "string", default: "10000" },
  },
});
if (process.geteuid?.() !== 0) throw new Error("This makes host accounts named ext_tsudo…: run it as root");
const turn = openDataLock("/run/uam-host-tests.lock");
while (!turn.tryExclusive()) await Bun.sleep(200);
const seed = Number(values.seed);
const attempt = await startAttempt();
let found = 0;
try {
  const begin = performance.now();
  const { tries, asked, shifted, faults } = await attempt.ask(seed, Number(values.tries));
  console.log(`${tries} commands, seed ${seed}: ${asked} the program's own, ${tries - asked} changed`);
  console.log(`${shifted.length} of these are told apart by nothing but where their arguments end, and allowed`);
  const moved = await attempt.shift(seed, Number.POSITIVE_INFINITY);
  console.log(`${moved.runs} such commands run in ${((performance.now() - begin) / 60_000).toFixed(1)} minutes`);
  for (const fault of [...faults, ...moved.faults]) console.log(`FOUND ${fault}`);
  found = faults.length + moved.faults.length;
} finally {
  attempt.end();
  turn.close();
}
console.log(`${found} found`);
process.exit(found === 0 ? 0 : 1);
