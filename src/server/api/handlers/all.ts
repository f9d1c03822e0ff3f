/** A handler for every route of the contract: one that is missing does not compile. */

import type { CONTRACT } from "../../../contract/contract.ts";
import type { Handlers } from "../http/call.ts";
import { accessHandlers } from "./access/on-request.ts";
import { adminHandlers } from "./admins.ts";
import { agentHandlers } from "./agent.ts";
import { approvalHandlers } from "./approvals.ts";
import { auditHandlers } from "./audit.ts";
import { authHandlers } from "./auth.ts";
import { companyHandlers } from "./companies/companies.ts";
import { ownCompanyHandlers } from "./companies/own-company.ts";
import { dashboardHandlers } from "./dashboard.ts";
import { hostGroupHandlers } from "./host-groups.ts";
import { hostHandlers } from "./hosts.ts";
import { importHandlers } from "./imports.ts";
import { keyHandlers } from "./keys.ts";
import { meHandlers } from "./me.ts";
import { passkeyHandlers } from "./passkeys.ts";
import { profileHandlers } from "./profiles.ts";
import { reviewHandlers } from "./reviews.ts";
import { serviceHandlers } from "./service.ts";
import { sessionHandlers } from "./sessions.ts";
import { settingHandlers } from "./settings.ts";
import { sponsorHandlers } from "./sponsors.ts";
import { ssoHandlers } from "./sso.ts";
import { tokenHandlers } from "./tokens.ts";
import { totpHandlers } from "./totp.ts";
import { userHandlers } from "./users.ts";
import { webhookHandlers } from "./webhooks.ts";

export const HANDLERS: Handlers<typeof CONTRACT> = {
  ...settingHandlers,
  ...userHandlers,
  ...importHandlers,
  ...companyHandlers,
  ...ownCompanyHandlers,
  ...reviewHandlers,
  ...profileHandlers,
  ...sponsorHandlers,
  ...keyHandlers,
  ...sessionHandlers,
  ...meHandlers,
  ...accessHandlers,
  ...approvalHandlers,
  ...auditHandlers,
  ...dashboardHandlers,
  ...tokenHandlers,
  ...webhookHandlers,
  ...hostHandlers,
  ...hostGroupHandlers,
  ...agentHandlers,
  ...authHandlers,
  ...ssoHandlers,
  ...passkeyHandlers,
  ...totpHandlers,
  ...adminHandlers,
  ...serviceHandlers,
};
