/** Reminds administrators that a token for a machine ends soon. */

import { and, asc, eq, gt, isNull, lte, notExists, sql } from "drizzle-orm";
import { DAY, shift } from "../../shared/time/clock.ts";
import { outbox } from "../../store/schema.ts";
import { admins, tokens } from "../../store/schema-auth.ts";
import { entryOf } from "../auth/tokens/tokens.ts";
import { queueMails } from "../mail/outbox.ts";
import { tokenEnds } from "../mail/token-messages.ts";
import type { Services } from "../operation/context.ts";

const AHEAD = 7 * DAY;
/** A reminder this soon after the mail about the new token, which states the end, would say nothing new. */
const QUIET = DAY;
/** Tokens in one transaction. */
const BATCH = 100;

/** Queues the reminders that are due, to the tokens' owners: each once, a week before the end. */
export async function remindOfTokens(services: Services, signal?: AbortSignal): Promise<void> {
  const { db, clock, policy } = services;
  const now = clock.now();
  for (let found = BATCH; found === BATCH && signal?.aborted !== true; ) {
    found = await db.transaction(async (tx) => {
      const key = sql<string>`'token-ends:' || ${tokens.id}`;
      const rows = await tx
        .select({ token: tokens, email: admins.email })
        .from(tokens)
        .innerJoin(admins, eq(admins.id, tokens.ownerId))
        .where(
          and(
            isNull(tokens.revokedAt),
            gt(tokens.expiresAt, now),
            lte(tokens.expiresAt, shift(now, AHEAD)),
            lte(sql`${tokens.createdAt} + ${AHEAD + QUIET} * interval '1 millisecond'`, tokens.expiresAt),
            notExists(tx.select({ one: sql`1` }).from(outbox).where(eq(outbox.dedupeKey, key))),
          ),
        )
        .orderBy(asc(tokens.expiresAt), asc(tokens.id))
        .limit(BATCH);
      const mails = rows.map(({ token, email }) => ({
        recipient: email,
        message: tokenEnds(policy.site, entryOf(token, now)),
        dedupeKey: `token-ends:${token.id}`,
        expiresAt: token.expiresAt,
      }));
      await queueMails({ tx, context: services }, mails);
      return rows.length;
    });
  }
}
