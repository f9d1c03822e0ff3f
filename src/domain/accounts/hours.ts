/**
 * Opens and shuts a user's account on the service's own host as their start and hours say. What is due is stored with the user, so a crash
 * in between leaves it due; `accountAt` alone decides what is open. sshd has shut a window by itself: what is done here at its end is to end
 * what still runs.
 */

import { eq } from "drizzle-orm";
import { type Transaction, transactionToItsEnd } from "../../store/client.ts";
import { notify } from "../../store/notify.ts";
import { users } from "../../store/schema.ts";
import { auditedClosing } from "../operation/audited.ts";
import type { ClosingOperation, Context, Operation } from "../operation/context.ts";
import { owedSentence, shutOnHost } from "./access.ts";
import { accessAt, atOwnHost, scheduleAt } from "./access-state.ts";
import { accountOf, keepsSessions, refOf } from "./account.ts";
import { closingsOf, forgetShut, keepsShut, noteClosing, oweClosing } from "./closings.ts";
import { recordEnded, windowEntry } from "./ended-sessions.ts";
import { lockUserIfStored, type User } from "./find-user.ts";
import { hostOf } from "./own-host.ts";

/** Whether the user's access begins or ends by start or hours, and that is still to be done. */
export function isDue({ hoursDueAt }: Pick<User, "hoursDueAt">, now: Date): boolean {
  return hoursDueAt !== null && hoursDueAt <= now;
}

/** PostgreSQL notifies this channel's listeners of each commit after which somebody's access begins or ends at another moment. */
export const HOURS_CHANNEL = "uam_hours";

/**
 * Does what is due for the user: shuts the account and ends what runs if a window has ended, also one that ended while the service was
 * stopped, and then opens it if another is open. Steps of shutting that fail are owed, and then this throws `internal`; an account that
 * could not be opened stays due. For changes of hours: whoever waits for the next moment is told of it.
 */
export async function followHours(context: Context, userId: number): Promise<void> {
  await shutByHours(context, userId);
  await openByHours(context, userId, { tells: true });
}

/** The same for whoever has waited for the moment, and looks for the next. */
export async function followDue(context: Context, userId: number): Promise<void> {
  await shutByHours(context, userId);
  await openByHours(context, userId, { tells: false });
}

/** Tells whoever waits for the moments of others, when the transaction commits, that one has been stored. */
export async function tellHours(
  { tx }: Pick<Operation, "tx">,
  { hoursDueAt }: Pick<User, "hoursDueAt">,
): Promise<void> {
  if (hoursDueAt !== null) await notify(tx, HOURS_CHANNEL);
}

/**
 * Stores when the account of a user who has just got one on the service's own host is opened or shut next, where that host has hours of
 * its own: by the user's alone that is stored already.
 */
export async function scheduleHere(op: Operation, user: User): Promise<void> {
  if (user.ownHostHours !== null) await tellHours(op, await storeNext(op, user, op.context.clock.now()));
}

/**
 * Recorded only if somebody was thrown out, once a day, or if it failed: that a window ends is not a change that anybody made.
 */
async function shutByHours(context: Context, userId: number): Promise<void> {
  await auditedClosing(context, windowEntry(userId), async (op) => {
    const now = context.clock.now();
    const user = await lockHere(op.tx, userId);
    if (user === undefined || !isDue(user, now) || !hasToShut(user, now)) return op.record({ unneeded: true });
    op.about({ detail: { username: user.username } });
    op.begun(`The hours of ${user.username} are over, but the database failed before this could be stored`);
    const ended = await countSessions(op, user);
    const closing = await shutOnHost(op, user, true);
    if (accessAt(user, now).access !== "open") await storeNext(op, user, now);
    if (closing.owed.length > 0) {
      const note = await noteClosing(op.context, { userId, kind: "shut", action: "" });
      await oweClosing(op, note, { user, owed: closing.owed, recorded: true });
      return op.refuse(owedSentence(`The hours of ${user.username} are over`, closing));
    }
    await recordEnded(op, user, ended);
  });
}

/** The user as on the service's own host. */
async function lockHere(tx: Transaction, userId: number) {
  const user = await lockUserIfStored(tx, userId);
  return user && atOwnHost(user);
}

/** Whether the account on the service's own host may be open and is not to be, or was last opened for a window that is over. */
export function hasToShut(stored: User, now: Date): boolean {
  const user = atOwnHost(stored);
  const access = accessAt(user, now);
  if (access.access === "closed" || keepsSessions(user, access)) return false;
  if (access.access !== "open" || user.hoursDueAt === null) return true;
  if (user.hoursEnd === "logins") return false;
  const before = new Date(user.hoursDueAt.getTime() - 1);
  return scheduleAt(user, before).open && !scheduleAt(user, user.hoursDueAt).open;
}

async function countSessions({ context }: ClosingOperation, user: User): Promise<number> {
  try {
    return (await context.host.sessions(refOf(user))).length;
  } catch (error) {
    context.log.warn("the sessions that end with a window could not be counted", { error, userId: user.id });
    return 0;
  }
}

/**
 * The account opens with the keys as stored; or, outside hours with which only logins end, stays open without any of them. If that fails it is
 * retried, as nothing else would: the stored state has it so.
 */
async function openByHours(context: Context, userId: number, { tells }: { readonly tells: boolean }): Promise<void> {
  const { db, clock, host, log } = context;
  await transactionToItsEnd(db, async (tx) => {
    const now = clock.now();
    const user = await lockHere(tx, userId);
    if (user === undefined || !isDue(user, now)) return;
    const access = accessAt(user, now);
    const isOpen = access.access === "open" || keepsSessions(user, access);
    // Hours that were stored since the account was shut or left open above: it stays due, for those who stored them and for the next run.
    if (!isOpen && access.access !== "closed") return;
    const isBeingTaken = (await closingsOf(tx, userId)).some(keepsShut);
    if (isOpen && user.local && !isBeingTaken) {
      if ((await host.presence(refOf(user))) === "present") {
        await forgetShut(tx, userId);
        const account = await accountOf(tx, user, now);
        if (account.open) await hostOf(context, user).openAccount(account);
      } else log.warn("an account cannot be opened: it is missing on the host, or not the service's", { userId });
    }
    const next = await storeNext({ tx }, user, now);
    if (tells) await tellHours({ tx }, next);
  });
}

/** Stores and returns when access changes next; the user counts as unchanged. */
async function storeNext({ tx }: Pick<Operation, "tx">, user: User, now: Date): Promise<Pick<User, "hoursDueAt">> {
  const next = { hoursDueAt: scheduleAt(atOwnHost(user), now).changesAt };
  await tx.update(users).set(next).where(eq(users.id, user.id)).prepare("store_next_opening").execute();
  return next;
}
