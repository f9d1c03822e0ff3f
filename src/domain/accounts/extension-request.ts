/** A user's own request for more time: the one to show, and its end when the user is deleted. */

import { and, desc, eq, gt, or } from "drizzle-orm";
import { DAY, shift } from "../../shared/time/clock.ts";
import type { Database } from "../../store/client.ts";
import { type ApprovalRow, approvals } from "../../store/schema.ts";
import type { Operation } from "../operation/context.ts";

/** A reviewed request is shown to its user for this long. */
const SHOWN = 30 * DAY;

/** The reason in the record of a request that ends with its user. */
export const USER_DELETED = "The user was deleted";

/**
 * Rejects the user's pending request in the name of the person who deletes the user, in the same transaction; the record of
 * the deletion names it. Sends no mail, because the mail about the deletion says enough. Call it under the user's row lock.
 */
export async function rejectRequestOf(op: Operation, userId: number): Promise<void> {
  const { actor, clock } = op.context;
  const [rejected] = await op.tx
    .update(approvals)
    .set({ status: "rejected", reason: USER_DELETED, reviewedBy: actor.name, reviewedAt: clock.now() })
    .where(and(eq(approvals.userId, userId), eq(approvals.kind, "extension"), eq(approvals.status, "pending")))
    .returning({ id: approvals.id });
  if (rejected !== undefined) op.record({ detail: { rejected_application: rejected.id } });
}

/** The user's newest request for more time, if it is pending or was reviewed within the last 30 days. */
export async function findOwnRequest(db: Database, userId: number, now: Date): Promise<ApprovalRow | undefined> {
  const isShown = or(eq(approvals.status, "pending"), gt(approvals.reviewedAt, shift(now, -SHOWN)));
  const [newest] = await db
    .select()
    .from(approvals)
    .where(and(eq(approvals.userId, userId), eq(approvals.kind, "extension"), isShown))
    .orderBy(desc(approvals.id))
    .limit(1);
  return newest;
}
