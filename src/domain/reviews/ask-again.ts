/** After a restore: answers that were given since the backup are lost, and links that were mailed before it are dead. */

import { asc, eq } from "drizzle-orm";
import { shift } from "../../shared/time/clock.ts";
import { reviews } from "../../store/schema-reviews.ts";
import { beginHold, HOLD } from "../lifecycle/heartbeat.ts";
import type { Telling } from "../sponsors/telling.ts";
import { askSponsors } from "./sponsor-items.ts";

/**
 * Asks every sponsor once more who is not answered for in a review that is open, and lets nobody lose their access for want of an answer, nor be
 * deleted, for a day from now. Returns how many reviews are open.
 */
export async function askAgain(op: Telling): Promise<number> {
  const now = op.context.clock.now();
  await beginHold(op.tx, now);
  const open = await op.tx.select().from(reviews).where(eq(reviews.status, "open")).orderBy(asc(reviews.id));
  const earliest = shift(now, HOLD);
  for (const review of open) {
    const dueAt = review.dueAt < earliest ? earliest : review.dueAt;
    await askSponsors(op, { ...review, dueAt }, { again: true });
  }
  return open.length;
}
