/** Numbers of days that a person typed, and the default that the service has. */

import { DAY } from "../../../shared/time/clock.ts";
import { MAX_DAYS, parseDuration } from "../../../shared/time/duration.ts";

/** The days that the text says; 0, which means the default, for none; undefined for what is no number of days. */
export function daysOf(text: string): number | undefined {
  const typed = text.trim();
  if (typed === "") return 0;
  const days = /^\d{1,5}$/.test(typed) ? Number(typed) : 0;
  return days >= 1 && days <= MAX_DAYS ? days : undefined;
}

/** A duration such as "90d" as a number of days; undefined for what is none, or no whole number. */
export function wholeDays(duration: string | undefined): number | undefined {
  const length = duration === undefined ? undefined : millisecondsOf(duration);
  return length !== undefined && length % DAY === 0 ? length / DAY : undefined;
}

/** A duration in milliseconds; undefined for what is none. */
export function millisecondsOf(duration: string): number | undefined {
  try {
    return parseDuration(duration);
  } catch {
    return undefined;
  }
}

/** The moment that many milliseconds after another one. */
export function later(from: string | number, milliseconds: number): string {
  return new Date(new Date(from).getTime() + milliseconds).toISOString();
}
