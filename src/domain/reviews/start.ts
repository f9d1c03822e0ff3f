/** Begins a review: one item for each user who can have access now. */

import { createHash } from "node:crypto";
import { eq, sql } from "drizzle-orm";
import { UamError } from "../../shared/errors.ts";
import { MOST_REVIEW_DAYS } from "../../shared/product/limits.ts";
import { DAY, shift } from "../../shared/time/clock.ts";
import { formatTimestamp } from "../../shared/time/timestamp.ts";
import type { Transaction } from "../../store/client.ts";
import { companies } from "../../store/schema-companies.ts";
import { hostGroups } from "../../store/schema-fleet.ts";
import { type ReviewRow, reviews } from "../../store/schema-reviews.ts";
import { parseEmail } from "../accounts/username.ts";
import { tellAdministrators } from "../mail/administrators.ts";
import { reviewStarted } from "../mail/review-messages.ts";
import { audited } from "../operation/audited.ts";
import type { Context } from "../operation/context.ts";
import { nameForPeople } from "../operation/entry.ts";
import { type Review, readReview, scopeText } from "./reviews.ts";
import { askSponsors, sponsorsOf } from "./sponsor-items.ts";

/** Whom a review is about: everybody, or the users of one company, group of hosts, or sponsor. */
export type Scope =
  | "all"
  | { readonly company: number }
  | { readonly hostGroup: number }
  | { readonly sponsor: string };

export interface NewReview {
  readonly scope: Scope;
  /** How many days there are to answer. */
  readonly dueDays: number;
  readonly unanswered: ReviewRow["unanswered"];
}

/** Days that there are to answer where nobody says how many. */
export const DUE_DAYS = 14;

/**
 * Begins a review of everybody in the scope who can have access at this moment; who comes later is not in it. Throws `invalid` for a scope that
 * is not there, and `conflict` if nobody in it has access.
 */
export async function startReview(context: Context, { scope, dueDays, unanswered }: NewReview): Promise<Review> {
  requireDays(dueDays);
  return await audited(context, { action: "review.start" }, async (op) => {
    const now = context.clock.now();
    const about = await parseScope(op.tx, scope);
    const dueAt = shift(now, dueDays * DAY);
    const begun = { startedAt: now, startedBy: nameForPeople(context.actor), dueAt };
    const [row] = await op.tx
      .insert(reviews)
      .values({ ...about, unanswered, ...begun })
      .returning();
    if (row === undefined) throw new Error("insert returned no row");
    const which = { scope: scopeText(row), ...(row.scopeId === null ? {} : { scope_id: row.scopeId }) };
    const times = { started_at: formatTimestamp(now), due_at: formatTimestamp(dueAt) };
    op.about({ detail: { ...which, ...times, unanswered } });
    const ids = await addItems(op.tx, row, now);
    if (ids.length === 0) {
      throw new UamError("conflict", "Nobody whom the review would be about has access", { reason: "review.empty" });
    }
    op.record({ resourceId: String(row.id), detail: { users: ids.length, users_sha256: hashOfUsers(ids) } });
    op.onRecorded(async (record) => {
      await op.tx.update(reviews).set({ startRecord: record }).where(eq(reviews.id, row.id));
    });
    const review = await readReview(op.tx, row.id);
    const message = reviewStarted(context.policy.site, { ...reviewFacts(row), total: ids.length });
    await askSponsors(op, row);
    await tellAdministrators(op, message, { about: "users", occasion: `review:${row.id}` });
    return review;
  });
}

/** Whom a review would be about, if it began now. */
export interface ReviewPreview {
  readonly total: number;
  /** How many sponsors would be asked, and about how many users; owners and operators are about the others. */
  readonly sponsors: number;
  readonly sponsored: number;
}

