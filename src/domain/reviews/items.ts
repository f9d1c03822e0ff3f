/** The users that a review is about, with the evidence: as it is now or, once answered, as it was then. */

import { and, asc, count, eq, isNotNull, isNull } from "drizzle-orm";
import { offsetOf, type Page, type Paged } from "../../shared/product/page.ts";
import type { Database, Transaction } from "../../store/client.ts";
import { type ReviewItemRow, reviewItems } from "../../store/schema-reviews.ts";
import type { Context } from "../operation/context.ts";
import { type Evidence, readEvidence } from "./evidence.ts";
import { notInIt, readReview } from "./reviews.ts";
import { sponsorsOf } from "./sponsor-items.ts";

/** An item of a review. */
export interface Item {
  readonly row: ReviewItemRow;
  /** Undefined for a user who is gone. */
  readonly evidence: Evidence | undefined;
  /** Of an open item: the sponsor who is asked, "" where owners and operators are. Undefined where nobody wanted to know. */
  readonly asked?: string | undefined;
}

export interface ItemFilter {
  /** Only those who are answered for, or are not. */
  readonly answered?: boolean | undefined;
}

/** One page of a review's items, by the users' ids; throws `not_found`. */
export async function listItems(
  { db, clock, policy }: Pick<Context, "db" | "clock" | "policy">,
  reviewId: number,
  { answered, page }: ItemFilter & { readonly page: Page },
): Promise<Paged<Item>> {
  return await db.transaction(
    async (tx) => {
      await readReview(tx, reviewId);
      const which =
        answered === undefined ? undefined : answered ? isNotNull(reviewItems.answer) : isNull(reviewItems.answer);
      const where = and(eq(reviewItems.reviewId, reviewId), which);
      const [row] = await tx.select({ total: count() }).from(reviewItems).where(where);
      const rows = await tx
        .select()
        .from(reviewItems)
        .where(where)
        .orderBy(asc(reviewItems.userId))
        .limit(page.pageSize)
        .offset(offsetOf(page));
      const items = await withEvidence(tx, rows, clock.now());
      const asked = await askedAbout(tx, policy, rows);
      return { total: row?.total ?? 0, items: items.map((item) => ({ ...item, asked: asked.get(item.row.userId) })) };
    },
    { isolationLevel: "repeatable read", accessMode: "read only" },
  );
}

/** Who is asked about those of the items that are open, by the user's id. */
async function askedAbout(
  db: Database | Transaction,
  { sponsor: { mode } }: Pick<Context["policy"], "sponsor">,
  rows: readonly ReviewItemRow[],
): Promise<ReadonlyMap<number, string>> {
  const open = rows.filter(({ answer }) => answer === null).map(({ userId }) => userId);
  const sponsors = mode === "off" ? new Map<number, string>() : await sponsorsOf(db, open);
  return new Map(open.map((id) => [id, sponsors.get(id) ?? ""]));
}

/** The item of a user; throws `not_found`. */
export async function getItem(
  { db, clock }: Pick<Context, "db" | "clock">,
  reviewId: number,
  userId: number,
): Promise<Item> {
  const rows = await db
    .select()
    .from(reviewItems)
    .where(and(eq(reviewItems.reviewId, reviewId), eq(reviewItems.userId, userId)));
  const [item] = await withEvidence(db, rows, clock.now());
  return item ?? notInIt(reviewId);
}

/** The items with their evidence, in their order. */
export async function withEvidence(
  db: Database | Transaction,
  rows: readonly ReviewItemRow[],
  now: Date,
): Promise<readonly Item[]> {
  const open = rows.filter(({ answer }) => answer === null).map(({ userId }) => userId);
  const current = await readEvidence(db, open, now);
  return rows.map((row) => ({ row, evidence: row.answer === null ? current.get(row.userId) : storedEvidence(row) }));
}

/** The evidence as it was when the item was answered. */
function storedEvidence({ evidence }: ReviewItemRow): Evidence | undefined {
  return evidence === "" ? undefined : (JSON.parse(evidence) as Evidence);
}
