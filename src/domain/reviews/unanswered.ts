/** Users whom nobody answered for: by the day they lose their access, or are only listed. */

import { and, asc, eq, isNull, lte, notExists, or, type SQL, sql } from "drizzle-orm";
import { users } from "../../store/schema.ts";
import { type ReviewItemRow, reviewItems } from "../../store/schema-reviews.ts";
import { audited } from "../operation/audited.ts";
import type { Context, Operation } from "../operation/context.ts";
import { type Evidence, evidenceText, readEvidence } from "./evidence.ts";
import { holdOpen } from "./reviews.ts";
import { tellOfEnds } from "./sponsor-items.ts";
import { type Settled, storeAnswers } from "./stored.ts";

/** Items in one operation. */
const AT_ONCE = 200;

export interface Settling {
  /** Whether they lose their access, or are only listed. */
  readonly disables: boolean;
  /** Only those whose day has come by then; by default, everybody. */
  readonly dueBy?: Date;
  readonly signal?: AbortSignal | undefined;
}

/** Settles the open items of a review in the caller's name: each is recorded, and what is to be taken away is outstanding from then on. */
export async function settleOpen(context: Context, reviewId: number, settling: Settling): Promise<void> {
  const { dueBy } = settling;
  const due = dueBy === undefined ? undefined : or(isNull(reviewItems.graceUntil), lte(reviewItems.graceUntil, dueBy));
  await settleWhere(context, reviewId, { ...settling, where: due });
}

/** Settles the items of users who were deleted: there is nothing left to answer for. */
export async function settleGone(context: Context, reviewId: number, signal?: AbortSignal): Promise<void> {
  const { db } = context;
  const where = notExists(db.select({ one: sql`1` }).from(users).where(eq(users.id, reviewItems.userId)));
  await settleWhere(context, reviewId, { disables: false, where, signal });
}

async function settleWhere(
  context: Context,
  reviewId: number,
  { disables, where, signal }: Settling & { readonly where: SQL | undefined },
): Promise<void> {
  for (let found = AT_ONCE; found === AT_ONCE && signal?.aborted !== true; ) {
    const open = and(eq(reviewItems.reviewId, reviewId), isNull(reviewItems.answer), where);
    const [first] = await context.db.select({ userId: reviewItems.userId }).from(reviewItems).where(open).limit(1);
    // Nothing is begun, or recorded, where there is nothing to do.
    if (first === undefined) return;
    const entry = { action: "review.unanswered", resourceId: String(reviewId) } as const;
    found = await audited(context, entry, async (op) => {
      await holdOpen(op.tx, reviewId);
      const items = await op.tx
        .select()
        .from(reviewItems)
        .where(open)
        .orderBy(asc(reviewItems.userId))
        .limit(AT_ONCE)
        .for("update");
      if (items.length === 0) op.record({ unneeded: true });
      else await settle(op, { reviewId, items, disables });
      return items.length;
    });
  }
}

async function settle(
  op: Operation,
  {
    reviewId,
    items,
    disables,
  }: { readonly reviewId: number; readonly items: readonly ReviewItemRow[]; readonly disables: boolean },
): Promise<void> {
  const ids = items.map(({ userId }) => userId);
  const evidence = await readEvidence(op.tx, ids, op.context.clock.now());
  const settled = items.map((item) => settledOf(item, evidence.get(item.userId), disables));
  await storeAnswers(op, reviewId, settled);
  const ended = settled.filter(({ pending }) => pending).map(({ userId }) => userId);
  await tellOfEnds(op, reviewId, ended);
}

/** Whoever has no access at that moment has none to lose: giving it back is a decision of somebody, on record. */
function settledOf(
  { userId, username, graceUntil }: ReviewItemRow,
  evidence: Evidence | undefined,
  disables: boolean,
): Settled {
  const isActive = evidence?.status === "active";
  return {
    ...{ userId, username, graceUntil, reason: "", until: null, evidence: evidenceText(evidence) },
    answer: isActive ? "unanswered" : "gone",
    pending: isActive && disables,
  };
}
