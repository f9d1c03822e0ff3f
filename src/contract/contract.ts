/** Every route of the API, with all that is to be known of it. */

import type { Routes } from "./route.ts";
import { settings } from "./settings.ts";
import { users } from "./users.ts";

/** `query` and `body` are as requests have them, `answer` is what is below `data`. */
export const CONTRACT = {
  ...settings,
  ...users,
} as const satisfies Routes;
