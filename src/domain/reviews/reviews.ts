/** Reviews: whether the access of each user is still right. Reading them, and the locks that changes begin with. */

import { and, count, desc, eq, sql } from "drizzle-orm";
import { UamError } from "../../shared/errors.ts";
import { offsetOf, type Page, type Paged } from "../../shared/product/page.ts";
import type { Database, Transaction } from "../../store/client.ts";
import { type ReviewItemRow, type ReviewRow, reviewItems, reviews } from "../../store/schema-reviews.ts";
import type { Context } from "../operation/context.ts";

/** A review, and how many of its users are answered for. */
export interface Review {
  readonly row: ReviewRow;
  readonly counts: ReviewCounts;
}

/** Each user is counted once; `ended` counts those, too, who lost their access in another way before the day. */
export interface ReviewCounts {
  readonly total: number;
  readonly kept: number;
  readonly ended: number;
  readonly shortened: number;
  /** Not answered yet or, of a closed review, never. */
  readonly unanswered: number;
}

/** One page of reviews, newest first. */
export async function listReviews({ db }: Pick<Context, "db">, page: Page): Promise<Paged<Review>> {
  // One snapshot, so that `total` and `items` agree.
  return await db.transaction(
    async (tx) => {
      const [row] = await tx.select({ total: count() }).from(reviews);
      const items = await selectReviews(tx).orderBy(desc(reviews.id)).limit(page.pageSize).offset(offsetOf(page));
      return { total: row?.total ?? 0, items };
    },
    { isolationLevel: "repeatable read", accessMode: "read only" },
  );
}

/** The review; throws `not_found`. */
export async function getReview({ db }: Pick<Context, "db">, id: number): Promise<Review> {
  return await readReview(db, id);
}

/** The same in a transaction. */
export async function readReview(db: Database | Transaction, id: number): Promise<Review> {
  const [review] = await selectReviews(db).where(eq(reviews.id, id));
  return review ?? missing();
}

/**
 * The review, which stays open until the transaction ends: who answers shares the lock, who closes it waits. Throws `not_found`, and
 * `conflict` for one that is closed.
 */
export async function holdOpen(tx: Transaction, id: number, lock: "share" | "update" = "share"): Promise<ReviewRow> {
  const [row] = await tx.select().from(reviews).where(eq(reviews.id, id)).for(lock);
  if (row === undefined) return missing();
  if (row.status === "open") return row;
  throw new UamError("conflict", `Review ${id} is closed; a closed review never changes`, { reason: "review.closed" });
}

/** The items of these users, locked in an order that is the same for everybody; throws `not_found` for a user who is not in the review. */
export async function lockItems(
  tx: Transaction,
  reviewId: number,
  userIds: readonly number[],
): Promise<readonly ReviewItemRow[]> {
  const ids = sql`${`{${[...new Set(userIds)].join()}}`}::bigint[]`;
  const items = await tx
    .select()
    .from(reviewItems)
    .where(and(eq(reviewItems.reviewId, reviewId), sql`${reviewItems.userId} = any(${ids})`))
    .orderBy(reviewItems.userId)
    .for("update");
  const known = new Set(items.map(({ userId }) => userId));
  for (const id of userIds) if (!known.has(id)) return notInIt(reviewId);
  return items;
}

/** How many items are not answered, and how many answers are not carried out. */
export async function countLeft(db: Database | Transaction, id: number): Promise<{ open: number; pending: number }> {
  const [row] = await db
    .select({
      open: sql<number>`(count(*) filter (where ${reviewItems.answer} is null))::int`,
      pending: sql<number>`(count(*) filter (where ${reviewItems.pending}))::int`,
    })
    .from(reviewItems)
    .where(eq(reviewItems.reviewId, id));
  return row ?? { open: 0, pending: 0 };
}

export function notInIt(reviewId: number): never {
  throw new UamError("not_found", `Review ${reviewId} is not about such a user`, { reason: "review.missing" });
}

function missing(): never {
  throw new UamError("not_found", "There is no such review", { reason: "review.missing" });
}

/** The whole scope in words, for records and mails. */
export function scopeText({ scope, scopeName }: Pick<ReviewRow, "scope" | "scopeName">): string {
  switch (scope) {
    case "all":
      return "all";
    case "company":
      return `the company ${scopeName}`;
    case "host_group":
      return `the group of hosts ${scopeName}`;
    case "sponsor":
      return `the sponsor ${scopeName}`;
  }
}

function selectReviews(db: Database | Transaction) {
  const of = sql`from review_items i where i.review_id = ${sql.raw("reviews.id")}`;
  return db
    .select({
      row: reviews,
      counts: sql<ReviewCounts>`(select json_build_object('total', count(*),
        'kept', count(*) filter (where i.answer = 'keep'),
        'ended', count(*) filter (where i.answer in ('end', 'gone')),
        'shortened', count(*) filter (where i.answer = 'shorten'),
        'unanswered', count(*) filter (where i.answer is null or i.answer = 'unanswered'))::text ${of})`.mapWith(
        (text: string) => JSON.parse(text) as ReviewCounts,
      ),
    })
    .from(reviews)
    .$dynamic();
}
