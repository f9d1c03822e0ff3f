/** What becomes of the request for more time of a user who is deleted. */

import { and, eq } from "drizzle-orm";
import { approvals } from "../../store/schema.ts";
import type { Operation } from "../operation/context.ts";

/** The reason that the record of the request then shows. */
export const USER_DELETED = "The user was deleted";

/**
 * Rejects the user's pending request, in the name of who deletes the user and in the same transaction; the record of the
 * deletion names it. Nobody is mailed about it: the mail about the deletion says enough. Call it under the user's row lock.
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
