/** Looking a second time at a host that seems to lack something: while packages are upgraded, programs are missing, or do not start, for a moment. */

import { setTimeout as sleep } from "node:timers/promises";
import { SECOND } from "../time/clock.ts";

/** How many looks must find the same fault. */
export const LOOKS = 3;

/** Makes a look, and waits for the next. */
export interface Looking<Found> {
  readonly look: () => Promise<Found>;
  readonly isFaulty: (found: Found) => boolean;
  /** Waits until it is time for the next look; by default a second. */
  readonly pause?: (() => Promise<void>) | undefined;
}

/** The findings of the first look without a fault, else of the last. Throws what a look throws, at once. */
export async function lookAgain<Found>({ look, isFaulty, pause = untilNextLook }: Looking<Found>): Promise<Found> {
  for (let looks = 1; ; looks++) {
    const found = await look();
    if (!isFaulty(found) || looks === LOOKS) return found;
    await pause();
  }
}

function untilNextLook(): Promise<void> {
  return sleep(SECOND);
}
