/**
 * Changes that take access away, as far as remote hosts must follow. The affected hosts, and the accounts that they must remove, are
 * stored with the change itself.
 */

import { type SQL, sql } from "drizzle-orm";
import type { AccountRef } from "../../protocol/host.ts";
import type { Transaction } from "../../store/client.ts";
import type { Operation } from "../operation/context.ts";
import { refOf } from "./account.ts";
import type { User } from "./find-user.ts";
import { hasRemoteHosts } from "./remote.ts";

/** Whether h is a remote host of the user, in SQL: granted by name or by group. */
function given({ hosts, groups }: Granted): SQL {
  return sql`h.kind = 'remote' and (h.id = any(${list(hosts)}::int[]) or exists (
    select 1 from host_group_members m where m.host_id = h.id and m.group_id = any(${list(groups)}::bigint[])))`;
}

/** Whether the host h has not removed the account of r, one of its rows in `removed_accounts`, in SQL: until then it lets in whoever it did before. */
export const NOT_REMOVED = sql`(r.record_id = 0 or h.applied_id < r.record_id
  or exists (select 1 from host_problems p where p.host_id = h.id and p.account = r.name and p.kind = 'refused'))`;

/** Whether the host h was to remove the account and has not yet, in SQL. */
function leaving({ name, uid }: AccountRef): SQL {
  return sql`h.id in (select h.id from removed_accounts r cross join unnest(r.hosts) as x(id) join hosts h on h.id = x.id
    where r.name = ${name} and r.uid = ${uid}::int and ${NOT_REMOVED})`;
}

interface Granted {
  readonly hosts: readonly number[];
  readonly groups: readonly number[];
}

/**
 * Stores, with the operation, that the user's hosts have to confirm it, and those that have not removed the account yet; with `removed`, that the
 * user's have to remove it. Call it under the user's row lock, before their grants are gone.
 */
export async function noteFleetChange(op: Operation, user: User, removed?: "removed"): Promise<void> {
  const { tx, context } = op;
  // A host that has just joined may already have the account, so all hosts are told to look for a deleted user.
  if (removed === undefined && !(await hasRemoteHosts(context))) return;
  const rows = await tx.execute<{ host_id: number | null; group_id: string | null }>(
    sql`select host_id, group_id from grants where user_id = ${user.id}`,
  );
  const hosts = rows.flatMap(({ host_id }) => (host_id === null ? [] : [Number(host_id)]));
  const groups = rows.flatMap(({ group_id }) => (group_id === null ? [] : [Number(group_id)]));
  const ref = refOf(user);
  const { name, uid } = ref;
  const granted = given({ hosts, groups });
  const now = sql`${context.clock.now().toISOString()}::timestamptz`;
  // Under the lock of the log's head: changes of a group's hosts are recorded too, so each comes wholly before or after
  // this.
  op.onRecorded(async (record) => {
    if (record > 0) {
      await tx.execute(sql`
        insert into fleet_changes (record_id, user_id, account, hosts, made_at)
        select ${record}::bigint, ${user.id}::bigint, ${name}, array_agg(h.id order by h.id), ${now}
        from hosts h where (${granted}) or ${leaving(ref)}
        having count(*) > 0 on conflict do nothing`);
    }
    if (removed === undefined) return;
    await tx.execute(sql`
      insert into removed_accounts (name, uid, record_id, hosts, removed_at)
      select ${name}, ${uid}::int, ${record}::bigint, array_agg(h.id order by h.id), ${now} from hosts h where ${granted}
      having count(*) > 0`);
  });
}

/** The remote hosts that were to remove the user's account and have not yet. */
export async function leavingHosts(tx: Transaction, user: User): Promise<readonly { id: number; name: string }[]> {
  const rows = await tx.execute<{ id: number; name: string }>(
    sql`select h.id, h.name from hosts h where ${leaving(refOf(user))} order by h.id`,
  );
  return rows.map(({ id, name }) => ({ id: Number(id), name }));
}

/** Stores, with the operation, that these remote hosts, on which it takes something from the user, have to confirm it. */
export function noteLostHosts({ tx, context, onRecorded }: Operation, user: User, lost: readonly number[]): void {
  const { name } = refOf(user);
  const now = sql`${context.clock.now().toISOString()}::timestamptz`;
  onRecorded(async (record) => {
    if (record === 0) return;
    await tx.execute(sql`
      insert into fleet_changes (record_id, user_id, account, hosts, made_at)
      values (${record}::bigint, ${user.id}::bigint, ${name}, ${list(lost)}::int[], ${now}) on conflict do nothing`);
  });
}

/** An array as PostgreSQL reads one. */
function list(ids: readonly number[]): SQL {
  return sql`${`{${ids.join(",")}}`}`;
}
