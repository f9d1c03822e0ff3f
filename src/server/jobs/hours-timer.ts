/** Waits for the nearest moment at which somebody's access begins or ends by start or hours, so that it does so at that second. */

import { nextHoursChange, watchHours } from "../../domain/lifecycle/hours.ts";
import type { Services } from "../../domain/operation/context.ts";
import { MINUTE } from "../../shared/time/clock.ts";
import { createShift } from "../../shared/work/bell.ts";

/** The timer counts on although the clock is set, and a notification may be missed: each minute it is set anew. */
const LONGEST_WAIT = MINUTE;

type Parts = Pick<Services, "db" | "clock" | "log">;

export interface HoursTimer {
  /** Lets what was begun end, and begins nothing more. */
  stop(): Promise<void>;
}

/**
 * Calls `follow` at each such moment, one call at a time, also if it was stored meanwhile or by another process of the service. A moment for
 * which `follow` was called is not waited for again, whatever came of it. Never throws.
 */
export function startHoursTimer(services: Parts, follow: () => Promise<void>): HoursTimer {
  const { clock, log } = services;
  const news = createShift();
  let isStopping = false;
  const stopWatching = watchHours(services, news.ring);

  /** Until when everything was followed. */
  let seen = clock.now();

  async function step(): Promise<void> {
    const now = clock.now();
    // Set back: what is stored by the later time is all due again.
    if (now < seen) seen = now;
    const next = await nextHoursChange(services, seen);
    if (isStopping) return;
    if (next !== undefined && next <= clock.now()) {
      seen = clock.now();
      await follow();
    } else {
      const wait = next === undefined ? LONGEST_WAIT : next.getTime() - clock.now().getTime();
      // A timer may be early by a fraction of a millisecond.
      await news.wait(Math.min(LONGEST_WAIT, Math.max(1, wait)));
    }
  }

  async function work(): Promise<void> {
    while (!isStopping) {
      await step().catch(async (error: unknown) => {
        log.error("when hours begin and end next could not be read; they are followed each minute until then", {
          error,
        });
        if (!isStopping) await news.wait(LONGEST_WAIT);
      });
    }
  }
  const working = work();

  return {
    async stop() {
      isStopping = true;
      news.ring();
      await working;
      await stopWatching();
    },
  };
}
