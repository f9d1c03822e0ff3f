/** Requests for access that nobody answers: after some days they are void, and whoever asked is told. */

import { and, asc, eq, lte } from "drizzle-orm";
import { REQUEST_DAYS, UNANSWERED } from "../../shared/hours/on-request.ts";
import { DAY, shift } from "../../shared/time/clock.ts";
import { type ApprovalRow, approvals } from "../../store/schema.ts";
import { lockUserIfStored } from "../accounts/find-user.ts";
import type { Heartbeat } from "../lifecycle/heartbeat.ts";
import { accessUnanswered } from "../mail/access-messages.ts";
import { queueMail } from "../mail/outbox.ts";
import { audited } from "../operation/audited.ts";
import { type Services, systemContext } from "../operation/context.ts";

/**
 * Ends each request for access that has waited for too long: late, it would open an account when nobody expects it. A sponsor's link to it is dead
 * then. Not while the clock is doubtful (see `beat`). A failure is logged, and does not stop the others.
 */
export async function endUnanswered(services: Services, { now, holdUntil }: Heartbeat): Promise<void> {
  if (holdUntil !== undefined) return;
  const old = and(
    eq(approvals.kind, "access_request"),
    eq(approvals.status, "pending"),
    lte(approvals.createdAt, shift(now, -REQUEST_DAYS * DAY)),
  );
  for (const request of await services.db.select().from(approvals).where(old).orderBy(asc(approvals.id))) {
    try {
      await endRequest(services, request);
    } catch (error) {
      const about = { error, applicationId: request.id };
      services.log.error("a request for access that nobody answered could not be ended; this will be retried", about);
    }
  }
}

/** Unless it was decided meanwhile. */
async function endRequest(services: Services, { id, userId, username, email, hours }: ApprovalRow): Promise<void> {
  if (userId === null) throw new Error("a request for access names no user");
  const about = { resourceId: String(userId), subjectId: userId } as const;
  const detail = { username, application: id, reason: UNANSWERED };
  await audited(systemContext(services), { action: "access.refuse", ...about, detail }, async (op) => {
    // Locks the user's row before the request's, as deciding about it does.
    const user = await lockUserIfStored(op.tx, userId);
    const { actor, clock, policy } = op.context;
    const decision = {
      status: "rejected",
      reason: UNANSWERED,
      reviewedBy: actor.name,
      reviewedAt: clock.now(),
    } as const;
    const waiting = and(eq(approvals.id, id), eq(approvals.status, "pending"));
    const [ended] = await op.tx.update(approvals).set(decision).where(waiting).returning({ id: approvals.id });
    if (ended === undefined) return op.record({ unneeded: true });
    const message = accessUnanswered(policy.site, { username, hours });
    await queueMail(op, { recipient: user?.email ?? email, message });
  });
}
