/** uam setting: the policy durations, which override the configuration. */

import { object, or } from "@optique/core/constructs";
import { message } from "@optique/core/message";
import { map } from "@optique/core/modifiers";
import { argument, command } from "@optique/core/primitives";
import { string } from "@optique/core/valueparser";
import type { Context } from "../../../domain/operation/context.ts";
import type { Setting } from "../../../domain/settings/settings.ts";
import { SETTING_KEYS, type SettingKey } from "../../../shared/product/setting-keys.ts";
import { jsonFlag, oneOf } from "../../terminal/arguments.ts";
import { type Command, EXIT, withServices } from "../../terminal/environment.ts";
import { type Column, printJson, printRecord, printTable, shortTime } from "../../terminal/output.ts";
import { previewFlag, printPreview } from "../../terminal/preview.ts";

const key = argument(oneOf(SETTING_KEYS, "KEY"), { description: message`The setting.` });

const list = command(
  "list",
  map(object({ json: jsonFlag() }), (input) => runList(input)),
  {
    brief: message`List the settings.`,
  },
);

const set = command(
  "set",
  map(
    object({
      key,
      value: argument(string({ metavar: "DURATION" }), {
        description: message`A duration such as 90d or 1d12h; "off" for policy.review_every and policy.inactive_after.`,
      }),
      preview: previewFlag(),
      json: jsonFlag(),
    }),
    ({ preview, key, value, json }) =>
      preview
        ? runPreview(json, key, value)
        : changeSetting(json, async (context) => {
            const { updateSetting } = await import("../../../domain/settings/settings.ts");
            return await updateSetting(context, key, value);
          }),
  ),
  {
    brief: message`Override the configured value.`,
    description: message`Overrides the configured value, from the next use on. A shorter recycle period or audit retention takes effect 24 hours later, and the administrators are mailed at once; then users and records that are older are deleted for good. The retention cannot be shorter than UAM_AUDIT_RETENTION_MIN.`,
  },
);

const unset = command(
  "unset",
  map(object({ key, preview: previewFlag(), json: jsonFlag() }), ({ preview, key, json }) =>
    preview
      ? runPreview(json, key)
      : changeSetting(json, async (context) => {
          const { dropSetting } = await import("../../../domain/settings/settings.ts");
          return await dropSetting(context, key);
        }),
  ),
  { brief: message`Drop an override and return to the configured value.` },
);

export const settingCommand = command("setting", or(list, set, unset), {
  brief: message`List and change policy durations.`,
});

type SettingRecord = ReturnType<typeof import("../../../server/records.ts").settingRecord>;

const COLUMNS: readonly Column<SettingRecord>[] = [
  { header: "KEY", value: (setting) => setting.key },
  { header: "VALUE", value: (setting) => setting.value },
  { header: "OVERRIDDEN", value: (setting) => (setting.overridden ? "yes" : "no") },
];

/** Shown only if a change is pending. */
const PENDING: Column<SettingRecord> = { header: "PENDING", value: pendingOf };

function runList({ json }: { readonly json: boolean }): Command {
  return async (environment) => {
    const { listSettings } = await import("../../../domain/settings/settings.ts");
    const { settingRecord } = await import("../../../server/records.ts");
    const items = (await withServices(environment, "read", listSettings)).map(settingRecord);
    if (json) printJson(environment, { items });
    const columns = items.some((item) => "pending" in item) ? [...COLUMNS, PENDING] : COLUMNS;
    if (!json) await printTable(environment, columns, items);
    return EXIT.done;
  };
}

function changeSetting(json: boolean, work: (context: Context) => Promise<Setting>): Command {
  return async (environment) => {
    const { settingRecord } = await import("../../../server/records.ts");
    const setting = settingRecord(await withServices(environment, "store", work));
    if (json) printJson(environment, setting);
    else printRecord(environment, { ...setting, ...("pending" in setting ? { pending: pendingOf(setting) } : {}) });
    return EXIT.done;
  };
}

function runPreview(json: boolean, key: SettingKey, value?: string): Command {
  return async (environment) => {
    const { previewSetting } = await import("../../../domain/settings/preview.ts");
    const { settingPreviewRecord } = await import("../../../server/records.ts");
    const preview = await withServices(environment, "read", (context) => previewSetting(context, key, value));
    return printPreview(environment, settingPreviewRecord(preview), json);
  };
}

/** The pending value, and when it takes effect. */
function pendingOf(setting: SettingRecord): string {
  return "pending" in setting ? `${setting.pending.value} from ${shortTime(setting.pending.at)}` : "-";
}
