/** The terms of use: users accept them, and are asked when they change. */

import { and, eq, gt, isNull, lt, sql } from "drizzle-orm";
import { UamError } from "../../shared/errors.ts";
import type { Terms } from "../../shared/text/terms.ts";
import { users } from "../../store/schema.ts";
import { terms, termsAnswers } from "../../store/schema-auth.ts";
import { isExpired, lockUser } from "../accounts/find-user.ts";
import { findOwnTerms, type OwnTerms } from "../accounts/terms.ts";
import { termsAsked } from "../mail/account-messages.ts";
import { queueMails } from "../mail/outbox.ts";
import { audited } from "../operation/audited.ts";
import type { Context, Services } from "../operation/context.ts";

/** Users who are mailed in one transaction. */
const BATCH = 100;

/** The terms in force, and whether the user has accepted them; throws `not_found` where there are none. */
export async function readTerms({ autocommit, policy }: Context, userId: number): Promise<Terms & OwnTerms> {
  const present = policy.terms();
  const own = await findOwnTerms(autocommit, policy, userId);
  if (present === undefined || own === undefined) throw none();
  return { ...present, ...own };
}

/**
 * Stores that the user accepts this version; once more changes nothing. Throws `conflict` for any version but the one in force, and for a
 * user who is not active.
 */
export async function acceptTerms(context: Context, userId: number, version: string): Promise<OwnTerms> {
  const entry = { action: "user.terms", resourceId: String(userId), subjectId: userId, detail: { version } } as const;
  return await audited(context, entry, async (op) => {
    const user = await lockUser(op.tx, userId);
    op.about({ detail: { username: user.username } });
    const now = context.clock.now();
    if (user.status !== "active" || isExpired(user, now)) {
      const sentence = "Terms can be accepted only while the account is active";
      throw new UamError("conflict", sentence, { reason: "user.not_active" });
    }
    const own = await findOwnTerms(op.tx, context.policy, userId);
    if (own === undefined) throw none();
    if (own.version !== version) {
      const sentence = "These are not the terms in force: read those at /me/terms, and accept their version";
      throw new UamError("conflict", sentence, { reason: "terms.changed" });
    }
    if (own.acceptedAt !== null) {
      op.record({ unneeded: true });
      return own;
    }
    const accepted = { accepted: version, acceptedAt: now };
    await op.tx
      .insert(termsAnswers)
      .values({ userId, ...accepted })
      .onConflictDoUpdate({ target: termsAnswers.userId, set: accepted });
    return { version, acceptedAt: now };
  });
}

/** Notes since when the terms are in force; to be called once, as the service starts. */
export async function noteTerms({ db, clock, policy }: Services): Promise<void> {
  const version = policy.terms()?.version;
  if (version === undefined) return;
  const since = clock.now();
  // Terms that come back after others are new to whoever accepted the others.
  const isBack = sql`exists (select 1 from terms other where other.since > ${terms.since})`;
  await db
    .insert(terms)
    .values({ version, since })
    .onConflictDoUpdate({ target: terms.version, set: { since }, setWhere: isBack });
}

/**
 * Mails each active user who was there before the terms and has not accepted them, once for each version. Whoever was not told of their account
 * yet is told of that first.
 */
export async function mailTerms(services: Services, signal?: AbortSignal): Promise<void> {
  const { db, policy } = services;
  const version = policy.terms()?.version;
  if (version === undefined) return;
  for (let count = BATCH; count === BATCH && signal?.aborted !== true; ) {
    count = await db.transaction(async (tx) => {
      const asked = await tx
        .select({ id: users.id, username: users.username, email: users.email })
        .from(users)
        .innerJoin(terms, eq(terms.version, version))
        .where(
          and(
            eq(users.status, "active"),
            gt(users.expireAt, services.clock.now()),
            lt(users.createdAt, terms.since),
            isNull(users.welcomePendingSince),
            isUntold(version),
          ),
        )
        .orderBy(users.id)
        .limit(BATCH)
        .for("update", { of: users, skipLocked: true });
      const mails = asked.map((user) => ({ recipient: user.email, message: termsAsked(policy.site, user) }));
      if (asked.length > 0) {
        await tx
          .insert(termsAnswers)
          .values(asked.map(({ id }) => ({ userId: id, mailed: version })))
          .onConflictDoUpdate({ target: termsAnswers.userId, set: { mailed: version } });
        await queueMails({ tx, context: services }, mails);
      }
      return asked.length;
    });
  }
}

function isUntold(version: string) {
  return sql`not exists (
    select 1 from ${termsAnswers} a where a.user_id = ${users.id} and ${version} in (a.accepted, a.mailed))`;
}

function none(): UamError {
  return new UamError("not_found", "This service has no terms of use", { reason: "terms.none" });
}
