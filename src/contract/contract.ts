/** Every route of the API, with all that is to be known of it. */

import { approvals } from "./approvals.ts";
import { audit } from "./audit.ts";
import { keys } from "./keys.ts";
import { me } from "./me.ts";
import type { Routes } from "./route.ts";
import { sessions } from "./sessions.ts";
import { settings } from "./settings.ts";
import { users } from "./users.ts";

/** `query` and `body` are as requests have them, `answer` is what is below `data`. */
export const CONTRACT = {
  ...settings,
  ...users,
  ...keys,
  ...sessions,
  ...me,
  ...approvals,
  ...audit,
} as const satisfies Routes;
