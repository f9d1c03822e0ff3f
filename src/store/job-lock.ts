/** Locks by which several instances on one database agree on who does a job. */

import { sql } from "drizzle-orm";
import type { Database } from "./client.ts";
import { LOCKS } from "./locks.ts";

/**
 * Runs `work` unless another instance is running the job of that name; returns whether it ran. The lock is a transaction's, so
 * it goes with the connection: a crash frees it, and so does a failover, after which another instance may begin. `work` is told by
 * its signal; what it still does is harmless, because work on a user takes the row lock. This settles once it has ended.
 */
export async function withJobLock(
  db: Database,
  job: string,
  work: (lost: AbortSignal) => Promise<void>,
): Promise<boolean> {
  const lost = new AbortController();
  let working: Promise<void> | undefined;
  try {
    return await db.transaction(async (tx) => {
      const [row] = await tx.execute<{ taken: boolean }>(
        sql`select pg_try_advisory_xact_lock(${LOCKS.job}, hashtext(${job})) as taken`,
      );
      if (row?.taken !== true) return false;
      working = work(lost.signal);
      await working;
      return true;
    });
  } catch (error) {
    // The transaction fails as soon as its connection is gone, while the work goes on.
    lost.abort();
    await working?.catch(() => {});
    throw error;
  }
}
