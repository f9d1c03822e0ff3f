/** Settings and the dashboard's figures, in requests and answers. */

import * as v from "valibot";
import { SETTING_KEYS } from "../shared/setting-keys.ts";
import { described, text, timestamp } from "./fields.ts";
import { UserRecord } from "./users.ts";

/** The key as part of the path; an unknown one is not found, so it is not refused here. */
export const SettingParams = v.object({
  key: v.pipe(v.string(), v.metadata({ enum: SETTING_KEYS, examples: [SETTING_KEYS[0]] })),
});

export const SettingRecord = v.pipe(
  v.object({
    key: v.picklist(SETTING_KEYS),
    value: described("90d", "A duration: whole numbers with the units d, h, m and s, largest first"),
    overridden: v.pipe(
      v.boolean(),
      v.metadata({ description: "Whether it replaces the configured default", examples: [true] }),
    ),
    pending: v.optional(
      v.pipe(
        v.object({ value: described("30d", "The shorter value"), at: timestamp }),
        v.description("Only while a shorter value waits to take effect, 24 hours after it was set"),
      ),
    ),
  }),
  v.title("Setting"),
);

export const SettingList = v.object({ items: v.array(SettingRecord) });

export const SettingChange = v.pipe(
  v.object({
    key: v.picklist(SETTING_KEYS),
    value: text("90d", "A duration such as `90d`, `1d12h` or `720h0m0s`, with the units w, d, h, m and s"),
  }),
  v.title("SettingChange"),
);

export const StatsRecord = v.pipe(
  v.object({
    total: figure(12),
    active: figure(9),
    disabled: figure(2),
    expired: figure(1),
    expiring_soon: v.pipe(
      v.array(UserRecord),
      v.description("Active users who expire within the next 30 days, soonest first"),
    ),
    pending_approvals: figure(3),
  }),
  v.title("Stats"),
);

function figure(example: number) {
  return v.pipe(v.number(), v.integer(), v.minValue(0), v.examples([example]));
}
