/**
 * The account on the service's own host, given to a user who had none there, and taken from a user who keeps other hosts. A closing
 * of the kind `leave` notes an account without a grant, so that a crash cannot leave it behind.
 */

import { and, eq } from "drizzle-orm";
import { UamError } from "../../shared/errors.ts";
import { faultPoint } from "../../shared/work/fault-point.ts";
import { transactionToItsEnd } from "../../store/client.ts";
import { closings } from "../../store/schema.ts";
import { auditedClosing } from "../operation/audited.ts";
import type { ClosingOperation, Context, Grant, Operation } from "../operation/context.ts";
import { type Closed, leaveAccess, owedSentence, requireClosed } from "./access.ts";
import { accountOf, openAccountOf, refOf } from "./account.ts";
import { type Closing, closingsOf, findClosing, noteClosing, settleClosing } from "./closings.ts";
import { lockUser, lockUserIfStored, type User } from "./find-user.ts";
import { scheduleHere } from "./hours.ts";

/**
 * Makes the account of a user who is granted the service's own host in this operation, with the stored keys and state; if the operation
 * fails, it is removed again. An account whose removal is still owed is opened as it is. Throws `conflict` if the host has something else
 * of that name, or the user is being deleted.
 */
export async function giveLocalAccount(op: Grant, user: User): Promise<void> {
  const { context, tx } = op;
  const { host, clock } = context;
  const ref = refOf(user);
  if ((await closingsOf(tx, user.id)).some(({ kind }) => kind === "remove")) {
    throw new UamError("conflict", `${user.username} is being deleted`, { reason: "user.deleting" });
  }
  // A dry run reports every account as present.
  const presence = host.mode === "dry-run" ? "missing" : await host.presence(ref);
  if (presence === "foreign" || (presence === "missing" && (await host.nameTaken(ref.name)))) {
    const sentence = `The host already has an account or a home directory named ${ref.name}`;
    throw new UamError("conflict", sentence, { reason: "account.taken" });
  }
  await scheduleHere(op, user);
  const note = await noteClosing(context, { userId: user.id, kind: "leave", action: "" });
  await op.onRollback(() => takeBack(context, user, note));
  if (presence === "missing") await host.createAccount(openAccountOf(user, []));
  const account = await accountOf(tx, user, clock.now());
  if (account.open) await host.openAccount(account);
  else requireClosed(await host.shutAccount(ref));
  await settleClosing(tx, note);
}

/**
 * Notes, with the operation that stores it, that the user no longer has an account on the service's own host; returns the note's id.
 */
export async function noteLeaving({ tx, context }: Operation, userId: number): Promise<number> {
  const { actor, clock } = context;
  const now = clock.now();
  const by = { action: "", actorType: actor.type, actor: actor.name, actorOwner: actor.owner ?? "" };
  const [row] = await tx
    .insert(closings)
    .values({ userId, kind: "leave", ...by, begunAt: now, dueAt: now })
    .onConflictDoUpdate({ target: [closings.userId, closings.kind, closings.keyId], set: by })
    .returning({ id: closings.id });
  if (row === undefined) throw new Error("insert returned no row");
  return row.id;
}

/**
 * Removes the noted account with its home directory and processes, and leaves the user's other hosts alone. Throws `internal` with the
 * remaining work, which is retried until done. Does nothing if somebody else has done it, or if the account was given back.
 */
export async function removeLocalAccount(
  context: Context,
  { userId, note }: { readonly userId: number; readonly note: number },
): Promise<void> {
  faultPoint("account: no longer granted, not removed");
  const entry = { action: "user.grant", resourceId: String(userId), subjectId: userId } as const;
  await auditedClosing(context, entry, async (op) => {
    const user = await lockUserIfStored(op.tx, userId);
    const noted = await findClosing(op.tx, note);
    if (user === undefined || noted === undefined) return op.record({ unneeded: true });
    op.about({ detail: { username: user.username } });
    const closed = await finishLeaving(op, user, noted);
    // That it was taken is on record already.
    if (closed.owed.length === 0) return op.record({ unneeded: true });
    op.refuse(owedSentence(`${user.username} no longer has an account on this host`, closed));
  });
}

/** Goes on with a noted removal; an account that was given back owes nothing. */
export async function finishLeaving(op: ClosingOperation, user: User, noted: Closing): Promise<Closed> {
  if (!user.local) return await leaveAccess(op, user, noted.id);
  await settleClosing(op.tx, noted.id);
  return { user, refused: false, owed: [] };
}

/** After giving the account failed: removes it again, unless the user has it meanwhile. Steps that fail stay noted. */
async function takeBack({ db, host }: Context, { id, username, uid }: User, note: number): Promise<void> {
  await transactionToItsEnd(db, async (tx) => {
    if ((await lockUser(tx, id)).local) return;
    const ref = refOf({ username, uid });
    if ((await host.presence(ref)) === "present") requireClosed(await host.removeAccount(ref));
    await tx.delete(closings).where(and(eq(closings.id, note), eq(closings.kind, "leave")));
  });
}
