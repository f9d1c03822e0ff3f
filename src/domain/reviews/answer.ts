/** Answers for users in a review: their access stays, ends now, or ends earlier; or the answer may wait. */

import { setTimeout as sleep } from "node:timers/promises";
import { eq } from "drizzle-orm";
import { UamError } from "../../shared/errors.ts";
import { MOST_GRACE_DAYS } from "../../shared/product/limits.ts";
import { DAY, shift } from "../../shared/time/clock.ts";
import { formatTimestamp } from "../../shared/time/timestamp.ts";
import type { Database, Transaction } from "../../store/client.ts";
import { admins } from "../../store/schema-auth.ts";
import type { ReviewItemRow, ReviewRow } from "../../store/schema-reviews.ts";
import { audited } from "../operation/audited.ts";
import type { Context, Operation } from "../operation/context.ts";
import { onward } from "../operation/permission.ts";
import { isOwn } from "../sponsors/sponsor-email.ts";
import { parseReason } from "../users/changeable.ts";
import { carryOutAnswers } from "./carry-out.ts";
import { closeIfAnswered } from "./close.ts";
import { type Evidence, evidenceText, readEvidence } from "./evidence.ts";
import { holdOpen, lockItems, notInIt } from "./reviews.ts";
import { type Settled, storeAnswers, type Waiting } from "./stored.ts";

/** An answer for one user. */
export interface Answer {
  readonly userId: number;
  readonly answer: "keep" | "end" | "shorten" | "grace";
  readonly reason?: string | undefined;
  /** The earlier end of access, or until when the answer may wait. */
  readonly until?: Date | undefined;
}

/**
 * Stores the answers, all or none, and takes away what they end: that is stored first, and goes on after a crash. Of several it waits for that
 * at most `patience` milliseconds; then the service goes on by itself. Throws `not_found` for a user
 * who is not in the review, `invalid` for an answer that cannot be, `forbidden` for one about the caller, `conflict` for what is answered or
 * closed already, and `internal` if access is stored as ended but something is left to do on the host.
 */
export async function answerItems(
  context: Context,
  reviewId: number,
  answers: readonly Answer[],
  patience = Number.POSITIVE_INFINITY,
): Promise<void> {
  const [first] = answers;
  if (first === undefined) throw new UamError("invalid", "There is no answer");
  const about = answers.length === 1 ? { subjectId: first.userId } : {};
  const entry = { action: "review.answer", resourceId: String(reviewId), ...about } as const;
  await audited(context, entry, async (op) => {
    const review = await holdOpen(op.tx, reviewId);
    await storeGiven(op, review, answers);
  });
  const userIds = answers.map(({ userId }) => userId);
  const work = carryOutAnswers(onward(context), { reviewId, userIds }).then(() => closeIfAnswered(context, reviewId));
  await (answers.length > 1 && Number.isFinite(patience) ? Promise.race([work, sleep(patience)]) : work);
}

/** Stores answers in the name of the operation's caller, whose rights to do so were checked. */
export async function storeGiven(op: Operation, review: ReviewRow, answers: readonly Answer[]): Promise<void> {
  const userIds = answers.map(({ userId }) => userId);
  if (new Set(userIds).size < userIds.length) throw new UamError("invalid", "A user is answered for twice");
  const items = new Map((await lockItems(op.tx, review.id, userIds)).map((item) => [item.userId, item]));
  const [only] = items.values();
  if (answers.length === 1 && only !== undefined) op.about({ detail: { username: only.username } });
  for (const item of items.values()) requireOpen(item);
  const evidence = await readEvidence(op.tx, userIds, op.context.clock.now());
  await requireOthers(op, [...evidence.values()]);
  const stored = answers.map((answer) => {
    const item = items.get(answer.userId) ?? notInIt(review.id);
    const found = evidence.get(answer.userId) ?? gone(item);
    return asStored(op.context, { review, item, answer, evidence: found, isOneOfMany: answers.length > 1 });
  });
  await storeAnswers(op, review.id, stored);
}

function requireOpen({ username, answer, answeredBy }: ReviewItemRow): void {
  if (answer === null) return;
  const how =
    answer === "unanswered" || answer === "gone" ? "was not answered for in time" : `was answered for by ${answeredBy}`;
  throw new UamError("conflict", `${username} ${how}: ${answer}`, { reason: "review.answered" });
}

interface Given {
  readonly review: ReviewRow;
  readonly item: ReviewItemRow;
  readonly answer: Answer;
  readonly evidence: Evidence;
  readonly isOneOfMany: boolean;
}

function asStored({ clock }: Context, { review, item, answer, evidence, isOneOfMany }: Given): Settled | Waiting {
  const { userId, username, graceUntil } = item;
  const reason = parseReason(answer.reason ?? "");
  if (isOneOfMany && reason === "") throw new UamError("invalid", "Several answers at once need a reason");
  const until = answer.until;
  const common = { userId, username, reason, evidence: evidenceText(evidence) };
  if (answer.answer === "grace") return { ...common, answer: "grace", until: requireGrace(review, until, clock.now()) };
  if (answer.answer === "shorten") {
    const earlier = requireEarlier(username, { until, evidence, now: clock.now() });
    return { ...common, graceUntil, answer: "shorten", until: earlier, pending: true };
  }
  if (until !== undefined)
    throw new UamError("invalid", `until is only for shorten and grace, not for ${answer.answer}`);
  return { ...common, graceUntil, answer: answer.answer, until: null, pending: answer.answer === "end" };
}

function requireGrace({ dueAt }: ReviewRow, until: Date | undefined, now: Date): Date {
  const latest = shift(dueAt, MOST_GRACE_DAYS * DAY);
  if (until !== undefined && until > now && until <= latest) return until;
  throw new UamError(
    "invalid",
    `An answer may wait until a moment in the future, at the latest ${formatTimestamp(latest)}: send it as until`,
  );
}

function requireEarlier(
  username: string,
  { until, evidence, now }: { readonly until: Date | undefined; readonly evidence: Evidence; readonly now: Date },
): Date {
  if (until !== undefined && until > now && until < new Date(evidence.expire_at)) return until;
  throw new UamError(
    "invalid",
    `The access of ${username} ends at ${evidence.expire_at}; shorten needs an earlier end in the future, as until`,
  );
}

/** Throws `forbidden` if the caller has the mailbox of one of the users, however either address is written. */
async function requireOthers({ tx, context }: Operation, evidence: readonly Evidence[]): Promise<void> {
  const own = await addressOf(tx, context);
  const self = evidence.some(({ email }) => own !== undefined && isOwn(email, own));
  if (self) throw new UamError("forbidden", "Nobody answers for their own access", { reason: "review.self" });
}

async function addressOf(db: Database | Transaction, { actor }: Context): Promise<string | undefined> {
  if (actor.type !== "admin" && actor.type !== "token") return actor.name.includes("@") ? actor.name : undefined;
  const name = actor.owner ?? actor.name;
  const [row] = await db.select({ email: admins.email }).from(admins).where(eq(admins.username, name));
  return row?.email;
}

function gone({ username }: ReviewItemRow): never {
  throw new UamError("not_found", `${username} was deleted`, { reason: "user.missing" });
}
