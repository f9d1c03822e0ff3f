/** Previews overriding a setting, or dropping the override; nothing is changed or recorded. */

import { and, asc, count, gt, gte, lte } from "drizzle-orm";
import type { Preview } from "../../shared/product/preview.ts";
import { type SettingKey, settingText } from "../../shared/product/setting-keys.ts";
import { counted } from "../../shared/text/counted.ts";
import { shift } from "../../shared/time/clock.ts";
import { formatDuration } from "../../shared/time/duration.ts";
import { formatTimestamp } from "../../shared/time/timestamp.ts";
import { users } from "../../store/schema.ts";
import { audit, auditHead } from "../../store/schema-audit.ts";
import { purgeLimit } from "../audit/retention.ts";
import type { Context } from "../operation/context.ts";
import { atLeast, defaultOf, findSetting, holdOf, parseValue } from "./settings.ts";

export interface SettingPreview extends Preview {
  readonly key: SettingKey;
  /** Milliseconds. */
  readonly value: number;
  /** When it takes effect. */
  readonly at: Date;
  /** The deletions at that time that the value in force would not cause. */
  readonly deletes: { readonly users: number; readonly auditRecords: number };
}

/**
 * The preview of setting the value that the text means, or, without a text, of dropping the override; throws `invalid` as
 * `updateSetting` does.
 */
export async function previewSetting(context: Context, key: SettingKey, text?: string): Promise<SettingPreview> {
  const { policy, clock, db } = context;
  const value = text === undefined ? atLeast(policy, key, defaultOf(policy, key)) : parseValue(policy, key, text);
  const before = await findSetting(context, db, key);
  const now = clock.now();
  const hold = holdOf(before, value, now);
  const at = hold?.until ?? now;
  const shortening = { from: before.value, to: value, at };
  const deletes = {
    users: key === "policy.recycle_period" ? await countUsers(context, shortening) : 0,
    auditRecords: key === "policy.audit_retention" ? await countRecords(context, shortening) : 0,
  };
  const gone = [counted(deletes.users, "user"), counted(deletes.auditRecords, "audit record")];
  const tells = hold !== undefined && before.pending?.value !== value;
  const effects = [
    value === before.value ? `${key} is ${settingText(value)} already.` : meaning(key, value),
    ...(hold === undefined ? [] : [`This takes effect at ${formatTimestamp(at)}; until then it can be taken back.`]),
    ...gone
      .filter((some) => !some.startsWith("0 "))
      .map((some) => `By then ${some} will be old enough to be deleted for good.`),
    ...(tells ? ["Every administrator gets a mail."] : []),
  ];
  return { key, value, at, deletes, effects, host: [] };
}

function meaning(key: SettingKey, value: number): string {
  const length = formatDuration(value);
  switch (key) {
    case "policy.default_ttl":
      return `Users who are created or extended without a number of days get ${length}. An expiry that is set stays.`;
    case "policy.recycle_period":
      return `Users are deleted ${length} after they expired.`;
    case "policy.audit_retention":
      return `Audit records are deleted after ${length}.`;
    case "policy.review_every":
      if (value === 0) return "No review begins by itself.";
      return `A review of everybody begins every ${length}; whoever is not answered for by its day is disabled.`;
    case "policy.inactive_after":
      if (value === 0) return "Nobody is disabled for want of use.";
      return `Users who neither log in nor use a key for ${length} are disabled; they are mailed 14 days and 1 day before.`;
  }
}

interface Shortening {
  readonly from: number;
  readonly to: number;
  readonly at: Date;
}

/** Users past the recycle period at that time only because it is shorter, unless they are extended meanwhile. */
async function countUsers({ db }: Context, { from, to, at }: Shortening): Promise<number> {
  if (to >= from) return 0;
  const [row] = await db
    .select({ users: count() })
    .from(users)
    .where(and(lte(users.expireAt, shift(at, -to)), gt(users.expireAt, shift(at, -from))));
  return row?.users ?? 0;
}

/** The same of audit records. They are numbered without gaps in the order of time, so that none needs counting. */
async function countRecords(context: Context, { from, to, at }: Shortening): Promise<number> {
  if (to >= from) return 0;
  const first = await firstSince(context, await purgeLimit(context, from, at));
  return (await firstSince(context, await purgeLimit(context, to, at))) - first;
}

/** Number of the oldest record from that time on; of the next one to come if there is none. */
async function firstSince({ db }: Context, time: Date): Promise<number> {
  const [row] = await db
    .select({ id: audit.id })
    .from(audit)
    .where(gte(audit.createdAt, time))
    .orderBy(asc(audit.createdAt), asc(audit.id))
    .limit(1);
  if (row !== undefined) return row.id;
  const [head] = await db.select({ id: auditHead.id }).from(auditHead);
  return (head?.id ?? 0) + 1;
}
