/**
 * Takes away the access that answers in reviews end. The answer is stored first, as outstanding; each closing is one of its own, in the name of
 * whoever answered, and goes on after a crash.
 */

import { and, asc, eq, sql } from "drizzle-orm";
import { severalAtOnce } from "../../shared/work/several.ts";
import type { Transaction } from "../../store/client.ts";
import { type ReviewItemRow, reviewItems } from "../../store/schema-reviews.ts";
import { disableOnRecord } from "../accounts/access.ts";
import { type ClosingReason, closingsOf } from "../accounts/closings.ts";
import { isExpired, lockUserIfStored, type User } from "../accounts/find-user.ts";
import { shortenOnRecord } from "../accounts/shortening.ts";
import { auditedClosing } from "../operation/audited.ts";
import type { ClosingOperation, Context, Services } from "../operation/context.ts";
import { type Actor, storedActor } from "../operation/entry.ts";
import { isBeingShortened, isShortening } from "../users/changeable.ts";

/** The reason in the records of users who were not answered for, or were answered for without a reason. */
const REASON = "review";
/** They share the waits for the disk and the host, as where many expire at once. */
const AT_ONCE = 4;

/** Carries out the outstanding answers for these users; of several, what fails is logged and goes on by itself. Throws what fails of one. */
export async function carryOutAnswers(
  context: Context,
  { reviewId, userIds }: { readonly reviewId: number; readonly userIds: readonly number[] },
): Promise<void> {
  const ids = sql`${`{${userIds.join()}}`}::bigint[]`;
  const items = await context.db
    .select()
    .from(reviewItems)
    .where(and(eq(reviewItems.reviewId, reviewId), sql`${reviewItems.userId} = any(${ids})`, reviewItems.pending))
    .orderBy(asc(reviewItems.userId));
  const [only] = items;
  if (userIds.length === 1) return only === undefined ? undefined : await carryOut(context, only);
  await carryOutAll(context, items);
}

/** Carries out whatever is outstanding in any review, or in one of them, in the name of whoever answered. */
export async function finishAnswers(services: Services, signal?: AbortSignal, reviewId?: number): Promise<void> {
  const items = await services.db
    .select()
    .from(reviewItems)
    .where(and(sql`${reviewItems.pending}`, reviewId === undefined ? undefined : eq(reviewItems.reviewId, reviewId)))
    .orderBy(asc(reviewItems.reviewId), asc(reviewItems.userId));
  await carryOutAll(services, items, signal);
}

async function carryOutAll(
  services: Services & { readonly requestId?: string },
  items: readonly ReviewItemRow[],
  signal?: AbortSignal,
): Promise<void> {
  await severalAtOnce(items, { atOnce: AT_ONCE, signal }, async (item) => {
    const { reviewId, userId } = item;
    try {
      await carryOut({ ...services, actor: actorOf(item), requestId: services.requestId ?? "" }, item);
    } catch (error) {
      services.log.error("the access that a review ended is not completely taken away yet; this will be retried", {
        ...{ error, reviewId, userId },
      });
    }
  });
}

/** Also where the account on the host is missing, or is not ours. */
async function carryOut(context: Context, item: ReviewItemRow): Promise<void> {
  const { reviewId, userId, username, until } = item;
  const reason = item.reason === "" ? REASON : item.reason;
  const action = until === null ? "user.disable" : "user.shorten";
  const entry = { action, resourceId: String(userId), subjectId: userId } as const;
  await auditedClosing(context, { ...entry, detail: { username, reason, review: reviewId } }, async (op) => {
    const user = await lockUserIfStored(op.tx, userId);
    // It stays outstanding until the end that was interrupted, as a rule this one, is finished.
    if (until !== null && isBeingShortened(await closingsOf(op.tx, userId), until))
      return op.record({ unneeded: true });
    if (!(await settle(op.tx, item)) || user === undefined) return op.record({ unneeded: true });
    const why = { reason, review: reviewId };
    await (until === null ? disable(op, user, why) : shorten(op, user, until, why));
  });
}

async function disable(op: ClosingOperation, user: User, why: ClosingReason): Promise<void> {
  if (user.disabledAt !== null || user.status === "expired") return op.record({ unneeded: true });
  await disableOnRecord(op, user, why);
}

async function shorten(op: ClosingOperation, user: User, until: Date, why: ClosingReason): Promise<void> {
  if (isExpired(user, op.context.clock.now()) || !isShortening(op.context, user, until)) {
    return op.record({ unneeded: true });
  }
  await shortenOnRecord(op, user, { expireAt: until, ...why });
}

/** Whether it was still outstanding. Commits with the closing. */
async function settle(tx: Transaction, { reviewId, userId }: ReviewItemRow): Promise<boolean> {
  const item = and(eq(reviewItems.reviewId, reviewId), eq(reviewItems.userId, userId));
  const done = await tx
    .update(reviewItems)
    .set({ pending: false })
    .where(and(item, sql`${reviewItems.pending}`))
    .returning({ userId: reviewItems.userId });
  return done.length > 0;
}

function actorOf({ answeredByType, answeredBy, answeredByOwner, answeredFrom }: ReviewItemRow): Actor {
  return storedActor({
    ...{ type: answeredByType ?? "system", name: answeredBy, owner: answeredByOwner, ip: answeredFrom },
  });
}
