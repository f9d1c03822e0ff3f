/** RFC 3339 timestamps, in and out. */

import { UamError } from "../errors.ts";

const PATTERN = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(\.\d+)?(?:([Zz])|([+-])(\d\d):(\d\d))$/;

/**
 * The instant that an RFC 3339 `date-time` names (RFC 3339 section 5.6: `t`/`z` in either case, any offset, fractions,
 * a leap second `:60`, which counts as the following second). Digits beyond a millisecond are dropped. Anything else, an
 * impossible date included, throws `invalid`; `name` says which parameter it was.
 */
export function parseTimestamp(text: string, name = "timestamp"): Date {
  const fail = (): never => {
    throw new UamError("invalid", `${name} is not an RFC 3339 timestamp such as 2026-11-20T08:00:00Z`);
  };
  const match = PATTERN.exec(text) ?? fail();
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const offsetHour = Number(match[10] ?? 0);
  const offsetMinute = Number(match[11] ?? 0);
  if (month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) fail();
  if (hour > 23 || minute > 59 || second > 60 || offsetHour > 23 || offsetMinute > 59) fail();
  const milliseconds = Number((match[7] ?? ".").slice(1, 4).padEnd(3, "0"));
  const date = new Date(0);
  // Date.UTC reads the years 0 to 99 as 1900 to 1999.
  date.setUTCFullYear(year, month - 1, day);
  date.setUTCHours(hour, minute, second, milliseconds);
  const offset = (offsetHour * 60 + offsetMinute) * 60_000 * (match[9] === "-" ? -1 : 1);
  return new Date(date.getTime() - offset);
}

/** Whether `parseTimestamp` takes the text. */
export function isTimestamp(text: string): boolean {
  try {
    parseTimestamp(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * The first millisecond that is not before the instant the text names, so that a range beginning there is inclusive to the
 * last digit given: a record of `.904` is before `.904999`. Throws as `parseTimestamp` does, which is right for a range's end.
 */
export function parseRangeStart(text: string, name?: string): Date {
  const date = parseTimestamp(text, name);
  return /\.\d{3}\d*[1-9]/.test(text) ? new Date(date.getTime() + 1) : date;
}

/** UTC RFC 3339 with milliseconds, `2026-11-20T08:00:00.000Z`. */
export function formatTimestamp(date: Date): string {
  return date.toISOString();
}

/** The same of a moment that may be missing. */
export function formatOptionalTimestamp(date: Date | null): string | null {
  return date === null ? null : formatTimestamp(date);
}

const EARLIEST = Date.parse("0001-01-01T00:00:00Z");
const LATEST = Date.parse("9999-12-31T23:59:59.999Z");

/**
 * The nearest moment with a year from 1 to 9999, the range that PostgreSQL reads in ISO 8601; no record lies beyond.
 */
export function clampTimestamp(date: Date): Date {
  return new Date(Math.min(Math.max(date.getTime(), EARLIEST), LATEST));
}

function daysIn(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return [4, 6, 9, 11].includes(month) ? 30 : 31;
}
