/** The log of deliveries to a webhook, and deliveries on request: a ping, or a repeated delivery. */

import { and, count, desc, eq, lt, sql } from "drizzle-orm";
import { UamError } from "../../shared/errors.ts";
import { offsetOf, type Page, type Paged } from "../../shared/product/page.ts";
import { DAY, shift } from "../../shared/time/clock.ts";
import { audit } from "../../store/schema-audit.ts";
import { type DeliveryRow, webhookDeliveries, webhooks } from "../../store/schema-events.ts";
import type { Context, Services } from "../operation/context.ts";
import { requirePermission } from "../operation/permission.ts";
import { type Message, messageOf, pingOf, type SendMessage } from "./message.ts";
import { getWebhook, lockWebhook, secretOf } from "./webhooks.ts";

/** Deliveries are listed for this long, */
const KEPT = 7 * DAY;
/** and of each webhook at most so many. */
const MAX_KEPT = 10_000;

/** One page of the attempts to deliver something to the webhook, newest first. Throws `not_found`. */
export async function pageDeliveries(
  { db }: Pick<Context, "db">,
  webhookId: number,
  page: Page,
): Promise<Paged<DeliveryRow>> {
  // One snapshot, so that `total` and `items` agree.
  return await db.transaction(
    async (tx) => {
      await getWebhook(tx, webhookId);
      const own = eq(webhookDeliveries.webhookId, webhookId);
      const [row] = await tx.select({ total: count() }).from(webhookDeliveries).where(own);
      const total = row?.total ?? 0;
      const offset = offsetOf(page);
      if (offset >= total) return { total, items: [] };
      const items = await tx
        .select()
        .from(webhookDeliveries)
        .where(own)
        .orderBy(desc(webhookDeliveries.id))
        .limit(page.pageSize)
        .offset(offset);
      return { total, items };
    },
    { isolationLevel: "repeatable read", accessMode: "read only" },
  );
}

/** Sends a ping to the webhook, switched on or not, and logs the outcome. Throws `not_found`. */
export async function pingWebhook(context: Context, send: SendMessage, webhookId: number): Promise<DeliveryRow> {
  return await deliver(context, send, { webhookId, message: pingOf(webhookId, context.clock.now()) });
}

/**
 * Repeats a delivery that succeeded or failed before, at once, even if the webhook is waiting to retry. Throws `not_found`, and
 * `conflict` if the record is no longer in the log.
 */
export async function redeliver(
  context: Context,
  send: SendMessage,
  { webhookId, deliveryId }: { readonly webhookId: number; readonly deliveryId: number },
): Promise<DeliveryRow> {
  await getWebhook(context.db, webhookId);
  const [earlier] = await context.db
    .select()
    .from(webhookDeliveries)
    .where(and(eq(webhookDeliveries.id, deliveryId), eq(webhookDeliveries.webhookId, webhookId)));
  if (earlier === undefined) {
    const sentence = `The webhook ${webhookId} has no delivery ${deliveryId}`;
    throw new UamError("not_found", sentence, { reason: "delivery.missing" });
  }
  const { recordId, messageId } = earlier;
  if (recordId === null) {
    const message = { ...pingOf(webhookId, context.clock.now()), id: messageId };
    return await deliver(context, send, { webhookId, message });
  }
  const [record] = await context.db.select().from(audit).where(eq(audit.id, recordId));
  const message = record && messageOf(record);
  if (message?.id !== messageId) {
    const sentence = `The record ${recordId} is no longer in the audit log`;
    throw new UamError("conflict", sentence, { reason: "webhook.record_gone" });
  }
  return await deliver(context, send, { webhookId, message });
}

/** Removes old deliveries from the log. */
export async function purgeDeliveries({ db, clock }: Pick<Services, "db" | "clock">): Promise<void> {
  await db.delete(webhookDeliveries).where(lt(webhookDeliveries.at, shift(clock.now(), -KEPT)));
  const beyond = sql`(select d.id from ${webhookDeliveries} d where d.webhook_id = ${webhooks.id}
    order by d.id desc offset ${MAX_KEPT} limit 1)`;
  const oldest = db
    .select({ id: webhooks.id, beyond: beyond.mapWith(Number).as("beyond") })
    .from(webhooks)
    .as("oldest");
  const excess = db
    .select({ one: sql`1` })
    .from(oldest)
    .where(sql`${oldest.id} = ${webhookDeliveries.webhookId} and ${webhookDeliveries.id} <= ${oldest.beyond}`);
  await db.delete(webhookDeliveries).where(sql`exists ${excess}`);
}

/** No transaction is open while it is sent. */
async function deliver(
  context: Context,
  send: SendMessage,
  { webhookId, message }: { readonly webhookId: number; readonly message: Message },
): Promise<DeliveryRow> {
  await requirePermission(context.db, context);
  const webhook = await getWebhook(context.db, webhookId);
  const error = await send({ url: webhook.url, secret: secretOf(context.seal, webhook) }, message);
  return await context.db.transaction(async (tx) => {
    // Deleted meanwhile, it has no log.
    await lockWebhook(tx, webhookId);
    const same = and(eq(webhookDeliveries.webhookId, webhookId), eq(webhookDeliveries.messageId, message.id));
    const [before] = await tx.select({ attempts: count() }).from(webhookDeliveries).where(same);
    const recordId = "record" in message.about ? message.about.record.id : null;
    const [row] = await tx
      .insert(webhookDeliveries)
      .values({
        ...{ webhookId, recordId, messageId: message.id, type: message.type, error },
        ...{ attempt: (before?.attempts ?? 0) + 1, at: context.clock.now() },
      })
      .returning();
    if (row === undefined) throw new Error("insert returned no row");
    return row;
  });
}
