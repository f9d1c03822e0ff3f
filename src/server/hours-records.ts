/** When users' access is open, as the API and the command line show it. */

import { accessAt, hoursOf } from "../domain/accounts/opening.ts";
import type { Span } from "../shared/hours/windows.ts";
import { formatOptionalTimestamp, formatTimestamp } from "../shared/time/timestamp.ts";
import type { UserRow } from "../store/schema.ts";

/** Whether a user's access is open, and by what. */
export function accessTimes(user: UserRow, now: Date) {
  const { access, changesAt } = accessAt(user, now);
  const hours = hoursOf(user);
  return {
    starts_at: formatOptionalTimestamp(user.startsAt),
    hours: hours && {
      zone: hours.zone,
      windows: hours.windows.map(({ days, from, to }) => ({ days: [...days], from, to })),
    },
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
