/** Where a new user has an account: on the hosts of the default group. */

import { sql } from "drizzle-orm";
import { LOCAL_HOST } from "../../store/schema.ts";
import type { Operation } from "../operation/context.ts";

/** Gives the user the default group: the one that is set, or else the oldest. Returns whether the service's own host is in it. */
export async function grantDefaultGroup({ tx, context }: Operation, userId: number): Promise<boolean> {
  const [row] = await tx.execute<{ local: boolean }>(sql`
    insert into grants (user_id, group_id, created_at)
    select ${userId}::bigint, g.id, ${context.clock.now().toISOString()}::timestamptz from host_groups g
    where g.id = coalesce((select value from settings where key = 'policy.default_group'), (select min(id) from host_groups))
    returning exists (
      select 1 from host_group_members m where m.group_id = grants.group_id and m.host_id = ${LOCAL_HOST}) as local`);
  return row?.local === true;
}
