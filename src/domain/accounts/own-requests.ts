/** A user's own requests, for more time and for access: those to show, and their end when the user is deleted. */

import { and, desc, eq, gt, ne, or } from "drizzle-orm";
import { DAY, shift } from "../../shared/time/clock.ts";
import type { Database } from "../../store/client.ts";
import { type ApprovalRow, approvals } from "../../store/schema.ts";
import type { Operation } from "../operation/context.ts";

/** A reviewed request is shown to its user for this long. */
const SHOWN = 30 * DAY;

/** The reason in the record of a request that ends with its user. */
export const USER_DELETED = "The user was deleted";

/**
 * Rejects the user's pending requests in the name of the person who deletes the user, in the same transaction; the record of
 * the deletion names it. Sends no mail, because the mail about the deletion says enough. Call it under the user's row lock.
 */
export async function rejectRequestOf(op: Operation, userId: number): Promise<void> {
  const { actor, clock } = op.context;
  const rejected = await op.tx
    .update(approvals)
    .set({ status: "rejected", reason: USER_DELETED, reviewedBy: actor.name, reviewedAt: clock.now() })
    .where(and(eq(approvals.userId, userId), ne(approvals.kind, "access"), eq(approvals.status, "pending")))
    .returning({ id: approvals.id });
  for (const { id } of rejected) op.record({ detail: { rejected_application: id } });
}

/** The user's newest request of the kind, if it is pending or was reviewed within the last 30 days. */
export async function findOwnRequest(
  db: Database,
  { userId, kind }: { readonly userId: number; readonly kind: Exclude<ApprovalRow["kind"], "access"> },
  now: Date,
): Promise<ApprovalRow | undefined> {
  const isShown = or(eq(approvals.status, "pending"), gt(approvals.reviewedAt, shift(now, -SHOWN)));
  const [newest] = await db
    .select()
    .from(approvals)
    .where(and(eq(approvals.userId, userId), eq(approvals.kind, kind), isShown))
    .orderBy(desc(approvals.id))
    .limit(1);
  return newest;
}
