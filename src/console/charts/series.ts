/** Figures by day, made ready to be drawn: dates are days in UTC, "2026-11-20". */

import { LOCALE } from "../texts/language.ts";

const DAY = 86_400_000;

/** A day and how many. */
export interface DayCount {
  readonly date: string;
  readonly value: number;
}

/** The moment at which the day begins, in milliseconds. */
export function startOf(date: string): number {
  return Date.parse(`${date}T00:00:00Z`);
}

/** The days from the first to the last one, both included. */
export function datesBetween(first: string, last: string): readonly string[] {
  const length = Math.round((startOf(last) - startOf(first)) / DAY) + 1;
  return Array.from({ length }, (_, index) => new Date(startOf(first) + index * DAY).toISOString().slice(0, 10));
}

/** Sums by weeks that begin with the first day; the last one may be shorter. */
export function byWeek(days: readonly DayCount[]): readonly DayCount[] {
  const weeks: DayCount[] = [];
  for (const [index, { date, value }] of days.entries()) {
    const week = weeks.at(-1);
    if (index % 7 === 0 || week === undefined) weeks.push({ date, value });
    else weeks[weeks.length - 1] = { date: week.date, value: week.value + value };
  }
  return weeks;
}

/**
 * The marks of an axis of counts: whole numbers from 0, of steps that are 1, 2 or 5 times a power of ten, about four of them, the last
 * not below the greatest value. d3's own scale of numbers would do the same, and brings colours, dates and formats along: 10 kB.
 */
export function marks(values: readonly number[]): readonly number[] {
  // At least 4, so that one user does not fill the height.
  const most = values.reduce((greatest, value) => Math.max(greatest, value), 4);
  const power = 10 ** Math.floor(Math.log10(most / 4));
  const step = Math.max(1, power * ([1, 2, 5, 10].find((factor) => power * factor * 4 >= most) ?? 10));
  return Array.from({ length: Math.ceil(most / step) + 1 }, (_, index) => index * step);
}

/** A day as the axis shows it: "20 Nov". */
export function dayLabel(time: number): string {
  return new Date(time).toLocaleDateString(LOCALE, { day: "numeric", month: "short", timeZone: "UTC" });
}

/** A day in full. */
export function dayName(date: string): string {
  return new Date(startOf(date)).toLocaleDateString(LOCALE, { dateStyle: "medium", timeZone: "UTC" });
}

/** How many labels fit on an axis of that many pixels. */
export function labelsFor(width: number): number {
  return Math.max(2, Math.floor(width / 90));
}
