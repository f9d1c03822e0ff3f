/** What reviews do by themselves: begin, remind, and end on their day. */

import { and, asc, desc, eq, isNull, lte, or, sql } from "drizzle-orm";
import { DAY, shift } from "../../shared/time/clock.ts";
import { type ReviewRow, reviewItems, reviews } from "../../store/schema-reviews.ts";
import { settings } from "../../store/schema-service.ts";
import type { Heartbeat } from "../lifecycle/heartbeat.ts";
import { tellAdministrators } from "../mail/administrators.ts";
import { reviewReminder } from "../mail/review-messages.ts";
import { type Services, systemContext } from "../operation/context.ts";
import { readSetting } from "../settings/settings.ts";
import { QUESTION_TTL } from "../sponsors/questions.ts";
import { finishAnswers } from "./carry-out.ts";
import { closeIfAnswered } from "./close.ts";
import { countLeft } from "./reviews.ts";
import { askNewSponsors, askSponsors } from "./sponsor-items.ts";
import { DUE_DAYS, reviewFacts, startReview } from "./start.ts";
import { settleGone, settleOpen } from "./unanswered.ts";

/** Days before the day of a review, on which who has to answer is reminded. */
const REMINDERS: readonly [number, ...number[]] = [7, 3, 1];

/**
 * Carries out what is outstanding, reminds, and settles what was not answered by its day: in the service's name, and not while the clock is
 * doubtful (see `beat`), which must not take away anybody's access for want of an answer. A failure in one review is logged, and does not stop the
 * others.
 */
export async function workOnReviews(services: Services, time: Heartbeat, signal?: AbortSignal): Promise<void> {
  await finishAnswers(services, signal);
  const open = await services.db.select().from(reviews).where(eq(reviews.status, "open")).orderBy(asc(reviews.id));
  for (const review of open) {
    if (signal?.aborted) return;
    try {
      await workOn(services, review, { time, signal });
    } catch (error) {
      services.log.error("a review could not be worked on; this will be retried", { error, reviewId: review.id });
    }
  }
  if (time.holdUntil === undefined) await beginDue(services, time.now);
}

async function workOn(
  services: Services,
  review: ReviewRow,
  { time, signal }: { readonly time: Heartbeat; readonly signal: AbortSignal | undefined },
): Promise<void> {
  const context = systemContext(services);
  await settleGone(context, review.id, signal);
  await remind(services, review, time.now);
  await askWhoIsNew(services, review, time.now);
  if (time.holdUntil === undefined && review.dueAt <= time.now) {
    await settleOpen(context, review.id, { disables: review.unanswered === "disable", dueBy: time.now, signal });
    await finishAnswers(services, signal, review.id);
  }
  await closeIfAnswered(services, review.id);
}

/**
 * Of several due reminders, as after a stop of the service, only the one nearest to the day is sent. None is sent within a day of the
 * beginning, whose mail says the date.
 */
async function remind(services: Services, { id }: ReviewRow, now: Date): Promise<void> {
  await services.db.transaction(async (tx) => {
    const [review] = await tx.select().from(reviews).where(eq(reviews.id, id)).for("update");
    if (review?.status !== "open" || review.dueAt <= now) return;
    const days = REMINDERS.findLast((ahead) => shift(review.dueAt, -ahead * DAY) <= now);
    if (days === undefined || (review.reminded !== null && review.reminded <= days)) return;
    await tx.update(reviews).set({ reminded: days }).where(eq(reviews.id, id));
    if (shift(review.dueAt, -days * DAY) < shift(review.startedAt, DAY)) return;
    const { open } = await countLeft(tx, id);
    if (open === 0) return;
    const message = reviewReminder(services.policy.site, { ...reviewFacts(review), open, days });
    const occasion = `review:${id}:${days}`;
    await askSponsors({ tx, context: services }, review, { days });
    await tellAdministrators({ tx, context: services }, message, { about: "users", occasion });
  });
}

/** Between the end of the first links and the first reminder nobody is new: a reminder is still to come. */
async function askWhoIsNew(services: Services, { id, startedAt, dueAt }: ReviewRow, now: Date): Promise<void> {
  if (now >= shift(startedAt, QUESTION_TTL) && now < shift(dueAt, -REMINDERS[0] * DAY)) return;
  await services.db.transaction(async (tx) => {
    const [review] = await tx.select().from(reviews).where(eq(reviews.id, id)).for("update");
    if (review?.status === "open" && review.dueAt > now) await askNewSponsors({ tx, context: services }, review, now);
  });
}

/** Begins a review of everybody as often as `policy.review_every` says, counted from the last one or from when that was set. */
async function beginDue(services: Services, now: Date): Promise<void> {
  const every = await readSetting(services, services.db, "policy.review_every");
  if (every === 0) return;
  const [last] = await services.db
    .select({ at: reviews.startedAt })
    .from(reviews)
    .where(eq(reviews.scope, "all"))
    .orderBy(desc(reviews.id))
    .limit(1);
  const [set] = await services.db.select().from(settings).where(eq(settings.key, "policy.review_every"));
  const since = last?.at ?? set?.updatedAt;
  if (since === undefined) return;
  // One that began by a clock that was far ahead would be the last for as long as it was.
  const isAhead = since > shift(now, DAY);
  if (!isAhead && shift(since, every) > now) return;
  const anybody = sql`select 1 from users u where u.status = 'active' and u.expire_at > ${now.toISOString()}::timestamptz limit 1`;
  if ((await services.db.execute(anybody)).length === 0) return;
  const dueDays = Math.min(DUE_DAYS, Math.max(1, Math.floor(every / DAY / 2)));
  await startReview(systemContext(services), { scope: "all", dueDays, unanswered: "disable" });
}

/** How many users are to lose their access now for want of an answer, whether or not that waits. */
export async function countUnanswered({ db }: Pick<Services, "db">, now: Date): Promise<number> {
  const due = or(isNull(reviewItems.graceUntil), lte(reviewItems.graceUntil, now));
  const [row] = await db
    .select({ due: sql<number>`count(*)::int` })
    .from(reviewItems)
    .innerJoin(reviews, eq(reviews.id, reviewItems.reviewId))
    .where(
      and(
        eq(reviews.status, "open"),
        eq(reviews.unanswered, "disable"),
        lte(reviews.dueAt, now),
        isNull(reviewItems.answer),
        due,
      ),
    );
  return row?.due ?? 0;
}
