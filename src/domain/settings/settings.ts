/**
 * The policy durations: configuration defaults, which administrators override. A shorter period that would delete
 * existing data takes effect a day after it was set, by any actor and in any way; until then the longer one holds.
 */

import { eq } from "drizzle-orm";
import { UamError } from "../../shared/errors.ts";
import { OFF, SETTING_KEYS, type SettingKey, settingText } from "../../shared/product/setting-keys.ts";
import { DAY, shift } from "../../shared/time/clock.ts";
import { formatDuration, MAX_DAYS, parseDuration } from "../../shared/time/duration.ts";
import type { Database, Transaction } from "../../store/client.ts";
import { settings } from "../../store/schema-service.ts";
import { tellAdministrators } from "../mail/administrators.ts";
import { periodShortened } from "../mail/audit-messages.ts";
import { audited } from "../operation/audited.ts";
import type { Context, Operation, Policy, Services } from "../operation/context.ts";
import { nameForPeople } from "../operation/entry.ts";
import { type Hold, holdFor, lockSettings, readState, storeHold } from "./hold.ts";

export interface Setting {
  readonly key: SettingKey;
  /** The value in force, in milliseconds; 0 for one that is off. */
  readonly value: number;
  /** Whether a stored value replaces the configured default, now or from `pending.at` on. */
  readonly overridden: boolean;
  /** The shorter value that was set, and when it takes effect. */
  readonly pending?: { readonly value: number; readonly at: Date };
}

/** The longest value of the settings that decide when an account expires and is deleted. */
const MAX_ACCOUNT_TIME = MAX_DAYS * DAY;
/** The shortest value of the settings that can be off: who is inactive is told 14 days ahead. */
const SHORTEST = { "policy.review_every": 7 * DAY, "policy.inactive_after": 15 * DAY } as const;

/** All settings as they stand. */
export async function listSettings(context: Context): Promise<readonly Setting[]> {
  const found: Setting[] = [];
  for (const key of SETTING_KEYS) found.push(await findSetting(context, context.db, key));
  return found;
}

/**
 * Overrides a default with a duration given as text such as `90d`, or with `off` where a setting can be off; throws `invalid` for a text that is not a duration, is out
 * of range, or is a retention that only the host's configuration may set.
 */
export function updateSetting(context: Context, key: SettingKey, text: string): Promise<Setting> {
  return audited(context, settingEntry(key), (op) =>
    change(op, key, async () => {
      const value = parseValue(context.policy, key, text);
      const stored = { value, updatedAt: context.clock.now() };
      await op.tx
        .insert(settings)
        .values({ key, ...stored })
        .onConflictDoUpdate({ target: settings.key, set: stored });
    }),
  );
}

/** Drops the override, if there is one: the configured default is in force again. */
export function dropSetting(context: Context, key: SettingKey): Promise<Setting> {
  return audited(context, settingEntry(key), (op) =>
    change(op, key, async () => void (await op.tx.delete(settings).where(eq(settings.key, key)))),
  );
}

/**
 * Takes note of the configured defaults, when the service starts: one that was made shorter since the last start takes
 * effect a day from now, on record.
 */
export async function noteConfigured(context: Context): Promise<void> {
  for (const key of SETTING_KEYS.filter(isDelayed)) {
    const configured = defaultOf(context.policy, key);
    if ((await readState(context.db, key))?.configured === configured) continue;
    await audited(context, settingEntry(key), async (op) => {
      await lockSettings(op.tx);
      const known = await readState(op.tx, key);
      if (known === undefined || known.configured === configured) op.record({ unneeded: true });
      else op.record({ detail: { configured: formatDuration(configured) } });
      if (known?.configured !== configured) await change(op, key, async () => {}, configured);
    });
  }
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
    case "policy.review_every":
    case "policy.inactive_after":
      return 0;
  }
}

/** The setting in force, in milliseconds. Read again at each use. */
export async function readSetting(
  services: Pick<Services, "policy" | "clock">,
  db: Database | Transaction,
  key: SettingKey,
): Promise<number> {
  return (await findSetting(services, db, key)).value;
}

