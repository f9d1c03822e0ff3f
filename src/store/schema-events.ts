/** Tables of what goes out: webhooks, their log of deliveries, and how far the stream of audit records has got. */

import { sql } from "drizzle-orm";
import { bigint, check, index, integer, pgTable, text } from "drizzle-orm/pg-core";
import { WEBHOOK_STATUSES } from "../shared/product/statuses.ts";
import { bytea, id, time } from "./columns.ts";

/** How far a receiver has got in the audit log, and since when it takes nothing. */
const progress = () => ({
  /** The last record that it took, or that it is not told of. */
  cursor: bigint({ mode: "number" }).notNull(),
  /** Attempts in a row that failed. */
  failures: integer().notNull().default(0),
  /** When the first of them was; null while all is well. */
  failingSince: time(),
  /** What the last of them failed for. */
  lastError: text().notNull().default(""),
  /** When a record was last taken; null before the first. */
  deliveredAt: time(),
});

/** Receivers of audit records over HTTP. */
export const webhooks = pgTable(
  "webhooks",
  {
    id: id(),
    url: text().notNull(),
    /** The audit actions that it is told of, with a space between them; "" means all. */
    actions: text().notNull().default(""),
    status: text({ enum: WEBHOOK_STATUSES }).notNull().default("active"),
    /** The secret is made of this and of the key outside the database; it is stored nowhere. */
    salt: bytea().notNull(),
    /** Rises with each change, so that what was found out before it does not count after it. */
    generation: integer().notNull().default(1),
    ...progress(),
    /** When the next attempt is due; null: at once. */
    dueAt: time(),
    /** The administrator who made it, also once they are removed; "" for the host's operator, and where it is not known. */
    madeBy: text().notNull().default(""),
    madeById: bigint({ mode: "number" }),
    createdAt: time().notNull(),
    updatedAt: time().notNull(),
  },
  (t) => [check("webhooks_status", sql`${t.status} in ('active', 'disabled')`)],
);

/** Each attempt to deliver something to a webhook. */
export const webhookDeliveries = pgTable(
  "webhook_deliveries",
  {
    id: id(),
    webhookId: bigint({ mode: "number" })
      .notNull()
      .references(() => webhooks.id, { onDelete: "cascade" }),
    /** The audit record; null for a ping. */
    recordId: bigint({ mode: "number" }),
    messageId: text().notNull(),
    type: text().notNull(),
    /** Which attempt it was to deliver this, from 1. */
    attempt: integer().notNull(),
    /** Why it failed; "" if it did not. */
    error: text().notNull().default(""),
    at: time().notNull(),
  },
  (t) => [index("webhook_deliveries_webhook").on(t.webhookId, t.id), index("webhook_deliveries_at").on(t.at)],
);

/** Streams of audit records, by where they go; another address is another stream. */
export const auditStreams = pgTable("audit_streams", { target: text().primaryKey(), ...progress() });

export type WebhookRow = typeof webhooks.$inferSelect;
export type DeliveryRow = typeof webhookDeliveries.$inferSelect;
export type AuditStreamRow = typeof auditStreams.$inferSelect;
