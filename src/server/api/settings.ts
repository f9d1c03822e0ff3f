/** /settings: the policy durations. */

import { Elysia } from "elysia";
import { SETTING_KEYS, type SettingKey } from "../../domain/settings/setting-keys.ts";
import { dropSetting, listSettings, updateSetting } from "../../domain/settings/settings.ts";
import { UamError } from "../../shared/errors.ts";
import { settingRecord } from "../records.ts";
import { jsonBody, requireSession } from "./elysia.ts";
import { SettingChange, SettingList, SettingParams, SettingRecord } from "./schemas/settings.ts";
import { data, responses } from "./schemas.ts";
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
      async ({ context, body }) => ({ data: settingRecord(await updateSetting(context, body.key, body.value)) }),
      {
        parse: jsonBody(web, "admin"),
        body: SettingChange,
        response: responses(data(SettingRecord), 400, 401, 403),
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
      async ({ context, params }) => ({ data: settingRecord(await dropSetting(context, requireKey(params.key))) }),
      {
        params: SettingParams,
        response: responses(data(SettingRecord), 401, 403, 404),
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
    throw new UamError("not_found", `There is no such setting; the settings are ${SETTING_KEYS.join(", ")}`);
  }
  return key;
}
