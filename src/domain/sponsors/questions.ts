/** Questions to sponsors: a link in a mail, whose token is stored as a hash. */

import { randomBytes } from "node:crypto";
import { and, eq, gt, isNotNull, isNull, lte, or, sql } from "drizzle-orm";
import type { QuestionKind } from "../../shared/product/statuses.ts";
import { type Clock, DAY, shift } from "../../shared/time/clock.ts";
import type { Database, Transaction } from "../../store/client.ts";
import { type QuestionRow, questions } from "../../store/schema-auth.ts";
import { hashToken } from "../auth/sessions/sessions.ts";
import type { Services } from "../operation/context.ts";

/** How long a link is alive. */
export const QUESTION_TTL = 14 * DAY;
/** How long the row of one that was answered is kept: lists say when somebody last answered. */
const KEPT = 400 * DAY;

/** A question to be asked. */
export interface NewQuestion {
  readonly kind: QuestionKind;
  /** In lower case. */
  readonly email: string;
  /** Ids of applications, of users, or of one review. */
  readonly about: readonly number[];
}

/** What the mail about a question needs. */
export interface AskedQuestion {
  readonly id: number;
  /** 256 bits, for the link. */
  readonly token: string;
  readonly expiresAt: Date;
}

/** Stores a question in the transaction of the mail that asks it. */
export async function askQuestion(
  { tx, context }: { readonly tx: Transaction; readonly context: { readonly clock: Clock } },
  { kind, email, about }: NewQuestion,
): Promise<AskedQuestion> {
  const token = randomBytes(32).toString("base64url");
  const createdAt = context.clock.now();
  const expiresAt = shift(createdAt, QUESTION_TTL);
  const values = { kind, email, about: [...about], tokenHash: hashToken(token), createdAt, expiresAt };
  const [row] = await tx.insert(questions).values(values).returning({ id: questions.id });
  if (row === undefined) throw new Error("insert returned no row");
  return { id: row.id, token, expiresAt };
}

/** The question of that token, if its link is alive. */
export async function findQuestion(
  { db, clock }: { readonly db: Database | Transaction; readonly clock: Clock },
  token: string,
): Promise<QuestionRow | undefined> {
  const [row] = await db
    .select()
    .from(questions)
    .where(and(eq(questions.tokenHash, hashToken(token)), gt(questions.expiresAt, clock.now())));
  return row;
}

/** Notes that something of it is answered now, in the transaction of what the answer brings about. */
export async function markAnswered(tx: Transaction, id: number, { at, answers }: { at: Date; answers?: string }) {
  const set = { answeredAt: at, ...(answers === undefined ? {} : { answers }) };
  await tx.update(questions).set(set).where(eq(questions.id, id));
}

/** Kills the links by which the address could still end the access of these users: somebody else answers for them. */
export async function dropQuestions(tx: Transaction, email: string, userIds: readonly number[]): Promise<void> {
  if (email === "" || userIds.length === 0) return;
  const left = sql`array(select unnest(${questions.about}) except select unnest(${`{${userIds.join(",")}}`}::bigint[]))`;
  const theirs = and(eq(questions.kind, "end"), eq(questions.email, email));
  await tx.update(questions).set({ about: left }).where(theirs);
}

/** Kills every link that the address was mailed: somebody else answers for all of their people. */
export async function killQuestions(tx: Transaction, email: string, now: Date): Promise<void> {
  await tx
    .update(questions)
    .set({ expiresAt: now })
    .where(and(eq(questions.email, email), gt(questions.expiresAt, now)));
}

/** Deletes what is no longer needed. */
export async function purgeQuestions({ db, clock }: Pick<Services, "db" | "clock">): Promise<void> {
  const now = clock.now();
  const unanswered = and(isNull(questions.answeredAt), lte(questions.expiresAt, now));
  const old = and(isNotNull(questions.answeredAt), lte(questions.answeredAt, shift(now, -KEPT)));
  await db.delete(questions).where(or(unanswered, old));
}
