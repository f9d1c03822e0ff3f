/** Expiry and recycling: accounts expire, and are removed after the recycle period. */

import { and, count, eq, lte, sql } from "drizzle-orm";
import { shift } from "../../shared/time/clock.ts";
import { formatTimestamp } from "../../shared/time/timestamp.ts";
import { type UserRow, users } from "../../store/schema.ts";
import { expireAccess, owedSentence, removeAccess } from "../accounts/access.ts";
import { activeKeys } from "../accounts/account.ts";
import { lockUserIfStored } from "../accounts/find-user.ts";
import { expired } from "../mail/account-messages.ts";
import { queueMail } from "../mail/outbox.ts";
import { auditedClosing } from "../operation/audited.ts";
import type { Context, Operation } from "../operation/context.ts";
import { readSetting } from "../settings/settings.ts";
import { removedDetail } from "../users/users.ts";
import { type Due, type DueUser, eachDue, type Outcome } from "./due-users.ts";
import type { Heartbeat } from "./heartbeat.ts";

/**
 * Thousands of accounts may expire at the same second, for example those of a course. Each is an operation of its own; this many at once
 * share the waits: for the disk at each commit, and for looking at the host's processes. The service's other connections are left to the
 * API.
 */
const EXPIRED_AT_ONCE = 4;

/**
 * Expires every active or disabled user past the expiry time: shuts the account, ends its processes, and mails the user. An
 * account that is missing on the host, or is not ours there, is expired in the database all the same, and reported.
 */
export async function expireDue(context: Context, time: Heartbeat, signal?: AbortSignal): Promise<Outcome> {
  const where = sql`u.status <> 'expired' and u.expire_at <= ${formatTimestamp(time.now)}::timestamptz`;
  const due: Due = { action: "lifecycle.expire", where, now: time.now, atOnce: EXPIRED_AT_ONCE };
  return await eachDue(context, due, (user) => expireUser(context, user, time), signal);
}

/**
 * Removes every user whose current recycle period has passed since the expiry, with account, home directory and keys. Does
 * nothing while deletion is on hold; see `beat`.
 */
export async function recycleDue(context: Context, time: Heartbeat, signal?: AbortSignal): Promise<Outcome> {
  if (time.holdUntil !== undefined) return { done: 0, failed: 0 };
  const period = await readSetting(context, context.db, "policy.recycle_period");
  // An interrupted removal is finished by `finishClosings`.
  const where = sql`u.status = 'expired' and u.expire_at <= ${formatTimestamp(shift(time.now, -period))}::timestamptz
    and not exists (select 1 from closings c where c.user_id = u.id and c.kind = 'remove')`;
  const due: Due = { action: "lifecycle.recycle", where, now: time.now };
  return await eachDue(context, due, (user) => recycleUser(context, user, time.now), signal);
}

/** How many users are due to be recycled by then, whether or not deletion is on hold. */
export async function countRecyclable(context: Context, now: Date): Promise<number> {
  const period = await readSetting(context, context.db, "policy.recycle_period");
  const [row] = await context.db
    .select({ due: count() })
    .from(users)
    .where(and(eq(users.status, "expired"), lte(users.expireAt, shift(now, -period))));
  return row?.due ?? 0;
}

/** True unless somebody extended or deleted the user, or another instance expired it, in the meantime. */
function expireUser(context: Context, { id, username }: DueUser, time: Heartbeat): Promise<boolean> {
  return auditedClosing(context, entryOf("lifecycle.expire", id, username), async (op) => {
    const user = await lockUserIfStored(op.tx, id);
    if (user === undefined || user.status === "expired" || user.expireAt > time.now) {
      op.record({ unneeded: true });
      return false;
    }
    await queueNotice(op, user, time);
    const closed = await expireAccess(op, user);
    op.record({ detail: { status: "expired", old_status: user.status, expire_at: formatTimestamp(user.expireAt) } });
    if (closed.owed.length > 0) op.refuse(owedSentence(`${username} is expired`, closed));
    return true;
  });
}

async function queueNotice(op: Operation, user: UserRow, { now, holdUntil }: Heartbeat): Promise<void> {
  const period = await readSetting(op.context, op.tx, "policy.recycle_period");
  const moments = [shift(user.expireAt, period), now, holdUntil ?? now].map((moment) => moment.getTime());
  await queueMail(op, {
    recipient: user.email,
    message: expired(op.context.policy.site, user, new Date(Math.max(...moments))),
    dedupeKey: `expired:${user.id}:${user.expireAt.getTime()}`,
  });
}

function recycleUser(context: Context, { id, username }: DueUser, now: Date): Promise<boolean> {
  return auditedClosing(context, entryOf("lifecycle.recycle", id, username), async (op) => {
    const user = await lockUserIfStored(op.tx, id);
    const period = await readSetting(context, op.tx, "policy.recycle_period");
    if (user?.status !== "expired" || shift(user.expireAt, period) > now) {
      op.record({ unneeded: true });
      return false;
    }
    const keys = await activeKeys(op.tx, id);
    const closed = await removeAccess(op, user, { action: "lifecycle.recycle" });
    op.record({ detail: removedDetail(user, keys.length) });
    if (closed.owed.length > 0) op.refuse(owedSentence(`${username} is expired, and is being removed`, closed));
    return true;
  });
}

function entryOf<A extends Due["action"]>(action: A, userId: number, username: string) {
  const about = { resourceId: String(userId), subjectId: userId } as const;
  return { action, ...about, detail: { username } } as const;
}
