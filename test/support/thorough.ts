/** What takes long: more cases in CI, and whole tests that `bun run test` leaves out. */

import { describe, test } from "bun:test";
import process from "node:process";

/** True in CI, which tries more cases and slow ones; a developer's run should take at most a minute and a half. */
export const isThorough = process.env.UAM_TEST_HOST === "1";

/** True in `bun run test` outside CI. A file that is run by its name is run whole. */
export const isQuick = process.env.UAM_TEST_QUICK === "1" && !isThorough;

/**
 * What bun:test lets one call on a test that is left out: its types have `skipIf` and `if` there too, which throw when the file is
 * loaded, and only where tests are left out.
 */
type LeftOut<T extends { each: unknown }> = { [K in "each"]: T[K] } & (T extends (...args: infer A) => infer R
  ? (...args: A) => R
  : never);

/** Starts programs or servers of its own again and again, waits, or takes a second of a quiet machine, and proves what is rare. */
export const describeSlow: LeftOut<typeof describe> = describe.skipIf(isQuick);
export const testSlow: LeftOut<typeof test> = test.skipIf(isQuick);

/** The same where a program is needed that not every machine has. */
export const testSlowIf = (isPossible: boolean): LeftOut<typeof test> => test.skipIf(isQuick || !isPossible);
export const describeSlowIf = (isPossible: boolean): LeftOut<typeof describe> =>
  describe.skipIf(isQuick || !isPossible);
