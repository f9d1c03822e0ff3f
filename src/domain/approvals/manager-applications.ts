/** What managers of a company apply for: access for a colleague, or more time for one. Administrators decide, as on everything that is asked for. */

import { UamError } from "../../shared/errors.ts";
import { MAX_HOURS_WISH } from "../../shared/text/person.ts";
import { requireText } from "../../shared/text/text.ts";
import { type ApprovalRow, approvals } from "../../store/schema.ts";
import { findCompany, requireGoing } from "../accounts/company-limits.ts";
import { MAX_PURPOSE, parseText } from "../accounts/username.ts";
import { type Managing, requireManager } from "../companies/managers.ts";
import { applicationArrived } from "../mail/messages.ts";
import { audited } from "../operation/audited.ts";
import type { Context } from "../operation/context.ts";
import { askSponsor } from "../sponsors/asking.ts";
import { sponsorOf } from "../sponsors/sponsor-email.ts";
import { FIELDS } from "../users/new-user.ts";
import { requestExtension } from "./extensions.ts";
import { mailApplicant, requireRoomOf } from "./flooding.ts";
import { lockNotice, tellOfApplications } from "./notices.ts";

/** Either of the two: a colleague to come, or somebody who is there. */
export interface ManagersApplication {
  readonly username?: string | undefined;
  readonly email?: string | undefined;
  readonly fullName?: string | undefined;
  readonly purpose?: string | undefined;
  /** The hours of the week that the colleague is to have, in words. */
  readonly hoursWish?: string | undefined;
  readonly userId?: number | undefined;
  readonly days?: number | undefined;
  readonly reason?: string | undefined;
}

/**
 * Stores what a manager applies for, and tells the administrators. Throws as `requireManager` and `requestExtension` do, `invalid` for what is
 * neither of the two or both, `conflict` once the company has ended, and `limited` while too many applications of the company are pending.
 */
export async function applyAsManager(
  context: Context,
  managerId: number,
  { userId, days, reason, ...person }: ManagersApplication,
): Promise<ApprovalRow> {
  const managing = await requireManager(context, managerId);
  const { username, email, fullName, purpose, hoursWish } = person;
  const isPerson = [username, email, fullName, purpose, hoursWish].some((field) => field !== undefined);
  const isTime = [userId, days, reason].some((field) => field !== undefined);
  if (!isPerson && userId !== undefined && days !== undefined && reason !== undefined) {
    const { companyId, manager } = managing;
    const by = { companyId, requestedBy: manager.username };
    return await requestExtension(managing.context, userId, { days, reason }, by);
  }
  if (!isTime && username !== undefined && email !== undefined && purpose !== undefined)
    return await applyForColleague(managing, { username, email, fullName, purpose, hoursWish });
  throw new UamError(
    "invalid",
    "Send username, email and purpose for a colleague, or user_id, days and reason for more time",
  );
}

interface Colleague {
  readonly username: string;
  readonly email: string;
  readonly fullName: string | undefined;
  readonly purpose: string;
  readonly hoursWish: string | undefined;
}

/** As with any application, it does not say whether a user has that name. */
function applyForColleague({ context, companyId, manager }: Managing<Context>, input: Colleague): Promise<ApprovalRow> {
  const entry = { action: "approval.submit", detail: { username: input.username } } as const;
  return audited(context, entry, async (op) => {
    const values = {
      ...{ username: FIELDS.username(input), email: FIELDS.email(input), fullName: FIELDS.fullName(input) },
      purpose: requireText("purpose", input.purpose, MAX_PURPOSE),
      hoursWish: parseText("hours", input.hoursWish ?? "", MAX_HOURS_WISH),
      ...{ companyId, requestedBy: manager.username, createdAt: context.clock.now() },
    };
    const notice = await lockNotice(op.tx);
    const company = await findCompany(op.tx, companyId);
    requireGoing(company);
    await requireRoomOf(op.tx, companyId);
    const sponsorEmail = sponsorOf({ sponsorEmail: "", email: values.email }, company);
    const [application] = await op.tx
      .insert(approvals)
      .values({ ...values, sponsorEmail })
      .returning();
    if (application === undefined) throw new Error("insert returned no row");
    const { id, email, username } = application;
    await mailApplicant(op, email, applicationArrived(context.policy.site, { username }));
    await tellOfApplications(op, notice);
    await askSponsor(op, sponsorEmail);
    op.record({ detail: { application: id, company: company?.name ?? "" } });
    return application;
  });
}
