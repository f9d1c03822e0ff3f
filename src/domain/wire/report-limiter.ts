/**
 * Limits concurrent reports after a change, when thousands of hosts answer at once. Reports go before waits for the next change, and
 * only so many run at a time that the first finish long before the last.
 */

import { setTimeout as sleep } from "node:timers/promises";
import { UamError } from "../../shared/errors.ts";

export interface ReportLimiter {
  /**
   * Resolves when a report may begin, with the function that ends its turn; throws `limited` if too many wait. Call it only for
   * authenticated agents, because a turn may be kept.
   */
  take(): Promise<() => void>;
  /** Resolves once no report waits for its turn, or after LONGEST. */
  giveWay(): Promise<void>;
}

/** Concurrent reports; a few statements store all of their data. */
const REPORTS = 1000;
/** Waiting reports: one host must not fill the memory of the process. */
const MOST_WAITING = 20_000;
/** Longest wait for reports, in milliseconds: until it ends, waiting agents hear of no other change. */
const LONGEST = 2000;
const BETWEEN_LOOKS = 15;

/** Nobody has reported yet. */
export function createReportLimiter(): ReportLimiter {
  let free = REPORTS;
  const queue: (() => void)[] = [];
  let look: Promise<void> | undefined;

  function end(): void {
    const next = queue.shift();
    if (next === undefined) free++;
    else next();
  }

  /** One timer for all that give way. */
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
