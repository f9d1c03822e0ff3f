/** What is to be changed of a user, checked as it is for the change and for its preview. */

import { UamError } from "../../shared/errors.ts";
import type { Hours } from "../../shared/hours/hours.ts";
import type { OnRequest } from "../../shared/hours/on-request.ts";
import type { HoursEnd } from "../../shared/product/statuses.ts";
import { HOUR, shift } from "../../shared/time/clock.ts";
import { formatTimestamp } from "../../shared/time/timestamp.ts";
import type { UserRow } from "../../store/schema.ts";
import { isToStart } from "../accounts/access-state.ts";
import {
  belonging,
  type Company,
  holdCompanyOf,
  moveCompany,
  requireNetworksWithin,
  requireWithin,
} from "../accounts/company-limits.ts";
import type { User } from "../accounts/find-user.ts";
import { holdGroups } from "../hosts/find-host.ts";
import type { Context, Operation } from "../operation/context.ts";
import { newSponsor } from "../sponsors/replacing.ts";
import { FIELDS, startOf } from "./new-user.ts";

export interface UserChanges {
  readonly email?: string | undefined;
  readonly fullName?: string | undefined;
  readonly supervisor?: string | undefined;
  readonly purpose?: string | undefined;
  /** For colleagues: the user cannot read it. */
  readonly note?: string | undefined;
  /** The networks from which the keys may be used: CIDRs; none lifts the restriction. */
  readonly sourceNetworks?: readonly string[] | undefined;
  /** When access begins, until it has; null for at once. */
  readonly startsAt?: Date | null | undefined;
  /** The hours of the week in which access is open; null for always. */
  readonly hours?: Hours | null | undefined;
  /** What ends with the hours. */
  readonly hoursEnd?: HoursEnd | undefined;
  /** Whom they have to ask first, each time; null for nobody. What is allowed already stays, within the hours that may be allowed from now on. */
  readonly onRequest?: OnRequest | null | undefined;
  /** The company that they come from from now on; null for none. Who leaves one is no longer its manager. */
  readonly companyId?: number | null | undefined;
  readonly manager?: boolean | undefined;
  /** The address of who answers for them; "" for nobody of their own. Who did so before can no longer end the access. */
  readonly sponsorEmail?: string | undefined;
  /** The profile that says what they may do, by its name; null for anything. What it no longer allows ends. */
  readonly profile?: string | null | undefined;
}

export const TEXTS = ["email", "fullName", "supervisor", "purpose", "note", "sponsorEmail"] as const;

/** The part of an operation that the checks need. */
export type Judged = Pick<Operation, "tx" | "context" | "record">;

type Texts = Pick<UserRow, (typeof TEXTS)[number]>;
export type Times = Pick<UserRow, "startsAt" | "hours" | "companyHours" | "hoursEnd" | "hoursDueAt"> &
  Pick<UserRow, "requestRule" | "requestHours" | "requestGroups" | "allowedFrom" | "allowedUntil" | "allowedHosts">;
export type Supplied = Partial<Texts & Times & Pick<UserRow, "sourceNetworks" | "companyId" | "manager">>;

/** The parsed changes, within the limits of the user's company; throws `invalid` or `conflict` if they are not. */
export async function fitChanges(op: Judged, user: User, changes: UserChanges): Promise<Supplied> {
  const { tx, context, record } = op;
  const parsed = parse(changes);
  const { email, companyId: company } = { ...changes, ...parsed };
  const asked = { sponsorEmail: changes.sponsorEmail, email, companyId: company };
  await holdGroups(tx, changes.onRequest?.groups ?? []);
  const supplied = { ...parsed, ...(await newSponsor(op, user, given(asked))), ...timesOf(context, user, changes) };
  const { companyId = user.companyId } = changes;
  if (companyId === user.companyId) {
    const company = supplied.sourceNetworks === undefined ? undefined : await holdCompanyOf(tx, user);
    if (company !== undefined) requireNetworksWithin(company, supplied.sourceNetworks ?? []);
    const { manager = user.manager } = changes;
    if (manager === user.manager) return supplied;
    record({ detail: { manager, old_manager: user.manager } });
    return { ...supplied, ...belonging(companyId, manager) };
  }
  const { from, to } = await moveCompany(tx, user, companyId);
  const ours = { ...belonging(companyId, changes.manager ?? false), ...hoursIn(op, user, to) };
  if (to !== undefined) await requireWithin(tx, to, { user: { ...user, ...supplied }, now: context.clock.now() });
  const names = { company: to?.name ?? "", old_company: from?.name ?? "" };
  record({ detail: { ...names, manager: ours.manager, old_manager: user.manager } });
  return { ...supplied, ...ours };
}

