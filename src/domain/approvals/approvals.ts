/**
 * Access applications: anyone submits one, administrators review it, and approving it creates the user. Requests for more time
 * (extensions.ts) and for access on request (access-requests.ts) are reviewed and listed with them.
 */

import { and, asc, count, desc, eq } from "drizzle-orm";
import { publicMessage, UamError } from "../../shared/errors.ts";
import type { Hours } from "../../shared/hours/hours.ts";
import type { ApplicationSort } from "../../shared/product/application-sorts.ts";
import { offsetOf, type Page, type Paged } from "../../shared/product/page.ts";
import { WITHDRAWN } from "../../shared/product/statuses.ts";
import { MAX_HOURS_WISH } from "../../shared/text/person.ts";
import type { Database } from "../../store/client.ts";
import { type ApprovalRow, approvals, type UserRow } from "../../store/schema.ts";
import { lockUserIfStored } from "../accounts/find-user.ts";
import { parseText } from "../accounts/username.ts";
import {
  applicationApproved,
  applicationApprovedLater,
  applicationArrived,
  applicationRejected,
} from "../mail/messages.ts";
import { queueMail } from "../mail/outbox.ts";
import { audited } from "../operation/audited.ts";
import type { Context, Operation } from "../operation/context.ts";
import { askSponsor, requireVouched } from "../sponsors/asking.ts";
import { parseSponsor } from "../sponsors/sponsor-email.ts";
import { FIELDS } from "../users/new-user.ts";
import { createUser } from "../users/users.ts";
import { endWhatIsOver, settleAccessRequest } from "./access-requests.ts";
import { settleRequest } from "./extensions.ts";
import { hasRoom, mailApplicant } from "./flooding.ts";
import { lockNotice, tellOfApplications } from "./notices.ts";
import { requireNotWithdrawn } from "./review-reason.ts";

export interface NewApplication {
  readonly username: string;
  readonly email: string;
  readonly fullName?: string | undefined;
  readonly supervisor?: string | undefined;
  readonly purpose?: string | undefined;
  /** Who is to say whether they answer for the applicant. */
  readonly sponsorEmail?: string | undefined;
  /** The hours of the week that they wish for, in their words. */
  readonly hoursWish?: string | undefined;
}

export interface Review {
  readonly approve: boolean;
  /** Required when rejecting. */
  readonly reason?: string | undefined;
  /** False: approve only, without creating the user. */
  readonly createUser?: boolean | undefined;
  /** Whole days; 0 or absent means `policy.default_ttl`, or the days that a request for more time asks for. */
  readonly ttlDays?: number | undefined;
  /** What the new user gets beside what was applied for: the company, null for none, the sponsor, "" for nobody of their own, the start and the hours. */
  readonly companyId?: number | null | undefined;
  readonly sponsorEmail?: string | undefined;
  readonly startsAt?: Date | undefined;
  readonly hours?: Hours | null | undefined;
  /** The profile of the user who is created, by its name. */
  readonly profile?: string | null | undefined;
}

/** The filter of a list of applications. */
export interface ApplicationFilter {
  readonly status?: ApprovalRow["status"] | undefined;
  readonly kind?: ApprovalRow["kind"] | undefined;
  /** Requests of this user. */
  readonly userId?: number | undefined;
  /** Newest first, unless it is `created_at`. */
  readonly sort?: ApplicationSort | undefined;
}

const MAX_REASON = 1000;

/**
 * Stores an application, mails the applicant a receipt, and tells the administrators. Throws `limited` while there are too many. It does
 * not check whether another application or a user has that name, so nobody can find out here. An application may also be dropped because
 * too many have that address; only the record says so.
 */
export function submitApplication(context: Context, input: NewApplication): Promise<ApprovalRow> {
  const entry = { action: "approval.submit", detail: { username: input.username } } as const;
  return audited(context, entry, async (op) => {
    const values = {
      username: FIELDS.username(input),
      email: FIELDS.email(input),
      fullName: FIELDS.fullName(input),
      supervisor: FIELDS.supervisor(input),
      purpose: FIELDS.purpose(input),
      hoursWish: parseText("hours", input.hoursWish ?? "", MAX_HOURS_WISH),
      sponsorEmail: parseSponsor(context.policy.sponsor, input),
      createdAt: context.clock.now(),
    };
    const notice = await lockNotice(op.tx);
    const isKept = await hasRoom(op.tx, values.email);
    const [application] = await op.tx.insert(approvals).values(values).returning();
    if (application === undefined) throw new Error("insert returned no row");
    const { id, email, username } = application;
    await mailApplicant(op, email, applicationArrived(context.policy.site, { username }), !isKept);
    if (isKept) {
      await tellOfApplications(op, notice);
      await askSponsor(op, application.sponsorEmail);
      op.record({ detail: { application: id } });
    } else {
      await op.tx.delete(approvals).where(eq(approvals.id, id));
      op.record({ refused: `Too many applications with the address ${email} wait for a decision; it was not kept` });
    }
    return application;
  });
}

/**
 * Approves or rejects a pending application, and mails the outcome to the applicant. Approval creates the user and the host
 * account in the same operation; if that fails, the application stays pending and this throws `conflict` or `invalid` with
 * the reason. Approving a request for more time extends the user likewise, and throws as `extendUser` does; one for access allows it, and
 * throws as `settleAccessRequest` does. Throws
 * `conflict` for an application that was already reviewed.
 */
