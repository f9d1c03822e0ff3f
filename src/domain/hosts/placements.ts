/**
 * Which user has an account on which host: the union of a user's grants. It is computed and never stored. Only the accounts that
 * an agent has to remove are stored, since nothing else would remember that a host had the account.
 */

import { inArray, type SQL, sql } from "drizzle-orm";
import { UamError } from "../../shared/errors.ts";
import { ACCOUNT_PREFIX, hostAccountOf } from "../../shared/text/account-name.ts";
import type { Database, Transaction } from "../../store/client.ts";
import { LOCAL_HOST } from "../../store/schema.ts";
import { grants } from "../../store/schema-fleet.ts";
import type { Operation } from "../operation/context.ts";

/** Rows of (user_id, host_id), each pair once. */
export const PLACES = sql`(
  select g.user_id, g.host_id from grants g where g.host_id is not null
  union
  select g.user_id, m.host_id from grants g join host_group_members m on m.group_id = g.group_id)`;

/** The numbers of the hosts where the user has an account, rising. */
export async function hostsOfUser(db: Database | Transaction, userId: number): Promise<readonly number[]> {
  const rows = await db.execute<{ host_id: number }>(
    sql`select p.host_id from ${PLACES} p where p.user_id = ${userId} order by 1`,
  );
  return rows.map(({ host_id }) => Number(host_id));
}

/** How many accounts each of the hosts has: in all, and open now. */
export async function countAccounts(
  db: Database | Transaction,
  hostIds: readonly number[],
  now: Date,
): Promise<ReadonlyMap<number, { readonly total: number; readonly open: number }>> {
  if (hostIds.length === 0) return new Map();
  const rows = await db.execute<{ host_id: number; total: number; open: number }>(sql`
    select p.host_id, count(*)::int as total,
      count(*) filter (where u.status = 'active' and u.expire_at > ${now.toISOString()}::timestamptz)::int as open
    from ${PLACES} p join users u on u.id = p.user_id where p.host_id in ${hostIds} group by p.host_id`);
  return new Map(rows.map(({ host_id, total, open }) => [Number(host_id), { total, open }]));
}

/** How many accounts a sentence names. */
const MOST_NAMED = 20;

/** The accounts of a host by name, as a clause; "" for none. Names the first of many, and how many more there are. */
export async function namedAccounts(db: Database | Transaction, hostId: number): Promise<string> {
  const rows = await db.execute<{ username: string; total: number }>(sql`
    select u.username, count(*) over ()::int as total from ${PLACES} p join users u on u.id = p.user_id
      where p.host_id = ${hostId} order by u.username limit ${MOST_NAMED}`);
  const more = (rows[0]?.total ?? 0) - rows.length;
  return rows.map(({ username }) => hostAccountOf(username)).join(", ") + (more > 0 ? ` and ${more} more` : "");
}

/** The users and hosts that a change of grants or of a group's hosts affects. */
export interface Scope {
  /** The users that may gain or lose hosts. */
  readonly userIds: readonly number[];
  /** The hosts that they may lose. */
  readonly losing: readonly number[];
  /** The hosts that they may get. */
  readonly gaining: readonly number[];
}

/**
 * Makes a change of grants or of a group's hosts, under `lockFleet`, and stores its effect on remote hosts: a host that a user loses has
 * to remove the account, a host that a user gets again no longer has to.
 */
export async function movePlaces(
  { tx, context, onRecorded }: Operation,
  { userIds, losing, gaining }: Scope,
  change: () => Promise<void>,
): Promise<void> {
  await change();
  const lost = losing.filter((id) => id !== LOCAL_HOST);
  // With the number of the record of this change: hosts would wait for a later one, although it does not concern them.
  if (lost.length > 0) onRecorded((record) => noteRemoved(tx, { userIds, lost, now: context.clock.now(), record }));
  if (gaining.length > 0) await forgetRegained(tx, userIds);
}

/**
 * Makes a change of a group's hosts. Throws `conflict` if it would give or take an account on the service's own host: that takes time
 * for each user, and may fail for one, so it is done user by user.
 */
export async function keepLocal({ tx }: Operation, scope: Scope, change: () => Promise<void>): Promise<void> {
  if (!concernsLocal(scope)) return await change();
  const before = await localUsers(tx, scope.userIds);
  await change();
  if ((await localUsers(tx, scope.userIds)) !== before) throw localMove();
}

/**
 * Waits for users that are being created, and makes further ones wait: they read the hosts of their group, which are about to
 * change.
 */
export async function lockGrants(tx: Transaction): Promise<void> {
  await tx.execute(sql`lock table grants in share row exclusive mode`);
}

