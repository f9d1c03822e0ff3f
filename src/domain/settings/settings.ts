/** The policy durations: configuration defaults, which administrators override. */

import { eq } from "drizzle-orm";
import { DAY } from "../../shared/clock.ts";
import { formatDuration, MAX_DAYS, parseDuration } from "../../shared/duration.ts";
import type { Database, Transaction } from "../../store/client.ts";
import { settings } from "../../store/schema.ts";
import { audited } from "../operation/audited.ts";
import type { Context, Policy, Services } from "../operation/context.ts";
import { SETTING_KEYS, type SettingKey } from "./setting-keys.ts";

export interface Setting {
  readonly key: SettingKey;
  /** Milliseconds. */
  readonly value: number;
  /** Whether a stored value replaces the configured default. */
  readonly overridden: boolean;
}

/** The longest value of the settings that decide when an account ends and goes. */
const MAX_ACCOUNT_TIME = MAX_DAYS * DAY;

/** All settings as they stand. */
export async function listSettings(context: Context): Promise<readonly Setting[]> {
  const rows = await context.db.select().from(settings).prepare("list_settings").execute();
  return SETTING_KEYS.map((key) => {
    const row = rows.find((stored) => stored.key === key);
    return { key, value: row?.value ?? defaultOf(context.policy, key), overridden: row !== undefined };
  });
}

/** Overrides a default with a duration given as text such as `90d`; throws `invalid` for one that is none or out of range. */
export function updateSetting(context: Context, key: SettingKey, text: string): Promise<Setting> {
  return audited(context, settingEntry(key), async (op) => {
    const value = key === "policy.audit_retention" ? parseDuration(text) : parseDuration(text, MAX_ACCOUNT_TIME);
    const stored = { value, updatedAt: context.clock.now() };
    await op.tx
      .insert(settings)
      .values({ key, ...stored })
      .onConflictDoUpdate({ target: settings.key, set: stored });
    op.learn({ detail: { value: formatDuration(value), overridden: true } });
    return { key, value, overridden: true };
  });
}

/** Drops the override, if there is one: the configured default is in force again. */
export function dropSetting(context: Context, key: SettingKey): Promise<Setting> {
  return audited(context, settingEntry(key), async (op) => {
    await op.tx.delete(settings).where(eq(settings.key, key));
    const value = defaultOf(context.policy, key);
    op.learn({ detail: { value: formatDuration(value), overridden: false } });
    return { key, value, overridden: false };
  });
}

/** The configured default of a setting, in milliseconds. */
export function defaultOf(policy: Policy, key: SettingKey): number {
  switch (key) {
    case "policy.default_ttl":
      return policy.defaultTtl;
    case "policy.recycle_period":
      return policy.recyclePeriod;
    case "policy.audit_retention":
      return policy.auditRetention;
  }
}

/** The setting in force, in milliseconds: the stored override, else the configured default. Read anew at each use. */
export async function readSetting(
  services: Pick<Services, "policy">,
  db: Database | Transaction,
  key: SettingKey,
): Promise<number> {
  const [row] = await db.select().from(settings).where(eq(settings.key, key)).prepare("read_setting").execute();
  return row?.value ?? defaultOf(services.policy, key);
}

function settingEntry(key: SettingKey) {
  return { action: "settings.update", resourceId: key } as const;
}
