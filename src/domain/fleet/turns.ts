/** Whose turn it is after a change: what hosts have done is heard first, and then the same hosts wait for the next change. */

import { setTimeout as sleep } from "node:timers/promises";

export interface Turns {
  /** A host reports. */
  noteReport(): void;
  /** Resolves once no host has reported for a moment, or has waited for long enough. */
  giveWay(): Promise<void>;
}

/** A wave of reports is over when none has come for so long, in milliseconds. */
const MOMENT = 30;
/** Nobody gives way for longer, in milliseconds: until they have their turn they hear of no other change. */
const LONGEST = 500;
const BETWEEN_LOOKS = 15;

/** Nobody has reported yet. */
export function createTurns(): Turns {
  let reportedAt = Number.NEGATIVE_INFINITY;
  let look: Promise<void> | undefined;

  /** One timer for all who give way. */
  function nextLook(): Promise<void> {
    look ??= sleep(BETWEEN_LOOKS).then(() => {
      look = undefined;
    });
    return look;
  }

  return {
    noteReport: () => {
      reportedAt = performance.now();
    },
    giveWay: async () => {
      const until = performance.now() + LONGEST;
      for (let now = performance.now(); now - reportedAt < MOMENT && now < until; now = performance.now()) {
        await nextLook();
      }
    },
  };
}
