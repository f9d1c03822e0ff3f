/** When users' access is open, as the API and the command line show it. */

import { accessAt, hoursOf, openingsBetween } from "../domain/accounts/opening.ts";
import type { Span } from "../shared/hours/windows.ts";
import { DAY, shift } from "../shared/time/clock.ts";
import { formatOptionalTimestamp, formatTimestamp } from "../shared/time/timestamp.ts";
import type { UserRow } from "../store/schema.ts";

/** Hours of the week, of a user, a company or a group of hosts; null for always. */
export function weekRecord(of: Pick<UserRow, "hours">) {
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
    hours: weekRecord(user),
    hours_end: user.hoursEnd,
    access,
    access_changes_at: formatOptionalTimestamp(changesAt),
  };
}

/** How far the next window is looked for. */
const AHEAD = 14 * DAY;

/** What users see of their own start and hours; undefined without either. */
export function ownHoursRecord(user: UserRow, now: Date) {
  if (user.startsAt === null && user.hours === null && user.companyHours === null) return undefined;
  const { access, changesAt } = accessAt(user, now);
  const calendars = [user.hours, user.companyHours].filter((hours) => hours !== null);
  const next = openingsBetween(user, now, shift(now, AHEAD)).find(({ from }) => from > now);
  return {
    texts: calendars,
    zone: hoursOf(user)?.zone ?? hoursOf({ hours: user.companyHours })?.zone ?? null,
    starts_at: formatOptionalTimestamp(user.startsAt),
    access,
    access_changes_at: formatOptionalTimestamp(changesAt),
    next: next === undefined ? null : { from: formatTimestamp(next.from), to: formatTimestamp(next.to) },
  };
}

/** When a user's access is open, as moments. */
export function hoursRecord(user: UserRow, spans: readonly Span[]) {
  const windows = spans.map(({ from, to }) => ({ from: formatTimestamp(from), to: formatTimestamp(to) }));
  return { zone: hoursOf(user)?.zone ?? null, windows };
}
