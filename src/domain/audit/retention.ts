/** Retention: the oldest records go, and a sealed checkpoint says where the log begins now. */

import { lt, sql } from "drizzle-orm";
import { LOCKS } from "../../store/locks.ts";
import { audit } from "../../store/schema.ts";
import type { Services } from "../operation/context.ts";

/** Records removed in one transaction. */
const BATCH = 50_000;

/**
 * Removes the records from before `before`, oldest first, and returns how many; what is left is still one unbroken chain.
 * The caller decides whether the clock can be trusted. Interrupted, it has removed a part, and the next call the rest.
 */
export async function purgeAudit(services: Pick<Services, "db" | "seal" | "clock">, before: Date): Promise<number> {
  let removed = 0;
  for (;;) {
    const batch = await purgeBatch(services, before);
    removed += batch;
    if (batch === 0) return removed;
  }
}

function purgeBatch({ db, seal, clock }: Pick<Services, "db" | "seal" | "clock">, before: Date): Promise<number> {
  return db.transaction(async (tx) => {
    // One at a time: two replicas would otherwise write a checkpoint each for the same records.
    await tx.execute(sql`select pg_advisory_xact_lock(${LOCKS.auditRetention})`);
    const old = tx
      .select()
      .from(audit)
      .where(lt(audit.createdAt, before))
      .orderBy(audit.createdAt, audit.id)
      .limit(BATCH);
    const candidates = old.as("old");
    const [last] = await tx
      .select({ id: candidates.id, createdAt: candidates.createdAt, mac: candidates.mac })
      .from(candidates)
      .orderBy(sql`${candidates.id} desc`)
      .limit(1);
    if (last === undefined) return 0;
    const now = clock.now();
    const mark = seal.checkpoint(last.id, last.createdAt, last.mac, now);
    const [row] = await tx.execute<{ removed: string }>(
      sql`select public.audit_purge(${last.id}, ${now.toISOString()}::timestamptz, ${mark}) as removed`,
    );
    return Number(row?.removed ?? 0);
  });
}
