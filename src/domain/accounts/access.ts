/** Gives a user's account access and takes it away, in one place for every caller. */

import { eq } from "drizzle-orm";
import type { Closing as HostClosing } from "../../protocol/host.ts";
import { publicMessage, UamError } from "../../shared/errors.ts";
import type { AuditAction } from "../../shared/product/audit-actions.ts";
import { faultPoint } from "../../shared/work/fault-point.ts";
import { transactionToItsEnd } from "../../store/client.ts";
import { type UserRow, users } from "../../store/schema.ts";
import { tellDeleted, tellDisabled } from "../mail/notices.ts";
import type { ClosingOperation, Context, Grant, Operation } from "../operation/context.ts";
import { accessAt } from "./access-state.ts";
import { accountOf, refOf } from "./account.ts";
import {
  type ClosingReason,
  closingsOf,
  forgetClosings,
  forgetShut,
  noteClosing,
  oweClosing,
  settleClosing,
} from "./closings.ts";
import { findUser, lockUser, type User } from "./find-user.ts";
import { closingHostOf, hostOf } from "./own-host.ts";
import { rejectRequestOf } from "./own-requests.ts";
import { noteFleetChange } from "./remote-changes.ts";

/**
 * Gives access: opens the account with the stored keys, unless it is outside the user's hours: then it stays shut until they begin. The host
 * is restored if the operation fails.
 */
export async function openAccess(op: Grant, user: User): Promise<void> {
  await forgetShut(op.tx, user.id);
  const account = await accountOf(op.tx, user, op.context.clock.now());
  await op.onRollback(() => restoreAccess(op.context, user));
  faultPoint("access: given in the database, host untouched");
  if (account.open) await hostOf(op.context, user).openAccount(account);
  else requireClosed(await (await closingHostOf(op.context, user)).shutAccount(account));
}

/**
 * Restores the host to the stored state after giving access failed, under the user's row lock. Removes the account if
 * its user is not stored because creation failed.
 */
export async function restoreAccess(context: Context, user: Pick<User, "id" | "username" | "uid">): Promise<void> {
  const { db, host, clock } = context;
  await transactionToItsEnd(db, async (tx) => {
    const isStored = user.id > 0 && (await findUser(tx, user.id)) !== undefined;
    if (!isStored) return requireClosed(await host.removeAccount(refOf(user)));
    const stored = await lockUser(tx, user.id);
    const account = await accountOf(tx, stored, clock.now());
    if (account.open) await hostOf(context, stored).openAccount(account);
    else requireClosed(await (await closingHostOf(context, stored)).shutAccount(account));
  });
}

/** Throws `internal` with the first piece of remaining work, if there is any. */
export function requireClosed({ owed: [sentence] }: HostClosing): void {
  if (sentence !== undefined) throw new UamError("internal", sentence, { reason: "access.owed" });
}

/** How a closing ended. */
export interface Closed {
  readonly user: User;
  /** Whether sshd refuses every key of the account. */
  readonly refused: boolean;
  /** Remaining work, which is retried; empty if all is done. */
  readonly owed: readonly string[];
}

/** The options of a closing. */
export interface ClosingRequest extends ClosingReason {
  /** The answer of `shutOnHost`; by default, the account is shut first. */
  readonly shut?: HostClosing;
  /** Since when the user counts as disabled, unless they already are; by default, now. */
  readonly at?: Date;
  /** The audit action to record later, should the process die before the operation has recorded it. */
  readonly action?: AuditAction;
  /** The note of an earlier attempt that this one continues. */
  readonly note?: number;
  /** Whether the caller mails the user; by default, the user is told that they are disabled. */
  readonly mailed?: boolean;
}

/**
 * Takes access away until an administrator gives it back. Stores the user as disabled even if the host fails, shuts the
 * account, and owes every step that failed. An expired user stays expired, and becomes disabled when extended.
 */
