/** When users' access is open, as the API and the command line show it. */

import { accessAt, hoursOf } from "../domain/accounts/opening.ts";
import type { Span } from "../shared/hours/windows.ts";
import { formatOptionalTimestamp, formatTimestamp } from "../shared/time/timestamp.ts";
import type { UserRow } from "../store/schema.ts";

/** Hours as they were given; null for none. */
export function shownHours(of: Pick<UserRow, "hours">) {
  const hours = hoursOf(of);
  if (hours === null) return null;
  const { zone, windows } = hours;
  return { zone, windows: windows.map(({ days, from, to }) => ({ days: [...days], from, to })) };
}

/** Whether a user's access is open, and by what. */
export function accessTimes(user: UserRow, now: Date) {
  const { access, changesAt } = accessAt(user, now);
  return {
    starts_at: formatOptionalTimestamp(user.startsAt),
    hours: shownHours(user),
    hours_end: user.hoursEnd,
    access,
    access_changes_at: formatOptionalTimestamp(changesAt),
  };
}

/** When a user's access is open, as moments. */
export function hoursRecord(user: UserRow, spans: readonly Span[]) {
  const windows = spans.map(({ from, to }) => ({ from: formatTimestamp(from), to: formatTimestamp(to) }));
  return { zone: hoursOf(user)?.zone ?? null, windows };
}
