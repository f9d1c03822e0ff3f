/** /settings: the policy durations. */

import type { settings } from "../../../contract/settings.ts";
import { previewSetting } from "../../../domain/settings/preview.ts";
import { dropSetting, listSettings, updateSetting } from "../../../domain/settings/settings.ts";
import { UamError } from "../../../shared/errors.ts";
import { SETTING_KEYS, type SettingKey } from "../../../shared/product/setting-keys.ts";
import { settingPreviewRecord, settingRecord } from "../../records.ts";
import type { Handlers } from "../http/call.ts";
import { isPreview } from "../http/request.ts";

export const settingHandlers: Handlers<typeof settings> = {
  "GET /settings": async ({ context }) => ({ items: (await listSettings(context)).map(settingRecord) }),

  "PUT /settings": async ({ context, query, body: { key, value } }) =>
    isPreview(query)
      ? settingPreviewRecord(await previewSetting(context, key, value))
      : settingRecord(await updateSetting(context, key, value)),

  "DELETE /settings/:key": async ({ context, params, query }) => {
    const key = requireKey(params.key);
    if (isPreview(query)) return settingPreviewRecord(await previewSetting(context, key));
    return settingRecord(await dropSetting(context, key));
  },
};

function requireKey(text: string): SettingKey {
  const key = SETTING_KEYS.find((known) => known === text);
  if (key === undefined) {
    const sentence = `There is no such setting; the settings are ${SETTING_KEYS.join(", ")}`;
    throw new UamError("not_found", sentence, { reason: "setting.missing" });
  }
  return key;
}
