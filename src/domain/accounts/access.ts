/** Gives a user's account access and takes it away: each is written once, whoever asks for it. */

import { eq } from "drizzle-orm";
import type { Closing as HostClosing } from "../../protocol/host.ts";
import { publicMessage, UamError } from "../../shared/errors.ts";
import type { AuditAction } from "../../shared/product/audit-actions.ts";
import { faultPoint } from "../../shared/work/fault-point.ts";
import { pipelined, transactionToItsEnd } from "../../store/client.ts";
import { type UserRow, users } from "../../store/schema.ts";
import { tellDeleted, tellDisabled } from "../mail/notices.ts";
import type { ClosingOperation, Context, Grant, Operation } from "../operation/context.ts";
import { accountOf, raiseGeneration, refOf } from "./account.ts";
import { closingsOf, forgetClosings, forgetShut, noteClosing, oweClosing, settleClosing } from "./closings.ts";
import { rejectRequestOf } from "./extension-request.ts";
import { findUser, lockUser, type User } from "./find-user.ts";
import { closingHostOf, hostOf } from "./own-host.ts";
import { noteFleetChange } from "./remote-changes.ts";

/** Gives access: opens the account with the stored keys; the host is restored if the operation fails. */
export async function openAccess(op: Grant, user: User): Promise<void> {
  await pipelined(forgetShut(op.tx, user.id), raiseGeneration(op.tx, user.id));
  const account = await accountOf(op.tx, user, op.context.clock.now());
  await op.onRollback(() => restoreAccess(op.context, user));
  faultPoint("access: given in the database, host untouched");
  await hostOf(op.context, user).openAccount(account);
}

/**
 * Restores the host to what is stored for a user after giving access failed, under the user's row lock. An account whose
 * user is not stored (a create that failed) is removed.
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

/** Throws `internal` with the first thing that is left to do, if there is one. */
export function requireClosed({ owed: [sentence] }: HostClosing): void {
  if (sentence !== undefined) throw new UamError("internal", sentence, { reason: "access.owed" });
}

/** How a closing ended. */
export interface Closed {
  readonly user: User;
  /** Whether sshd refuses every key of the account. */
  readonly refused: boolean;
  /** What is left to do and will be retried; empty if all is done. */
  readonly owed: readonly string[];
}

/** The options of a closing. */
export interface ClosingRequest {
  /** What `shutOnHost` answered; by default, the account is shut first. */
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
 * Takes access away until an administrator gives it back: the user is stored as disabled whatever the host says, the account
 * is shut, and what cannot be done is owed. An expired user stays expired, and becomes disabled when extended.
 */
export async function disableAccess(
  op: ClosingOperation,
  user: User,
  { at = op.context.clock.now(), action = "user.disable", note, mailed = false, shut }: ClosingRequest = {},
): Promise<Closed> {
  const id = note ?? (await noteClosing(op.context, { userId: user.id, kind: "shut", action }));
  op.begun(unfinished(user, shut));
  const closing = shut ?? (await shutOnHost(op, user));
  const status = user.status === "expired" ? "expired" : "disabled";
  const disabled = await storeShut(op, user, { status, disabledAt: user.disabledAt ?? at });
  if (status === "disabled" && !mailed) await tellDisabled(op, disabled);
  return await settle(op, disabled, id, closing);
}

/** Takes access away because the account has expired: the user is stored as expired whatever the host says. */
export async function expireAccess(op: ClosingOperation, user: User): Promise<Closed> {
  // No note is needed first: the stored expiry alone keeps the account shut, and the job finds the user again.
  const closing = await shutOnHost(op, user);
  const expired = await storeShut(op, user, { status: "expired" });
  // One that disables the user, and was interrupted, goes on with both; a note of ours would take its place.
  const isNoted = (await closingsOf(op.tx, user.id)).some(({ kind, action }) => kind === "shut" && action !== "");
  if (closing.owed.length === 0 || isNoted) return { user: expired, ...closing };
  const id = await noteClosing(op.context, { userId: user.id, kind: "shut", action: "" });
  return await settle(op, expired, id, closing);
}

/** Continues to shut an account whose shutting is owed; the stored user does not change. */
export async function shutAccess(op: ClosingOperation, user: User, note: number): Promise<Closed> {
  const closing = await shutOnHost(op, user);
  await raiseGeneration(op.tx, user.id);
  return await settle(op, user, note, closing);
}

/**
 * Takes access away for good: host account, home directory, keys and the user. Where the host cannot finish, the user stays
 * stored as disabled (an expired one as expired), and the rest is owed.
 */
export async function removeAccess(
  op: ClosingOperation,
  user: User,
  { action = "user.delete", note }: ClosingRequest = {},
): Promise<Closed> {
  const id = note ?? (await noteClosing(op.context, { userId: user.id, kind: "remove", action }));
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
  // The record of its success follows later, in the name of whoever asked for it.
  await oweClosing(op, id, { user: kept, owed: closing.owed, recorded: false });
  return { user: kept, ...closing };
}

/**
 * Removes the account from the service's own host, of a user who goes on without one there; what cannot be done is owed. An account of
 * that name that is not ours is left alone.
 */
export async function leaveAccess(op: ClosingOperation, user: User, note: number): Promise<Closed> {
  op.begun(unfinished(user));
  const { host } = op.context;
  const closing = await goOn(op, user, async () => {
    const presence = await host.presence(refOf(user));
    return presence === "foreign" ? { refused: true, owed: [] } : await host.removeAccount(refOf(user));
  });
  await raiseGeneration(op.tx, user.id);
  return await settle(op, user, note, closing);
}

/** The message for the caller when a closing is committed with something left to do. */
export function owedSentence(done: string, { refused, owed }: Pick<Closed, "refused" | "owed">): string {
  const now = refused ? "and cannot log in" : "but the host may still let them in until this is done";
  return `${done}, ${now}. Left to do, and tried again until it is done: ${owed.join(". ")}`;
}

/** What the caller is told if the database fails while the user's access is being taken away. */
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
 * Shuts the account on the service's own host; never throws. Comes before anything is stored but the note: what is stored
 * fails with the database, and whoever was told that access is being taken away must not log in until it is back. An account
 * that is missing lets nobody in, and one that is not ours is not touched.
 */
export async function shutOnHost(op: ClosingOperation, user: User): Promise<HostClosing> {
  const { log } = op.context;
  return await goOn(op, user, async () => {
    const host = await closingHostOf(op.context, user);
    const presence = await host.presence(refOf(user));
    if (presence === "present") return await host.shutAccount(refOf(user));
    op.record({ detail: { host: presence } });
    log.warn("an account is missing on the host, or is not the one that the service created; look into it", {
      account: refOf(user).name,
      presence,
    });
    return { refused: presence === "missing", owed: [] };
  });
}

/** A closing goes on whatever the host throws: what failed is owed. */
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

/** Stores that a user has no access any more, for this host and the others. */
async function storeShut(op: ClosingOperation, user: User, changes: Partial<UserRow>): Promise<User> {
  const stored = await storeUser(op, user, changes);
  await raiseGeneration(op.tx, user.id);
  await noteFleetChange(op, user);
  return stored;
}

/** Stores changes of a user whose row is locked. */
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
