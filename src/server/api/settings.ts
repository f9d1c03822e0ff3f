/** /settings: the policy durations. */

import { Elysia } from "elysia";
import { PreviewQuery, SettingPreview } from "../../contract/preview.ts";
import { SettingChange, SettingList, SettingParams, SettingRecord } from "../../contract/settings.ts";
import { previewSetting } from "../../domain/settings/preview.ts";
import { dropSetting, listSettings, updateSetting } from "../../domain/settings/settings.ts";
import { UamError } from "../../shared/errors.ts";
import { SETTING_KEYS, type SettingKey } from "../../shared/setting-keys.ts";
import { settingPreviewRecord, settingRecord } from "../records.ts";
import { jsonBody, requireSession } from "./elysia.ts";
import { isPreview } from "./request.ts";
import { data, previewed, responses } from "./schemas.ts";
import type { Web } from "./web.ts";

export function settingRoutes(web: Web) {
  return new Elysia({ prefix: "/settings" })
    .use(requireSession(web, "admin", "owner"))
    .get("/", async ({ context }) => ({ data: { items: (await listSettings(context)).map(settingRecord) } }), {
      response: responses(data(SettingList), 401, 403),
      detail: {
        operationId: "listSettings",
        summary: "List the settings",
        description: "The configured defaults, and the overrides in their place.",
      },
    })
    .put(
      "/",
      async ({ context, query, body: { key, value } }) => {
        if (isPreview(query)) return { data: settingPreviewRecord(await previewSetting(context, key, value)) };
        return { data: settingRecord(await updateSetting(context, key, value)) };
      },
      {
        query: PreviewQuery,
        parse: jsonBody(web, "admin"),
        body: SettingChange,
        response: responses(previewed(SettingPreview, SettingRecord), 400, 401, 403),
        detail: {
          operationId: "updateSetting",
          summary: "Override a configured default",
          description:
            "Holds from the next use on: users who have an expiry already keep it. A shorter recycle period or audit retention takes effect 24 hours later, and the administrators are mailed at once: until then `value` is in force, and `pending` says what follows. Then older users and records are deleted for good. The retention has a minimum that only the host's configuration can lower.",
        },
      },
    )
    .delete(
      "/:key",
      async ({ context, params, query }) => {
        const key = requireKey(params.key);
        if (isPreview(query)) return { data: settingPreviewRecord(await previewSetting(context, key)) };
        return { data: settingRecord(await dropSetting(context, key)) };
      },
      {
        params: SettingParams,
        query: PreviewQuery,
        response: responses(previewed(SettingPreview, SettingRecord), 400, 401, 403, 404),
        detail: {
          operationId: "dropSetting",
          summary: "Drop an override",
          description:
            "The configured default is in force again, after 24 hours where it is the shorter one; the answer is the setting as it now stands.",
        },
      },
    );
}

function requireKey(text: string): SettingKey {
  const key = SETTING_KEYS.find((known) => known === text);
  if (key === undefined) {
    const sentence = `There is no such setting; the settings are ${SETTING_KEYS.join(", ")}`;
    throw new UamError("not_found", sentence, { reason: "setting.missing" });
  }
  return key;
}
