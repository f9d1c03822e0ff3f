/** Reminds the managers and the sponsor of a company that its contract ends soon: then the access of everybody of it has ended. */

import { sql } from "drizzle-orm";
import { formatTimestamp } from "../../shared/time/timestamp.ts";
import type { Transaction } from "../../store/client.ts";
import { contractEnds } from "../mail/company-messages.ts";
import { queueMails } from "../mail/outbox.ts";
import type { Policy, Services } from "../operation/context.ts";

/** A reminder this soon after the company was made would say nothing new. */
const QUIET = "1 day";
/** Mails in one transaction. */
const BATCH = 100;

/** What one of them is told. */
interface Reminder {
  readonly company: string;
  /** How many people of it have access. */
  readonly users: number;
  readonly contractEnd: Date;
  /** The manager's; null for the sponsor. */
  readonly username: string | null;
  readonly email: string;
  readonly dedupeKey: string;
}

/**
 * Queues the reminders that are due, to each active manager, and to the sponsor as long as anybody has access, once for an end and a number of
 * days. Of several that are due, as after a stop of the service, only the one nearest to the end is sent.
 */
export async function remindOfContracts(services: Services, now: Date, signal?: AbortSignal): Promise<void> {
  const { db, policy } = services;
  if (policy.expiryReminders.length === 0) return;
  for (let count = BATCH; count === BATCH && signal?.aborted !== true; ) {
    count = await db.transaction(async (tx) => {
      const reminders = await findReminders(tx, policy, now);
      const mails = reminders.map((reminder) => ({
        recipient: reminder.email,
        message: contractEnds(policy.site, reminder, now),
        dedupeKey: reminder.dedupeKey,
        expiresAt: reminder.contractEnd,
      }));
      await queueMails({ tx, context: services }, mails);
      return reminders.length;
    });
  }
}

async function findReminders(
  tx: Transaction,
  { expiryReminders: days, sponsor }: Pick<Policy, "expiryReminders" | "sponsor">,
  now: Date,
): Promise<readonly Reminder[]> {
  const time = sql`${formatTimestamp(now)}::timestamptz`;
  const list = sql`${`{${days.join(",")}}`}::int[]`;
  const rows = await tx.execute<
    Record<"company" | "ends" | "email" | "key", string> & Pick<Reminder, "users" | "username">
  >(sql`
    select due.* from (
      select c.name as company, told.username, told.email, c.id, told.key as told, active.users,
        (extract(epoch from c.contract_end) * 1000)::bigint as ends,
        'contract:' || c.id || ':' || (extract(epoch from c.contract_end) * 1000)::bigint || ':' || near.days || ':' || told.key as key
      from companies c
      cross join lateral (
        select count(*)::int as users from users p where p.company_id = c.id and p.status = 'active' and p.expire_at > ${time}
      ) active
      cross join lateral (
        select u.username, u.email, u.id::text as key from users u
          where u.company_id = c.id and u.manager and u.status = 'active' and u.expire_at > ${time}
        union all
        select null, c.sponsor_email, lower(c.sponsor_email)
          where ${sponsor.mode !== "off"} and c.sponsor_email <> '' and active.users > 0
      ) told
      cross join lateral (
        select min(d.days) as days from unnest(${list}) as d(days) where c.contract_end - d.days * interval '1 day' <= ${time}
      ) near
      where c.status = 'active' and c.contract_end > ${time}
        and c.contract_end <= ${time} + ${Math.max(...days)}::int * interval '1 day'
        and c.contract_end - near.days * interval '1 day' >= c.created_at + ${QUIET}::interval
    ) due
    where not exists (select 1 from outbox o where o.dedupe_key = due.key) order by due.id, due.told limit ${BATCH}`);
  return rows.map(({ ends, key, ...rest }) => ({ ...rest, contractEnd: new Date(Number(ends)), dedupeKey: key }));
}
