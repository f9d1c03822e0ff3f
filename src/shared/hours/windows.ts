/** Hours of the week as instants: when access is open, and when that changes next. */

import { DAY, MINUTE } from "../time/clock.ts";
import { type Hours, limits, minutesOf, WEEKDAYS } from "./hours.ts";
import { instantOf, wallTime } from "./zone.ts";

/** Open from `from`, and no longer at `to`. */
export interface Span {
  readonly from: Date;
  readonly to: Date;
}

/** Whether access is open, and when that changes; null: not within the next 400 days. */
export interface Opening {
  readonly open: boolean;
  readonly changesAt: Date | null;
}

/** No look into the future goes further, and no answer is longer. */
export const MAX_SPAN_DAYS = 400;

/** Enough for all calendars whose weeks look alike. */
const NEAR_DAYS = 9;

/** The number that 1970-01-01, a Thursday, has in WEEKDAYS. */
const EPOCH_WEEKDAY = 3;

interface Range {
  from: number;
  to: number;
}

/**
 * When all of the calendars are open between two instants: in order, apart from each other, cut to the two. Without a calendar
 * that limits anything it is the whole time. The cost grows with the days between them.
 */
export function windowsBetween(calendars: readonly Hours[], from: Date, to: Date): readonly Span[] {
  const whole: readonly Range[] = from < to ? [{ from: from.getTime(), to: to.getTime() }] : [];
  const open = calendars
    .filter((hours) => limits(hours))
    .reduce((rest, hours) => (rest.length === 0 ? rest : intersection(rest, rangesOf(hours, rest))), whole);
  return open.map((range) => ({ from: new Date(range.from), to: new Date(range.to) }));
}

/** Whether all of the calendars are open at the instant, and until when, or when they are again. */
export function openingAt(calendars: readonly Hours[], at: Date): Opening {
  if (!calendars.some((hours) => limits(hours))) return { open: true, changesAt: null };
  for (const days of [NEAR_DAYS, MAX_SPAN_DAYS]) {
    const horizon = new Date(at.getTime() + days * DAY);
    const first = windowsBetween(calendars, at, horizon)[0];
    if (first && first.from > at) return { open: false, changesAt: first.from };
    if (first && first.to < horizon) return { open: true, changesAt: first.to };
    if (days === MAX_SPAN_DAYS) return { open: first !== undefined, changesAt: null };
  }
  throw new Error("unreachable");
}

/** The ranges of one calendar that reach into any of `within`, which is in order; ranges that touch are one. */
function rangesOf(hours: Hours, within: readonly Range[]): readonly Range[] {
  const start = within[0]?.from ?? 0;
  const end = within.at(-1)?.to ?? 0;
  // A window belongs to the day on which it begins, and ends on the next at the latest; jumps of a whole day have been seen.
  const firstDay = Math.floor(wallTime(hours.zone, start) / DAY) - 2;
  const lastDay = Math.floor(wallTime(hours.zone, end) / DAY) + 1;
  const ranges: Range[] = [];
  for (let day = firstDay; day <= lastDay; day++) {
    const weekday = WEEKDAYS[(((day + EPOCH_WEEKDAY) % 7) + 7) % 7] as (typeof WEEKDAYS)[number];
    for (const window of hours.windows) {
      if (!window.days.includes(weekday)) continue;
      const from = minutesOf(window.from);
      const to = minutesOf(window.to) + (window.to < window.from ? 24 * 60 : 0);
      ranges.push({
        from: instantOf(hours.zone, day * DAY + from * MINUTE),
        to: instantOf(hours.zone, day * DAY + to * MINUTE),
      });
    }
  }
  return joined(ranges.filter((range) => range.from < range.to && range.to > start && range.from < end));
}

function joined(ranges: readonly Range[]): readonly Range[] {
  const result: Range[] = [];
  for (const range of [...ranges].sort((one, other) => one.from - other.from)) {
    const last = result.at(-1);
    if (last && range.from <= last.to) last.to = Math.max(last.to, range.to);
    else result.push({ ...range });
  }
  return result;
}

function intersection(ones: readonly Range[], others: readonly Range[]): readonly Range[] {
  const result: Range[] = [];
  for (let i = 0, j = 0; i < ones.length && j < others.length; ) {
    const one = ones[i] as Range;
    const other = others[j] as Range;
    const from = Math.max(one.from, other.from);
    const to = Math.min(one.to, other.to);
    if (from < to) result.push({ from, to });
    if (one.to < other.to) i++;
    else j++;
  }
  return result;
}
