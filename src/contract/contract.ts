/** Every route of the API, with all that is to be known of it. */

import { administrators } from "./admins.ts";
import { agent } from "./agent.ts";
import { approvals } from "./approvals.ts";
import { audit } from "./audit.ts";
import { auth } from "./auth.ts";
import { dashboard } from "./dashboard.ts";
import { hostGroups } from "./host-groups.ts";
import { hosts } from "./hosts.ts";
import { keys } from "./keys.ts";
import { me } from "./me.ts";
import { passkeys } from "./passkeys.ts";
import type { Routes } from "./route.ts";
import { sessions } from "./sessions.ts";
import { settings } from "./settings.ts";
import { sso } from "./sso.ts";
import { tokens } from "./tokens.ts";
import { totp } from "./totp.ts";
import { users } from "./users.ts";
import { webhooks } from "./webhooks.ts";

/** `query` and `body` are as requests have them, `answer` is what is below `data`. */
export const CONTRACT = {
  ...settings,
  ...users,
  ...keys,
  ...sessions,
  ...me,
  ...approvals,
  ...audit,
  ...dashboard,
  ...tokens,
  ...webhooks,
  ...hosts,
  ...hostGroups,
  ...agent,
  ...auth,
  ...sso,
  ...passkeys,
  ...totp,
  ...administrators,
} as const satisfies Routes;
