/** What time does to accounts: they expire, and after the recycle period they are removed. */

import { and, count, eq, lte, sql } from "drizzle-orm";
import { shift } from "../../shared/clock.ts";
import { formatTimestamp } from "../../shared/timestamp.ts";
import { type UserRow, users } from "../../store/schema.ts";
import { expired } from "../mail/messages.ts";
import { queueMail } from "../mail/outbox.ts";
import { audited, type Operation } from "../operation/audited.ts";
import type { Context } from "../operation/context.ts";
import { readSetting } from "../settings/settings.ts";
import { lockUserIfStored } from "../users/find.ts";
import { hostAccountOf } from "../users/username.ts";
import { applyAccess, removeUser } from "../users/users.ts";
import { type Due, type DueUser, eachDue, type Outcome } from "./due.ts";
import type { Heartbeat } from "./heartbeat.ts";

/**
 * Expires every user, active or disabled, whose time is up: the account is shut, its processes are ended, and the user is
 * mailed. An account that is missing on the host, or is not ours there, is expired in the database all the same, and reported.
 */
export async function expireDue(context: Context, time: Heartbeat, signal?: AbortSignal): Promise<Outcome> {
  const where = sql`u.status <> 'expired' and u.expire_at <= ${formatTimestamp(time.now)}::timestamptz`;
  const due: Due = { action: "lifecycle.expire", where, now: time.now };
  return await eachDue(context, due, (user) => expireUser(context, user, time), signal);
}

/**
 * Removes every user whose recycle period, as it is set now, is over since the expiry; account, home directory and keys go
 * with it. Does nothing while deleting has to wait; see `beat`.
 */
export async function recycleDue(context: Context, time: Heartbeat, signal?: AbortSignal): Promise<Outcome> {
  if (time.holdUntil !== undefined) return { done: 0, failed: 0 };
  const period = await readSetting(context, context.db, "policy.recycle_period");
  const where = sql`u.status = 'expired' and u.expire_at <= ${formatTimestamp(shift(time.now, -period))}::timestamptz`;
  const due: Due = { action: "lifecycle.recycle", where, now: time.now };
  return await eachDue(context, due, (user) => recycleUser(context, user, time.now), signal);
}

/** How many users are due to be recycled by then, whether or not deleting has to wait. */
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
  return audited(context, entryOf("lifecycle.expire", id, username), async (op) => {
    const user = await lockUserIfStored(op.tx, id);
    if (user === undefined || user.status === "expired" || user.expireAt > time.now) {
      op.learn({ unneeded: true });
      return false;
    }
    const changes = { status: "expired", updatedAt: context.clock.now() } as const;
    await op.tx.update(users).set(changes).where(eq(users.id, id)).prepare("expire_user").execute();
    await queueNotice(op, user, time);
    op.learn({ detail: { status: "expired", old_status: user.status, expire_at: formatTimestamp(user.expireAt) } });
    await shutAccount(op, { ...user, ...changes });
    return true;
  });
}

async function shutAccount(op: Operation, user: UserRow): Promise<void> {
  const { host, log } = op.context;
  const name = hostAccountOf(user.username);
  const presence = await host.presence({ name, uid: user.uid });
  if (presence === "present") return await applyAccess(op, user);
  op.learn({ detail: { host: presence } });
  log.warn("a user expired whose account is not on the host as it was made; look into it", { account: name, presence });
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
  return audited(context, entryOf("lifecycle.recycle", id, username), async (op) => {
    const user = await lockUserIfStored(op.tx, id);
    const period = await readSetting(context, op.tx, "policy.recycle_period");
    if (user?.status !== "expired" || shift(user.expireAt, period) > now) {
      op.learn({ unneeded: true });
      return false;
    }
    await removeUser(op, user);
    op.learn({ detail: { status: "deleted", expire_at: formatTimestamp(user.expireAt) } });
    return true;
  });
}

function entryOf<A extends Due["action"]>(action: A, userId: number, username: string) {
  const about = { resourceId: String(userId), subjectId: userId } as const;
  return { action, ...about, detail: { username } } as const;
}
