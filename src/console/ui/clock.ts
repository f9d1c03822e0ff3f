/** The browser's clock: how long it is until something, in the page's language and the reader's time zone. */

import { useEffect, useState } from "preact/hooks";
import { dayThatEnds } from "../../shared/time/day-end.ts";
import { common } from "../texts/common.ts";
import { LOCALE } from "../texts/language.ts";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** Milliseconds since 1970 by the browser's clock. */
export function now(): number {
  return Date.now();
}

/** The present, again each `interval` milliseconds, so that "in 3 minutes" stays true. */
export function useNow(interval = MINUTE): number {
  const [time, setTime] = useState(now);
  useEffect(() => {
    const timer = setInterval(() => setTime(now()), interval);
    return () => clearInterval(timer);
  }, [interval]);
  return time;
}

const UNITS: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ["day", DAY],
  ["hour", HOUR],
  ["minute", MINUTE],
];

/** "in 3 days", "2 hours ago", "now": in the largest unit of which there are at least two, to the nearest one; days as a calendar counts them. */
export function relative(time: number, from: number): string {
  const format = new Intl.RelativeTimeFormat(LOCALE, { numeric: "auto" });
  const distance = time - from;
  const [unit, length] = UNITS.find(([, size]) => Math.abs(distance) >= 2 * size) ?? ["minute", MINUTE];
  const amount = Math.round((unit === "day" ? midnight(time) - midnight(from) : distance) / length);
  return amount === 0 ? format.format(0, "second") : format.format(amount, unit);
}

/** When the day of the reader's zone begins that the moment is in. */
function midnight(time: number): number {
  return new Date(time).setHours(0, 0, 0, 0);
}

const DATE = { dateStyle: "medium" } as const;

/** A moment as a date with the time of day and the zone. */
export function moment(time: string): string {
  return new Date(time).toLocaleString(LOCALE, { ...DATE, timeStyle: "short" });
}

/** A moment of today as the time of day, another one with its date. */
export function clockTime(time: string): string {
  const at = new Date(time);
  if (at.toDateString() !== new Date(now()).toDateString()) return moment(time);
  return at.toLocaleTimeString(LOCALE, { timeStyle: "short" });
}

/** A moment as a date. */
export function day(time: string): string {
  return new Date(time).toLocaleDateString(LOCALE, DATE);
}

/** An end of access: where a date was typed, that date, in the zone in which it counts. */
export function endMoment(time: string): string {
  return dayThatEnds(Date.parse(time)) === undefined ? moment(time) : common.endOfDay(endDay(time));
}

/** The day of an end of access. */
export function endDay(time: string): string {
  const last = dayThatEnds(Date.parse(time));
  return last === undefined ? day(time) : new Date(last).toLocaleDateString(LOCALE, { ...DATE, timeZone: "UTC" });
}

/** The browser's time zone, such as "Europe/Berlin". */
export function zone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}
