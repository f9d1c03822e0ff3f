/** Deliveries, as the service logs them. */

import { messageOf } from "../../src/domain/events/message.ts";
import type { Database } from "../../src/store/client.ts";
import type { AuditRow } from "../../src/store/schema-audit.ts";
import { type DeliveryRow, webhookDeliveries } from "../../src/store/schema-events.ts";

/** Logs an attempt to deliver the record. */
export async function logDelivery(
  db: Database,
  webhookId: number,
  record: AuditRow,
  error: string,
  attempt = 1,
): Promise<DeliveryRow> {
  const { id: messageId, type, at } = messageOf(record);
  const values = { webhookId, recordId: record.id, messageId, type, attempt, error, at };
  const [row] = await db.insert(webhookDeliveries).values(values).returning();
  if (row === undefined) throw new Error("insert returned no row");
  return row;
}
