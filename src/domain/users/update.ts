/** Changing what is stored of an external user: e-mail, full name, supervisor, purpose, note, company, and from where and when they may log in. */

import { publicMessage, UamError } from "../../shared/errors.ts";
import type { Hours } from "../../shared/hours/hours.ts";
import { formatOnRequest, type OnRequest } from "../../shared/hours/on-request.ts";
import { allowedBy, isWithin } from "../../shared/net/networks.ts";
import type { HoursEnd } from "../../shared/product/statuses.ts";
import { HOUR, shift } from "../../shared/time/clock.ts";
import { formatOptionalTimestamp, formatTimestamp } from "../../shared/time/timestamp.ts";
import type { UserRow } from "../../store/schema.ts";
import { storeUser } from "../accounts/access.ts";
import {
  belonging,
  type Company,
  holdCompanyOf,
  moveCompany,
  requireNetworksWithin,
  requireWithin,
} from "../accounts/company-limits.ts";
import { hasFewerHours } from "../accounts/fewer-hours.ts";
import { findUser, lockUser, requireUser, type User } from "../accounts/find-user.ts";
import { followHours, isDue } from "../accounts/hours.ts";
import {
  changeNetworks,
  giveAdded,
  narrowAccess,
  narrowingOwed,
  networkDetail,
  takesAway,
  widenAccess,
} from "../accounts/narrowing.ts";
import { isToStart, onRequestOf } from "../accounts/opening.ts";
import { noteFleetChange } from "../accounts/remote-changes.ts";
import { tellAddressChanged } from "../mail/notices.ts";
import { audited, auditedClosing, auditedGrant } from "../operation/audited.ts";
import type { Context, Operation } from "../operation/context.ts";
import type { AuditDetail } from "../operation/entry.ts";
import { onward } from "../operation/permission.ts";
import { followSponsor, newSponsor } from "../sponsors/replacing.ts";
import { FIELDS, startOf } from "./new-user.ts";
import { endLoginsOf } from "./web-sessions.ts";

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
}

/**
 * Changes only the supplied fields. A change of address is mailed to both addresses, voids a code that went to the old one, and ends the earlier sessions.
 * Removing networks takes effect at once and ends sessions from outside; steps that fail on the host are owed, and then this throws `internal`, with the
 * networks stored. Networks that only widen are stored and written, or neither.
 */
export async function updateUser(context: Context, userId: number, changes: UserChanges): Promise<User> {
  return (await changeUser(context, userId, changes)).user;
}

/** A changed user, and whether further hosts have to follow because it was less access. */
export interface ChangedUser {
  readonly user: User;
  readonly isNarrower: boolean;
}

/** The same as `updateUser`. */
export async function changeUser(context: Context, userId: number, changes: UserChanges): Promise<ChangedUser> {
  const { sourceNetworks } = changes;
  let isNarrower = false;
  if (sourceNetworks === undefined) {
    const updated = await audited(context, entryOf(userId), async (op) => {
      const user = await lock(op, userId);
      const stored = await store(op, user, await fit(op, user, changes));
      isNarrower = hasFewerHours(user, stored, context.clock.now());
      if (isNarrower) await noteFleetChange(op, stored);
      return stored;
    });
    return { user: await brought(context, updated), isNarrower };
  }
  if (isTimed(changes)) throw new UamError("invalid", "Change networks and hours in requests of their own");
  const user = await changeNetworks({
    takesAway: async () => {
      const user = await findUser(context.db, userId);
      return user !== undefined && takesAway(allowedBy(user.sourceNetworks), sourceNetworks);
    },
    narrow: () => narrowUser(context, userId, changes),
    widen: () => widenUser(context, userId, changes),
  });
  return { user: await brought(context, user), isNarrower: false };
}

/** Undefined if the change no longer takes anything away. */
async function narrowUser(context: Context, userId: number, changes: UserChanges): Promise<User | undefined> {
  const narrowed = await auditedClosing(context, entryOf(userId), async (op) => {
    const user = await lock(op, userId);
    const supplied = await fit(op, user, changes);
    const { sourceNetworks: networks = [] } = supplied;
    const before = allowedBy(user.sourceNetworks);
    if (!takesAway(before, networks)) {
      op.record({ unneeded: true });
      return undefined;
    }
    const owed = await narrowAccess(op, { user, key: undefined, networks }, "user.update");
    const updated = await store(op, user, supplied);
    if (owed.length > 0) op.refuse(narrowingOwed(user, owed));
    return { updated, adds: !isWithin(allowedBy(networks), before) };
  });
  if (narrowed?.adds) await giveAdded(context, narrowed.updated);
  return narrowed?.updated;
}

/** Undefined if the change meanwhile takes something away. */
async function widenUser(context: Context, userId: number, changes: UserChanges): Promise<User | undefined> {
  return await auditedGrant(context, entryOf(userId), async (op) => {
    const user = await lock(op, userId);
    const supplied = await fit(op, user, changes);
    const { sourceNetworks: networks = [] } = supplied;
    if (takesAway(allowedBy(user.sourceNetworks), networks)) {
      op.record({ unneeded: true });
      return undefined;
    }
    const updated = await store(op, user, supplied);
    if (networks.join() !== user.sourceNetworks.join()) await widenAccess(op, updated, { keyId: 0, networks });
    return updated;
  });
}

