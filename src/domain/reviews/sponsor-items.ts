/** The items of a review that a sponsor is asked about, and their mails. */

import { and, asc, eq, isNull, sql } from "drizzle-orm";
import type { Database, Transaction } from "../../store/client.ts";
import { users } from "../../store/schema.ts";
import { companies } from "../../store/schema-companies.ts";
import { type ReviewItemRow, type ReviewRow, reviewItems, reviews } from "../../store/schema-reviews.ts";
import { queueMail } from "../mail/outbox.ts";
import { reviewAsked, reviewEnded } from "../mail/review-messages.ts";
import { askQuestion } from "../sponsors/questions.ts";
import { sponsorOf } from "../sponsors/sponsor-email.ts";
import { keyOf, type Telling } from "../sponsors/telling.ts";

/** The review, which stays open until the transaction ends if that is wanted. */
export async function findReview(db: Database | Transaction, id: number, held = false): Promise<ReviewRow | undefined> {
  const review = db.select().from(reviews).where(eq(reviews.id, id));
  const [row] = await (held ? review.for("share") : review);
  return row;
}

/** The open items of users for whom the address answers now, by the users' ids. */
export async function findOpenItems(
  db: Database | Transaction,
  reviewId: number,
  email: string,
): Promise<readonly ReviewItemRow[]> {
  return (await selectItems(db, reviewId, { email, isOpen: true })).map(({ item }) => item);
}

/** The items of users for whom the address answers now, answered or not and by anybody, by the users' ids. */
export async function findSponsorItems(
  db: Database | Transaction,
  reviewId: number,
  email: string,
): Promise<readonly ReviewItemRow[]> {
  return (await selectItems(db, reviewId, { email })).map(({ item }) => item);
}

/** What the address has answered. */
export async function answeredBySponsor(
  db: Database | Transaction,
  reviewId: number,
  email: string,
): Promise<readonly ReviewItemRow[]> {
  const theirs = and(eq(reviewItems.answeredByType, "sponsor"), eq(reviewItems.answeredBy, email));
  return await db
    .select()
    .from(reviewItems)
    .where(and(eq(reviewItems.reviewId, reviewId), theirs))
    .orderBy(asc(reviewItems.userId));
}

/** Why sponsors are asked, other than that the review begins. */
interface Occasion {
  /** How many days are left, if it is a reminder. */
  readonly days?: number;
  /** Whether a restore has taken back what they may have answered. */
  readonly again?: true;
}

/** Mails each sponsor, or each of some, once with all of theirs who are not answered for. */
export async function askSponsors(
  op: Telling,
  review: ReviewRow,
  occasion: Occasion = {},
  some?: readonly string[],
): Promise<void> {
  const { policy } = op.context;
  if (policy.sponsor.mode === "off") return;
  const open = Map.groupBy(await selectItems(op.tx, review.id, { isOpen: true }), ({ sponsor }) => sponsor);
  for (const [email, theirs] of open) {
    if (email === "" || some?.includes(email) === false) continue;
    const question = await askQuestion(op, { kind: "review", email, about: [review.id] });
    const names = theirs.map(({ item, fullName }) =>
      [item.username, fullName].filter((name) => name !== "").join(", "),
    );
    const message = reviewAsked(
      policy.site,
      { dueAt: review.dueAt, disables: review.unanswered === "disable", names, ...occasion },
      question,
    );
    await queueMail(op, { recipient: email, message, expiresAt: question.expiresAt, dedupeKey: keyOf(question.id) });
  }
}

/** Mails those who answer for somebody now, and have no link of this review: they became the sponsor after it had begun. */
export async function askNewSponsors(op: Telling, review: ReviewRow, now: Date): Promise<void> {
  if (op.context.policy.sponsor.mode === "off") return;
  const rows = await op.tx.execute<{ email: string }>(sql`
    select distinct s.email from review_items i join users u on u.id = i.user_id left join companies c on c.id = u.company_id
      cross join lateral (select coalesce(nullif(u.sponsor_email, ''), lower(c.sponsor_email), '') as email) s
    where i.review_id = ${review.id} and i.answer is null and s.email <> '' and s.email not in (
      select q.email from questions q where q.kind = 'review' and q.about = array[${review.id}::bigint]
        and q.expires_at > ${now.toISOString()}::timestamptz)`);
  const emails = rows.map(({ email }) => email);
  if (emails.length > 0) await askSponsors(op, review, {}, emails);
}

