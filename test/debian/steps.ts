/** Steps that print what worked, where, and how long it took. */

import { AsyncLocalStorage } from "node:async_hooks";
import { CannotBoot } from "./cannot-boot.ts";

const place = new AsyncLocalStorage<string>();

/** Steps within the work are reported with the place's name: works in several places go on at the same time. */
export function at<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
  return place.run(name, work);
}

/** Prints something about the place that the work is in. */
export function say(text: string): void {
  console.log(`${(place.getStore() ?? "").padEnd(10)}${text}`);
}

/** Does the work and reports it; a failure names the step, as does what this machine cannot do. */
export async function step<Result>(what: string, work: () => Promise<Result>): Promise<Result> {
  const begin = performance.now();
  const seconds = () => `${((performance.now() - begin) / 1000).toFixed(1)} s`;
  try {
    const result = await work();
    say(`ok    ${what} (${seconds()})`);
    return result;
  } catch (error) {
    say(`${error instanceof CannotBoot ? "none " : "FAIL "} ${what} (${seconds()})`);
    throw error;
  }
}

/** Throws, showing both, unless they are equal. */
export function same(seen: string, expected: string, what: string): void {
  if (seen !== expected) throw new Error(`${what}: expected\n${expected}\nbut it is\n${seen}`);
}
