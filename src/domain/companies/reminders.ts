/** Reminds the managers of a company that its contract ends soon: then the access of everybody of it has ended. */

import { sql } from "drizzle-orm";
import { formatTimestamp } from "../../shared/time/timestamp.ts";
import type { Transaction } from "../../store/client.ts";
import { contractEnds } from "../mail/company-messages.ts";
import { queueMails } from "../mail/outbox.ts";
import type { Services } from "../operation/context.ts";

/** A reminder this soon after the company was made would say nothing new. */
const QUIET = "1 day";
/** Mails in one transaction. */
const BATCH = 100;

/** A manager, and how many days before the end the reminder is for. */
interface Reminder {
  readonly company: string;
  readonly users: number;
  readonly contractEnd: Date;
  readonly username: string;
  readonly email: string;
  readonly dedupeKey: string;
}

/**
 * Queues the reminders that are due, to each active manager once for an end and a number of days. Of several that are due, as after a stop of
 * the service, only the one nearest to the end is sent.
 */
export async function remindOfContracts(services: Services, now: Date, signal?: AbortSignal): Promise<void> {
  const { db, policy } = services;
  if (policy.expiryReminders.length === 0) return;
  for (let count = BATCH; count === BATCH && signal?.aborted !== true; ) {
    count = await db.transaction(async (tx) => {
      const reminders = await findReminders(tx, policy.expiryReminders, now);
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

async function findReminders(tx: Transaction, days: readonly number[], now: Date): Promise<readonly Reminder[]> {
  const time = sql`${formatTimestamp(now)}::timestamptz`;
  const list = sql`${`{${days.join(",")}}`}::int[]`;
  const rows = await tx.execute<
    Record<"company" | "ends" | "username" | "email" | "key", string> & { users: number }
  >(sql`
    select due.* from (
      select c.name as company, u.username, u.email, c.id, u.id as user_id, (extract(epoch from c.contract_end) * 1000)::bigint as ends,
        (select count(*)::int from users p where p.company_id = c.id and p.status = 'active') as users,
        'contract:' || c.id || ':' || (extract(epoch from c.contract_end) * 1000)::bigint || ':' || near.days || ':' || u.id as key
      from companies c join users u on u.company_id = c.id and u.manager and u.status = 'active' and u.expire_at > ${time}
      cross join lateral (
        select min(d.days) as days from unnest(${list}) as d(days) where c.contract_end - d.days * interval '1 day' <= ${time}
      ) near
      where c.status = 'active' and c.contract_end > ${time}
        and c.contract_end <= ${time} + ${Math.max(...days)}::int * interval '1 day'
        and c.contract_end - near.days * interval '1 day' >= c.created_at + ${QUIET}::interval
    ) due
    where not exists (select 1 from outbox o where o.dedupe_key = due.key) order by due.id, due.user_id limit ${BATCH}`);
  return rows.map(({ ends, key, ...rest }) => ({ ...rest, contractEnd: new Date(Number(ends)), dedupeKey: key }));
}
