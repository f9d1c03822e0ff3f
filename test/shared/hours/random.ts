/** Calendars drawn at random, most of them near a change of the clock. */

import type { Hours, HoursWindow, Weekday } from "../../../src/shared/hours/hours.ts";

const WEEK: readonly Weekday[] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];

/** Zones that change their clocks by an hour, by half an hour, at midnight, never, in the other half of the year, and far from Greenwich. */
const ZONES = [
  ...["Europe/Berlin", "Europe/London", "America/New_York", "America/Los_Angeles", "America/St_Johns"],
  ...["Australia/Lord_Howe", "Australia/Sydney", "Pacific/Chatham", "Pacific/Apia", "Pacific/Kiritimati"],
  ...["Asia/Kolkata", "Asia/Kathmandu", "Asia/Beirut", "Africa/Cairo", "Africa/Casablanca", "America/Havana"],
  ...["America/Santiago", "Atlantic/Azores", "Antarctica/Troll", "UTC"],
];

/** Dates about which many of these clocks change. */
const CHANGES = [
  ...["2025-03-09", "2025-03-30", "2025-04-06", "2025-09-07", "2025-09-28", "2025-10-05", "2025-10-26", "2025-11-02"],
  ...["2026-03-08", "2026-03-29", "2026-04-05", "2026-04-24", "2026-10-25", "2026-10-30", "2026-11-01", "2027-03-28"],
  ...["2011-12-30", "2030-10-27"],
];

export interface Draw {
  readonly calendars: readonly Hours[];
  readonly from: number;
  readonly to: number;
}

/** The draw of a number: up to three calendars, and some days. */
export function drawn(seed: number): Draw {
  const random = randomOf(seed);
  const below = (count: number) => Math.floor(random() * count);
  const one = <T>(list: readonly T[]) => list[below(list.length)] as T;
  const shared = one(ZONES);
  const calendars = Array.from({ length: 1 + below(3) }, () => ({
    zone: random() < 0.5 ? shared : one(ZONES),
    windows: Array.from({ length: 1 + below(4) }, () => windowOf(random, below)),
  }));
  const near = Date.parse(`${one(CHANGES)}T00:00:00Z`) + (below(3) - 1) * 24 * 3600_000;
  const from = near - below(2 * 24 * 60) * 60_000;
  return { calendars, from, to: from + (1 + below(4 * 24 * 60)) * 60_000 };
}

function windowOf(random: () => number, below: (count: number) => number): HoursWindow {
  const days = random() < 0.4 ? WEEK : WEEK.filter(() => random() < 0.5);
  // Half of the times lie in the hours in which clocks change.
  const time = () => {
    const minutes = random() < 0.5 ? below(4 * 60) : below(24 * 60);
    return random() < 0.3 ? Math.floor(minutes / 60) * 60 : minutes;
  };
  const from = time();
  const to = random() < 0.1 ? 24 * 60 : time();
  const text = (minutes: number) =>
    `${String(Math.floor(minutes / 60)).padStart(2, "0")}:${String(minutes % 60).padStart(2, "0")}`;
  return {
    days: days.length === 0 ? ["sun"] : days,
    from: text(from),
    to: text(to === from ? (to + 1) % (24 * 60) : to),
  };
}

/** mulberry32. */
function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
