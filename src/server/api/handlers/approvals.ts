/** /approvals: anyone applies for access, administrators decide. /me/extension: users ask for more time, and withdraw it. */

import type { approvals } from "../../../contract/approvals.ts";
import { listApplications, reviewApplication, submitApplication } from "../../../domain/approvals/approvals.ts";
import { requestExtension, withdrawExtension } from "../../../domain/approvals/extensions.ts";
import { parseTimestamp } from "../../../shared/time/timestamp.ts";
import { applicationRecord } from "../../records.ts";
import type { Handlers } from "../http/call.ts";

export const approvalHandlers: Handlers<typeof approvals> = {
  "POST /approvals": async ({ context, body }) => {
    const application = await submitApplication(context, {
      ...body,
      fullName: body.full_name,
      sponsorEmail: body.sponsor_email,
      hoursWish: body.hours_wish,
    });
    return applicationRecord(application);
  },

  "GET /approvals": async ({ context, query }) => {
    const { total, items } = await listApplications(context, { ...query, userId: query.user_id }, query.page);
    return { total, items: items.map(applicationRecord) };
  },

  "POST /approvals/:id/review": async ({ context, params, body }) => {
    const { approve, reason, create_user: createUser, ttl_days: ttlDays, hours, profile } = body;
    const given = { companyId: body.company_id, sponsorEmail: body.sponsor_email, hours, profile };
    const startsAt = body.starts_at === undefined ? undefined : parseTimestamp(body.starts_at, "starts_at");
    const review = { approve, reason, createUser, ttlDays, startsAt, ...given };
    return applicationRecord(await reviewApplication(context, params.id, review));
  },

  "POST /me/extension": async ({ context, session, body }) => {
    const application = await requestExtension(context, session.principal.id, body);
    return applicationRecord(application);
  },

  "DELETE /me/extension": async ({ context, session }) =>
    applicationRecord(await withdrawExtension(context, session.principal.id)),
};
