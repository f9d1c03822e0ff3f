/** Where a new user has an account: on the hosts of the default group. */

import { sql } from "drizzle-orm";
import type { Database } from "../../store/client.ts";
import { LOCAL_HOST } from "../../store/schema.ts";
import type { Operation } from "../operation/context.ts";

/** The group that is set, or else the oldest. */
const IN_DEFAULT_GROUP = sql`g.id = coalesce(
  (select value from settings where key = 'policy.default_group'), (select min(id) from host_groups))`;

/** Gives the user the default group. Returns whether the service's own host is in it. */
export async function grantDefaultGroup(op: Operation, userId: number): Promise<boolean> {
  return await grantDefaultGroups(op, [userId]);
}

/** The same for many users. */
export async function grantDefaultGroups({ tx, context }: Operation, userIds: readonly number[]): Promise<boolean> {
  const [row] = await tx.execute<{ local: boolean }>(sql`
    insert into grants (user_id, group_id, created_at)
    select u.id, g.id, ${context.clock.now().toISOString()}::timestamptz from host_groups g,
      unnest(${`{${userIds.join(",")}}`}::bigint[]) as u (id)
    where ${IN_DEFAULT_GROUP}
    returning exists (
      select 1 from host_group_members m where m.group_id = grants.group_id and m.host_id = ${LOCAL_HOST}) as local`);
  return row?.local === true;
}

/** Whether new users have an account on the service's own host. */
export async function isDefaultLocal(db: Database): Promise<boolean> {
  const rows = await db.execute(sql`select 1 from host_groups g
    join host_group_members m on m.group_id = g.id and m.host_id = ${LOCAL_HOST} where ${IN_DEFAULT_GROUP}`);
  return rows.length > 0;
}
