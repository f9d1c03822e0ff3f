/** The end that a user asks for with a request for more time. */

import { DAY } from "../time/clock.ts";

/** What a request says; moments are milliseconds since 1970. */
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