export async function disableAccess(
  op: ClosingOperation,
  user: User,
  {
    at = op.context.clock.now(),
    action = "user.disable",
    reason = "",
    review,
    note,
    mailed = false,
    shut,
  }: ClosingRequest = {},
): Promise<Closed> {
  const id = note ?? (await noteClosing(op.context, { userId: user.id, kind: "shut", action, reason, review }));
  op.begun(unfinished(user, shut));
  const closing = shut ?? (await shutOnHost(op, user));
  const status = user.status === "expired" ? "expired" : "disabled";
  const disabled = await storeShut(op, user, { status, disabledAt: user.disabledAt ?? at });
  if (status === "disabled" && !mailed) await tellDisabled(op, disabled);
  return await settle(op, disabled, id, closing);
}

/** Takes access away because the account has expired. Stores the user as expired even if the host fails. */
export async function expireAccess(op: ClosingOperation, user: User): Promise<Closed> {
  // No note is needed first: the stored expiry alone keeps the account shut, and the job finds the user again.
  const closing = await shutOnHost(op, user);
  const expired = await storeShut(op, user, { status: "expired" });
  // An interrupted attempt that disables the user goes on with both; a note of ours would replace its note.
  const isNoted = (await closingsOf(op.tx, user.id)).some(({ kind, action }) => kind === "shut" && action !== "");
  if (closing.owed.length === 0 || isNoted) return { user: expired, ...closing };
  const id = await noteClosing(op.context, { userId: user.id, kind: "shut", action: "" });
  return await settle(op, expired, id, closing);
}

/** Goes on shutting an account that is owed a shut; the stored user does not change. */
export async function shutAccess(op: ClosingOperation, user: User, note: number): Promise<Closed> {
  const { access } = accessAt(user, op.context.clock.now());
  return await settle(op, user, note, await shutOnHost(op, user, access !== "closed"));
}

/**
 * Takes access away for good: host account, home directory, keys and the user. If the host cannot finish, the user stays
 * stored as disabled (an expired one as expired), and the rest is owed.
 */
export async function removeAccess(
  op: ClosingOperation,
  user: User,
  { action = "user.delete", reason = "", note }: ClosingRequest = {},
): Promise<Closed> {
  const id = note ?? (await noteClosing(op.context, { userId: user.id, kind: "remove", action, reason }));
  op.begun(unfinished(user));
  const closing = await goOn(op, user, async () => (await closingHostOf(op.context, user)).removeAccount(refOf(user)));
  await noteFleetChange(op, user, closing.owed.length === 0 ? "removed" : undefined);
  if (closing.owed.length === 0) {
    await op.tx.delete(users).where(eq(users.id, user.id)).prepare("delete_user").execute();
    await forgetClosings(op.tx, user.id);
    await rejectRequestOf(op, user.id);
    await tellDeleted(op, user);
    return { user, ...closing };
  }
  const now = op.context.clock.now();
  const status = user.status === "expired" ? "expired" : "disabled";
  const kept = await storeUser(op, user, { status, disabledAt: user.disabledAt ?? now });
  // The success record follows later, in the requester's name.
  await oweClosing(op, id, { user: kept, owed: closing.owed, recorded: false });
  return { user: kept, ...closing };
}

/**
 * Removes the account from the service's own host, for a user who keeps other hosts; steps that fail are owed. Leaves an account of
 * that name alone if it is not ours.
 */
export async function leaveAccess(op: ClosingOperation, user: User, note: number): Promise<Closed> {
  op.begun(unfinished(user));
  const { host } = op.context;
  let done = "the account on the service's own host was removed";
  const closing = await goOn(op, user, async () => {
    if ((await host.presence(refOf(user))) !== "foreign") return await host.removeAccount(refOf(user));
    done = "the account of that name on the service's own host is not the one that uam made, and was left alone";
    return { refused: true, owed: [] };
  });
  if (closing.owed.length === 0) op.record({ detail: { done } });
  return await settle(op, user, note, closing);
}

