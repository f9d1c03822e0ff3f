/** Access on request: users ask for some hours; who decides is the rule that they have. What is allowed opens by requests/allow.ts. */

import { and, eq } from "drizzle-orm";
import { UamError } from "../../shared/errors.ts";
import { checkRequestHours } from "../../shared/hours/on-request.ts";
import { counted } from "../../shared/text/counted.ts";
import { requireText } from "../../shared/text/text.ts";
import { MINUTE } from "../../shared/time/clock.ts";
import { type ApprovalRow, approvals } from "../../store/schema.ts";
import { sessions } from "../../store/schema-auth.ts";
import { companyOf } from "../accounts/company-limits.ts";
import { findUser, lockUser, type User } from "../accounts/find-user.ts";
import { followHours, isDue } from "../accounts/hours.ts";
import { MAX_PURPOSE } from "../accounts/username.ts";
import { hashToken } from "../auth/sessions/sessions.ts";
import { accessRefused } from "../mail/access-messages.ts";
import { queueMail } from "../mail/outbox.ts";
import { audited, auditedGrant } from "../operation/audited.ts";
import { type Context, type Operation, systemContext } from "../operation/context.ts";
import { type Allowing, allowAccess, requireAllowable } from "../requests/allow.ts";
import { hostsDetail, requireAskable } from "../requests/askable.ts";
import { isPendingRequestOf } from "../requests/end.ts";
import { askSponsor } from "../sponsors/asking.ts";
import { sponsorOf } from "../sponsors/sponsor-email.ts";
import { lockNotice, tellOfApplications } from "./notices.ts";

export interface AccessRequest {
  /** Whole hours, at most those of the user's rule. */
  readonly hours: number;
  /** Required. */
  readonly reason: string;
  /** The names or ids of the user's hosts to which they ask for it; absent: all that they may ask for. */
  readonly hosts?: readonly (string | number)[] | undefined;
}

/** Open until then, or waiting for whoever decides. */
export type AskedAccess =
  | { readonly until: Date; readonly request?: undefined }
  | { readonly request: ApprovalRow; readonly until?: undefined };

/** A login is the proof that a user is there; after this it proves too little to let somebody in. */
const FRESH = 15 * MINUTE;

/**
 * Asks for access in a session: by the rule `self` it is open when this returns, if the session is fresh; otherwise the sponsor is asked, or the
 * administrators. Throws `conflict` as `requireAllowable` does, for too many hours, for a session that is not fresh, and while a request waits.
 */
export async function requestAccess(
  context: Context,
  { userId, token }: { readonly userId: number; readonly token: string },
  { hours, reason: why, hosts: wished }: AccessRequest,
): Promise<AskedAccess> {
  await endWhatIsOver(context, userId);
  const entry = { action: "access.request", resourceId: String(userId), subjectId: userId, detail: { hours } } as const;
  return await auditedGrant(context, entry, async (op) => {
    const user = await lockUser(op.tx, userId);
    op.about({ detail: { username: user.username } });
    const reason = requireText("reason", why, MAX_PURPOSE);
    op.about({ detail: { reason } });
    await requireAllowable(op, user);
    requireWithinLimit(user, hours);
    const asked = await requireAskable(op.tx, user, wished ?? null);
    op.about({ detail: hostsDetail(asked) });
    // Who asks for all of them gets those that they have when it is allowed.
    const hosts = wished === undefined || asked === null ? null : asked.map(({ name }) => name);
    if (user.requestRule === "self") {
      await requireFreshLogin(op, { userId, token });
      return { until: await allowAccess(op.context, userId, { hours, hosts }) };
    }
    return { request: await submit(op, user, { hours, reason, hosts }) };
  });
}

/**
 * Applies the decision about a request, in the operation that decides: allows the access for the hours that were asked for, or as many of them as the
 * user may have now, or mails the reason of the refusal. Throws as `requireAllowable` does: then nothing is decided.
 */
