/** Tables of outgoing records: webhooks, their log of deliveries, and the position of the stream of audit records. */

import { sql } from "drizzle-orm";
import { bigint, check, index, integer, pgTable, text } from "drizzle-orm/pg-core";
import { WEBHOOK_STATUSES } from "../shared/product/statuses.ts";
import { bytea, id, time } from "./columns.ts";

/** The position of a receiver in the audit log, and since when it accepts nothing. */
const progress = () => ({
  /** The last record that it accepted, or does not receive. */
  cursor: bigint({ mode: "number" }).notNull(),
  /** Attempts in a row that failed. */
  failures: integer().notNull().default(0),
  /** The time of the first failure in a row; null while all is well. */
  failingSince: time(),
  /** The error of the last failure. */
  lastError: text().notNull().default(""),
  /** When a record was last accepted; null before the first. */
  deliveredAt: time(),
});

/** Receivers of audit records over HTTP. */
export const webhooks = pgTable(
  "webhooks",
  {
    id: id(),
    url: text().notNull(),
    /** The audit actions that it receives, with a space between them; "" means all. */
    actions: text().notNull().default(""),
    status: text({ enum: WEBHOOK_STATUSES }).notNull().default("active"),
    /** The secret is made of this and of the key outside the database; it is stored nowhere. */
    salt: bytea().notNull(),
    /** Rises with each change, so that results from before a change do not count after it. */
    generation: integer().notNull().default(1),
    ...progress(),
    /** When the next attempt is due; null: at once. */
    dueAt: time(),
    /** The administrator who made it, also once they are removed; "" for the host's operator, and if unknown. */
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

/** Streams of audit records, by their address; another address is another stream. */
export const auditStreams = pgTable("audit_streams", { target: text().primaryKey(), ...progress() });

export type WebhookRow = typeof webhooks.$inferSelect;
export type DeliveryRow = typeof webhookDeliveries.$inferSelect;
export type AuditStreamRow = typeof auditStreams.$inferSelect;
