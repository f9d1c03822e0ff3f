/** /settings: the policy durations. */

import * as v from "valibot";
import { SETTING_KEYS } from "../shared/product/setting-keys.ts";
import { described, listed, text, timestamp } from "./fields.ts";
import { PreviewQuery, previewed, SettingPreview } from "./preview.ts";
import { owners, type Routes } from "./route.ts";

/** The key as part of the path; an unknown one is not found, so it is not refused here. */
const SettingParams = v.object({
  key: v.pipe(v.string(), v.metadata({ enum: SETTING_KEYS, examples: [SETTING_KEYS[0]] })),
});

const SettingRecord = v.pipe(
  v.object({
    key: v.picklist(SETTING_KEYS),
    value: described("90d", "A duration: whole numbers with the units d, h, m and s, largest first; or `off`"),
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

const SettingChange = v.pipe(
  v.object({
    key: v.picklist(SETTING_KEYS),
    value: text(
      "90d",
      "A duration such as `90d`, `1d12h` or `720h0m0s`, with the units w, d, h, m and s; `off` for `policy.review_every` and `policy.inactive_after`",
    ),
  }),
  v.title("SettingChange"),
);

export const settings = {
  "GET /settings": {
    operationId: "listSettings",
    summary: "List the settings",
    description: "The configured defaults, and the overrides in their place.",
    who: owners,
    answer: listed(SettingRecord),
  },
  "PUT /settings": {
    operationId: "updateSetting",
    summary: "Override a configured default",
    description:
      "Holds from the next use on: users who have an expiry already keep it. A shorter recycle period or audit retention takes effect 24 hours later, and the administrators are mailed at once: until then `value` is in force, and `pending` says what follows. Then older users and records are deleted for good. The retention has a minimum that only the host's configuration can lower.",
    who: owners,
    records: "settings.update",
    query: PreviewQuery,
    body: SettingChange,
    answer: previewed(SettingPreview, SettingRecord),
    reasons: ["setting.too_short"],
  },
  "DELETE /settings/:key": {
    operationId: "dropSetting",
    summary: "Drop an override",
    description:
      "The configured default is in force again, after 24 hours where it is the shorter one; the answer is the setting as it now stands.",
    who: owners,
    params: SettingParams,
    query: PreviewQuery,
    answer: previewed(SettingPreview, SettingRecord),
    refusals: { 404: true },
    reasons: ["setting.missing", "setting.too_short"],
  },
} as const satisfies Routes;
