/** Whoever takes a webhook away is answered only once nothing more is sent to it: both sides hold one lock in the database. */

import { eq, type SQL, sql } from "drizzle-orm";
import type { Transaction } from "../../store/client.ts";
import { LOCKS } from "../../store/locks.ts";
import { type WebhookRow, webhooks } from "../../store/schema-events.ts";

/**
 * Does `work`, deliveries to the webhook, unless it was deleted, changed, or switched off since it was read; returns undefined then, and while
 * somebody is at it. The lock is of the connection that `lane` has, which waits for nothing here and may serve many webhooks at once.
 */
export async function whileKept<T>(
  lane: Transaction,
  { id, generation }: Pick<WebhookRow, "id" | "generation">,
  work: () => Promise<T>,
): Promise<T | undefined> {
  const number = numberOf(id);
  const [row] = await lane.execute<{ taken: boolean }>(
    sql`select pg_try_advisory_lock_shared(${LOCKS.delivery}, ${number}) as taken`,
  );
  if (row?.taken !== true) return undefined;
  try {
    // A statement of its own, which sees what was committed before the lock was had.
    const [kept] = await lane.select().from(webhooks).where(eq(webhooks.id, id));
    if (kept?.generation !== generation || kept.status !== "active") return undefined;
    return await work();
  } finally {
    await lane.execute(sql`select pg_advisory_unlock_shared(${LOCKS.delivery}, ${number})`);
  }
}

/**
 * Waits until what is just being delivered to the webhook has ended, which takes no longer than a receiver may and some seconds; until the
 * transaction ends nothing more begins. Call it before the webhook's row is locked: others wait for that.
 */
export async function waitForDeliveries(tx: Transaction, id: number): Promise<void> {
  await tx.execute(sql`select pg_advisory_xact_lock(${LOCKS.delivery}, ${numberOf(id)})`);
}

function numberOf(id: number): SQL {
  return sql`(${id}::bigint % 2147483647)::int`;
}
