/** Requests for more time: users make one for their own account, and administrators review it like an application. */

import { and, eq, type SQL } from "drizzle-orm";
import { UamError } from "../../shared/errors.ts";
import { latestEnd } from "../../shared/product/extension.ts";
import { MAX_REQUESTED_DAYS } from "../../shared/product/limits.ts";
import { WITHDRAWN } from "../../shared/product/statuses.ts";
import { requireText } from "../../shared/text/text.ts";
import { shift } from "../../shared/time/clock.ts";
import { type ApprovalRow, approvals } from "../../store/schema.ts";
import { closingsOf } from "../accounts/closings.ts";
import { isExpired, lockUser, lockUserIfStored, requireFound, type User } from "../accounts/find-user.ts";
import { MAX_PURPOSE } from "../accounts/username.ts";
import { queueMail } from "../mail/outbox.ts";
import { extensionRejected } from "../mail/request-messages.ts";
import { audited } from "../operation/audited.ts";
import type { Context, Operation } from "../operation/context.ts";
import { readSetting } from "../settings/settings.ts";
import { extendUser } from "../users/extend.ts";
import { lockNotice, tellOfApplications } from "./notices.ts";

export interface ExtensionRequest {
  /** Whole days, 1 to 365. */
  readonly days: number;
  /** Required. */
  readonly reason: string;
}

/** A manager who asks for somebody of their company. */
export interface Requester {
  readonly companyId: number;
  /** Their username. */
  readonly requestedBy: string;
}

/**
 * Stores the user's request for more time, and tells the administrators. Throws `conflict` while one is pending, for a user
 * who is disabled or is being shut or deleted, and once the recycle period is over. With `by` it is a manager's request for
 * somebody of their company; anybody else is `not_found`.
 */
export function requestExtension(
  context: Context,
  userId: number,
  request: ExtensionRequest,
  by?: Requester,
): Promise<ApprovalRow> {
  const about = { resourceId: String(userId), detail: { days: request.days } } as const;
  // Of somebody of another company nothing is said in their trail.
  const subject = by === undefined ? { subjectId: userId } : {};
  return audited(context, { action: "extension.request", ...about, ...subject }, async (op) => {
    // Of several simultaneous requests one is stored: they wait here for each other.
    const found = await lockUserIfStored(op.tx, userId);
    const isOurs = by === undefined || found?.companyId === by.companyId;
    const user = requireFound(isOurs ? found : undefined, userId);
    const { username, email, fullName, supervisor } = user;
    op.about({ subjectId: userId, detail: { username } });
    const days = parseRequestedDays(request.days);
    const purpose = requireText("reason", request.reason, MAX_PURPOSE);
    await requireMayAsk(op, user);
    const notice = await lockNotice(op.tx);
    const person = { username, email, fullName, supervisor, purpose };
    const [application] = await op.tx
      .insert(approvals)
      .values({
        ...{ kind: "extension", userId, days, endThen: user.expireAt, ...person, createdAt: context.clock.now() },
        ...by,
      })
      .returning();
    if (application === undefined) throw new Error("insert returned no row");
    await tellOfApplications(op, notice);
    op.record({ detail: { application: application.id } });
    return application;
  });
}

/**
 * Takes back the request for more time of this user, whoever made it: nobody can approve it any more. Of a withdrawal and a decision at the same
 * moment one counts. Throws `not_found` if none is pending.
 */
export function withdrawExtension(context: Context, userId: number): Promise<ApprovalRow> {
  const entry = { action: "extension.withdraw", resourceId: String(userId), subjectId: userId } as const;
  return audited(context, entry, async (op) => {
    // Locks the user's row before the request's, as deciding about it does.
    const { username } = await lockUser(op.tx, userId);
    op.about({ detail: { username } });
    const [withdrawn] = await op.tx
      .update(approvals)
      .set({ status: "rejected", reason: WITHDRAWN, reviewedBy: context.actor.name, reviewedAt: context.clock.now() })
      .where(isPendingOf(userId))
      .returning();
    if (withdrawn === undefined) {
      const sentence = `No request for more time of ${username} waits for a decision`;
      throw new UamError("not_found", sentence, { reason: "application.missing" });
    }
    op.record({ detail: { application: withdrawn.id } });
    return withdrawn;
  });
}

