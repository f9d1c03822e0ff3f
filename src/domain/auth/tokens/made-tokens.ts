/** Tokens that tokens made. Each goes back to a token that a person made, and only so many are made in an hour. */

import { and, asc, eq, gt, isNotNull, type SQL, sql } from "drizzle-orm";
import { UamError } from "../../../shared/errors.ts";
import { HOUR, shift } from "../../../shared/time/clock.ts";
import type { Transaction } from "../../../store/client.ts";
import { type AdminRow, tokens } from "../../../store/schema-auth.ts";

/** Most tokens that the tokens of one administrator make within an hour. */
export const MOST_MADE = 30;

/** The token that a person made and that this one goes back to; itself, if a person made it. */
export function originOf(): SQL<number> {
  const { id, madeBy } = tokens;
  return sql`case when ${madeBy} is null then ${id} else coalesce((with recursive up as (
    select maker.id, maker.made_by from ${tokens} maker where maker.id = ${madeBy}
    union select maker.id, maker.made_by from ${tokens} maker join up on maker.id = up.made_by
  ) select up.id from up where up.made_by is null), ${id}) end`.mapWith(Number);
}

/**
 * Throws `limited` if the owner's tokens have made the maximum within the last hour. Each is a record and a mail to the owner; MAX_TOKENS alone
 * would not stop it, because a revoked token makes room for the next. The caller holds the owner's row lock.
 */
export async function requireMadeSlowly(tx: Transaction, { id }: Pick<AdminRow, "id">, now: Date): Promise<void> {
  const isRecent = and(eq(tokens.ownerId, id), isNotNull(tokens.madeBy), gt(tokens.createdAt, shift(now, -HOUR)));
  const recent = await tx.select({ at: tokens.createdAt }).from(tokens).where(isRecent).orderBy(asc(tokens.createdAt));
  const oldest = recent.at(-MOST_MADE);
  if (oldest === undefined) return;
  const retryAfter = Math.max(1, Math.ceil((oldest.at.getTime() + HOUR - now.getTime()) / 1000));
  const sentence = `Tokens make at most ${MOST_MADE} tokens an hour for one administrator; try again in ${retryAfter} seconds`;
  throw new UamError("limited", sentence, { retryAfter, reason: "token.made" });
}