export async function reviewApplication(context: Context, id: number, review: Review): Promise<ApprovalRow> {
  const known = await findApplication(context.db, id);
  const detail = { application: id, approve: review.approve, ...(known && { username: known.username }) };
  const about = known?.userId == null ? {} : { subjectId: known.userId };
  if (review.approve && known?.kind === "access_request" && known.status === "pending" && known.userId !== null)
    await endWhatIsOver(context, known.userId);
  return await audited(context, { action: "approval.review", detail, ...about }, async (op) => {
    const reason = parseText("reason", review.reason ?? "", MAX_REASON);
    requireNotWithdrawn(reason);
    if (!review.approve && reason === "") throw new UamError("invalid", "A rejection needs a reason");
    requireFitting(known, review);
    // Locks the user's row before the request's, as deleting a user does.
    const owner = known?.userId == null ? undefined : await lockUserIfStored(op.tx, known.userId);
    const pending = await lockPending(op, id);
    if (review.approve && pending.kind === "access") requireVouched(context.policy.sponsor, pending, review);
    const [reviewed] = await op.tx
      .update(approvals)
      .set({
        status: review.approve ? "approved" : "rejected",
        reason,
        reviewedBy: context.actor.name,
        reviewedAt: context.clock.now(),
      })
      .where(eq(approvals.id, id))
      .returning();
    if (reviewed === undefined) throw new Error("a locked application's row is gone");
    op.record({ detail: { outcome: reviewed.status } });
    if (pending.kind === "extension") await settleRequest(op, reviewed, owner, review.ttlDays);
    else if (pending.kind === "access_request") await settleAccessRequest(op, reviewed, owner);
    else if (review.approve && review.createUser !== false) {
      const user = await createApplicant(op, pending, review);
      op.record({ subjectId: user.id });
    } else {
      const { site } = context.policy;
      if (review.approve) {
        const message = applicationApprovedLater(site, { username: reviewed.username });
        await queueMail(op, { recipient: reviewed.email, message });
      } else await mailApplicant(op, reviewed.email, applicationRejected(site, reviewed));
    }
    return reviewed;
  });
}

/** One page of applications and requests, newest first unless sorted otherwise. */
export async function listApplications(
  context: Context,
  { status, kind, userId, sort }: ApplicationFilter,
  page: Page,
): Promise<Paged<ApprovalRow>> {
  const where = and(
    status === undefined ? undefined : eq(approvals.status, status),
    kind === undefined ? undefined : eq(approvals.kind, kind),
    userId === undefined ? undefined : eq(approvals.userId, userId),
  );
  return await context.db.transaction(
    async (tx) => {
      const [row] = await tx.select({ total: count() }).from(approvals).where(where).execute();
      const items = await tx
        .select()
        .from(approvals)
        .where(where)
        .orderBy(sort === "created_at" ? asc(approvals.id) : desc(approvals.id))
        .limit(page.pageSize)
        .offset(offsetOf(page));
      return { total: row?.total ?? 0, items };
    },
    { isolationLevel: "repeatable read", accessMode: "read only" },
  );
}

/** Throws `invalid` for a review with fields that it has no use for: of a user's request, or where no user is created. */
function requireFitting(application: ApprovalRow | undefined, review: Review): void {
  const { approve, createUser, ttlDays = 0, companyId, sponsorEmail, startsAt, hours, profile } = review;
  if (application === undefined) return;
  const isAboutNew = [companyId, sponsorEmail, startsAt, hours, profile].some((given) => given !== undefined);
  if (isAboutNew && (application.kind !== "access" || !approve || createUser === false))
    throw new UamError(
      "invalid",
      "company_id, sponsor_email, starts_at, hours and profile are for the user whom an approval creates",
    );
  if (application.kind === "access") return;
  if (application.kind === "access_request" && ttlDays !== 0)
    throw new UamError("invalid", "Access on request is for the hours that were asked for, and for no days");
  if (createUser === undefined || createUser) return;
  throw new UamError("invalid", "A user's request creates no user: approve it, or reject it with a reason");
}

async function findApplication(db: Database, id: number): Promise<ApprovalRow | undefined> {
  const [row] = await db.select().from(approvals).where(eq(approvals.id, id));
  return row;
}

/** The application, locked until the operation ends: of several simultaneous reviews one decides. */
async function lockPending(op: Operation, id: number): Promise<ApprovalRow> {
  const [row] = await op.tx.select().from(approvals).where(eq(approvals.id, id)).for("update");
  if (row === undefined)
    throw new UamError("not_found", "There is no such application", { reason: "application.missing" });
  if (row.status !== "pending") {
    const decided = row.reason === WITHDRAWN ? "withdrawn" : row.status;
    throw new UamError("conflict", `The application was already ${decided}`, { reason: "application.reviewed" });
  }
  return row;
}

async function createApplicant(op: Operation, application: ApprovalRow, review: Review): Promise<UserRow> {
  const { username, email, fullName, supervisor, purpose, companyId } = application;
  const { ttlDays, startsAt, hours, profile } = review;
  if (companyId !== null && (review.companyId ?? companyId) !== companyId)
    throw new UamError("invalid", "A manager applied for their own company: the user cannot come from another one");
  // A company's sponsor stays the company's: whoever is that at the time.
  const { sponsorEmail = companyId === null ? application.sponsorEmail : "" } = review;
  const person = { username, email, fullName, supervisor, purpose, sponsorEmail };
  const belonging = { companyId: companyId ?? review.companyId, startsAt, hours, profile };
  const input = { ...person, ...belonging, ttlDays, letter: applicationApproved };
  try {
    return await createUser(op.context, input);
  } catch (error) {
    if (error instanceof UamError && error.code === "conflict") throw error;
    // The specification's status table: any other failure to create a user is an invalid request.
    const reason = error instanceof UamError ? error.reason : "internal";
    throw new UamError("invalid", publicMessage(error), { cause: error, reason });
  }
}
