/** Retention: the oldest records go, and a sealed checkpoint says where the log now begins. */

import { lt, sql } from "drizzle-orm";
import { HOUR, shift } from "../../shared/time/clock.ts";
import { LOCKS } from "../../store/advisory-locks.ts";
import type { Transaction } from "../../store/client.ts";
import { audit, auditFloor } from "../../store/schema-audit.ts";
import type { Context, Services } from "../operation/context.ts";

/** Records removed in one transaction. */
const BATCH = 50_000;
/** The database uses its own clock, which may be behind ours. */
const SKEW = HOUR;

/** The removed records. */
export interface Purged {
  readonly removed: number;
  /** Number of the newest of them. */
  readonly last: number;
}

/**
 * Removes the oldest records from before `before`, a bounded number of them, and returns which; undefined if there are
 * none. The remaining records are still one unbroken chain. The caller decides whether the clock can be trusted; the
 * database refuses to remove records younger than the shortest retention.
 */
export async function purgeBatch(
  tx: Transaction,
  { seal, clock }: Pick<Services, "seal" | "clock">,
  before: Date,
): Promise<Purged | undefined> {
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
  if (last === undefined) return undefined;
  const now = clock.now();
  const mark = seal.checkpoint(last.id, last.createdAt, last.mac, now);
  const [row] = await tx.execute<{ removed: string }>(
    sql`select public.audit_purge(${last.id}, ${now.toISOString()}::timestamptz, ${mark}) as removed`,
  );
  return { removed: Number(row?.removed ?? 0), last: last.id };
}

/**
 * The time before which a retention of that length removes records at that moment; never later than the database's own
 * limit.
 */
export async function purgeLimit(context: Context, retention: number, at: Date): Promise<Date> {
  return shift(at, -Math.max(retention, (await readFloor(context)) + SKEW));
}

/**
 * Milliseconds for which the database itself keeps every record: it would refuse a whole batch for its youngest record.
 */
async function readFloor({ db, policy }: Context): Promise<number> {
  const [row] = await db.select().from(auditFloor);
  return row?.milliseconds ?? policy.auditRetentionMin;
}
