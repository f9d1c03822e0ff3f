/**
 * After the clock was set back, closings, mail and locks would wait, and logins and links stay valid, until it is as late again as it was,
 * which may be years. Each gets the longest time that it can have from now.
 */

import { gt, isNotNull } from "drizzle-orm";
import { DAY, HOUR, MINUTE, shift } from "../../shared/time/clock.ts";
import type { Transaction } from "../../store/client.ts";
import { closings, outbox, users } from "../../store/schema.ts";
import { loginLimits, otpCodes, questions, resetTokens, sessions } from "../../store/schema-auth.ts";
import { joinTokens } from "../../store/schema-fleet.ts";
import { policyState } from "../../store/schema-service.ts";
import { INVITATION_TTL } from "../auth/administrators/admin-invitation.ts";
import type { Policy } from "../operation/context.ts";
import { QUESTION_TTL } from "../sponsors/questions.ts";
import { JOIN_TOKEN_TTL } from "../wire/join-tokens.ts";

/** Longer than a closing, or a mail, is ever put off. */
const LONGEST_WAIT = 2 * HOUR;

/** Bounds stored times that lie in the future. Call it when the clock was set back; times within their bounds stay. */
export async function boundTimesToCome(tx: Transaction, policy: Policy, now: Date): Promise<void> {
  const waited = shift(now, LONGEST_WAIT);
  // Due now, not at their latest: access is waiting to be taken away.
  await tx.update(closings).set({ dueAt: now }).where(gt(closings.dueAt, waited));
  // What was allowed on request was allowed by the time that it was: nobody asks for a window that is to come.
  await tx
    .update(users)
    .set({ allowedFrom: null, allowedUntil: null, hoursDueAt: now })
    .where(gt(users.allowedFrom, now));
  // What is open by the time that it was is looked at by the time that it is.
  await tx.update(users).set({ hoursDueAt: now }).where(isNotNull(users.hoursDueAt));
  // Who was seen by the time that it was counts as seen now, not as somebody who uses their access until then.
  await tx.update(users).set({ seenAt: now }).where(gt(users.seenAt, now));
  await tx.update(outbox).set({ dueAt: now }).where(gt(outbox.dueAt, waited));
  const session = shift(now, policy.sessionTtl);
  await tx.update(sessions).set({ expiresAt: session }).where(gt(sessions.expiresAt, session));
  const code = shift(now, policy.otpTtl);
  await tx.update(otpCodes).set({ expiresAt: code }).where(gt(otpCodes.expiresAt, code));
  const reset = shift(now, INVITATION_TTL);
  await tx.update(resetTokens).set({ expiresAt: reset }).where(gt(resetTokens.expiresAt, reset));
  const join = shift(now, JOIN_TOKEN_TTL);
  await tx.update(joinTokens).set({ expiresAt: join }).where(gt(joinTokens.expiresAt, join));
  const asked = shift(now, QUESTION_TTL);
  await tx.update(questions).set({ expiresAt: asked }).where(gt(questions.expiresAt, asked));
  // Mails to a sponsor are counted by these: one that is to come would count for years.
  await tx.update(questions).set({ createdAt: now }).where(gt(questions.createdAt, now));
  const locked = shift(now, Math.max(HOUR, policy.lockoutPeriod));
  await tx.update(loginLimits).set({ lockedUntil: locked }).where(gt(loginLimits.lockedUntil, locked));
  const cooled = shift(now, MINUTE);
  await tx.update(loginLimits).set({ cooldownUntil: cooled }).where(gt(loginLimits.cooldownUntil, cooled));
  const held = shift(now, DAY);
  await tx.update(policyState).set({ heldUntil: held }).where(gt(policyState.heldUntil, held));
}
