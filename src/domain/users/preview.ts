/**
 * Previews of disabling, enabling, extending or deleting a user. Each makes the refusals of the operation itself, reads without
 * locks, changes nothing and records nothing; the state may have changed when the operation runs.
 */

import type { Preview } from "../../shared/product/preview.ts";
import { hostAccountOf } from "../../shared/text/account-name.ts";
import { counted } from "../../shared/text/counted.ts";
import { formatTimestamp } from "../../shared/time/timestamp.ts";
import type { KeyRow, UserRow } from "../../store/schema.ts";
import { accountAt, activeKeys, refOf } from "../accounts/account.ts";
import { type Closing, closingsOf } from "../accounts/closings.ts";
import { companyOf, requireGoing, requireStillWithin } from "../accounts/company-limits.ts";
import { isExpired, requireUser, type User } from "../accounts/find-user.ts";
import { closingHostOf, hostOf } from "../accounts/own-host.ts";
import type { Context } from "../operation/context.ts";
import {
  extensionOf,
  isShortening,
  parseReason,
  requireDisableable,
  requireEnableable,
  requireEnd,
  requireNotBeingShortened,
  type Wanted,
} from "./changeable.ts";

/** A preview, with the user's status and expiry as they would be. */
export interface UserPreview extends Preview {
  readonly status: UserRow["status"] | "deleted";
  /** Null for a user who would be gone. */
  readonly expireAt: Date | null;
}

/** Previews `disableUser`. */
export async function previewDisable(context: Context, userId: number, why = ""): Promise<UserPreview> {
  const found = await find(context, userId, why);
  const { user } = found;
  await requireDisableable(context, context.db, user);
  const effects =
    user.status === "disabled"
      ? [`${user.username} is disabled already; the account on the host is shut once more.`]
      : [`${user.username} can no longer log in.`, ...whatEnds(found), JOBS_GO, PAGES_STAY, mailed(user)];
  const own = await closingHostOf(context, user);
  const host = await own.planned((planner) => planner.shutAccount(refOf(user)));
  return { effects, host, status: "disabled", expireAt: user.expireAt };
}

/** Previews `enableUser`. */
export async function previewEnable(context: Context, userId: number, why = ""): Promise<UserPreview> {
  const found = await find(context, userId, why);
  const { user } = found;
  const company = await companyOf(context.db, user);
  requireGoing(company);
  await requireStillWithin(context.db, company, user);
  await requireEnableable(context, user, found.owed);
  const enabled = { ...user, status: "active", disabledAt: null } as const;
  const effects =
    user.status === "active"
      ? [`${user.username} is active already; the account on the host is opened once more.`]
      : [`${user.username} can log in again, until ${moment(user.expireAt)}.`, whatWorks(found), mailed(user)];
  return { effects, host: await opening(context, found, enabled), status: "active", expireAt: user.expireAt };
}

/** Previews `moveEnd`. */
export async function previewExtend(context: Context, userId: number, wanted: Wanted, why = ""): Promise<UserPreview> {
  const found = await find(context, userId, why);
  const { user, owed } = found;
  if (isShortening(context, user, wanted.until)) return await previewShortening(context, found, wanted.until);
  const { status, expireAt } = await extensionOf(context, context.db, user, { ...wanted, owed });
  const extended = { ...user, status, expireAt };
  const until = `until ${moment(expireAt)}`;
  const host = status === "active" ? await opening(context, found, extended) : [];
  const effects = () => {
    if (status === "disabled") return [`The account of ${user.username} is kept ${until}, but stays disabled.`];
    if (isExpired(user, context.clock.now())) return [`${user.username} can log in again, ${until}.`, whatWorks(found)];
    return [`${user.username} keeps access ${until}, instead of ${moment(user.expireAt)}.`];
  };
  return { effects: [...effects(), mailed(user)], host, status, expireAt };
}

async function previewShortening(context: Context, found: Found, expireAt: Date): Promise<UserPreview> {
  const { user, keys, owed } = found;
  requireEnd(context, user, expireAt);
  requireNotBeingShortened(user, owed, expireAt);
  const account = accountAt(context.clock.now(), { ...user, expireAt }, { keys, owed });
  const own = await closingHostOf(context, user);
  const host = account.open ? await own.planned((planner) => planner.shortenAccount(account)) : [];
  const ends = `until ${moment(expireAt)} only, instead of ${moment(user.expireAt)}`;
  const effects =
    user.status === "disabled"
      ? [`The account of ${user.username} is kept ${ends}; it stays disabled.`]
      : [`${user.username} keeps access ${ends}.`, ...whatEndsThen(found)];
  return { effects: [...effects, mailed(user)], host, status: user.status, expireAt };
}

