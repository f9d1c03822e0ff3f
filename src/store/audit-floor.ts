/** The shortest retention of audit records, as the database enforces it: audit_purge() removes nothing younger. */

import { eq } from "drizzle-orm";
import type { Database, Transaction } from "./client.ts";
import { auditFloor } from "./schema-audit.ts";

/** Milliseconds; undefined if nothing is stored, and audit_purge() then uses thirty days. */
export async function readAuditFloor(db: Database | Transaction): Promise<number | undefined> {
  const [row] = await db.select().from(auditFloor).where(eq(auditFloor.one, 1));
  return row?.milliseconds;
}

/** Stores it; only the owner of the table may. */
export async function storeAuditFloor(db: Database | Transaction, milliseconds: number): Promise<void> {
  await db
    .insert(auditFloor)
    .values({ one: 1, milliseconds })
    .onConflictDoUpdate({ target: auditFloor.one, set: { milliseconds } });
}
