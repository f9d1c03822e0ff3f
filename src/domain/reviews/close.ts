/** Closes a review: when everybody is answered for, or by hand. A closed review never changes. */

import { setTimeout as sleep } from "node:timers/promises";
import { eq } from "drizzle-orm";
import { UamError } from "../../shared/errors.ts";
import { formatTimestamp } from "../../shared/time/timestamp.ts";
import type { ReviewRow } from "../../store/schema-reviews.ts";
import { reviews } from "../../store/schema-reviews.ts";
import { readHead } from "../audit/head.ts";
import { audited } from "../operation/audited.ts";
import { type Context, type Services, systemContext } from "../operation/context.ts";
import { onward } from "../operation/permission.ts";
import { finishAnswers } from "./carry-out.ts";
import { countLeft, getReview, type Review, readReview } from "./reviews.ts";
import { settleOpen } from "./unanswered.ts";

/**
 * Closes the review. Whoever is not answered for is disabled or only listed, in the caller's name: without saying which it throws `conflict`
 * while somebody is not answered for. Returns it closed, or still open after `patience` milliseconds: then the service goes on by itself.
 */
export async function closeReview(
  context: Context,
  id: number,
  unanswered?: ReviewRow["unanswered"],
  patience = Number.POSITIVE_INFINITY,
): Promise<Review> {
  const review = await getReview(context, id);
  if (review.row.status === "closed" && unanswered === undefined) return review;
  const { open } = await countLeft(context.db, id);
  if (open > 0 && unanswered === undefined) {
    const who = open === 1 ? "1 user is" : `${open} users are`;
    throw new UamError("conflict", `${who} not answered for; say whether to disable or only to report them`, {
      reason: "review.open",
    });
  }
  if (open > 0) await settleOpen(context, id, { disables: unanswered === "disable" });
  const work = finishAnswers(onward(context), undefined, id);
  await (Number.isFinite(patience) ? Promise.race([work, sleep(patience)]) : work);
  await closeNow(context, id);
  return await getReview(context, id);
}

/** Closes the review in the service's name if everybody is answered for and nothing is outstanding. */
export async function closeIfAnswered(services: Services, id: number): Promise<void> {
  await closeNow(systemContext(services), id);
}

async function closeNow(context: Context, id: number): Promise<void> {
  const left = await countLeft(context.db, id);
  if (left.open + left.pending > 0) return;
  await audited(context, { action: "review.close", resourceId: String(id) }, async (op) => {
    const [row] = await op.tx.select({ status: reviews.status }).from(reviews).where(eq(reviews.id, id)).for("update");
    const still = await countLeft(op.tx, id);
    if (row?.status !== "open" || still.open + still.pending > 0) return op.record({ unneeded: true });
    const { counts } = await readReview(op.tx, id);
    const closedAt = context.clock.now();
    await op.tx.update(reviews).set({ status: "closed", closedAt }).where(eq(reviews.id, id));
    op.record({ detail: { ...counts, closed_at: formatTimestamp(closedAt) } });
    op.onRecorded(async (record) => {
      const { seal } = await readHead(op.tx);
      await op.tx.update(reviews).set({ closeRecord: record, closeSeal: seal }).where(eq(reviews.id, id));
    });
  });
}
