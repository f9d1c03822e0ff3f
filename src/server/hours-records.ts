/** When users' access is open, as the API and the command line show it. */

import { accessAt, hoursOf, onRequestOf, openingsBetween } from "../domain/accounts/access-state.ts";
import type { OwnAccount } from "../domain/users/own-account.ts";
import { formatOnRequest } from "../shared/hours/on-request.ts";
import type { Span } from "../shared/hours/windows.ts";
import { DAY, shift } from "../shared/time/clock.ts";
import { formatOptionalTimestamp, formatTimestamp } from "../shared/time/timestamp.ts";
import type { ApprovalRow, UserRow } from "../store/schema.ts";

/** Hours of the week, of a user, a company or a group of hosts; null for always. */
export function weekRecord(of: Pick<UserRow, "hours">) {
  const hours = hoursOf(of);
  if (hours === null) return null;
  const { zone, windows } = hours;
  return { zone, windows: windows.map(({ days, from, to }) => ({ days: [...days], from, to })) };
}

/** Whether a user's access is open, and by what. */
export function accessTimes(user: UserRow, now: Date) {
  return {
    starts_at: formatOptionalTimestamp(user.startsAt),
    hours: weekRecord(user),
    hours_end: user.hoursEnd,
    on_request: onRequestRecord(user),
    ...accessNow(user, now),
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

/** Whether a user's access is open now, and when that changes. */
export function accessNow(user: UserRow, now: Date) {
  const { access, changesAt } = accessAt(user, now);
  return { access, access_changes_at: formatOptionalTimestamp(changesAt) };
}

/** Whom a user has to ask; null for nobody. */
export function onRequestRecord(user: UserRow) {
  const onRequest = onRequestOf(user);
  if (onRequest === null) return null;
  const { rule, maxHours, groups } = onRequest;
  return { rule, max_hours: maxHours, ...(groups === undefined ? {} : { groups: [...groups] }) };
}

/** The same as text, such as `self:4h`. */
export function onRequestText(user: UserRow): string | null {
  const onRequest = onRequestOf(user);
  return onRequest && formatOnRequest(onRequest);
}

/** When a user's access is open, as moments. */
export function hoursRecord(user: UserRow, spans: readonly Span[]) {
  const windows = spans.map(({ from, to }) => ({ from: formatTimestamp(from), to: formatTimestamp(to) }));
  return { zone: hoursOf(user)?.zone ?? null, windows };
}

/** The hosts that a user may ask for, and until when each is open. */
export type OwnHosts = readonly { readonly name: string; readonly until: Date | null }[];

/** Whom a user has to ask for access, and what became of it when they last did; null for nobody. */
export function ownOnRequest({ user, accessRequest: asked }: OwnAccount, hosts: OwnHosts) {
  const rule = onRequestRecord(user);
  if (rule === null) return null;
  return {
    ...{ ...rule, request: asked === undefined ? null : accessRequestRecord(asked) },
    hosts: hosts.map(({ name, until }) => ({ name, until: formatOptionalTimestamp(until) })),
  };
}

/** A user's view of their own request for access. */
export function accessRequestRecord({ id, status, hours, hosts, createdAt, reviewedAt, reason }: ApprovalRow) {
  const times = { created_at: formatTimestamp(createdAt), reviewed_at: formatOptionalTimestamp(reviewedAt) };
  return { id, status, hours: hours ?? 0, hosts, ...times, reason };
}
