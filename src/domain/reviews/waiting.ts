/** Reviews with users about whom no sponsor is asked: they wait for owners and operators. */

import { sql } from "drizzle-orm";
import type { Context } from "../operation/context.ts";

export interface WaitingReview {
  readonly id: number;
  readonly dueAt: Date;
  /** Users who are not answered for, and whom only owners and operators are asked about. */
  readonly waiting: number;
}

/** The open ones of which somebody waits, the next due first. */
export async function waitingReviews({
  db,
  policy,
}: Pick<Context, "db" | "policy">): Promise<readonly WaitingReview[]> {
  const isMailed = policy.sponsor.mode === "off" ? sql`false` : HAS_SPONSOR;
  const rows = await db.execute<{ id: string; due_at: string; waiting: number }>(sql`
    select r.id::text as id, r.due_at, w.waiting from reviews r join lateral (
      select count(*)::int as waiting from review_items i join users u on u.id = i.user_id
        left join companies c on c.id = u.company_id
      where i.review_id = r.id and i.answer is null and not ${isMailed}) w on w.waiting > 0
    where r.status = 'open' order by r.due_at, r.id`);
  return rows.map(({ id, due_at: dueAt, waiting }) => ({ id: Number(id), dueAt: new Date(dueAt), waiting }));
}

/** A company's sponsor counts for those without one of their own, but never for itself. */
const HAS_SPONSOR = sql`(u.sponsor_email <> '' or coalesce(c.sponsor_email <> '' and lower(c.sponsor_email) <> lower(u.email), false))`;
