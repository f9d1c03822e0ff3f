/**
 * Calendars drawn at random, up to three at a time and most of them near a change of the clock, held against a walk minute by minute. Options:
 * `--draws COUNT` (10000), `--from SEED` (1). Exit code 1 with the first seeds that differ.
 */

import process from "node:process";
import { parseArgs } from "node:util";
import { windowsBetween } from "../../../src/shared/hours/windows.ts";
import { walked } from "../../shared/hours/oracle.ts";
import { drawn } from "../../shared/hours/random.ts";

const { values } = parseArgs({
  options: { draws: { type: "string", default: "10000" }, from: { type: "string", default: "1" } },
});
const first = Number(values.from);
const last = first + Number(values.draws) - 1;
let spans = 0;
let differences = 0;

for (let seed = first; seed <= last; seed++) {
  const { calendars, from, to } = drawn(seed);
  const found = windowsBetween(calendars, new Date(from), new Date(to)).map(
    (span) => `${span.from.toISOString()} ${span.to.toISOString()}`,
  );
  const expected = walked(calendars, from, to);
  spans += expected.length;
  if (JSON.stringify(found) === JSON.stringify(expected)) continue;
  differences++;
  if (differences <= 5) console.log(`seed ${seed}: ${JSON.stringify({ calendars, found, expected }, undefined, 2)}`);
}
console.log(`${last - first + 1} draws, ${spans} windows: ${differences} differences`);
process.exitCode = differences === 0 ? 0 : 1;
