/** The only place that reads the clock. */

export interface Clock {
  /** The current time, UTC, with millisecond precision. */
  now(): Date;
}

export const systemClock: Clock = { now: () => new Date() };

export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** `date` moved by `milliseconds`, which may be negative. */
export function shift(date: Date, milliseconds: number): Date {
  return new Date(date.getTime() + milliseconds);
}
