/** /me/company: what managers of a company see of it, end, and apply for. */

import type { ownCompany } from "../../../../contract/companies/own-company.ts";
import { statusAt } from "../../../../domain/accounts/find-user.ts";
import { applyAsManager } from "../../../../domain/approvals/manager-applications.ts";
import { endColleague, getOwnCompany, listColleagues } from "../../../../domain/companies/managers.ts";
import { awaitHosts } from "../../../../domain/hosts/confirmation.ts";
import { formatOptionalTimestamp } from "../../../../shared/time/timestamp.ts";
import { colleagueRecord, ownCompanyRecord } from "../../../company-records.ts";
import { applicationRecord, hostsRecord } from "../../../records.ts";
import type { Handlers } from "../../http/call.ts";

export const ownCompanyHandlers: Handlers<typeof ownCompany> = {
  "GET /me/company": async ({ context, session }) =>
    ownCompanyRecord(await getOwnCompany(context, session.principal.id)),

  "GET /me/company/users": async ({ context, session, query }) => {
    const { total, items } = await listColleagues(context, session.principal.id, query.page);
    const now = context.clock.now();
    return { total, items: items.map((user) => colleagueRecord(user, now)) };
  },

  "POST /me/company/users/:id/end": async ({ context, session, params }) => {
    const user = await endColleague(context, session.principal.id, params.id);
    const known = await awaitHosts(context, params.id);
    const isExpired = statusAt(user, context.clock.now()) === "expired";
    const effectiveBy = known === undefined ? context.clock.now() : known.effectiveBy;
    const status = isExpired ? "expired" : "disabled";
    return { status, effective_by: formatOptionalTimestamp(effectiveBy), ...hostsRecord(known) };
  },

  "POST /me/company/applications": async ({ context, session, body }) => {
    const { full_name: fullName, hours_wish: hoursWish, user_id: userId, ...rest } = body;
    const application = { ...rest, fullName, hoursWish, userId };
    return applicationRecord(await applyAsManager(context, session.principal.id, application));
  },
};
