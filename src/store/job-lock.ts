/** Locks by which several instances on one database agree on who does a job. */

import { sql } from "drizzle-orm";
import type { Database } from "./client.ts";
import { LOCKS } from "./locks.ts";

/**
 * Runs `work` unless another instance is running the job of that name; returns whether it ran. The lock is a transaction's, so
 * it goes with the connection: a crash frees it. A lock lost on the way does no harm, because work on a user takes the row lock.
 */
export async function withJobLock(db: Database, job: string, work: () => Promise<void>): Promise<boolean> {
  return await db.transaction(async (tx) => {
    const [row] = await tx.execute<{ taken: boolean }>(
      sql`select pg_try_advisory_xact_lock(${LOCKS.job}, hashtext(${job})) as taken`,
    );
    if (row?.taken !== true) return false;
    await work();
    return true;
  });
}
