/** Reminds users, their supervisors and their sponsors that access ends soon. */

import { type SQL, sql } from "drizzle-orm";
import { formatTimestamp } from "../../shared/time/timestamp.ts";
import type { Transaction } from "../../store/client.ts";
import { isEmail } from "../accounts/username.ts";
import { expiryReminder } from "../mail/account-messages.ts";
import { type QueuedMail, queueMails } from "../mail/outbox.ts";
import type { Services } from "../operation/context.ts";
import { sponsorOf } from "../sponsors/sponsor-email.ts";
import { remindSponsor } from "../sponsors/telling.ts";

/** A reminder this soon after a mail that states the date, such as the welcome, would say nothing new. */
const QUIET = "1 day";
/** Users who are reminded in one transaction. */
const BATCH = 100;

/** A user, and how many days before the expiry the reminder is for. */
interface Reminder {
  readonly id: number;
  readonly username: string;
  readonly email: string;
  readonly fullName: string;
  readonly supervisor: string;
  readonly purpose: string;
  /** Who answers for them; "" for nobody. */
  readonly sponsor: string;
  readonly status: "active" | "disabled";
  readonly expireAt: Date;
  readonly days: number;
}

/**
 * Queues the reminders that are due, to the user, to the supervisor if that is an address, and to the sponsor: each once for an expiry, so
 * that an extension brings new ones. Of several due reminders, as after a stop of the service, only the one nearest to the
 * expiry is sent; one that was due before, or within a day of, the last mail that states the date is not sent. So nobody is
 * reminded 14 days ahead of the end of an account that was created for 14 days.
 */
export async function remindExpiring(services: Services, now: Date, signal?: AbortSignal): Promise<void> {
  const { db, policy } = services;
  if (policy.expiryReminders.length === 0) return;
  for (let count = BATCH; count === BATCH && signal?.aborted !== true; ) {
    count = await db.transaction(async (tx) => {
      const reminders = await findReminders(tx, policy.expiryReminders, now);
      const mails = reminders.flatMap((reminder) => mailsOf(services, reminder, now));
      await queueMails({ tx, context: services }, mails);
      for (const reminder of reminders) {
        const { sponsor: email, id, expireAt, days } = reminder;
        const key = `reminder:${id}:${expireAt.getTime()}:${days}`;
        await remindSponsor({ tx, context: services }, reminder, { email, key });
      }
      return reminders.length;
    });
  }
}

/** Locked until their mail is queued; users locked by another instance or operation are left for the next run. */
async function findReminders(tx: Transaction, days: readonly number[], now: Date): Promise<readonly Reminder[]> {
  const time = sql`${formatTimestamp(now)}::timestamptz`;
  const list = sql`${`{${days.join(",")}}`}::int[]`;
  const rows = await tx.execute<
    Record<
      "username" | "email" | "supervisor" | "purpose" | "id" | "full_name" | "own" | "company" | "expires" | "days",
      string
    > &
      Pick<Reminder, "status">
  >(sql`
    select u.id, u.username, u.email, u.supervisor, u.purpose, u.full_name, u.sponsor_email as own,
      coalesce(c.sponsor_email, '') as company, u.status, ${milliseconds(sql`u.expire_at`)} as expires, due.days
    from users u left join companies c on c.id = u.company_id cross join lateral (
      select min(d.days) as days from unnest(${list}) as d(days) where u.expire_at - d.days * interval '1 day' <= ${time}
    ) due
    where u.status <> 'expired' and u.expire_at > ${time}
      and u.expire_at <= ${time} + ${Math.max(...days)}::int * interval '1 day'
      and u.expire_at - due.days * interval '1 day' >= coalesce(u.expiry_mailed_at, u.created_at) + ${QUIET}::interval
      and not exists (
        select 1 from outbox o
        where o.dedupe_key = 'reminder:' || u.id || ':' || ${milliseconds(sql`u.expire_at`)} || ':' || due.days
      )
    order by u.expire_at, u.id limit ${BATCH} for update of u skip locked`);
  return rows.map(({ id, expires, days, own, company, full_name: fullName, ...texts }) => {
    const sponsor = sponsorOf({ email: texts.email, sponsorEmail: own }, { sponsorEmail: company });
    return { ...texts, fullName, sponsor, id: Number(id), expireAt: new Date(Number(expires)), days: Number(days) };
  });
}

function milliseconds(column: SQL): SQL {
  return sql`(extract(epoch from ${column}) * 1000)::bigint`;
}

function mailsOf({ policy }: Services, reminder: Reminder, now: Date): readonly QueuedMail[] {
  const { id, email, supervisor, expireAt, days } = reminder;
  const dedupeKey = `reminder:${id}:${expireAt.getTime()}:${days}`;
  const mail = (to: "user" | "supervisor", recipient: string, key: string): QueuedMail => ({
    recipient,
    message: expiryReminder(policy.site, reminder, { now, to }),
    dedupeKey: key,
    expiresAt: expireAt,
  });
  const own = mail("user", email, dedupeKey);
  // A supervisor who is the sponsor, too, gets the sponsor's mail.
  const others = [email.toLowerCase(), ...(policy.sponsor.mode === "off" ? [] : [reminder.sponsor])];
  const hasSupervisor = isEmail(supervisor) && !others.includes(supervisor.toLowerCase());
  return hasSupervisor ? [own, mail("supervisor", supervisor, `${dedupeKey}:supervisor`)] : [own];
}