/** The hours of the company that the user joins, due at once where they are others. */
function hoursIn({ context }: Judged, user: User, to: Company | undefined): Partial<Times> {
  const companyHours = to?.hours ?? null;
  return companyHours === user.companyHours ? {} : { companyHours, hoursDueAt: context.clock.now() };
}

/** Only what is given. */
function given<T extends object>(changes: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined)) as never;
}

/** Whether it changes when access is open. */
function isTimed({ hours, hoursEnd, startsAt, onRequest }: UserChanges): boolean {
  return hours !== undefined || hoursEnd !== undefined || startsAt !== undefined || onRequest !== undefined;
}

/** Networks and hours are changed in ways that cannot be one change. Throws `invalid`. */
export function requireApart(changes: UserChanges): void {
  if (changes.sourceNetworks !== undefined && isTimed(changes))
    throw new UamError("invalid", "Change networks and hours in requests of their own");
  if (changes.sourceNetworks !== undefined && changes.profile !== undefined)
    throw new UamError("invalid", "Change networks and the profile in two requests");
}

/**
 * The start and the hours, due at once: nothing else notes them. Throws `invalid` for an end that is not after the start, `conflict` if the
 * start has come.
 */
function timesOf({ clock }: Context, user: User, changes: UserChanges): Partial<Times> {
  if (!isTimed(changes)) return {};
  const now = clock.now();
  const { startsAt = user.startsAt } = changes;
  if (startsAt !== user.startsAt) {
    if (!isToStart(user, now)) {
      const sentence = `The access of ${user.username} has begun: its start can no longer be moved`;
      throw new UamError("conflict", sentence, { reason: "user.started" });
    }
    startOf({ startsAt }, now);
    if (startsAt !== null && startsAt >= user.expireAt)
      throw new UamError("invalid", `starts_at is not before the end of access, ${formatTimestamp(user.expireAt)}`);
  }
  const hours = changes.hours === undefined ? user.hours : FIELDS.hours(changes);
  return {
    ...{ startsAt, hours, hoursEnd: changes.hoursEnd ?? user.hoursEnd, hoursDueAt: now },
    ...(changes.onRequest === undefined ? {} : onRequestChange(user, changes, now)),
  };
}

/** What was allowed ends where a fresh request would, with the rule, and with other groups: some of it may be on hosts that are no longer asked for. */
function onRequestChange(user: User, changes: UserChanges, now: Date): Partial<Times> {
  const rule = FIELDS.requestRule(changes);
  const latest = rule.requestHours === null ? null : shift(now, rule.requestHours * HOUR);
  const isElsewhere = rule.requestGroups !== null && rule.requestGroups.join() !== user.requestGroups?.join();
  if (latest === null || user.allowedUntil === null || isElsewhere)
    return { ...rule, allowedFrom: null, allowedUntil: null, allowedHosts: null };
  return { ...rule, allowedUntil: user.allowedUntil < latest ? user.allowedUntil : latest };
}

function parse({ email, fullName, supervisor, purpose, note, sourceNetworks }: UserChanges): Supplied {
  return {
    ...(email === undefined ? {} : { email: FIELDS.email({ email }) }),
    ...(fullName === undefined ? {} : { fullName: FIELDS.fullName({ fullName }) }),
    ...(supervisor === undefined ? {} : { supervisor: FIELDS.supervisor({ supervisor }) }),
    ...(purpose === undefined ? {} : { purpose: FIELDS.purpose({ purpose }) }),
    ...(note === undefined ? {} : { note: FIELDS.note({ note }) }),
    ...(sourceNetworks === undefined ? {} : { sourceNetworks: FIELDS.sourceNetworks({ sourceNetworks }) }),
  };
}