/** Whether the service's own host is among the hosts that users may lose or get. */
export function concernsLocal({ losing, gaining }: Pick<Scope, "losing" | "gaining">): boolean {
  return losing.includes(LOCAL_HOST) || gaining.includes(LOCAL_HOST);
}

/** The refusal of `keepLocal`. */
export function localMove(): UamError {
  const sentence =
    "Users of the group would get or lose their account on the service's own host. Give or take that user by user, with uam user hosts or PUT /users/:id/hosts";
  return new UamError("conflict", sentence, { reason: "host.local" });
}

/** The users who have a group, rising. */
export async function usersOfGroup(tx: Database | Transaction, groupId: number): Promise<readonly number[]> {
  const rows = await tx
    .select({ id: grants.userId })
    .from(grants)
    .where(inArray(grants.groupId, [groupId]))
    .orderBy(grants.userId);
  return rows.map(({ id }) => id);
}

/** Of the remote hosts that were to be lost by a change, which is made: those that one of the users no longer has. */
export async function lostHosts(
  tx: Transaction,
  { userIds, losing }: Pick<Scope, "userIds" | "losing">,
): Promise<readonly number[]> {
  const lost = losing.filter((id) => id !== LOCAL_HOST);
  if (userIds.length === 0 || lost.length === 0) return [];
  const rows = await tx.execute<{ id: number }>(sql`
    select h.id from unnest(${list(lost)}::int[]) as h(id) where exists (
      select from unnest(${list(userIds)}::bigint[]) as u(id)
      where not exists (select 1 from ${PLACES} p where p.user_id = u.id and p.host_id = h.id)) order by 1`);
  return rows.map(({ id }) => Number(id));
}

/** Deletes the host's outstanding removals: the host is gone. */
export async function forgetRemovals(tx: Transaction, hostId: number): Promise<void> {
  await tx.execute(
    sql`update removed_accounts set hosts = array_remove(hosts, ${hostId}::int) where ${hostId}::int = any(hosts)`,
  );
  await tx.execute(sql`delete from removed_accounts where hosts = '{}'`);
}

async function localUsers(tx: Transaction, userIds: readonly number[]): Promise<string> {
  if (userIds.length === 0) return "";
  const rows = await tx.execute<{ ids: string | null }>(sql`
    select string_agg(p.user_id::text, ',' order by p.user_id) as ids from ${PLACES} p
    where p.host_id = ${LOCAL_HOST} and p.user_id = any(${list(userIds)}::bigint[])`);
  return rows[0]?.ids ?? "";
}

/** One row for each user, with the hosts of `lost` that they no longer have. */
async function noteRemoved(
  tx: Transaction,
  {
    userIds,
    lost,
    now,
    record,
  }: {
    readonly userIds: readonly number[];
    readonly lost: readonly number[];
    readonly now: Date;
    readonly record: number;
  },
): Promise<void> {
  if (userIds.length === 0) return;
  await tx.execute(sql`
    insert into removed_accounts (name, uid, record_id, hosts, removed_at)
    select ${ACCOUNT_PREFIX}::text || u.username, a.uid, ${record}::bigint, array_agg(h.id order by h.id), ${now.toISOString()}::timestamptz
    from users u join accounts a on a.user_id = u.id and a.host_id = ${LOCAL_HOST}
    cross join unnest(${list(lost)}::int[]) as h(id)
    where u.id = any(${list(userIds)}::bigint[])
      and not exists (select 1 from ${PLACES} p where p.user_id = u.id and p.host_id = h.id)
    group by u.id, a.uid`);
}

/** An account that is wanted again must not be removed. Only the one of that uid: a deleted user's may have had the name. */
async function forgetRegained(tx: Transaction, userIds: readonly number[]): Promise<void> {
  if (userIds.length === 0) return;
  await tx.execute(sql`
    update removed_accounts r set hosts = array(
      select h.id from unnest(r.hosts) as h(id)
      where not exists (select 1 from ${PLACES} p where p.user_id = u.id and p.host_id = h.id) order by 1)
    from users u join accounts a on a.user_id = u.id and a.host_id = ${LOCAL_HOST}
    where u.id = any(${list(userIds)}::bigint[]) and r.name = ${ACCOUNT_PREFIX}::text || u.username and r.uid = a.uid`);
  await tx.execute(sql`delete from removed_accounts where hosts = '{}'`);
}

/** An array as PostgreSQL reads one. */
function list(ids: readonly number[]): SQL {
  return sql`${`{${ids.join(",")}}`}`;
}
