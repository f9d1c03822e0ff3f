/** Locks by which several instances on one database agree on which of them does a job. */

import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "drizzle-orm";
import { LOCKS } from "./advisory-locks.ts";
import type { Database, Transaction } from "./client.ts";

/** How often the holder of a lasting lock looks whether it still has it, in milliseconds. */
const CHECK = 1000;

/**
 * Runs `work` unless another instance is running the job of that name; returns whether it ran. The lock is a transaction's, so it
 * goes with the connection: a crash frees it, and so does a failover, after which another instance may begin. `work` learns of
 * that by its signal; its remaining steps are harmless, because work on a user takes the row lock. This settles once it has ended.
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

/**
 * The same for work that goes on until `stop`: `lost` is aborted as well when the connection that holds the lock is gone, which is noticed
 * within a second. PostgreSQL notices a machine that died silently within a minute. `work` may take further locks on that connection, but
 * must not wait on it.
 */
export async function holdJobLock(
  db: Database,
  job: string,
  stop: AbortSignal,
  work: (lost: AbortSignal, tx: Transaction) => Promise<void>,
): Promise<boolean> {
  return await db.transaction(async (tx) => {
    const [row] = await tx.execute<{ taken: boolean }>(sql`
      select pg_try_advisory_xact_lock(${LOCKS.job}, hashtext(${job})) as taken, set_config('tcp_keepalives_idle', '20', true),
        set_config('tcp_keepalives_interval', '10', true), set_config('tcp_keepalives_count', '3', true)`);
    if (row?.taken !== true) return false;
    const ended = new AbortController();
    const lost = AbortSignal.any([stop, ended.signal]);
    const working = work(lost, tx).finally(() => ended.abort());
    // It counts where it is awaited.
    working.catch(() => {});
    try {
      while (!lost.aborted) {
        await sleep(CHECK, undefined, { signal: lost }).catch(() => {});
        if (!lost.aborted) await tx.execute(sql`select 1`);
      }
    } finally {
      ended.abort();
      await working;
    }
    return true;
  });
}
