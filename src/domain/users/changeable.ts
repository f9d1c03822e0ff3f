/** Whether a user can be disabled, enabled or extended now, and the result of an extension; nothing here changes anything. */

import { UamError } from "../../shared/errors.ts";
import { extendedEnd } from "../../shared/product/extension.ts";
import { DAY, shift } from "../../shared/time/clock.ts";
import { MAX_DAYS } from "../../shared/time/duration.ts";
import type { Database, Transaction } from "../../store/client.ts";
import type { UserRow } from "../../store/schema.ts";
import { refOf } from "../accounts/account.ts";
import type { Closing } from "../accounts/closings.ts";
import { companyOf, endWithin, requireStillWithin } from "../accounts/company-limits.ts";
import { isExpired, type User } from "../accounts/find-user.ts";
import { accountMissing } from "../accounts/rebuild.ts";
import { MAX_REASON, parseText } from "../accounts/username.ts";
import { countMissing } from "../hosts/reported-missing.ts";
import type { Context } from "../operation/context.ts";
import type { AuditDetail } from "../operation/entry.ts";
import { readSetting } from "../settings/settings.ts";

type Stored = Database | Transaction;

/** How far to move an end: by days, where 0 means `policy.default_ttl`, or to a moment. */
export type Wanted =
  | { readonly days: number; readonly until?: undefined }
  | { readonly days?: undefined; readonly until: Date };

/** The result of extending a user. */
export interface Extended {
  /** Milliseconds; undefined for an extension to a moment. */
  readonly length: number | undefined;
  readonly expireAt: Date;
  readonly status: UserRow["status"];
}

/**
 * Throws `conflict` if a user cannot be enabled: for the reasons of disabling, while they are being deleted, and while their
 * own lock is under way, which the administrators have not been told of yet.
 */
export async function requireEnableable(context: Context, user: User, owed: readonly Closing[]): Promise<void> {
  requireNotExpired(context, user, "is expired; extend the account instead");
  await requireAccount(context, user, "conflict");
  requireStaying(user, owed, "conflict");
  if (owed.some(({ kind, action }) => kind === "shut" && action === "user.lock")) throw beingDisabled(user, "conflict");
}

/**
 * The result of an extension by `days` days (0: `policy.default_ttl`, at most to the last end that the user's company allows), or to `until`.
 * Throws `invalid` for another number or moment, or one beyond what the company allows, `conflict` if the company has ended, and `internal`
 * if the recycle period is over, access is being taken away, or the account is not there.
 */
export async function extensionOf(
  context: Context,
  db: Stored,
  user: User,
  {
    days = 0,
    until,
    owed,
    atMost,
  }: (Wanted | { readonly days?: number; readonly until?: Date }) & {
    readonly owed: readonly Closing[];
    readonly atMost?: Date | undefined;
  },
): Promise<Extended> {
  const now = context.clock.now();
  parseDays(days);
  requireEnd(context, user, until);
  const length = days > 0 ? days * DAY : await readSetting(context, db, "policy.default_ttl");
  await requireWithinRecyclePeriod(context, db, user);
  requireStaying(user, owed, "internal");
  requireNotBeingDisabled(user, owed);
  requireNotBeingShortened(user, owed);
  await requireAccount(context, user, "internal");
  const latest = atMost?.getTime() ?? Number.POSITIVE_INFINITY;
  const wanted = until ?? new Date(extendedEnd({ end: user.expireAt.getTime(), now: now.getTime(), length, latest }));
  const isNamed = days > 0 || until !== undefined;
  const company = await companyOf(db, user);
  const expireAt = later(user.expireAt, endWithin(company, { now, end: wanted, isNamed }));
  if (expireAt.getUTCFullYear() > 9999)
    throw new UamError("internal", "The new expiry would lie beyond the year 9999", { reason: "user.too_late" });
  // Expired users regain their previous status.
  const returned = user.disabledAt === null ? "active" : "disabled";
  const status = isExpired(user, now) ? returned : user.status;
  if (isExpired(user, now) && status === "active") await requireStillWithin(db, company, user);
  return { length: until ? undefined : length, expireAt, status };
}

/** Whether the moment is earlier than the user's present end. Whoever is expired has none that could be earlier. */
export function isShortening({ clock }: Context, user: UserRow, until: Date | undefined): until is Date {
  return until !== undefined && !isExpired(user, clock.now()) && until < user.expireAt;
}

/** Throws `invalid` unless access may end at that moment: in the future, and not later than the most days from now or the present end. */
export function requireEnd({ clock }: Context, { username, expireAt }: User, until: Date | undefined): void {
  if (until === undefined) return;
  const now = clock.now();
  if (until <= now)
    throw new UamError("invalid", `The end of access must be in the future; to end it now, disable ${username}`);
  if (until.getTime() > Math.max(now.getTime(), expireAt.getTime()) + MAX_DAYS * DAY)
    throw new UamError("invalid", `The end of access may be at most ${MAX_DAYS} days after now or the present end`);
}

