/** Whether a user's access is open at a moment: by status and end, between them by start and hours, and by what was allowed on request. Pure. */

import { UamError } from "../../shared/errors.ts";
import { allowedOn, readAllowed } from "../../shared/hours/allowed.ts";
import type { Hours } from "../../shared/hours/hours.ts";
import type { OnRequest } from "../../shared/hours/on-request.ts";
import { parseHours } from "../../shared/hours/text.ts";
import { MAX_SPAN_DAYS, type Opening, openingAt, type Span, windowsBetween } from "../../shared/hours/windows.ts";
import type { AccessState } from "../../shared/product/statuses.ts";
import { DAY, shift } from "../../shared/time/clock.ts";
import { LOCAL_HOST, type UserRow } from "../../store/schema.ts";
import { isExpired, type User } from "./find-user.ts";

/** By itself: no note of a closing is looked at. */
export interface Access {
  readonly access: AccessState;
  /** When that changes by itself; null: not before the end of the account. */
  readonly changesAt: Date | null;
}

type Timed = Pick<UserRow, "startsAt" | "hours" | "companyHours"> & {
  /** Those of the groups of the host in question, one a line; null for always. Absent: on no host in particular. */
  readonly hostHours?: string | null | undefined;
};
type Allowance = Pick<UserRow, "requestRule" | "requestHours" | "allowedFrom" | "allowedUntil">;

type AllowedSomewhere = Pick<UserRow, "allowedUntil" | "allowedHosts">;

/** The user as on the service's own host, where the hours of that host's groups count, too, and only what was allowed there. */
export function atOwnHost<T extends Pick<User, "local" | "ownHostHours"> & AllowedSomewhere>(
  user: T,
): T & Pick<Timed, "hostHours"> {
  return { ...onHost(user, LOCAL_HOST), hostHours: user.local ? user.ownHostHours : null };
}

/** The user as on that host, as far as access on request was allowed there. */
export function onHost<T extends AllowedSomewhere>(user: T, host: number): T {
  const { allowedUntil: until, allowedHosts: stored } = user;
  if (until === null || stored === null) return user;
  return { ...user, allowedUntil: allowedOn(readAllowed(until, stored), host) ?? null, allowedHosts: null };
}

/** The user's access now. */
export function accessAt(user: UserRow & Timed, now: Date): Access {
  if (user.status !== "active" || isExpired(user, now)) return { access: "closed", changesAt: null };
  const schedule = scheduleAt(user, now);
  const { open, changesAt } = schedule.open ? schedule : calendarAt(user, now);
  const change = changesAt !== null && changesAt < user.expireAt ? changesAt : null;
  if (open) return { access: schedule.open ? "open" : "on_request", changesAt: change };
  return { access: isToStart(user, now) ? "not_yet" : "outside_hours", changesAt: change };
}

/** Until when the keys of a user with access may be used: to the end of the open window, or of the account. */
export function openUntil(user: UserRow, { changesAt }: Access): Date {
  return changesAt ?? user.expireAt;
}

/** Whether the start has not come. */
export function isToStart({ startsAt }: Pick<Timed, "startsAt">, now: Date): boolean {
  return startsAt !== null && startsAt > now;
}

/** Whatever the status: by start and hours and, where access is on request, within what is allowed. What is not open for want of that stays so. */
export function scheduleAt(user: Timed & Allowance, now: Date): Opening {
  const calendar = calendarAt(user, now);
  if (user.requestRule === null) return calendar;
  const until = allowedUntil(user, now);
  if (until === undefined) return { open: false, changesAt: null };
  if (calendar.changesAt !== null && calendar.changesAt < until) return calendar;
  return { open: calendar.open, changesAt: calendar.open ? until : null };
}

/** Until when access is allowed that is on request; undefined if it is not. A clock that was set back to before the allowing allows nothing. */
export function allowedUntil({ allowedFrom: from, allowedUntil: until }: Allowance, now: Date): Date | undefined {
  return from !== null && until !== null && from <= now && now < until ? until : undefined;
}

