/** Whether a change of start or hours takes access away, as further hosts are told of it. */

import type { Span } from "../../shared/hours/windows.ts";
import { DAY, shift } from "../../shared/time/clock.ts";
import type { UserRow } from "../../store/schema.ts";
import { openingsBetween } from "./access-state.ts";

/** How far ahead further hosts are told when accounts are open: one that is cut off opens nothing after that. */
export const HOURS_AHEAD = 8 * DAY;

/** Whether there is a moment that hosts may have been told of at which access was to be open, and no longer is. */
export function hasFewerHours(before: UserRow, after: UserRow, now: Date): boolean {
  const until = shift(now, HOURS_AHEAD);
  // What goes on outside the hours ends with such a change.
  if (before.hoursEnd === "logins" && after.hoursEnd === "sessions") return true;
  return lacks(openingsBetween(after, now, until), openingsBetween(before, now, until));
}

/** Whether something of what was open is not in what is left. */
export function lacks(left: readonly Span[], were: readonly Span[]): boolean {
  return were.some(({ from, to }) => !left.some((span) => span.from <= from && to <= span.to));
}
