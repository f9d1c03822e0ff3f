/** Removing a webhook is confirmed only once nothing more is sent to it: both sides hold one lock in the database. */

import { eq, type SQL, sql } from "drizzle-orm";
import { LOCKS } from "../../store/advisory-locks.ts";
import type { Transaction } from "../../store/client.ts";
import { type WebhookRow, webhooks } from "../../store/schema-events.ts";

/**
 * Does `work`, deliveries to the webhook, unless it was deleted, changed, or switched off since it was read, or is being changed; returns
 * undefined then. The lock belongs to the connection of `lane`, which never waits here and may serve many webhooks at once.
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
    // A statement of its own, so that it sees everything committed before the lock was taken.
    const [kept] = await lane.select().from(webhooks).where(eq(webhooks.id, id));
    if (kept?.generation !== generation || kept.status !== "active") return undefined;
    return await work();
  } finally {
    await lane.execute(sql`select pg_advisory_unlock_shared(${LOCKS.delivery}, ${number})`);
  }
}

/**
 * Waits until a delivery to the webhook that is under way has ended, which takes a few seconds longer than a receiver may take at most; no
 * other begins until the transaction ends. Call it before locking the webhook's row, because others wait for that.
 */
export async function waitForDeliveries(tx: Transaction, id: number): Promise<void> {
  await tx.execute(sql`select pg_advisory_xact_lock(${LOCKS.delivery}, ${numberOf(id)})`);
}

function numberOf(id: number): SQL {
  return sql`(${id}::bigint % 2147483647)::int`;
}