/** Only what has changed. */
function timesDetail(user: User, times: Partial<Times>): AuditDetail {
  const { startsAt, hours, companyHours, hoursEnd, allowedUntil } = { ...user, ...times };
  const [start, old] = [formatOptionalTimestamp(startsAt), formatOptionalTimestamp(user.startsAt)];
  const [allowed, oldAllowed] = [allowedUntil, user.allowedUntil].map(formatOptionalTimestamp);
  const [asked, oldAsked] = [{ ...user, ...times }, user].map(onRequestOf).map((rule) => rule && formatOnRequest(rule));
  return {
    ...(asked === oldAsked ? {} : { on_request: asked ?? "", old_on_request: oldAsked ?? "" }),
    ...(start === old ? {} : { starts_at: start ?? "", old_starts_at: old ?? "" }),
    ...(allowed === oldAllowed ? {} : { allowed_until: allowed ?? "", old_allowed_until: oldAllowed ?? "" }),
    ...(hours === user.hours ? {} : { hours: hours ?? "", old_hours: user.hours ?? "" }),
    ...(companyHours === user.companyHours
      ? {}
      : { company_hours: companyHours ?? "", old_company_hours: user.companyHours ?? "" }),
    ...(hoursEnd === user.hoursEnd ? {} : { hours_end: hoursEnd, old_hours_end: user.hoursEnd }),
  };
}

function entryOf(userId: number) {
  return { action: "user.update", resourceId: String(userId), subjectId: userId } as const;
}

async function lock(op: Operation, userId: number): Promise<User> {
  const user = await lockUser(op.tx, userId);
  op.about({ detail: { username: user.username } });
  return user;
}

type Texts = Pick<UserRow, (typeof TEXTS)[number]>;
type Times = Pick<UserRow, "startsAt" | "hours" | "companyHours" | "hoursEnd" | "hoursDueAt"> &
  Pick<UserRow, "requestRule" | "requestHours" | "allowedFrom" | "allowedUntil">;
type Supplied = Partial<Texts & Times & Pick<UserRow, "sourceNetworks" | "companyId" | "manager">>;

/** The parsed changes, within the limits of the user's company; throws `invalid` or `conflict` if they are not. */
async function fit(op: Operation, user: User, changes: UserChanges): Promise<Supplied> {
  const { tx, context, record } = op;
  const parsed = parse(changes);
  const { email, companyId: company } = { ...changes, ...parsed };
  const asked = { sponsorEmail: changes.sponsorEmail, email, companyId: company };
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
function hoursIn({ context }: Operation, user: User, to: Company | undefined): Partial<Times> {
  const companyHours = to?.hours ?? null;
  return companyHours === user.companyHours ? {} : { companyHours, hoursDueAt: context.clock.now() };
}

/** Only what is given. */
function given<T extends object>(changes: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined)) as never;
}

function isTimed({ hours, hoursEnd, startsAt, onRequest }: UserChanges): boolean {
  return hours !== undefined || hoursEnd !== undefined || startsAt !== undefined || onRequest !== undefined;
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

/** What was allowed ends where a fresh request would, or with the rule. */
function onRequestChange(user: User, changes: UserChanges, now: Date): Partial<Times> {
  const rule = FIELDS.requestRule(changes);
  const latest = rule.requestHours === null ? null : shift(now, rule.requestHours * HOUR);
  if (latest === null || user.allowedUntil === null) return { ...rule, allowedFrom: null, allowedUntil: null };
  return { ...rule, allowedUntil: user.allowedUntil < latest ? user.allowedUntil : latest };
}

/**
 * Has the host follow times that were just stored, if any were. If it cannot do all of it, that is retried each minute, and this throws `internal`:
 * at the latest sshd shuts the window that it was told of before.
 */
async function brought(context: Context, updated: User): Promise<User> {
  if (!isDue(updated, context.clock.now())) return updated;
  try {
    await followHours(onward(context), updated.id);
  } catch (error) {
    const sentence = `The hours of ${updated.username} are stored, but the host does not follow them yet; this is tried again until it does: ${publicMessage(error)}`;
    throw new UamError("internal", sentence, { cause: error, reason: "access.owed" });
  }
  return await requireUser(context.db, updated.id);
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

const TEXTS = ["email", "fullName", "supervisor", "purpose", "note", "sponsorEmail"] as const;
/** Fields whose names on record are others. */
const COLUMNS: Readonly<Record<string, string>> = { fullName: "full_name", sponsorEmail: "sponsor_email" };

async function store(op: Operation, user: User, supplied: Supplied): Promise<User> {
  const { sourceNetworks, hoursDueAt } = supplied;
  const fields = TEXTS.filter((field) => supplied[field] !== undefined);
  const named = fields.map((field) => ({ field, name: COLUMNS[field] ?? field }));
  const fresh = Object.fromEntries(named.map(({ field, name }) => [name, supplied[field] ?? ""]));
  const old = Object.fromEntries(named.map(({ field, name }) => [`old_${name}`, user[field]]));
  op.record({ detail: { ...fresh, ...old } });
  if (sourceNetworks !== undefined) op.record({ detail: networkDetail(user.sourceNetworks, sourceNetworks) });
  if (hoursDueAt !== undefined) op.record({ detail: timesDetail(user, supplied) });
  const updated = await storeUser(op, user, supplied);
  if (updated.email !== user.email) {
    // A reader of the old mailbox may already be logged in.
    await endLoginsOf(op, user);
    await tellAddressChanged(op, user, updated);
  }
  await followSponsor(op, user, updated);
  return updated;
}
