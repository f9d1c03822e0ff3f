/** Looking a second time at a host that seems to lack something: while packages are upgraded, programs are missing, or do not start, for a moment. */

import { setTimeout as sleep } from "node:timers/promises";
import { SECOND } from "../time/clock.ts";

/** How many looks must find the same fault. */
export const LOOKS = 3;

/** Ends when it is time for the next look. */
export function untilNextLook(): Promise<void> {
  return sleep(SECOND);
}