/**
 * Applies the review of a request, in the review's operation: extends the user by `ttlDays`, or by the requested days if that is
 * 0 or absent (after another extension, at most to the end that was asked for), or mails the reason of the rejection. Errors of `extendUser` pass through: then nothing is reviewed.
 */
export async function settleRequest(op: Operation, request: ApprovalRow, user: User | undefined, ttlDays = 0) {
  const { userId, days, status, username, reason } = request;
  if (userId === null || days === null) throw new Error("a request for more time names no user");
  if (status === "approved") {
    requireStillOfCompany(request, user);
    const atMost = ttlDays === 0 && user !== undefined ? wantedEnd(op.context, request, user) : undefined;
    await extendUser(op.context, userId, ttlDays === 0 ? days : ttlDays, { atMost });
    return;
  }
  const message = extensionRejected(op.context.policy.site, { username, reason, expireAt: user?.expireAt });
  // The address may have changed since the request.
  await queueMail(op, { recipient: user?.email ?? request.email, message });
}

/** Throws `conflict` if a manager asked, and the user is no longer of that manager's company: nobody asks for them now. */
function requireStillOfCompany({ companyId, username }: ApprovalRow, user: User | undefined): void {
  if (companyId === null || user === undefined || user.companyId === companyId) return;
  throw new UamError("conflict", `${username} has left the company whose manager asked; reject the request`);
}

/** See `latestEnd`; undefined if the user's end has not moved since. Throws `invalid` if the end that was asked for has passed. */
function wantedEnd({ clock }: Context, { username, days, endThen, createdAt }: ApprovalRow, user: User) {
  const asked = { days: days ?? 0, at: createdAt.getTime(), endThen: endThen?.getTime() ?? null };
  const end = latestEnd(asked, user.expireAt.getTime());
  if (end === Number.POSITIVE_INFINITY) return undefined;
  if (end > clock.now().getTime()) return new Date(end);
  throw new UamError(
    "invalid",
    `The end that ${username} asked for has passed, and they have been extended since; say how many days to give`,
  );
}

function parseRequestedDays(days: number): number {
  if (Number.isInteger(days) && days >= 1 && days <= MAX_REQUESTED_DAYS) return days;
  throw new UamError("invalid", `The number of days must be a whole number from 1 to ${MAX_REQUESTED_DAYS}`);
}

async function requireMayAsk(op: Operation, user: User): Promise<void> {
  const { username } = user;
  const now = op.context.clock.now();
  const owed = await closingsOf(op.tx, user.id);
  if (owed.some(({ kind }) => kind === "remove"))
    throw new UamError("conflict", `${username} is being deleted`, { reason: "user.deleting" });
  // A user who expired while disabled would be disabled again.
  const isDisabled = user.disabledAt !== null || owed.some(({ kind, action }) => kind === "shut" && action !== "");
  if (isDisabled) {
    throw new UamError(
      "conflict",
      `${username} is disabled; ask the administrators, who alone can enable the account`,
      { reason: "user.not_active" },
    );
  }
  const period = await readSetting(op.context, op.tx, "policy.recycle_period");
  if (isExpired(user, now) && shift(user.expireAt, period) <= now) {
    throw new UamError("conflict", `The recycle period of ${username} is over; apply for access again`, {
      reason: "user.recycled",
    });
  }
  if ((await op.tx.$count(approvals, isPendingOf(user.id))) > 0) {
    const sentence = `More time for ${username} is asked for already; wait until that is decided or withdrawn`;
    throw new UamError("conflict", sentence, { reason: "extension.pending" });
  }
}

/** The user's request that waits for a decision, of which there is one at most. */
function isPendingOf(userId: number): SQL | undefined {
  return and(eq(approvals.userId, userId), eq(approvals.kind, "extension"), eq(approvals.status, "pending"));
}
