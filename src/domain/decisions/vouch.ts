/** The question whether a sponsor answers for people who applied and named them. */

import { asc, eq, inArray } from "drizzle-orm";
import type { Database, Transaction } from "../../store/client.ts";
import { type ApprovalRow, approvals } from "../../store/schema.ts";
import type { QuestionRow } from "../../store/schema-auth.ts";
import { date } from "../mail/letter.ts";
import { audited } from "../operation/audited.ts";
import type { AuditEntry } from "../operation/entry.ts";
import { markAnswered } from "../sponsors/questions.ts";
import type { Answer, GivenAnswer, Item, Kind } from "./kind.ts";
import { answeredBefore, closed, notAsked, requireFitting } from "./refusals.ts";

const ANSWERS = ["vouch", "decline"] as const;

export const vouch: Kind = {
  async look({ db, policy }, question) {
    const { shown } = asked(await select(db, question), question);
    const whom = shown.length === 1 ? "this person, who applies" : `these ${shown.length} people, who apply`;
    return {
      question: `${question.email}, do you answer for ${whom} for access to ${policy.site.host}?`,
      items: shown.map(itemOf),
      answered: shown.flatMap(answerOf),
    };
  },

  async answer(context, question, answers) {
    const [first] = answers;
    if (first === undefined) throw new Error("no answer");
    return await audited(context, entryOf(first), async (op) => {
      const { theirs } = asked(await select(op.tx, question, true), question);
      const byId = new Map(theirs.map((row) => [row.id, row]));
      requireFitting(answers, new Set(byId.keys()), ANSWERS);
      for (const { id } of answers) {
        const row = byId.get(id);
        if (row !== undefined && isAnswered(row)) throw answeredBefore(row.username);
        if (row?.status !== "pending") throw decided();
      }
      const at = context.clock.now();
      for (const answer of answers) {
        const sponsorAnswer = answer.answer === "vouch" ? "vouched" : "declined";
        const set = { sponsorAnswer, sponsorReason: answer.reason, sponsorAnsweredAt: at } as const;
        await op.tx.update(approvals).set(set).where(eq(approvals.id, answer.id));
        const username = byId.get(answer.id)?.username ?? "";
        const entry = { ...entryOf(answer), detail: { ...entryOf(answer).detail, username } };
        if (answer === first) op.about({ detail: { username } });
        else op.alsoRecord({ entry, result: "success" });
      }
      await markAnswered(op.tx, question.id, { at });
      return { answered: answers.map(({ until: _, ...given }) => ({ ...given, until: null, at })) };
    });
  },
};

function entryOf({ id, answer, reason }: Answer) {
  const action = answer === "vouch" ? "sponsor.vouch" : "sponsor.decline";
  return { action, detail: { application: id, ...(reason === "" ? {} : { reason }) } } as const satisfies AuditEntry;
}

/** In the order in which they came; locked until the transaction ends, if that is wanted: of two answers at once one is the first. */
async function select(
  db: Database | Transaction,
  { about }: QuestionRow,
  locked = false,
): Promise<readonly ApprovalRow[]> {
  const rows = db.select().from(approvals).where(inArray(approvals.id, about)).orderBy(asc(approvals.id));
  return await (locked ? rows.for("update") : rows);
}

/** All of the address's, and of them those that it is still asked about or has answered; there is one at least. */
function asked(rows: readonly ApprovalRow[], { email }: QuestionRow) {
  const theirs = rows.filter(({ sponsorEmail }) => sponsorEmail === email);
  if (theirs.length === 0) throw notAsked();
  const shown = theirs.filter((row) => isAnswered(row) || row.status === "pending");
  if (shown.length === 0) throw decided();
  return { theirs, shown };
}

function decided() {
  return closed("The administrators have decided meanwhile, and you are not asked any more");
}

function isAnswered({ sponsorAnswer }: ApprovalRow): boolean {
  return sponsorAnswer === "vouched" || sponsorAnswer === "declined";
}

function itemOf({ id, username, fullName, email, supervisor, purpose, createdAt }: ApprovalRow): Item {
  const facts = { Name: fullName, "E-mail": email, Supervisor: supervisor, Purpose: purpose, Applied: date(createdAt) };
  const evidence = Object.entries(facts).filter(([, value]) => value !== "");
  return { id, username, evidence: evidence.map(([name, value]) => ({ name, value })) };
}

function answerOf(row: ApprovalRow): readonly GivenAnswer[] {
  if (!isAnswered(row) || row.sponsorAnsweredAt === null) return [];
  const answer = row.sponsorAnswer === "vouched" ? "vouch" : "decline";
  return [{ id: row.id, answer, reason: row.sponsorReason, until: null, at: row.sponsorAnsweredAt }];
}
