/** A user of a list as the API and the command line show them. */

import type { ListedUser } from "../domain/users/list.ts";
import { formatOptionalTimestamp } from "../shared/time/timestamp.ts";
import { userRecord } from "./records.ts";

/** The user as of now, with what is known of their logins. */
export function listedUserRecord(user: ListedUser, now: Date) {
  return {
    ...userRecord(user, now),
    last_login_at: formatOptionalTimestamp(user.lastLoginAt),
    active_keys: user.activeKeys,
    last_key_use_at: formatOptionalTimestamp(user.lastKeyUseAt),
  };
}
