/**
 * The account on the service's own host, given to a user who had none there, and taken from one who goes on without. A closing of the
 * kind `leave` notes what a crash must not leave behind: an account that no grant includes.
 */

import { and, eq } from "drizzle-orm";
import { UamError } from "../../shared/errors.ts";
import { faultPoint } from "../../shared/work/fault-point.ts";
import { transactionToItsEnd } from "../../store/client.ts";
import { closings } from "../../store/schema.ts";
import { auditedClosing } from "../operation/audited.ts";
import type { ClosingOperation, Context, Grant, Operation } from "../operation/context.ts";
import { type Closed, leaveAccess, owedSentence, requireClosed } from "./access.ts";
import { accountOf, openAccountOf, raiseGeneration, refOf } from "./account.ts";
import { type Closing, closingsOf, findClosing, noteClosing, settleClosing } from "./closings.ts";
import { lockUser, lockUserIfStored, type User } from "./find-user.ts";

/**
 * Makes the account of a user who is granted the service's own host in this operation, with the stored keys and state; if the operation
 * fails, it is removed again. One that is still there, because its removal is owed, is opened as it is. Throws `conflict` if the host has
 * something else of that name, or the user is being deleted.
 */
export async function giveLocalAccount(op: Grant, user: User): Promise<void> {
  const { context, tx } = op;
  const { host, clock } = context;
  const ref = refOf(user);
  if ((await closingsOf(tx, user.id)).some(({ kind }) => kind === "remove")) {
    throw new UamError("conflict", `${user.username} is being deleted`, { reason: "user.deleting" });
  }
  // A dry run says of every account that it is there.
  const presence = host.mode === "dry-run" ? "missing" : await host.presence(ref);
  if (presence === "foreign" || (presence === "missing" && (await host.nameTaken(ref.name)))) {
    const sentence = `The host already has an account or a home directory named ${ref.name}`;
    throw new UamError("conflict", sentence, { reason: "account.taken" });
  }
  const note = await noteClosing(context, { userId: user.id, kind: "leave", action: "" });
  await op.onRollback(() => takeBack(context, user, note));
  if (presence === "missing") await host.createAccount(openAccountOf(user, []));
  await raiseGeneration(tx, user.id);
  const account = await accountOf(tx, user, clock.now());
  if (account.open) await host.openAccount(account);
  else requireClosed(await host.shutAccount(ref));
  await settleClosing(tx, note);
}

/** Notes, with the operation that stores it, that the user has no account on the service's own host any more; returns the note's id. */
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
 * Removes what was noted: account, home directory, processes. The user's other hosts are not concerned. Throws `internal` with what is left
 * to do, which is tried again until it is done. Does nothing where somebody else has done it, or the account was given back.
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
    op.refuse(owedSentence(`${user.username} has no account on this host any more`, closed));
  });
}

/** Goes on with what was noted; nothing is owed of an account that was given back. */
export async function finishLeaving(op: ClosingOperation, user: User, noted: Closing): Promise<Closed> {
  if (!user.local) return await leaveAccess(op, user, noted.id);
  await settleClosing(op.tx, noted.id);
  return { user, refused: false, owed: [] };
}

/** After giving it has failed: unless the user has it by now, it goes again. What cannot be done stays noted. */
async function takeBack({ db, host }: Context, { id, username, uid }: User, note: number): Promise<void> {
  await transactionToItsEnd(db, async (tx) => {
    if ((await lockUser(tx, id)).local) return;
    const ref = refOf({ username, uid });
    if ((await host.presence(ref)) === "present") requireClosed(await host.removeAccount(ref));
    await tx.delete(closings).where(and(eq(closings.id, note), eq(closings.kind, "leave")));
  });
}
