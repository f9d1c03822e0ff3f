/** Statements that wait for a lock, as the database itself says. */

import { sql } from "drizzle-orm";
import type { Database } from "../../src/store/client.ts";
import { until } from "./until.ts";

/** Returns once so many statements of this database wait for a lock that somebody else holds. */
export async function untilWaiting(db: Database, statements = 1): Promise<void> {
  const waiting = sql`select count(*)::int as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  await until(async () => ((await db.execute<{ n: number }>(waiting))[0]?.n ?? 0) >= statements);
}