/** Previews `deleteUser`. */
export async function previewDelete(context: Context, userId: number, why = ""): Promise<UserPreview> {
  const found = await find(context, userId, why);
  const { user } = found;
  const account = hostAccountOf(user.username);
  const own = await closingHostOf(context, user);
  const presence = await own.presence(refOf(user));
  if (presence === "foreign") {
    const effects = [
      `${account} on the host is not the account that uam made, and is left alone.`,
      `${user.username} can no longer log in here, and is deleted once an administrator of the host has sorted that out.`,
    ];
    const status = user.status === "expired" ? "expired" : "disabled";
    return { effects, host: [], status, expireAt: user.expireAt };
  }
  const isMissing = presence === "missing";
  const effects = [
    `${user.username} is deleted for good; the audit records stay.`,
    isMissing
      ? `The host account ${account} is already gone; what is left of its home directory is deleted.`
      : `The host account ${account} and its home directory are deleted, with everything in it.`,
    ...(isMissing ? [] : whatEnds(found)),
    mailed(user),
  ];
  const host = isMissing ? [] : await own.planned((planner) => planner.removeAccount(refOf(user)));
  return { effects, host, status: "deleted", expireAt: null };
}

interface Found {
  readonly user: User;
  readonly keys: readonly KeyRow[];
  readonly owed: readonly Closing[];
}

/** The user, the active keys and the owed closings at one moment; throws `not_found`, and `invalid` for a reason that is none. */
async function find({ db }: Context, userId: number, why: string): Promise<Found> {
  const found = await db.transaction(
    async (tx) => ({
      user: await requireUser(tx, userId),
      keys: await activeKeys(tx, userId),
      owed: await closingsOf(tx, userId),
    }),
    { isolationLevel: "repeatable read", accessMode: "read only" },
  );
  parseReason(why);
  return found;
}

/**
 * The changes on the host from opening the account, with the user as they would be: giving access cancels a pending shut.
 */
async function opening(context: Context, { keys, owed }: Found, user: User): Promise<readonly string[]> {
  const left = owed.filter(({ kind }) => kind !== "shut");
  const account = accountAt(context.clock.now(), user, { keys, owed: left });
  return await hostOf(context, user).planned((planner) => planner.openAccount(account));
}

/** Of a user who may be enabled again; with a deleted account everything goes. */
const JOBS_GO = "Crontab, at jobs and lingering are removed, and enabling does not give them back.";

/** Of a user who is logged in to the pages: there they may still take access away from themselves. */
const PAGES_STAY =
  "Their browsers stay logged in to the pages until they are signed out, to read them and to revoke keys.";

function whatEnds({ user, keys }: Found): readonly string[] {
  const account = hostAccountOf(user.username);
  const ending = `Every SSH session, process and scheduled job of ${account} ends.`;
  if (keys.length === 0) return [ending];
  return [`${counted(keys.length, "key")} ${keys.length === 1 ? "stops" : "stop"} working: ${namesOf(keys)}.`, ending];
}

function whatEndsThen({ user, keys }: Found): readonly string[] {
  const ending = `What runs under ${hostAccountOf(user.username)} goes on until then, and ends then.`;
  if (keys.length === 0) return [ending];
  return [
    `${counted(keys.length, "key")} ${keys.length === 1 ? "stops" : "stop"} working then: ${namesOf(keys)}.`,
    ending,
  ];
}

function whatWorks({ user, keys, owed }: Found): string {
  const dead = new Set(owed.filter(({ kind }) => kind === "revoke").map(({ keyId }) => keyId));
  const alive = keys.filter(({ id }) => !dead.has(id));
  if (alive.length === 0) return `No key is stored: ${user.username} has to upload one first.`;
  return `${counted(alive.length, "key")} ${alive.length === 1 ? "works" : "work"} again: ${namesOf(alive)}.`;
}

function namesOf(keys: readonly KeyRow[]): string {
  return keys.map(({ name }) => name).join(", ");
}

function mailed({ email }: User): string {
  return `${email} gets a mail.`;
}

function moment(time: Date): string {
  return `${formatTimestamp(time).slice(0, 16).replace("T", " ")} UTC`;
}
