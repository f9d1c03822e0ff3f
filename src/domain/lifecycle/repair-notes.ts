/**
 * Repairs of the host that are not recorded yet: noted before the host is touched, so that a crash in between cannot keep one out of the
 * log.
 */

import { eq } from "drizzle-orm";
import type { DriftKind } from "../../protocol/host.ts";
import { isDatabaseFull } from "../../shared/database-lost.ts";
import type { Database, Transaction } from "../../store/client.ts";
import { repairs } from "../../store/schema-fleet.ts";
import type { Services } from "../operation/context.ts";

/** A user's possible repairs that are not recorded. */
interface RepairNote {
  readonly userId: number;
  readonly kinds: readonly DriftKind[];
}

/** Differences that are only ever reported. */
const NEVER_REPAIRED: ReadonlySet<DriftKind> = new Set(["missing", "foreign", "failed", "key_refused"]);

/** Notes the coming repairs, if any, committed at once. Call it under the user's row lock. */
export async function noteRepair(
  { autocommit, clock, log }: Pick<Services, "autocommit" | "clock" | "log">,
  { userId, kinds }: RepairNote,
): Promise<void> {
  const repairable = [...new Set(kinds)].filter((kind) => !NEVER_REPAIRED.has(kind));
  if (repairable.length === 0) return;
  const notedAt = clock.now();
  try {
    const rows = repairable.map((kind) => ({ userId, kind, notedAt }));
    await autocommit.insert(repairs).values(rows).onConflictDoNothing();
  } catch (error) {
    // A key that was put back is taken out all the same.
    if (!isDatabaseFull(error)) throw error;
    log.error("a repair cannot be noted, because the disk of the database is full", { userId });
  }
}

/** The users with notes, also of repairs that are under way. */
export async function usersWithRepairs(db: Database): Promise<readonly number[]> {
  return (await db.selectDistinct({ userId: repairs.userId }).from(repairs)).map(({ userId }) => userId);
}

/** Removes the notes about the user, and returns their kinds. The row lock rules out repairs under way. */
export async function takeRepairNotes(tx: Transaction, userId: number): Promise<readonly DriftKind[]> {
  const rows = await tx.delete(repairs).where(eq(repairs.userId, userId)).returning({ kind: repairs.kind });
  return rows.map(({ kind }) => kind as DriftKind);
}