/** An extension never moves the end back. */
function later(one: Date, other: Date): Date {
  return one > other ? one : other;
}

/** Throws `conflict` if the user was changed since that moment, which is the user's `updatedAt` of then. */
export function requireUnchanged(user: User, since: Date | undefined): void {
  if (since === undefined || user.updatedAt.getTime() === since.getTime()) return;
  throw new UamError("conflict", `${user.username} has been changed since; look at them again`, {
    reason: "user.changed",
  });
}

/** The number of days, 0 where none is given; throws `invalid` for one that is not whole or out of range. */
export function parseDays(days: number | undefined): number {
  if (days === undefined) return 0;
  if (!Number.isInteger(days) || days < 0 || days > MAX_DAYS) {
    throw new UamError("invalid", `The number of days must be a whole number from 0 to ${MAX_DAYS}`);
  }
  return days;
}

/** The reason for the audit record; throws `invalid` for a text that cannot be one. */
export function parseReason(reason: string): string {
  return parseText("reason", reason, MAX_REASON);
}

/** The detail of a record whose change has a reason. */
export function reasonDetail(reason: string): AuditDetail {
  return reason === "" ? {} : { reason };
}

/** Throws `conflict` if disabling has nothing to change: the user is expired, or the account is on none of their hosts. */
export async function requireDisableable(context: Context, db: Stored, user: User): Promise<void> {
  requireNotExpired(context, user, "is expired and has no access already; to remove the account, delete the user");
  const account = refOf(user);
  const presence = user.local ? await context.host.presence(account) : "missing";
  if (presence === "foreign") throw accountForeign(user, "conflict");
  if (presence === "present") return;
  const { hosts, missing } = await countMissing(db, { userId: user.id, account: account.name });
  if (missing === hosts && (user.local || hosts > 0)) throw accountMissing(user, "conflict");
}

function requireNotExpired(context: Context, user: User, otherwise: string): void {
  if (!isExpired(user, context.clock.now())) return;
  throw new UamError("conflict", `${user.username} ${otherwise}`, { reason: "user.expired" });
}

async function requireAccount(context: Context, user: User, code: "conflict" | "internal"): Promise<void> {
  if (!user.local) return;
  const presence = await context.host.presence(refOf(user));
  if (presence === "missing") throw accountMissing(user, code);
  if (presence === "foreign") throw accountForeign(user, code);
  if ((await context.host.lacking(refOf(user))) === "group") throw accountOutside(user, code);
}

function accountOutside(user: User, code: "conflict" | "internal"): UamError {
  const sentence = `Somebody took the host account ${refOf(user).name} out of the service's group; it is put back within a minute`;
  return new UamError(code, sentence, { reason: "account.group" });
}

function accountForeign(user: User, code: "conflict" | "internal"): UamError {
  const sentence = `The host account ${refOf(user).name} is not the one that uam made`;
  return new UamError(code, sentence, { reason: "account.foreign" });
}

/** A deletion that is owed only goes forward. */
function requireStaying(user: User, owed: readonly Closing[], code: "conflict" | "internal"): void {
  if (!owed.some(({ kind }) => kind === "remove")) return;
  const sentence = `${user.username} is being deleted; create the user again once that is done`;
  throw new UamError(code, sentence, { reason: "user.deleting" });
}

/** An extension gives no access: an interrupted disabling, also of an expired user, is finished first, and only enabling reverses it. */
function requireNotBeingDisabled(user: User, owed: readonly Closing[]): void {
  const isStored = user.status === "disabled" || user.disabledAt !== null;
  if (isStored || !owed.some(({ kind, action }) => kind === "shut" && action !== "")) return;
  throw beingDisabled(user, "internal");
}

/**
 * Whether an earlier end was interrupted while it was being brought forward: it is finished first, and only then recorded, and the present end.
 * One that is earlier still, `until`, need not wait.
 */
export function isBeingShortened(owed: readonly Closing[], until?: Date): boolean {
  const begun = owed.find(({ kind, action }) => kind === "shorten" && action !== "");
  return begun?.expireAt != null && (until === undefined || until >= begun.expireAt);
}

/** Throws `internal` while it is. */
export function requireNotBeingShortened(user: User, owed: readonly Closing[], until?: Date): void {
  if (!isBeingShortened(owed, until)) return;
  const sentence = `The end of ${user.username} is being brought forward; try again in a minute`;
  throw new UamError("internal", sentence, { reason: "user.shortening" });
}

function beingDisabled({ username }: User, code: "conflict" | "internal"): UamError {
  return new UamError(code, `${username} is being disabled; try again in a minute`, { reason: "user.disabling" });
}

async function requireWithinRecyclePeriod(context: Context, db: Stored, user: User): Promise<void> {
  const now = context.clock.now();
  const period = await readSetting(context, db, "policy.recycle_period");
  if (!isExpired(user, now) || shift(user.expireAt, period) > now) return;
  throw new UamError(
    "internal",
    `The recycle period of ${user.username} is over; the account is being reclaimed and cannot be extended`,
    { reason: "user.recycled" },
  );
}