export async function settleAccessRequest(op: Operation, request: ApprovalRow, user: User | undefined): Promise<void> {
  const { userId, hours, hosts, status, id, username, reason } = request;
  if (userId === null || hours === null) throw new Error("a request for access names no user");
  if (status === "approved") {
    if (user === undefined) throw new UamError("conflict", `${username} is gone`, { reason: "user.not_active" });
    await allowAccess(op.context, userId, { hours, hosts });
    return;
  }
  const about = { resourceId: String(userId), subjectId: userId } as const;
  const detail = { username, application: id, ...(reason === "" ? {} : { reason }) };
  await audited(op.context, { action: "access.refuse", ...about, detail }, async (inside) => {
    const message = accessRefused(inside.context.policy.site, { username, reason });
    await queueMail(inside, { recipient: user?.email ?? request.email, message });
  });
}

/** The id of the user's request that waits. Throws `not_found` if none does. */
export async function pendingRequestOf(
  { db }: Pick<Context, "db">,
  user: Pick<User, "id" | "username">,
): Promise<number> {
  const [pending] = await db.select({ id: approvals.id }).from(approvals).where(isPendingRequestOf(user.id));
  if (pending !== undefined) return pending.id;
  throw new UamError("not_found", `No request for access of ${user.username} waits`, { reason: "application.missing" });
}

/**
 * Ends what an earlier window left behind, in an operation of its own, before access is allowed: the account would open over it. Throws as
 * `followHours` does. A deleted user has nothing.
 */
export async function endWhatIsOver(context: Context, userId: number): Promise<void> {
  const user = await findUser(context.db, userId);
  if (user !== undefined && isDue(user, context.clock.now())) await followHours(systemContext(context), userId);
}

function requireWithinLimit({ username, requestHours }: User, hours: number): void {
  checkRequestHours(hours);
  if (hours <= (requestHours ?? 0)) return;
  const sentence = `${username} may ask for at most ${counted(requestHours ?? 0, "hour")} at a time`;
  throw new UamError("conflict", sentence, { reason: "access.limit" });
}

/** The login is the second factor before SSH: a session that lies about, or was stolen later, opens nothing. */
async function requireFreshLogin(
  op: Operation,
  { userId, token }: { readonly userId: number; readonly token: string },
): Promise<void> {
  const its = and(
    eq(sessions.tokenHash, hashToken(token)),
    eq(sessions.userType, "user"),
    eq(sessions.principalId, userId),
  );
  const [session] = await op.tx.select({ createdAt: sessions.createdAt }).from(sessions).where(its);
  const age =
    session === undefined ? Number.POSITIVE_INFINITY : op.context.clock.now().getTime() - session.createdAt.getTime();
  // After the clock was set back a session may be younger than nothing: that proves nothing either.
  if (Math.abs(age) <= FRESH) return;
  const sentence = "You logged in more than 15 minutes ago: log in once more, and ask again";
  throw new UamError("conflict", sentence, { reason: "access.fresh_login" });
}

async function submit(
  op: Operation,
  user: User,
  { hours, hosts, reason: purpose }: Allowing & Pick<AccessRequest, "reason">,
): Promise<ApprovalRow> {
  const { tx, context, record } = op;
  const { id: userId, username, email, fullName, supervisor, requestRule } = user;
  if ((await tx.$count(approvals, isPendingRequestOf(userId))) > 0) {
    const sentence = `${username} has asked already; wait until that is decided, or withdraw it`;
    throw new UamError("conflict", sentence, { reason: "access.pending" });
  }
  const isSponsors = requestRule === "sponsor" && context.policy.sponsor.mode !== "off";
  // Without a sponsor the administrators decide: nobody else could.
  const sponsorEmail = isSponsors ? sponsorOf(user, await companyOf(tx, user)) : "";
  const person = { userId, username, email, fullName, supervisor, purpose, sponsorEmail };
  const notice = await lockNotice(tx);
  const [request] = await tx
    .insert(approvals)
    .values({
      kind: "access_request",
      hours,
      hosts: hosts === null ? null : [...hosts],
      ...person,
      createdAt: context.clock.now(),
    })
    .returning();
  if (request === undefined) throw new Error("insert returned no row");
  await askSponsor(op, sponsorEmail, "access");
  await tellOfApplications(op, notice);
  record({ detail: { application: request.id } });
  return request;
}
