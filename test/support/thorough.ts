/** What takes long: more cases in CI, and whole tests that `bun run test` leaves out. */

import { describe, test } from "bun:test";
import process from "node:process";

/** True in CI, which tries more cases and slow ones; a developer's run should take at most a minute and a half. */
export const isThorough = process.env.UAM_TEST_HOST === "1";

/** True in `bun run test` outside CI. A file that is run by its name is run whole. */
const isQuick = process.env.UAM_TEST_QUICK === "1" && !isThorough;

/** Starts the program, or servers of its own, again and again; or waits for seconds. */
export const describeSlow = describe.skipIf(isQuick);
export const testSlow = test.skipIf(isQuick);
