/**
 * Whose turn it is after a change, when thousands of hosts answer at once: what hosts have done is heard first, so many at a time that
 * the first are done long before the last; then the same hosts wait for the next change.
 */

import { setTimeout as sleep } from "node:timers/promises";
import { UamError } from "../../shared/errors.ts";

export interface Turns {
  /**
   * Resolves when it is a report's turn, with what ends the turn; throws `limited` where too many wait. Only for those who have proved
   * who they are: a turn may be kept.
   */
  take(): Promise<() => void>;
  /** Resolves once no report waits for its turn, or after LONGEST. */
  giveWay(): Promise<void>;
}

/** Reports at once; what they store is stored for all of them in a few statements. */
const REPORTS = 1000;
/** Reports that wait: what a process has of memory is not for one host to fill. */
const MOST_WAITING = 20_000;
/** Nobody gives way for longer, in milliseconds: until then they hear of no other change. */
const LONGEST = 2000;
const BETWEEN_LOOKS = 15;

/** Nobody has reported yet. */
export function createTurns(): Turns {
  let free = REPORTS;
  const queue: (() => void)[] = [];
  let look: Promise<void> | undefined;

  function end(): void {
    const next = queue.shift();
    if (next === undefined) free++;
    else next();
  }

  /** One timer for all who give way. */
  function nextLook(): Promise<void> {
    look ??= sleep(BETWEEN_LOOKS).then(() => {
      look = undefined;
    });
    return look;
  }

  return {
    take: async () => {
      if (queue.length >= MOST_WAITING)
        throw new UamError("limited", "Too many hosts report at once; try again", {
          retryAfter: 5,
          reason: "agent.busy",
        });
      if (free > 0) free--;
      else await new Promise<void>((resolve) => queue.push(resolve));
      let isOver = false;
      return () => {
        if (!isOver) end();
        isOver = true;
      };
    },
    giveWay: async () => {
      const until = performance.now() + LONGEST;
      while (queue.length > 0 && performance.now() < until) await nextLook();
    },
  };
}
