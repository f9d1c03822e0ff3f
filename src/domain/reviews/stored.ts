/** Stores what was answered about users in a review, each with a record of its own, in one operation. */

import { and, eq, isNull, sql } from "drizzle-orm";
import { formatTimestamp } from "../../shared/time/timestamp.ts";
import { type ReviewItemRow, reviewItems } from "../../store/schema-reviews.ts";
import type { Operation } from "../operation/context.ts";
import type { AuditDetail } from "../operation/entry.ts";
import { evidenceHash } from "./evidence.ts";

/** How one item ends. */
export interface Settled {
  readonly userId: number;
  readonly username: string;
  readonly answer: NonNullable<ReviewItemRow["answer"]>;
  readonly reason: string;
  readonly until: Date | null;
  /** Until when the answer was let wait, if it was. */
  readonly graceUntil: Date | null;
  /** "" for a user who is gone. */
  readonly evidence: string;
  /** Whether access is to be taken away now. */
  readonly pending: boolean;
}

/** An item that is let wait. */
export interface Waiting extends Pick<Settled, "userId" | "username" | "reason" | "evidence"> {
  readonly answer: "grace";
  readonly until: Date;
  readonly graceUntil?: undefined;
}

/**
 * Stores the answers in the name of the operation's caller, with a record each and none of the operation's own. The items are locked, and open.
 */
export async function storeAnswers(
  op: Operation,
  reviewId: number,
  answers: readonly (Settled | Waiting)[],
): Promise<void> {
  const { actor } = op.context;
  const settled = answers.filter((answer) => answer.answer !== "grace");
  const by = { type: actor.type, name: actor.name, owner: actor.owner ?? "", ip: actor.ip };
  const given = settled.map(({ userId, answer, reason, until, evidence, pending }) => ({
    ...{ user_id: userId, answer, reason, until: until && formatTimestamp(until), evidence, pending },
  }));
  if (given.length > 0) {
    await op.tx.execute(sql`
      update review_items i set answer = g.answer, reason = g.reason, until = g.until, evidence = g.evidence, pending = g.pending,
        answered_by_type = ${by.type}, answered_by = ${by.name},
        answered_by_owner = ${by.owner}, answered_from = ${by.ip}
      from jsonb_to_recordset(${JSON.stringify(given)}::text::jsonb)
        as g(user_id bigint, answer text, reason text, until timestamptz, evidence text, pending boolean)
      where i.review_id = ${reviewId} and i.user_id = g.user_id`);
  }
  for (const answer of answers) {
    if (answer.answer !== "grace") continue;
    const item = and(eq(reviewItems.reviewId, reviewId), eq(reviewItems.userId, answer.userId));
    await op.tx
      .update(reviewItems)
      .set({ graceUntil: answer.until })
      .where(and(item, isNull(reviewItems.answer)));
  }
  record(op, reviewId, answers);
}

function record(op: Operation, reviewId: number, answers: readonly (Settled | Waiting)[]): void {
  for (const answer of answers) {
    const isUnanswered = answer.answer === "unanswered" || answer.answer === "gone";
    const action = isUnanswered ? "review.unanswered" : "review.answer";
    const about = { resourceId: String(reviewId), subjectId: answer.userId };
    op.alsoRecord({ entry: { action, ...about, detail: detailOf(answer) }, result: "success" });
  }
  op.record({ unneeded: true });
  const ids = sql`${`{${answers.map(({ userId }) => userId).join()}}`}::bigint[]`;
  op.onRecorded(async (last) => {
    await op.tx.execute(sql`update review_items i set record = a.id, answered_at = a.created_at
      from unnest(${ids}) with ordinality n(user_id, nth) join audit a on a.id = ${last - answers.length} + n.nth
      where i.review_id = ${reviewId} and i.user_id = n.user_id and i.answer is not null`);
  });
}

/** Everything that a report says of it: the record is what that is compared with. */
function detailOf({ username, answer, reason, until, graceUntil, evidence }: Settled | Waiting): AuditDetail {
  return {
    ...{ username, answer },
    ...(until === null ? {} : { until: formatTimestamp(until) }),
    ...(graceUntil == null ? {} : { grace_until: formatTimestamp(graceUntil) }),
    ...(reason === "" ? {} : { reason }),
    ...(evidence === "" ? {} : { evidence_sha256: evidenceHash(evidence) }),
  };
}
