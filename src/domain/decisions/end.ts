/** What a sponsor can always do from a mail about their people: end the access of somebody who is no longer with them. */

import { eq, inArray } from "drizzle-orm";
import type { Database, Transaction } from "../../store/client.ts";
import { users } from "../../store/schema.ts";
import { type QuestionRow, questions } from "../../store/schema-auth.ts";
import { companies } from "../../store/schema-companies.ts";
import { disableOnRecord } from "../accounts/access.ts";
import { companyOf } from "../accounts/company-limits.ts";
import { lockUserIfStored, statusAt, type User } from "../accounts/find-user.ts";
import { date, endDate } from "../mail/letter.ts";
import { accountName } from "../mail/phrases.ts";
import { auditedClosing } from "../operation/audited.ts";
import type { Context } from "../operation/context.ts";
import { markAnswered } from "../sponsors/questions.ts";
import { sponsorOf } from "../sponsors/sponsor-email.ts";
import type { Answer, GivenAnswer, Item, Kind } from "./kind.ts";
import { hostsOutcome } from "./outcome.ts";
import { answeredBefore, closed, notAsked, requireFitting } from "./refusals.ts";

const ANSWERS = ["end"] as const;

export const end: Kind = {
  async look(context, question) {
    const { items, answered } = await readState(context, context.db, question);
    const [only] = items.length === 1 ? items : [];
    const whom = only === undefined ? "these people" : only.username;
    const { host } = context.policy.site;
    return { question: `${question.email}, is the access of ${whom} to ${host} still right?`, items, answered };
  },

  async answer(context, question, answers) {
    const { items, answered, open, theirs } = await readState(context, context.db, question);
    requireFitting(answers, new Set([...answered.map(({ id }) => id), ...theirs]), ANSWERS);
    const before = answered.find(({ id }) => answers.some((answer) => answer.id === id));
    if (before !== undefined) throw answeredBefore(nameOf(items, before.id));
    if (answers.some(({ id }) => !open.has(id))) throw over();
    // One after the other: each holds the question's row until its host is done.
    const given: GivenAnswer[] = [];
    const failures: unknown[] = [];
    for (const answer of answers) {
      try {
        const done = await endAccess(context, question, answer);
        if (done !== undefined) given.push(done);
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
    const [first] = given;
    if (first === undefined) throw answeredBefore(nameOf(items, answers[0]?.id ?? 0));
    const userIds = given.map(({ id }) => id);
    return { answered: given, ...(await hostsOutcome(context, userIds)) };
  },
};

/** Undefined if the user has no access any more, or another sponsor. The answer is stored with the closing. */
async function endAccess(context: Context, question: QuestionRow, answer: Answer): Promise<GivenAnswer | undefined> {
  const { id, reason } = answer;
  const entry = { action: "sponsor.end", resourceId: String(id), subjectId: id } as const;
  return await auditedClosing(context, entry, async (op) => {
    const user = await lockUserIfStored(op.tx, id);
    const isTheirs = user !== undefined && sponsorOf(user, await companyOf(op.tx, user)) === question.email;
    if (!isTheirs || !hasAccess(context, user)) {
      op.record({ unneeded: true });
      return undefined;
    }
    op.about({ detail: { username: user.username, ...(reason === "" ? {} : { reason }) } });
    await disableOnRecord(op, user, { action: "sponsor.end", reason });
    const at = context.clock.now();
    const given = { id, answer: "end", reason, until: null, at };
    await store(op.tx, question, { ...given, at: at.toISOString(), username: user.username });
    return given;
  });
}

/** As it is kept with the question: the user may be gone when somebody looks again. */
type Stored = Omit<GivenAnswer, "at"> & { readonly at: string; readonly username: string };

async function store(tx: Transaction, { id }: QuestionRow, answer: Stored): Promise<void> {
  const [row] = await tx
    .select({ answers: questions.answers })
    .from(questions)
    .where(eq(questions.id, id))
    .for("update");
  const answers = JSON.stringify([...parse(row?.answers), answer]);
  await markAnswered(tx, id, { at: new Date(answer.at), answers });
}

interface State {
  readonly items: readonly Item[];
  readonly answered: readonly GivenAnswer[];
  /** For whom the address answers now, with access or without. */
  readonly theirs: readonly number[];
  /** Whose access can be ended. */
  readonly open: ReadonlySet<number>;
}

/** The users whose access this link has ended, and those whose it can. */
async function readState(context: Context, db: Database | Transaction, question: QuestionRow): Promise<State> {
  const stored = parse(question.answers);
  const rows = await db
    .select({ user: users, company: companies })
    .from(users)
    .leftJoin(companies, eq(companies.id, users.companyId))
    .where(inArray(users.id, question.about))
    .orderBy(users.id);
  const theirs = rows.filter(({ user, company }) => sponsorOf(user, company ?? undefined) === question.email);
  const open = theirs.filter(({ user }) => hasAccess(context, user));
  if (stored.length + theirs.length === 0) throw notAsked();
  if (stored.length + open.length === 0) throw over();
  const done = new Set(stored.map(({ id }) => id));
  const left = open.filter(({ user }) => !done.has(user.id));
  return {
    items: [
      ...stored.map(({ id, username }) => ({ id, username, evidence: [] })),
      ...left.map(({ user, company }) => itemOf(user, company?.name ?? "")),
    ],
    answered: stored.map(({ id, answer, reason, at }) => ({ id, answer, reason, until: null, at: new Date(at) })),
    theirs: theirs.map(({ user }) => user.id),
    open: new Set(left.map(({ user }) => user.id)),
  };
}

function over() {
  return closed("They have no access any more");
}

function hasAccess({ clock }: Context, user: typeof users.$inferSelect | User): boolean {
  return user.disabledAt === null && statusAt(user, clock.now()) === "active";
}

function itemOf(user: typeof users.$inferSelect, company: string): Item {
  const { id, username, fullName, email, purpose, expireAt, seenAt } = user;
  const facts = {
    ...{ Account: accountName(user), Name: fullName, "E-mail": email, Company: company, Purpose: purpose },
    ...{ "Has access until": endDate(expireAt), "Last login": seenAt === null ? "none is known" : date(seenAt) },
  };
  const evidence = Object.entries(facts).filter(([, value]) => value !== "");
  return { id, username, evidence: evidence.map(([name, value]) => ({ name, value })) };
}

function nameOf(items: readonly Item[], id: number): string {
  return items.find((item) => item.id === id)?.username ?? "";
}

function parse(answers = "[]"): readonly Stored[] {
  return JSON.parse(answers) as readonly Stored[];
}
