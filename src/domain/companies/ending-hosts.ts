/** On how many of the hosts with agents the end of a company is true. */

import { sql } from "drizzle-orm";
import { isForever } from "../../shared/time/lease.ts";
import type { Transaction } from "../../store/client.ts";
import { type Confirmation, MAX_NAMES, UNCONFIRMED } from "../hosts/confirmation.ts";
import { PLACES } from "../hosts/placements.ts";

/**
 * The hosts with agents on which users of the company have accounts; undefined where there are none. A host has not confirmed as long as
 * somebody with access has an account there, or until it has applied the last change to each of them, or was refused one.
 */
export async function hostsOfEnding(tx: Transaction, companyId: number, now: Date): Promise<Confirmation | undefined> {
  const rows = await tx.execute<{ name: string; lease_until: string | null; is_open: boolean; is_owed: boolean }>(sql`
    with places as materialized (
      select p.host_id, bool_or(u.disabled_at is null and u.status <> 'expired') as is_open
        from ${PLACES} p join users u on u.id = p.user_id where u.company_id = ${companyId} group by p.host_id),
    changes as materialized (
      select x.id as host_id, f.record_id, f.user_id, f.account from fleet_changes f
        join users u on u.id = f.user_id cross join unnest(f.hosts) as x(id) where u.company_id = ${companyId})
    select h.name, h.lease_until, coalesce(places.is_open, false) as is_open,
      exists (select 1 from changes c where c.host_id = h.id and ${UNCONFIRMED}) as is_owed
      from hosts h left join places on places.host_id = h.id
      where h.kind = 'remote' and (places.host_id is not null or h.id in (select host_id from changes)) order by h.name`);
  if (rows.length === 0) return undefined;
  const pending = rows.filter(({ is_open, is_owed }) => is_open || is_owed);
  // One that never had a lease has never opened anything.
  const leases = pending.map(({ lease_until: until }) => (until === null ? 0 : new Date(until).getTime()));
  const end = new Date(Math.max(now.getTime(), ...leases));
  return {
    total: rows.length,
    confirmed: rows.length - pending.length,
    pending: pending.slice(0, MAX_NAMES).map(({ name }) => name),
    effectiveBy: pending.some(({ is_open }) => is_open) || isForever(end) ? null : end,
  };
}
