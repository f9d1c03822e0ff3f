/** A user of a list as the API and the command line show them. */

import type { UserFile } from "../domain/exports/users.ts";
import type { ListedUser } from "../domain/users/list.ts";
import type { ExportFormat } from "../shared/product/export-formats.ts";
import { formatOptionalTimestamp } from "../shared/time/timestamp.ts";
import { onRequestText } from "./hours-records.ts";
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

type Field = keyof ReturnType<typeof listedUserRecord>;

const COLUMNS: Readonly<Record<Field, true>> = {
  ...{ id: true, username: true, host_account: true, email: true, full_name: true, supervisor: true, purpose: true },
  ...{
    note: true,
    source_networks: true,
    company_id: true,
    manager: true,
    sponsor_email: true,
    profile: true,
    status: true,
    expire_at: true,
  },
  ...{ starts_at: true, hours: true, hours_end: true, on_request: true, access: true, access_changes_at: true },
  ...{ disabled_at: true, welcome: true, created_at: true, updated_at: true, last_login_at: true },
  ...{ active_keys: true, last_key_use_at: true },
};

/** A file of users, with every field of their records; the hours and whom they ask as text. */
export function userFile(format: ExportFormat): UserFile {
  const record = (user: ListedUser, now: Date) => ({
    ...listedUserRecord(user, now),
    ...{ hours: user.hours, on_request: onRequestText(user) },
  });
  return { format, columns: Object.keys(COLUMNS), record };
}
