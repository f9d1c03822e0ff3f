/** Which users still have to accept the terms of use. */

import { eq, type SQL, sql } from "drizzle-orm";
import { UamError } from "../../shared/errors.ts";
import { DAY, shift } from "../../shared/time/clock.ts";
import type { Database, Transaction } from "../../store/client.ts";
import { users } from "../../store/schema.ts";
import { terms, termsAnswers } from "../../store/schema-auth.ts";
import type { Context, Policy } from "../operation/context.ts";
import type { User } from "./find-user.ts";

/** How long users have time to accept, in milliseconds. */
const PATIENCE = 14 * DAY;

/** What a user has to do with the terms in force. */
export interface OwnTerms {
  readonly version: string;
  /** When the user accepted these; null if they have not. */
  readonly acceptedAt: Date | null;
}

/** Undefined where there are no terms, which costs nothing. */
export async function findOwnTerms(
  db: Database | Transaction,
  policy: Policy,
  userId: number,
): Promise<OwnTerms | undefined> {
  const known = await findAcceptedTerms(db, policy, userId);
  if (known === undefined) return undefined;
  const { version, accepted, acceptedAt } = known;
  return { version, acceptedAt: accepted === version ? acceptedAt : null };
}

/** What a user last accepted, whether or not it is in force; "" and null for nothing. */
export interface AcceptedTerms extends OwnTerms {
  readonly accepted: string;
}

/** The same for administrators: `acceptedAt` is when the user accepted `accepted`. Undefined where there are no terms, which costs nothing. */
export async function findAcceptedTerms(
  db: Database | Transaction,
  { terms: read }: Policy,
  userId: number,
): Promise<AcceptedTerms | undefined> {
  const present = read();
  if (present === undefined) return undefined;
  const [answer] = await db.select().from(termsAnswers).where(eq(termsAnswers.userId, userId));
  return { version: present.version, accepted: answer?.accepted ?? "", acceptedAt: answer?.acceptedAt ?? null };
}

/** Throws `conflict` for a user who has to accept the terms first. */
export async function requireTerms(tx: Transaction, { policy }: Context, { id }: User): Promise<void> {
  const own = await findOwnTerms(tx, policy, id);
  if (own === undefined || own.acceptedAt !== null) return;
  const sentence = "Accept the terms of use first: GET /me/terms has them";
  throw new UamError("conflict", sentence, { reason: "terms.pending" });
}

/** True in SQL for users who have not accepted the terms; for `overdue` only for those who were asked two weeks ago. Nobody without terms. */
export function haveTerms({ terms: read }: Policy, what: "pending" | "overdue", now: Date): SQL {
  const version = read()?.version;
  if (version === undefined) return sql`false`;
  const pending = sql`not exists (
    select 1 from ${termsAnswers} a where a.user_id = ${users.id} and a.accepted = ${version})`;
  if (what === "pending") return pending;
  const since = sql`(select ${terms.since} from ${terms} where ${terms.version} = ${version})`;
  const asked = shift(now, -PATIENCE).toISOString();
  return sql`(${pending} and ${users.createdAt} <= ${asked}::timestamptz and ${since} <= ${asked}::timestamptz)`;
}
