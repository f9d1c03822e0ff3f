/** Previews: the effect of a request, in answers to requests with `?preview=true`. */

import * as v from "valibot";
import { SETTING_KEYS } from "../shared/product/setting-keys.ts";
import { USER_STATUSES } from "../shared/product/statuses.ts";
import { count, described, timestamp } from "./fields.ts";

export const PreviewQuery = v.object({
  preview: v.optional(
    v.pipe(
      v.picklist(["true", "false"]),
      v.description(
        "`true`: answer with the effect of the request, without doing anything. It is not recorded, and is refused as the request itself would be",
      ),
    ),
  ),
});

/** The fields of every preview. */
export const told = {
  preview: v.literal(true),
  effects: v.pipe(v.array(described("alice can no longer log in.")), v.description("Short sentences for a person")),
  host: v.pipe(
    v.array(described("would run: /usr/sbin/usermod -e 1 -- ext_alice")),
    v.description("The changes on the host, as a dry run logs them; the format may change"),
  ),
};

export const UserPreview = v.pipe(
  v.object({
    ...told,
    status: v.picklist([...USER_STATUSES, "deleted"]),
    expire_at: v.pipe(v.nullable(timestamp), v.description("As it would be; null for a user who would be gone")),
  }),
  v.title("UserPreview"),
);

export const SettingPreview = v.pipe(
  v.object({
    ...told,
    key: v.picklist(SETTING_KEYS),
    value: described("30d", "The value that would be set"),
    at: v.pipe(timestamp, v.description("When it would take effect")),
    deletes: v.pipe(
      v.object({ users: count(3), audit_records: count(1204) }),
      v.description("Deletions at that time that the value in force would not cause"),
    ),
  }),
  v.title("SettingPreview"),
);

export const FleetPreview = v.pipe(
  v.object({
    ...told,
    accounts: v.pipe(
      v.object({ opened: count(12), shut: count(3), removed: count(0) }),
      v.description("Accounts that open, that are made but stay shut, and that are removed with their homes"),
    ),
  }),
  v.title("FleetPreview"),
);

/** The answer of a route with a preview: that, or the payload. */
export function previewed<P extends v.GenericSchema, S extends v.GenericSchema>(preview: P, payload: S) {
  // The document takes its example from the last.
  return v.union([preview, payload]);
}
