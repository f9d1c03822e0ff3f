/** A clock that stands still until it is moved. */

import type { Clock } from "../../src/shared/time/clock.ts";

export interface TestClock extends Clock {
  /** Moves the clock by milliseconds. */
  advance(milliseconds: number): void;
  set(date: Date): void;
}

export function createTestClock(start = new Date("2026-11-20T08:00:00.000Z")): TestClock {
  let now = start;
  return {
    now: () => now,
    advance: (milliseconds) => {
      now = new Date(now.getTime() + milliseconds);
    },
    set: (date) => {
      now = date;
    },
  };
}
