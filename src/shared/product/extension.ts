/** How far more time moves the end of access. Moments are milliseconds since 1970. */

import { DAY } from "../time/clock.ts";

/** A request for more time. */
export interface AskedTime {
  readonly days: number;
  /** When it was made. */
  readonly at: number;
  /** When access ended by then; null where that was not kept. */
  readonly endThen: number | null;
}

/**
 * The latest end that approving the request as it is may give: if the end has moved since, that which was asked for, because whoever
 * moved it may have meant this request. Infinity where it has not.
 */
export function latestEnd({ days, at, endThen }: AskedTime, end: number): number {
  if (endThen === null || end === endThen) return Number.POSITIVE_INFINITY;
  return Math.max(endThen, at) + days * DAY;
}

interface Extended {
  /** When access ends before. */
  readonly end: number;
  readonly now: number;
  /** In milliseconds. */
  readonly length: number;
  readonly latest?: number;
}

/** The end after an extension: counted from the present end, or from now if that is over; not beyond `latest`, and never back. */
export function extendedEnd({ end, now, length, latest = Number.POSITIVE_INFINITY }: Extended): number {
  const start = Math.max(end, now);
  return Math.max(start, Math.min(start + length, latest));
}