/** Previews `startReview`, and throws as it does for the scope. */
export async function previewReview({ db, clock, policy }: Context, scope: Scope): Promise<ReviewPreview> {
  return await db.transaction(
    async (tx) => {
      const about = await parseScope(tx, scope);
      const ids = await tx.execute<{ id: string }>(
        sql`select u.id::text as id from users u where ${isAsked(about, clock.now())}`,
      );
      const asked =
        policy.sponsor.mode === "off"
          ? new Map()
          : await sponsorsOf(
              tx,
              ids.map(({ id }) => Number(id)),
            );
      const sponsors = [...asked.values()].filter((sponsor) => sponsor !== "");
      return { total: ids.length, sponsors: new Set(sponsors).size, sponsored: sponsors.length };
    },
    { isolationLevel: "repeatable read", accessMode: "read only" },
  );
}

/** What mails say of a review. */
export function reviewFacts(row: ReviewRow) {
  return { id: row.id, scope: scopeText(row), dueAt: row.dueAt, disables: row.unanswered === "disable" };
}

/** Which users a review is about, as its first record has it: the SHA-256 of their ids, one a line, in ascending order. */
export function hashOfUsers(ids: readonly number[]): string {
  const sorted = [...ids].sort((one, other) => one - other);
  return createHash("sha256")
    .update(sorted.map((id) => `${id}\n`).join(""))
    .digest("hex");
}

function requireDays(days: number): void {
  if (Number.isInteger(days) && days >= 1 && days <= MOST_REVIEW_DAYS) return;
  throw new UamError("invalid", `due_days must be a whole number from 1 to ${MOST_REVIEW_DAYS}`);
}

async function parseScope(tx: Transaction, scope: Scope): Promise<Within> {
  if (scope === "all") return { scope, scopeId: null, scopeName: "" };
  if ("sponsor" in scope) return { scope: "sponsor", scopeId: null, scopeName: parseEmail(scope.sponsor) };
  if ("company" in scope) {
    const [row] = await tx.select({ name: companies.name }).from(companies).where(eq(companies.id, scope.company));
    if (row === undefined) throw new UamError("invalid", "There is no such company", { reason: "company.missing" });
    return { scope: "company", scopeId: scope.company, scopeName: row.name };
  }
  const [row] = await tx.select({ name: hostGroups.name }).from(hostGroups).where(eq(hostGroups.id, scope.hostGroup));
  if (row === undefined) {
    throw new UamError("invalid", "There is no such group of hosts", { reason: "host_group.missing" });
  }
  return { scope: "host_group", scopeId: scope.hostGroup, scopeName: row.name };
}

/** The ids of the users. */
async function addItems(tx: Transaction, review: ReviewRow, now: Date): Promise<readonly number[]> {
  const [row] = await tx.execute<{ ids: string }>(sql`
    with added as (
      insert into review_items (review_id, user_id, username)
      select ${review.id}, u.id, u.username from users u
      where ${isAsked(review, now)}
      returning user_id)
    select coalesce(string_agg(user_id::text, ','), '') as ids from added`);
  return row === undefined || row.ids === "" ? [] : row.ids.split(",").map(Number);
}

type Within = Pick<ReviewRow, "scope" | "scopeId" | "scopeName">;

/** Whether the user `u` is in the scope, and can have access. */
function isAsked(about: Within, now: Date) {
  const time = sql`${formatTimestamp(now)}::timestamptz`;
  return sql`u.status = 'active' and u.disabled_at is null and u.expire_at > ${time} and ${within(about)}`;
}

function within({ scope, scopeId, scopeName }: Within) {
  switch (scope) {
    case "all":
      return sql`true`;
    case "company":
      return sql`u.company_id = ${scopeId}`;
    case "host_group":
      return sql`exists (select 1 from grants g where g.user_id = u.id and g.group_id = ${scopeId})`;
    case "sponsor":
      return sql`coalesce(nullif(u.sponsor_email, ''), (select lower(c.sponsor_email) from companies c where c.id = u.company_id)) = lower(${scopeName})`;
  }
}
