/**
 * Accounts that hosts have from this service, and that its database, which was set back, does not know. Agents shut them by themselves. They
 * are removed once an administrator has accepted the stored state: until then they are rows of `removed_accounts` with a number that agents
 * are not told.
 */

import { sql } from "drizzle-orm";
import type { AccountRef } from "../../protocol/host.ts";
import { ACCOUNT_PREFIX } from "../../shared/text/account-name.ts";
import { counted } from "../../shared/text/counted.ts";
import type { Database, Transaction } from "../../store/client.ts";
import { LOCAL_HOST } from "../../store/schema.ts";
import { lockFleet } from "../hosts/find-host.ts";
import { PLACES } from "../hosts/placements.ts";
import type { Operation, Services } from "../operation/context.ts";
import { createGroupCommit, type HostItem } from "../operation/group-commit.ts";

/** Stands for the record's number in `removed_accounts` until somebody accepts the removal. */
const NOT_ACCEPTED = sql.raw("-1");

/** An account, and how many hosts have it. */
export interface UnknownAccount extends AccountRef {
  readonly hosts: number;
}

/** Names that a problem's sentence has room for. */
const NAMED = 5;

interface Reported extends HostItem {
  readonly accounts: readonly AccountRef[];
}

/**
 * Returns a function that stores the accounts that the host has and the service does not know, in place of the earlier list of that
 * host. It resolves with those that count: without those that the host should have, or is already removing.
 */
export function createUnknownAccounts(
  services: Services,
): (host: number, accounts: readonly AccountRef[]) => Promise<readonly AccountRef[]> {
  const storeAll = createGroupCommit((items: readonly Reported[]) => store(services, items));
  return (host, accounts) => storeAll({ host, accounts });
}

/** The problem of a host with such accounts, as a sentence. */
export function unknownSentence(accounts: readonly AccountRef[]): string {
  const names = accounts.slice(0, NAMED).map(({ name }) => name);
  const more = accounts.length > NAMED ? " and more" : "";
  const [has, are] = accounts.length === 1 ? ["It has", "is"] : ["They have", "are"];
  return `${counted(accounts.length, "account")} there that the database has lost ${are} shut: ${names.join(", ")}${more}. ${has} to be removed, with home directories, by uam fleet accept`;
}

/** All of them, by name: the accounts that accepting removes. */
export async function unknownAccounts(db: Database | Transaction): Promise<readonly UnknownAccount[]> {
  const rows = await db.execute<{ name: string; uid: number; hosts: number }>(sql`
    select r.name, r.uid, count(distinct x.id)::int as hosts from removed_accounts r cross join unnest(r.hosts) as x(id)
    where r.record_id = ${NOT_ACCEPTED} and not ${hasPlace(sql`r.name`, sql`r.uid`, sql`x.id`)} group by r.name, r.uid order by r.name, r.uid`);
  return rows.map(({ name, uid, hosts }) => ({ name, uid: Number(uid), hosts: Number(hosts) }));
}

/** Has all of them removed by the record of the operation, which is under `lockFleet`; returns them. */
export async function acceptUnknown({ tx, context, onRecorded }: Operation): Promise<readonly UnknownAccount[]> {
  const now = sql`${context.clock.now().toISOString()}::timestamptz`;
  // Accounts that are known again, since the user was recreated, are not removed.
  await tx.execute(sql`
    update removed_accounts r set hosts = array(select x.id from unnest(r.hosts) as x(id)
      where not ${hasPlace(sql`r.name`, sql`r.uid`, sql`x.id`)} order by 1) where r.record_id = ${NOT_ACCEPTED}`);
  await tx.execute(sql`delete from removed_accounts where hosts = '{}'`);
  const accounts = await unknownAccounts(tx);
  await tx.execute(sql`delete from host_problems where kind = 'unknown'`);
  onRecorded(async (record) => {
    await tx.execute(sql`
      update removed_accounts set record_id = ${record}::bigint, removed_at = ${now} where record_id = ${NOT_ACCEPTED}`);
  });
  return accounts;
}

/** Whether the host should have that very account, in SQL. */
function hasPlace(name: ReturnType<typeof sql>, uid: ReturnType<typeof sql>, host: ReturnType<typeof sql>) {
  return sql`exists (
    select 1 from users u join accounts a on a.user_id = u.id and a.host_id = ${LOCAL_HOST} join ${PLACES} p on p.user_id = u.id
    where ${ACCOUNT_PREFIX}::text || u.username = ${name} and a.uid = ${uid} and p.host_id = ${host})`;
}

/** Under `lockFleet`, as are accepting and granting a host. */
async function store({ db, clock }: Services, items: readonly Reported[]): Promise<readonly (readonly AccountRef[])[]> {
  const pairs = items.flatMap(({ host, accounts }) => accounts.map(({ name, uid }) => ({ host, name, uid })));
  const hosts = sql`${`{${items.map(({ host }) => host).join(",")}}`}::int[]`;
  return await db.transaction(async (tx) => {
    await lockFleet(tx);
    const rows = await tx.execute<{ host: number; name: string; uid: number }>(sql`
      select distinct k.host, k.name, k.uid from ${recordset(pairs)} where not ${hasPlace(sql`k.name`, sql`k.uid`, sql`k.host`)}
        and not exists (select 1 from removed_accounts r where r.name = k.name and r.uid = k.uid and k.host = any(r.hosts)
          and r.record_id <> ${NOT_ACCEPTED}) order by k.host, k.uid, k.name`);
    const kept = recordset(rows.map(({ host, name, uid }) => ({ host: Number(host), name, uid: Number(uid) })));
    const isOver = sql`x.id = any(${hosts}) and not exists (
      select 1 from ${kept} where k.host = x.id and k.name = r.name and k.uid = r.uid)`;
    await tx.execute(sql`
      update removed_accounts r set hosts = array(select x.id from unnest(r.hosts) as x(id) where not (${isOver}) order by 1)
      where r.record_id = ${NOT_ACCEPTED} and exists (select 1 from unnest(r.hosts) as x(id) where ${isOver})`);
    await tx.execute(sql`delete from removed_accounts where hosts = '{}'`);
    await tx.execute(sql`
      insert into removed_accounts (name, uid, record_id, hosts, removed_at)
      select k.name, k.uid, ${NOT_ACCEPTED}, array_agg(k.host order by k.host), ${clock.now().toISOString()}::timestamptz from ${kept}
      where not exists (select 1 from removed_accounts r
        where r.record_id = ${NOT_ACCEPTED} and r.name = k.name and r.uid = k.uid and k.host = any(r.hosts))
      group by k.name, k.uid`);
    const byHost = Map.groupBy(rows, ({ host }) => Number(host));
    return items.map(({ host }) => (byHost.get(host) ?? []).map(({ name, uid }) => ({ name, uid: Number(uid) })));
  });
}

/** Pairs of host and account, in SQL as k. */
function recordset(pairs: readonly (AccountRef & HostItem)[]) {
  return sql`json_to_recordset(${JSON.stringify(pairs)}::text::json) as k(host int, name text, uid int)`;
}
