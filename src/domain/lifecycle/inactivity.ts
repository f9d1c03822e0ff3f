/** Access that nobody uses: users are mailed 14 days and 1 day before, and then disabled, if `policy.inactive_after` says after how long. */

import { eq, type SQL, sql } from "drizzle-orm";
import { DAY, shift } from "../../shared/time/clock.ts";
import { formatTimestamp } from "../../shared/time/timestamp.ts";
import type { Database, Transaction } from "../../store/client.ts";
import { LOCAL_HOST, loginLogs } from "../../store/schema.ts";
import { inactivityNotices } from "../../store/schema-reviews.ts";
import { disableOnRecord } from "../accounts/access.ts";
import { lockUserIfStored } from "../accounts/find-user.ts";
import { inactiveSoon } from "../mail/inactivity-messages.ts";
import { queueMail } from "../mail/outbox.ts";
import { auditedClosing } from "../operation/audited.ts";
import { type Services, systemContext } from "../operation/context.ts";
import { readSetting } from "../settings/settings.ts";
import type { Heartbeat } from "./heartbeat.ts";

/** The reason in the records of the users. */
const REASON = "inactive";
/** How long before the end users are mailed. */
const FIRST = 14 * DAY;
const LAST = DAY;

/**
 * Whether the service can know that somebody does not use their access: only where it reads sshd's log. Further hosts keep their own, so that
 * nobody with an account there counts as inactive.
 */
export async function provesLogins({ db, host }: Pick<Services, "db" | "host">): Promise<boolean> {
  if (host.mode === "dry-run" || host.mode === "none") return false;
  const [log] = await db.select().from(loginLogs).where(eq(loginLogs.hostId, LOCAL_HOST));
  return (log?.next ?? "") !== "";
}

/**
 * Mails and disables who has not used their access for that long, counted from the last login or use of a key, or from when they were last given
 * access. Nobody is disabled who was not mailed a day before, nor while the clock is doubtful (see `beat`).
 */
export async function endInactive(services: Services, time: Heartbeat, signal?: AbortSignal): Promise<void> {
  const { db, log } = services;
  if (time.holdUntil !== undefined) return;
  const after = await readSetting(services, db, "policy.inactive_after");
  if (after === 0 || !(await provesLogins(services))) {
    // Whoever is inactive once it is on again is told again.
    await db.delete(inactivityNotices);
    return;
  }
  for (const user of await findInactive(db, { now: time.now, after })) {
    if (signal?.aborted) return;
    try {
      await workOn(services, user, { now: time.now, after });
    } catch (error) {
      log.error("the access of an inactive user could not be ended; this will be retried", { error, userId: user.id });
    }
  }
}

/** Somebody who is inactive within 14 days, unless they use their access. */
interface Inactive {
  readonly id: number;
  readonly username: string;
  readonly email: string;
  /** Their last use. */
  readonly since: Date;
  /** When they were mailed about that use; undefined if they were not. */
  readonly mailedAt: Date | undefined;
  readonly remindedAt: Date | undefined;
}

interface When {
  readonly now: Date;
  readonly after: number;
}

async function workOn(services: Services, user: Inactive, { now, after }: When): Promise<void> {
  const { mailedAt, remindedAt, since } = user;
  const end = shift(since, after);
  if (mailedAt === undefined) return await tell(services, user, { now, endsAt: latest(end, shift(now, FIRST)) });
  const day = latest(end, shift(mailedAt, FIRST));
  if (remindedAt === undefined) {
    if (now < shift(day, -LAST)) return;
    return await tell(services, user, { now, endsAt: latest(day, shift(now, LAST)) });
  }
  if (now >= latest(day, shift(remindedAt, LAST))) await disable(services, user, { now, after });
}

/** Stores that they are mailed, and queues the mail: both or neither. */
async function tell(
  services: Services,
  { id, username, email, since, mailedAt }: Inactive,
  { now, endsAt }: { readonly now: Date; readonly endsAt: Date },
): Promise<void> {
  const notice = { since, mailedAt: mailedAt ?? now, remindedAt: mailedAt === undefined ? null : now };
  await services.db.transaction(async (tx) => {
    await tx
      .insert(inactivityNotices)
      .values({ userId: id, ...notice })
      .onConflictDoUpdate({ target: inactivityNotices.userId, set: notice });
    const message = inactiveSoon(services.policy.site, { username }, { since, endsAt });
    await queueMail({ tx, context: services }, { recipient: email, message, expiresAt: endsAt });
  });
}

/** Unless they have used their access, or somebody has given it again, meanwhile. */
async function disable(services: Services, { id, since }: Inactive, when: When): Promise<void> {
  const entry = { action: "user.disable", resourceId: String(id), subjectId: id } as const;
  const context = systemContext(services);
  await auditedClosing(context, { ...entry, detail: { reason: REASON } }, async (op) => {
    const user = await lockUserIfStored(op.tx, id);
    const [still] = user === undefined ? [] : await findInactive(op.tx, when, id);
    if (user === undefined || still?.since.getTime() !== since.getTime()) return op.record({ unneeded: true });
    op.about({ detail: { username: user.username, unused_since: formatTimestamp(since) } });
    await disableOnRecord(op, user, { reason: REASON });
  });
}

/** Those whose access lasts until then, and who have accounts only where the service reads sshd's log. */
async function findInactive(
  db: Database | Transaction,
  { now, after }: When,
  only?: number,
): Promise<readonly Inactive[]> {
  const limit = time(shift(now, FIRST - after));
  const seen = sql`coalesce(u.seen_at, u.created_at)`;
  const rows = await db.execute<
    Record<"id" | "username" | "email" | "since", string> & Record<"mailed" | "reminded", string | null>
  >(sql`
    select u.id, u.username, u.email, ${milliseconds(sql`s.since`)} as since, ${milliseconds(sql`n.mailed_at`)} as mailed,
      ${milliseconds(sql`n.reminded_at`)} as reminded
    from users u
    cross join lateral (select greatest(${seen}, (select max(a.created_at) from audit a
      where a.subject_id = u.id and a.result = 'success' and (a.action = 'user.enable'
        or (a.action = 'user.extend' and a.detail::json ->> 'old_status' = 'expired')))) as since) s
    left join inactivity_notices n on n.user_id = u.id and n.since = s.since
    where u.status = 'active' and u.disabled_at is null and u.expire_at > ${time(now)} and ${seen} <= ${limit}
      and s.since <= ${limit} and u.expire_at > s.since + ${after} * interval '1 millisecond'
      ${only === undefined ? sql`` : sql`and u.id = ${only}`}
      and not exists (select 1 from grants g left join host_group_members m on m.group_id = g.group_id
        where g.user_id = u.id and coalesce(g.host_id, m.host_id) <> ${LOCAL_HOST})
    order by u.id`);
  return rows.map(({ id, username, email, since, mailed, reminded }) => ({
    ...{ id: Number(id), username, email, since: new Date(Number(since)) },
    mailedAt: mailed === null ? undefined : new Date(Number(mailed)),
    remindedAt: reminded === null ? undefined : new Date(Number(reminded)),
  }));
}

function time(moment: Date): SQL {
  return sql`${formatTimestamp(moment)}::timestamptz`;
}

function milliseconds(column: SQL): SQL {
  return sql`(extract(epoch from ${column}) * 1000)::bigint`;
}

function latest(one: Date, other: Date): Date {
  return one > other ? one : other;
}
