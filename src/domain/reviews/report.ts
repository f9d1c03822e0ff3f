/** A review as a file for an auditor, and what is compared with the audit log. */

import { and, asc, eq, gt } from "drizzle-orm";
import type { Database, Transaction } from "../../store/client.ts";
import { reviewItems } from "../../store/schema-reviews.ts";
import { describeHead, readHead } from "../audit/head.ts";
import type { Context } from "../operation/context.ts";
import { type Item, withEvidence } from "./items.ts";
import { type Review, readReview } from "./reviews.ts";

export interface Report {
  readonly review: Review;
  /** The newest record of the log and its seal: at the close or, of an open review, now. */
  readonly head: string;
  readonly items: readonly Item[];
}

/** Items that are read at once. */
const BLOCK = 1000;

/** The whole review; the same each time once it is closed. Throws `not_found`. */
export async function reportReview({ db, clock }: Pick<Context, "db" | "clock">, id: number): Promise<Report> {
  return await db.transaction(
    async (tx) => {
      const review = await readReview(tx, id);
      const { closeRecord, closeSeal, status } = review.row;
      const head = status === "closed" ? { id: closeRecord, seal: closeSeal } : await readHead(tx);
      const items: Item[] = [];
      for (let after = 0; ; after = items.at(-1)?.row.userId ?? 0) {
        const block = await readBlock(tx, { id, after, now: clock.now() });
        items.push(...block);
        if (block.length < BLOCK) return { review, head: describeHead(head), items };
      }
    },
    { isolationLevel: "repeatable read", accessMode: "read only" },
  );
}

async function readBlock(
  db: Database | Transaction,
  { id, after, now }: { readonly id: number; readonly after: number; readonly now: Date },
): Promise<readonly Item[]> {
  const rows = await db
    .select()
    .from(reviewItems)
    .where(and(eq(reviewItems.reviewId, id), gt(reviewItems.userId, after)))
    .orderBy(asc(reviewItems.userId))
    .limit(BLOCK);
  return await withEvidence(db, rows, now);
}
