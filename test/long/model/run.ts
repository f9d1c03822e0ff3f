/**
 * `bun run test:long model [--steps N] [--seed N]`: walks the model (test/agent/model) with the true rules, 10 million steps by default, and then each wrong
 * variant until a promise is broken. Exit code 1 if the true rules break one, or a variant breaks none.
 */

import process from "node:process";
import { parseArgs } from "node:util";
import { VARIANTS } from "../../agent/model/variants.ts";
import { walk } from "../../agent/model/walk.ts";

/** Steps in which each variant has to be found. */
const FOUND_WITHIN = 4_000_000;

const { values } = parseArgs({
  options: { steps: { type: "string", default: "10000000" }, seed: { type: "string", default: "1" } },
});
const steps = Number(values.steps);
const seed = Number(values.seed);
if (!Number.isSafeInteger(steps) || steps < 1 || !Number.isSafeInteger(seed)) {
  console.error("--steps is a whole number from 1 on, --seed a whole number");
  process.exit(2);
}

const begin = performance.now();
const walked = await walk(steps, seed);
const seconds = ((performance.now() - begin) / 1000).toFixed(0);
if (walked.violation === undefined) {
  console.log(
    `true rules: ${walked.steps} steps in ${walked.worlds} worlds from seed ${seed}, ${seconds} s: no promise is broken`,
  );
} else {
  const { promise, text, seed: world, story } = walked.violation;
  console.log(`true rules: after ${walked.steps} steps, in world ${world}: ${promise}: ${text}\n${story.join("\n")}`);
  process.exitCode = 1;
}
for (const [name, { rules, service }] of Object.entries(VARIANTS)) {
  const { steps: taken, violation } = await walk(FOUND_WITHIN, seed, { rules, service });
  if (violation === undefined) process.exitCode = 1;
  const found = violation === undefined ? "NOT FOUND" : `${violation.promise}, world ${violation.seed}`;
  console.log(`${name}: ${found}, after ${taken} steps`);
}
