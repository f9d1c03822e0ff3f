/** Whether a user's account is gone from all remote hosts. */

import { sql } from "drizzle-orm";
import type { Database, Transaction } from "../../store/client.ts";
import { LOCAL_HOST } from "../../store/schema.ts";
import { PLACES } from "./placements.ts";

/** How many remote hosts the user has, and how many of them said last that the account is missing there; others count as not missing. */
export async function countMissing(
  db: Database | Transaction,
  { userId, account }: { readonly userId: number; readonly account: string },
): Promise<{ readonly hosts: number; readonly missing: number }> {
  const [row] = await db.execute<{ hosts: number; missing: number }>(sql`
    select count(*)::int as hosts, (count(*) filter (where exists (
      select 1 from host_problems m where m.host_id = p.host_id and m.account = ${account} and m.kind = 'missing')))::int as missing
    from ${PLACES} p where p.user_id = ${userId} and p.host_id <> ${LOCAL_HOST}`);
  return { hosts: Number(row?.hosts ?? 0), missing: Number(row?.missing ?? 0) };
}
