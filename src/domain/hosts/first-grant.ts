/** Where a new user has an account: on the hosts of the default group, or on those of their company's groups. */

import { type SQL, sql } from "drizzle-orm";
import type { Database } from "../../store/client.ts";
import { LOCAL_HOST } from "../../store/schema.ts";
import type { Operation } from "../operation/context.ts";

/** The group that is set, or else the oldest. */
const DEFAULT_GROUP = sql`coalesce(
  (select value from settings where key = 'policy.default_group'), (select min(id) from host_groups))`;
const IN_DEFAULT_GROUP = sql`g.id = ${DEFAULT_GROUP}`;

/**
 * Gives the user the default group. If their company allows groups of its own and that is not one of them, it gives all of those.
 * Returns whether the service's own host is in any.
 */
export async function grantFirstGroups(
  op: Operation,
  userId: number,
  allowed: readonly number[] = [],
): Promise<boolean> {
  if (allowed.length === 0) return await grantDefaultGroups(op, [userId]);
  const ids = sql`${`{${allowed.join(",")}}`}::bigint[]`;
  return await grant(
    op,
    [userId],
    sql`g.id = any(${ids}) and (${IN_DEFAULT_GROUP} or ${DEFAULT_GROUP} <> all(${ids}))`,
  );
}

/** Gives many users the default group. Returns whether the service's own host is in it. */
export async function grantDefaultGroups(op: Operation, userIds: readonly number[]): Promise<boolean> {
  return await grant(op, userIds, IN_DEFAULT_GROUP);
}

async function grant({ tx, context }: Operation, userIds: readonly number[], groups: SQL): Promise<boolean> {
  const rows = await tx.execute<{ local: boolean }>(sql`
    insert into grants (user_id, group_id, created_at)
    select u.id, g.id, ${context.clock.now().toISOString()}::timestamptz from host_groups g,
      unnest(${`{${userIds.join(",")}}`}::bigint[]) as u (id)
    where ${groups}
    returning exists (
      select 1 from host_group_members m where m.group_id = grants.group_id and m.host_id = ${LOCAL_HOST}) as local`);
  return rows.some(({ local }) => local);
}

/** Whether new users have an account on the service's own host. */
export async function isDefaultLocal(db: Database): Promise<boolean> {
  const rows = await db.execute(sql`select 1 from host_groups g
    join host_group_members m on m.group_id = g.id and m.host_id = ${LOCAL_HOST} where ${IN_DEFAULT_GROUP}`);
  return rows.length > 0;
}