/** The setting as it stands. */
export async function findSetting(
  { policy, clock }: Pick<Services, "policy" | "clock">,
  db: Database | Transaction,
  key: SettingKey,
): Promise<Setting> {
  const [row] = await db.select().from(settings).where(eq(settings.key, key)).prepare("read_setting").execute();
  const overridden = row !== undefined;
  const wanted = atLeast(policy, key, row?.value ?? defaultOf(policy, key));
  if (!isDelayed(key)) return { key, value: wanted, overridden };
  const configured = overridden ? undefined : defaultOf(policy, key);
  const hold = holdFor(await readState(db, key), configured, clock.now());
  if (hold === undefined || hold.value <= wanted) return { key, value: wanted, overridden };
  return { key, value: hold.value, overridden, pending: { value: wanted, at: hold.until } };
}

/** Changes what is stored about a setting; a period that becomes shorter is held for a day, and the administrators are mailed. */
async function change(
  op: Operation,
  key: SettingKey,
  store: () => Promise<void>,
  configured = defaultOf(op.context.policy, key),
): Promise<Setting> {
  await lockSettings(op.tx);
  const before = await findSetting(op.context, op.tx, key);
  await store();
  const [row] = await op.tx.select().from(settings).where(eq(settings.key, key));
  const wanted = atLeast(op.context.policy, key, row?.value ?? configured);
  const hold = holdOf(before, wanted, op.context.clock.now());
  if (isDelayed(key)) await storeHold(op.tx, key, { configured, hold });
  const setting = { key, value: before.value, overridden: row !== undefined };
  const detail = {
    value: settingText(wanted),
    overridden: setting.overridden,
    old_value: settingText(before.value),
  };
  if (hold === undefined) {
    op.record({ detail });
    return { ...setting, value: wanted };
  }
  op.record({ detail: { ...detail, effective_at: hold.until.toISOString() } });
  const shortening = { key, from: before.value, to: wanted, at: hold.until, by: nameForPeople(op.context.actor) };
  const occasion = `shorter:${key}:${wanted}:${hold.until.getTime()}`;
  await tellAdministrators(op, periodShortened(op.context.policy.site, shortening), { about: "policy", occasion });
  return { ...setting, pending: { value: wanted, at: hold.until } };
}

/**
 * The hold that delays a new value of a setting; undefined if there is none. The time does not begin again for a value that is
 * already waiting.
 */
export function holdOf(before: Setting, wanted: number, now: Date): Hold | undefined {
  if (!isDelayed(before.key) || wanted >= before.value) return undefined;
  const again = before.pending?.value === wanted ? before.pending.at : undefined;
  return { value: before.value, until: again ?? shift(now, DAY) };
}

/** The value of a setting that the text means, in milliseconds; throws `invalid` for one that may not be set. */
export function parseValue(policy: Policy, key: SettingKey, text: string): number {
  if (key === "policy.review_every" || key === "policy.inactive_after") return parseSwitched(key, text);
  if (key !== "policy.audit_retention") return parseDuration(text, MAX_ACCOUNT_TIME);
  const value = parseDuration(text);
  if (value >= policy.auditRetentionMin) return value;
  throw new UamError(
    "invalid",
    `Audit records are kept for at least ${formatDuration(policy.auditRetentionMin)}; only the configuration of the host can lower that (UAM_AUDIT_RETENTION_MIN)`,
    { reason: "setting.too_short" },
  );
}

function parseSwitched(key: keyof typeof SHORTEST, text: string): number {
  if (text === OFF) return 0;
  const value = parseDuration(text, MAX_ACCOUNT_TIME);
  if (value >= SHORTEST[key]) return value;
  throw new UamError("invalid", `${key} is off, or at least ${formatDuration(SHORTEST[key])}`, {
    reason: "setting.too_short",
  });
}

/** A value that was stored before there was a shortest retention does not go below it either. */
export function atLeast(policy: Policy, key: SettingKey, value: number): number {
  return key === "policy.audit_retention" ? Math.max(value, policy.auditRetentionMin) : value;
}

/** Whether a shorter value deletes existing data. */
function isDelayed(key: SettingKey): boolean {
  return key === "policy.recycle_period" || key === "policy.audit_retention";
}

function settingEntry(key: SettingKey) {
  return { action: "settings.update", resourceId: key } as const;
}