/** Mails each sponsor whose people lose their access because nobody answered for them. */
export async function tellOfEnds(op: Telling, review: number, userIds: readonly number[]): Promise<void> {
  const { policy } = op.context;
  if (policy.sponsor.mode === "off" || userIds.length === 0) return;
  const ids = sql`${`{${userIds.join()}}`}::bigint[]`;
  const rows = await selectSponsored(op.tx).where(sql`${users.id} = any(${ids})`);
  for (const [email, theirs] of Map.groupBy(rows, ({ user, company }) => sponsorOf(user, company ?? undefined))) {
    if (email === "") continue;
    const message = reviewEnded(policy.site, { names: theirs.map(({ user }) => user.username) });
    await queueMail(op, { recipient: email, message, dedupeKey: `review-ended:${review}:${userIds[0]}:${email}` });
  }
}

/** Who answers for these users, by their ids; "" for nobody. */
export async function sponsorsOf(
  db: Database | Transaction,
  userIds: readonly number[],
): Promise<ReadonlyMap<number, string>> {
  if (userIds.length === 0) return new Map();
  const ids = sql`${`{${userIds.join()}}`}::bigint[]`;
  const rows = await selectSponsored(db).where(sql`${users.id} = any(${ids})`);
  return new Map(rows.map(({ user, company }) => [user.id, sponsorOf(user, company ?? undefined)]));
}

function selectSponsored(db: Database | Transaction) {
  return db
    .select({
      user: { id: users.id, username: users.username, email: users.email, sponsorEmail: users.sponsorEmail },
      company: companies,
    })
    .from(users)
    .leftJoin(companies, eq(companies.id, users.companyId))
    .$dynamic();
}

/** The items of users who are stored, each with who answers for them; only that address's, if one is given, and only open ones, if wanted. */
async function selectItems(
  db: Database | Transaction,
  reviewId: number,
  { email, isOpen = false }: { readonly email?: string; readonly isOpen?: boolean },
) {
  const theirs = email === undefined ? undefined : await peopleOf(db, email);
  const rows = await db
    .select({
      item: reviewItems,
      email: users.email,
      sponsorEmail: users.sponsorEmail,
      fullName: users.fullName,
      company: companies,
    })
    .from(reviewItems)
    .innerJoin(users, eq(users.id, reviewItems.userId))
    .leftJoin(companies, eq(companies.id, users.companyId))
    .where(
      and(
        eq(reviewItems.reviewId, reviewId),
        isOpen ? isNull(reviewItems.answer) : undefined,
        theirs === undefined ? undefined : sql`${reviewItems.userId} = any(${theirs}::bigint[])`,
      ),
    )
    .orderBy(asc(reviewItems.userId));
  return rows
    .map(({ item, company, ...user }) => ({
      ...{ item, fullName: user.fullName, sponsor: sponsorOf(user, company ?? undefined) },
    }))
    .filter(({ sponsor }) => email === undefined || sponsor === email);
}

/**
 * The ids of all for whom the address may answer, as an array of the database. On its own, by the indexes of both: as a part of the statement
 * about items it was compared with every item of a large review, one by one.
 */
async function peopleOf(db: Database | Transaction, email: string): Promise<string> {
  const rows = await db.execute<{ id: string }>(sql`
    select u.id::text as id from users u where u.sponsor_email = ${email} and u.sponsor_email <> '' union all
    select u.id::text from companies c join users u on u.company_id = c.id
      where lower(c.sponsor_email) = ${email} and u.sponsor_email = ''`);
  return `{${rows.map(({ id }) => id).join()}}`;
}
