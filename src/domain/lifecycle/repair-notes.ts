/** Repairs of the host that are not recorded yet: noted before the host is touched, so that a crash in between keeps none out of the log. */

import { like } from "drizzle-orm";
import type { DriftKind } from "../../protocol/host.ts";
import { isDatabaseFull } from "../../shared/database-lost.ts";
import type { Database, Transaction } from "../../store/client.ts";
import { importedLocks } from "../../store/schema.ts";
import type { Services } from "../operation/context.ts";

/** What of a user's account may have been repaired, and is not recorded. */
export interface RepairNote {
  readonly userId: number;
  readonly kinds: readonly DriftKind[];
}

const PREFIX = "repair/";
/** What is only ever reported. */
const NEVER_REPAIRED: ReadonlySet<DriftKind> = new Set(["missing", "foreign", "failed"]);

/** Notes, committed at once, what is about to be repaired, if anything is. Call it under the user's row lock. */
export async function noteRepair(
  { autocommit, clock, log }: Pick<Services, "autocommit" | "clock" | "log">,
  { userId, kinds }: RepairNote,
): Promise<void> {
  const repairable = [...new Set(kinds)].filter((kind) => !NEVER_REPAIRED.has(kind));
  if (repairable.length === 0) return;
  const id = `${PREFIX}${userId}/${repairable.sort().join(" ")}`;
  try {
    await autocommit.insert(importedLocks).values({ id, at: clock.now() }).onConflictDoNothing();
  } catch (error) {
    // A key that was put back is taken out all the same.
    if (!isDatabaseFull(error)) throw error;
    log.error("a repair cannot be noted, because the disk of the database is full", { userId });
  }
}

/** All notes, of repairs that are under way, too. */
export async function repairNotes(db: Database): Promise<readonly RepairNote[]> {
  const rows = await db
    .select()
    .from(importedLocks)
    .where(like(importedLocks.id, `${PREFIX}%`));
  return rows.map(({ id }) => parse(id));
}

/** Removes the notes about the user, and returns them: under the user's row lock they are of nothing that is under way. */
export async function takeRepairNotes(tx: Transaction, userId: number): Promise<readonly RepairNote[]> {
  const rows = await tx
    .delete(importedLocks)
    .where(like(importedLocks.id, `${PREFIX}${userId}/%`))
    .returning({ id: importedLocks.id });
  return rows.map(({ id }) => parse(id));
}

function parse(id: string): RepairNote {
  const [, userId, kinds = ""] = id.split("/");
  return { userId: Number(userId), kinds: kinds.split(" ") as DriftKind[] };
}
