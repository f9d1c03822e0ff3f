/** Which accounts a host may speak of. */

import { sql } from "drizzle-orm";
import { ACCOUNT_PREFIX } from "../../shared/text/account-name.ts";
import type { Database, Transaction } from "../../store/client.ts";
import { PLACES } from "./placements.ts";

/** Which of these accounts the host has, or has still to remove. */
export async function accountsThere(
  db: Database | Transaction,
  host: number,
  names: readonly string[],
): Promise<ReadonlySet<string>> {
  const wanted = sql`(select json_array_elements_text(${JSON.stringify(names)}::text::json))`;
  const rows = await db.execute<{ name: string }>(sql`
    select ${ACCOUNT_PREFIX}::text || u.username as name from users u where ${ACCOUNT_PREFIX}::text || u.username in ${wanted}
      and exists (select 1 from ${PLACES} p where p.user_id = u.id and p.host_id = ${host})
    union select r.name from removed_accounts r where r.name in ${wanted} and ${host}::int = any(r.hosts)`);
  return new Set(rows.map(({ name }) => name));
}