/** Who allows access on request, and for how long at most; null where nobody needs to ask. */
export function onRequestOf({
  requestRule: rule,
  requestHours,
  requestGroups: groups,
}: Pick<UserRow, "requestRule" | "requestHours" | "requestGroups">): OnRequest | null {
  return rule === null ? null : { rule, maxHours: requestHours ?? 0, ...(groups === null ? {} : { groups }) };
}

/** By start and hours alone, whatever the status: when access is open, or can be asked for. Hours that cannot be read never open. */
export function calendarAt(user: Timed, now: Date): Opening {
  const calendars = calendarsOf(user);
  if (calendars === "damaged") return { open: false, changesAt: null };
  if (user.startsAt === null || user.startsAt <= now) return openingAt(calendars, now);
  const first = openingAt(calendars, user.startsAt);
  return { open: false, changesAt: first.open ? user.startsAt : first.changesAt };
}

/**
 * When access is open between two moments by start, end and hours, and by what is allowed on request, whatever the status. Throws `invalid` if
 * they are further apart than 400 days, or in the wrong order.
 */
export function openingsBetween(user: UserRow & Timed, from: Date, to: Date): readonly Span[] {
  if (to < from) throw new UamError("invalid", "to is before from");
  if (to > shift(from, MAX_SPAN_DAYS * DAY))
    throw new UamError("invalid", `to is more than ${MAX_SPAN_DAYS} days after from`);
  const calendars = calendarsOf(user);
  if (calendars === "damaged") return [];
  const begins = [from, user.startsAt, user.requestRule === null ? null : (user.allowedFrom ?? to)];
  const ends = [to, user.expireAt, user.requestRule === null ? null : (user.allowedUntil ?? from)];
  return windowsBetween(calendars, latest(begins), earliest(ends));
}

/** The hours that have to be open together: the user's own, their company's, and those of the host's groups. */
function calendarsOf({ hours, companyHours, hostHours }: Omit<Timed, "startsAt">): readonly Hours[] | "damaged" {
  const texts = [hours, companyHours, ...(hostHours?.split("\n") ?? [])];
  const calendars = texts.filter((text) => text !== null).map(readHours);
  return calendars.includes("damaged") ? "damaged" : (calendars as readonly Hours[]);
}

/** The zone of the hours that count first, by whose wall clock people are told of an end; UTC where there are none. */
export function zoneOf(user: Omit<Timed, "startsAt">): string {
  return findZone(user) ?? "UTC";
}

/** The same; undefined where there are none. */
export function findZone(user: Omit<Timed, "startsAt">): string | undefined {
  const calendars = calendarsOf(user);
  return calendars === "damaged" ? undefined : calendars[0]?.zone;
}

function latest(moments: readonly (Date | null)[]): Date {
  return new Date(Math.max(...moments.map((moment) => moment?.getTime() ?? Number.NEGATIVE_INFINITY)));
}

function earliest(moments: readonly (Date | null)[]): Date {
  return new Date(Math.min(...moments.map((moment) => moment?.getTime() ?? Number.POSITIVE_INFINITY)));
}

/** The stored hours; null for none, and for those that cannot be read. */
export function hoursOf({ hours }: Pick<Timed, "hours">): Hours | null {
  const read = hours === null ? null : readHours(hours);
  return read === "damaged" ? null : read;
}

/** The texts that were read last: most users of a company have the same. */
const read = new Map<string, Hours | "damaged">();
const MOST_READ = 1000;

/** A zone may be unknown after a restore on another runtime: nobody gets in then. */
function readHours(text: string): Hours | "damaged" {
  const known = read.get(text);
  if (known !== undefined) return known;
  if (read.size >= MOST_READ) read.clear();
  const hours = parsed(text);
  read.set(text, hours);
  return hours;
}

function parsed(text: string): Hours | "damaged" {
  try {
    return parseHours(text);
  } catch (error) {
    if (error instanceof UamError) return "damaged";
    throw error;
  }
}