/**
 * Disables the user as `disableAccess` does, for a closing that is about nothing else: its record has their status, and it is refused with a
 * sentence if something is left to do. Returns the user as stored.
 */
export async function disableOnRecord(op: ClosingOperation, user: User, request: ClosingRequest): Promise<User> {
  const closed = await disableAccess(op, user, request);
  op.record({ detail: { status: closed.user.status } });
  if (closed.owed.length > 0) op.refuse(owedSentence(`${user.username} is disabled`, closed));
  return closed.user;
}

/** The message for the caller when a closing is committed with something left to do. */
export function owedSentence(done: string, { refused, owed }: Pick<Closed, "refused" | "owed">): string {
  const now = refused ? "and cannot log in" : "but the host may still let them in until this is done";
  return `${done}, ${now}. Left to do, and tried again until it is done: ${owed.join(". ")}`;
}

/** The message to the caller if the database fails while the user's access is being taken away. */
export function unfinished({ username }: User, onHost?: HostClosing): string {
  const isOpen = onHost !== undefined && !onHost.refused && onHost.owed.length > 0;
  const now = isOpen ? " The host may still let them in until this is done." : "";
  return `The access of ${username} is being taken away, but the database failed before this could be recorded.${now} It will not be given back: the change is finished and recorded once the database is available.`;
}

async function settle(op: ClosingOperation, user: User, note: number, closing: HostClosing): Promise<Closed> {
  if (closing.owed.length === 0) await settleClosing(op.tx, note);
  else await oweClosing(op, note, { user, owed: closing.owed, recorded: true });
  return { user, ...closing };
}

/**
 * Shuts the account on the service's own host; never throws. Runs before anything but the note is stored: stores fail with
 * the database, and a user must not be able to log in after being told that access is being taken away. A missing account
 * lets nobody in, and an account that is not ours is not touched. Jobs go, unless they are kept.
 */
export async function shutOnHost(op: ClosingOperation, user: User, keepsJobs = false): Promise<HostClosing> {
  const { log } = op.context;
  return await goOn(op, user, async () => {
    const host = await closingHostOf(op.context, user);
    const presence = await host.presence(refOf(user));
    if (presence === "present") return await host.shutAccount({ ...refOf(user), keepsJobs });
    op.record({ detail: { host: presence } });
    log.warn("an account is missing on the host, or is not the one that the service created; look into it", {
      account: refOf(user).name,
      presence,
    });
    return { refused: presence === "missing", owed: [] };
  });
}

/** A closing goes on even if the host throws: the failed step is owed. */
async function goOn(op: ClosingOperation, user: User, close: () => Promise<HostClosing>): Promise<HostClosing> {
  const closing = await tryToClose(op, close);
  op.begun(unfinished(user, closing));
  faultPoint("closing: host done, not stored");
  return closing;
}

async function tryToClose({ context }: ClosingOperation, close: () => Promise<HostClosing>): Promise<HostClosing> {
  try {
    return await close();
  } catch (error) {
    context.log.error("access could not be taken away on the host; this will be retried", {
      error,
      requestId: context.requestId,
    });
    return { refused: false, owed: [publicMessage(error)] };
  }
}

/** Stores that a user no longer has access, for this host and the others; what was allowed on request does not come back with it. */
async function storeShut(op: ClosingOperation, user: User, changes: Partial<UserRow>): Promise<User> {
  const stored = await storeUser(op, user, { ...changes, allowedFrom: null, allowedUntil: null });
  await noteFleetChange(op, user);
  return stored;
}

/** Stores changes of a user. The caller holds the row lock. */
export async function storeUser(op: Operation, user: User, changes: Partial<UserRow>): Promise<User> {
  const [row] = await op.tx
    .update(users)
    .set({ ...changes, updatedAt: op.context.clock.now() })
    .where(eq(users.id, user.id))
    .returning()
    .prepare("update_user")
    .execute();
  if (row === undefined) throw new Error("a locked user's row is gone");
  return { ...user, ...row };
}
