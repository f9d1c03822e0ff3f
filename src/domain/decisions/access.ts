/** The question whether a sponsor allows their people access on request. It opens at once for who may still have it then. */

import { and, asc, eq, inArray } from "drizzle-orm";
import { counted } from "../../shared/text/counted.ts";
import type { Database, Transaction } from "../../store/client.ts";
import { type ApprovalRow, approvals } from "../../store/schema.ts";
import type { QuestionRow } from "../../store/schema-auth.ts";
import { companyOf } from "../accounts/company-limits.ts";
import { findUser, lockUserIfStored, type User } from "../accounts/find-user.ts";
import { endWhatIsOver, settleAccessRequest } from "../approvals/access-requests.ts";
import { requireNotWithdrawn } from "../approvals/review-reason.ts";
import { date } from "../mail/letter.ts";
import { accountName } from "../mail/phrases.ts";
import { audited } from "../operation/audited.ts";
import type { Context } from "../operation/context.ts";
import { markAnswered } from "../sponsors/questions.ts";
import { sponsorOf } from "../sponsors/sponsor-email.ts";
import type { Answer, GivenAnswer, Item, Kind } from "./kind.ts";
import { answeredBefore, closed, notAsked, requireFitting } from "./refusals.ts";

const ANSWERS = ["allow", "refuse"] as const;

export const access: Kind = {
  async look({ db, policy }, question) {
    const shown = await asked(db, question);
    const whom = shown.length === 1 ? "this person" : `these ${shown.length} people`;
    return {
      question: `${question.email}, may ${whom} have access to ${policy.site.host} now?`,
      items: shown.map(itemOf),
      answered: shown.flatMap(answerOf),
    };
  },

  async answer(context, question, answers) {
    const shown = await asked(context.db, question);
    requireFitting(answers, new Set(shown.map(({ id }) => id)), ANSWERS);
    for (const { reason } of answers) requireNotWithdrawn(reason);
    const before = shown.find((row) => isAnswered(row) && answers.some(({ id }) => id === row.id));
    if (before !== undefined) throw answeredBefore(before.username);
    // One after the other: each holds its user's row until the host is done.
    const given: GivenAnswer[] = [];
    const failures: unknown[] = [];
    for (const answer of answers) {
      try {
        given.push(await settle(context, question, answer));
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
    return { answered: given };
  },
};

/** On record as a review is; looked at again under the locks: somebody else may be the sponsor by now, or have answered. */
async function settle(context: Context, question: QuestionRow, answer: Answer): Promise<GivenAnswer> {
  const { id, reason } = answer;
  const isAllowed = answer.answer === "allow";
  const entry = { action: "approval.review", detail: { application: id, approve: isAllowed } } as const;
  if (isAllowed) await endOverOf(context, id);
  return await audited(context, entry, async (op) => {
    const [known] = await op.tx.select({ userId: approvals.userId }).from(approvals).where(eq(approvals.id, id));
    const user = known?.userId == null ? undefined : await lockUserIfStored(op.tx, known.userId);
    const [row] = await op.tx.select().from(approvals).where(eq(approvals.id, id)).for("update");
    if (row === undefined || user === undefined || !(await isTheirs(op.tx, user, question))) throw notAsked();
    op.about({ subjectId: user.id, detail: { username: user.username } });
    if (isAnswered(row)) throw answeredBefore(row.username);
    if (row.status !== "pending") throw decidedMeanwhile();
    const at = context.clock.now();
    const sponsorAnswer = isAllowed ? ("vouched" as const) : ("declined" as const);
    const status = isAllowed ? ("approved" as const) : ("rejected" as const);
    const [decided] = await op.tx
      .update(approvals)
      .set({
        ...{ status, reason, reviewedBy: question.email, reviewedAt: at },
        ...{ sponsorAnswer, sponsorReason: reason, sponsorAnsweredAt: at },
      })
      .where(eq(approvals.id, id))
      .returning();
    if (decided === undefined) throw new Error("a locked application's row is gone");
    await markAnswered(op.tx, question.id, { at });
    await settleAccessRequest(op, decided, user);
    op.record({ detail: { outcome: status } });
    return { id, answer: answer.answer, reason, until: null, at };
  });
}

async function endOverOf(context: Context, id: number): Promise<void> {
  const [known] = await context.db.select({ userId: approvals.userId }).from(approvals).where(eq(approvals.id, id));
  if (known?.userId != null) await endWhatIsOver(context, known.userId);
}

/** Those of people whom the address still decides about, in the order in which they came. */
async function asked(db: Database, { about, email }: QuestionRow): Promise<readonly ApprovalRow[]> {
  const theirs = and(
    inArray(approvals.id, about),
    eq(approvals.kind, "access_request"),
    eq(approvals.sponsorEmail, email),
  );
  const rows = await db.select().from(approvals).where(theirs).orderBy(asc(approvals.id));
  const shown: ApprovalRow[] = [];
  let isDecided = false;
  for (const row of rows) {
    if (isAnswered(row)) shown.push(row);
    else if (row.status !== "pending") isDecided = true;
    else {
      const user = await findUser(db, row.userId ?? 0);
      if (user !== undefined && (await isTheirs(db, user, { email }))) shown.push(row);
    }
  }
  if (shown.length > 0) return shown;
  throw isDecided ? decidedMeanwhile() : notAsked();
}

/** Whether it is the sponsor who decides, by the user's rule as it is now, and the address is theirs. */
async function isTheirs(
  db: Database | Transaction,
  user: User,
  { email }: Pick<QuestionRow, "email">,
): Promise<boolean> {
  return user.requestRule === "sponsor" && sponsorOf(user, await companyOf(db, user)) === email;
}

function decidedMeanwhile() {
  return closed("It was decided or withdrawn meanwhile, and you are not asked any more");
}

function isAnswered({ sponsorAnsweredAt }: ApprovalRow): boolean {
  return sponsorAnsweredAt !== null;
}

function itemOf(row: ApprovalRow): Item {
  const { id, username, fullName, email, purpose, hours, hosts, createdAt } = row;
  const facts = {
    ...{
      Account: accountName(row),
      Name: fullName,
      "E-mail": email,
      For: counted(hours ?? 0, "hour"),
      On: (hosts ?? []).join(", "),
    },
    ...{ Reason: purpose, Asked: date(createdAt) },
  };
  const evidence = Object.entries(facts).filter(([, value]) => value !== "");
  return { id, username, evidence: evidence.map(([name, value]) => ({ name, value })) };
}

function answerOf(row: ApprovalRow): readonly GivenAnswer[] {
  if (row.sponsorAnsweredAt === null) return [];
  const answer = row.status === "approved" ? "allow" : "refuse";
  return [{ id: row.id, answer, reason: row.sponsorReason, until: null, at: row.sponsorAnsweredAt }];
}
