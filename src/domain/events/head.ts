/** Where the audit log has got to. */

import { max } from "drizzle-orm";
import type { Database, Transaction } from "../../store/client.ts";
import { auditHead } from "../../store/schema-audit.ts";

/** The number of the newest audit record; 0 before the first. */
export async function readHead(db: Database | Transaction): Promise<number> {
  const [row] = await db.select({ head: max(auditHead.id) }).from(auditHead);
  return row?.head ?? 0;
}
