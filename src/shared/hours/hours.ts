/** Hours of the week in which somebody has access: what they are, and which are refused. */

import { UamError } from "../errors.ts";
import { isZone } from "./zone.ts";

/** The days in the order of ISO 8601, Monday first. */
export const WEEKDAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"] as const;
export type Weekday = (typeof WEEKDAYS)[number];

/**
 * On each of the days, from a local time to another, `HH:MM`; `to` may be `24:00`. A `to` before `from` is on the next day,
 * and the window belongs to the day on which it begins.
 */
export interface HoursWindow {
  readonly days: readonly Weekday[];
  readonly from: string;
  readonly to: string;
}

/** Local wall time in one IANA zone; without windows there is no limit. */
export interface Hours {
  readonly zone: string;
  readonly windows: readonly HoursWindow[];
}

export const MAX_WINDOWS = 20;

export const FROM_PATTERN = /^(?:[01]\d|2[0-3]):[0-5]\d$/;
export const TO_PATTERN = /^(?:(?:[01]\d|2[0-3]):[0-5]\d|24:00)$/;

/** Whether these hours limit anything. */
export function limits(hours: Hours | null | undefined): hours is Hours {
  return hours !== null && hours !== undefined && hours.windows.length > 0;
}

/**
 * The same hours with their days in the order of the week, each once. Throws `invalid` for a zone that the runtime does not
 * know, more than 20 windows, a window without a day, and one that begins and ends at the same time.
 */
export function checkHours(hours: Hours): Hours {
  checkZone(hours.zone);
  if (hours.windows.length > MAX_WINDOWS)
    throw new UamError("invalid", `Hours have at most ${MAX_WINDOWS} windows, these have ${hours.windows.length}`);
  return { zone: hours.zone, windows: hours.windows.map(checkWindow) };
}

/** Throws `invalid` for a zone that the runtime does not know; an offset is none. */
export function checkZone(zone: string): void {
  if (!isZone(zone))
    throw new UamError("invalid", `Not a time zone such as Europe/Berlin: ${JSON.stringify(zone.slice(0, 60))}`);
}

/** Minutes after midnight of `HH:MM`, up to 1440 for `24:00`. */
export function minutesOf(time: string): number {
  return Number(time.slice(0, 2)) * 60 + Number(time.slice(3, 5));
}

function checkWindow(window: HoursWindow): HoursWindow {
  const { from, to } = window;
  if (!FROM_PATTERN.test(from) || !TO_PATTERN.test(to))
    throw new UamError("invalid", `Not times such as 08:00-18:00: ${JSON.stringify(`${from}-${to}`.slice(0, 40))}`);
  if (from === to)
    throw new UamError("invalid", `A window from ${from} to ${to} has no length; a whole day is 00:00-24:00`);
  const days = WEEKDAYS.filter((day) => window.days.includes(day));
  if (days.length === 0) throw new UamError("invalid", `The window ${from}-${to} has no day: mon, tue, wed, …`);
  return { days, from, to };
}
