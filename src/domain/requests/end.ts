/** Ends access on request before its time, and withdraws what still waits for a decision. A closing: it only goes forward. */

import { and, eq, type SQL } from "drizzle-orm";
import { allowedOn, readAllowed } from "../../shared/hours/allowed.ts";
import { WITHDRAWN } from "../../shared/product/statuses.ts";
import { formatOptionalTimestamp } from "../../shared/time/timestamp.ts";
import { approvals, LOCAL_HOST, users } from "../../store/schema.ts";
import { type Closed, owedSentence, shutOnHost, unfinished } from "../accounts/access.ts";
import { noteClosing, oweClosing, settleClosing } from "../accounts/closings.ts";
import { lockUser, type User } from "../accounts/find-user.ts";
import { isDue } from "../accounts/hours.ts";
import { leavingHosts, noteFleetChange, noteLostHosts } from "../accounts/remote-changes.ts";
import { auditedClosing } from "../operation/audited.ts";
import type { ClosingOperation, Context, Operation } from "../operation/context.ts";
import { parseReason, reasonDetail } from "../users/changeable.ts";
import { requireOnRequest } from "./allow.ts";
import { askableHosts, hostsDetail } from "./askable.ts";

/**
 * Ends what is allowed at once: the account is shut, and its sessions and processes end; the user stays as they are, and can ask again. Nothing to end
 * is no failure. Throws `conflict` for a user who need not ask, and `internal` if steps failed on the host: they are owed.
 */
export function endAccess(context: Context, userId: number, why = ""): Promise<User> {
  const entry = { action: "access.end", resourceId: String(userId), subjectId: userId } as const;
  return auditedClosing(context, entry, async (op) => {
    const user = await lockUser(op.tx, userId);
    const reason = parseReason(why);
    op.about({ detail: { username: user.username, ...reasonDetail(reason) } });
    requireOnRequest(user);
    // Also what is over by now, but was not shut yet.
    const now = context.clock.now();
    const isOver = user.allowedUntil === null || (user.allowedUntil <= now && !isDue(user, now));
    if (isOver || user.status !== "active") {
      if (!(await withdraw(op, userId))) op.record({ unneeded: true });
      return user;
    }
    const note = await noteClosing(context, { userId, kind: "shut", action: "access.end", reason });
    await withdraw(op, userId);
    return (await finishEnding(op, user, note)).user;
  });
}

/** Does the noted end, or continues it after a crash; refuses the operation with a sentence if something is left to do. */
export async function finishEnding(op: ClosingOperation, user: User, note: number): Promise<Closed> {
  op.begun(unfinished(user));
  // As at the end of what was allowed: its jobs wait until the account is open again.
  const closing = await shutOnHost(op, user, true);
  const set = { allowedFrom: null, allowedUntil: null, allowedHosts: null, hoursDueAt: null };
  await op.tx.update(users).set(set).where(eq(users.id, user.id));
  op.record({ detail: { until: formatOptionalTimestamp(user.allowedUntil), ...(await tellHosts(op, user)) } });
  if (closing.owed.length === 0) await settleClosing(op.tx, note);
  else {
    await oweClosing(op, note, { user, owed: closing.owed, recorded: true });
    op.refuse(owedSentence(`The access of ${user.username} is ended`, closing));
  }
  return { user: { ...user, ...set }, ...closing };
}

/** Has the further hosts on which it was allowed confirm that it is over; returns which they all are, where they are some. */
async function tellHosts(op: ClosingOperation, user: User): Promise<{ readonly hosts?: string }> {
  const { allowedUntil: until, allowedHosts: stored } = user;
  const allowed = until === null || stored === null ? undefined : readAllowed(until, stored);
  if (allowed === undefined) {
    await noteFleetChange(op, user);
    return {};
  }
  const placed = await askableHosts(op.tx, { id: user.id, requestGroups: null });
  // A host that they have lost, and that has not removed the account, lets them in as it did.
  const there = [...placed, ...(await leavingHosts(op.tx, user))];
  const open = there.filter(({ id }) => allowedOn(allowed, id) !== undefined);
  const further = open.flatMap(({ id }) => (id === LOCAL_HOST ? [] : [id]));
  if (further.length > 0) noteLostHosts(op, user, further);
  return hostsDetail(open);
}

/** The user's request for access that waits for a decision, of which there is one at most. */
export function isPendingRequestOf(userId: number): SQL | undefined {
  return and(eq(approvals.userId, userId), eq(approvals.kind, "access_request"), eq(approvals.status, "pending"));
}

/** Whether a request of the user was waiting, which nobody can allow any more. */
async function withdraw(op: Operation, userId: number): Promise<boolean> {
  const { actor, clock } = op.context;
  const [withdrawn] = await op.tx
    .update(approvals)
    .set({ status: "rejected", reason: WITHDRAWN, reviewedBy: actor.name, reviewedAt: clock.now() })
    .where(isPendingRequestOf(userId))
    .returning({ id: approvals.id });
  if (withdrawn !== undefined) op.record({ detail: { withdrawn: withdrawn.id } });
  return withdrawn !== undefined;
}
