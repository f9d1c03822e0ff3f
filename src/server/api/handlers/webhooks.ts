/** /webhooks: where audit records are delivered to. */

import type { webhooks } from "../../../contract/webhooks.ts";
import { pageDeliveries, pingWebhook, redeliver } from "../../../domain/events/deliveries.ts";
import type { SendMessage } from "../../../domain/events/message.ts";
import { createOwnWebhook, updateOwnWebhook } from "../../../domain/events/own-webhooks.ts";
import { readStream } from "../../../domain/events/receivers.ts";
import { deleteWebhook, pageWebhooks } from "../../../domain/events/webhooks.ts";
import { createSlots, type Slots } from "../../../shared/work/bounded.ts";
import { deliveryRecord, streamRecord, webhookRecord } from "../../event-records.ts";
import type { Handlers } from "../http/call.ts";
import type { Web } from "../web.ts";

export const webhookHandlers: Handlers<typeof webhooks> = {
  "GET /webhooks": async ({ context, query }) => {
    const { total, items } = await pageWebhooks(context, query.page);
    const stream = await readStream(context);
    const shown = stream === undefined ? null : streamRecord(stream);
    return { total, items: items.map(webhookRecord), stream: shown };
  },

  "POST /webhooks": async ({ context, session, body }) => {
    const { url, actions = [], password, passkey } = body;
    const { entry, secret } = await createOwnWebhook(context, session, { url, actions }, { password, passkey });
    return { ...webhookRecord(entry), secret };
  },

  "PATCH /webhooks/:id": async ({ context, session, params, body }) => {
    const { password, passkey, ...changes } = body;
    const changed = updateOwnWebhook(context, session, { id: params.id, changes }, { password, passkey });
    return webhookRecord(await changed);
  },

  "DELETE /webhooks/:id": async ({ context, params }) => {
    await deleteWebhook(context, params.id);
    return { status: "deleted" };
  },

  "POST /webhooks/:id/ping": async ({ web, context, params }) =>
    deliveryRecord(await pingWebhook(context, senderOf(web), params.id)),

  "GET /webhooks/:id/deliveries": async ({ context, params, query }) => {
    const { total, items } = await pageDeliveries(context, params.id, query.page);
    return { total, items: items.map(deliveryRecord) };
  },

  "POST /webhooks/:id/deliveries/:deliveryId/redeliver": async ({ web, context, params }) => {
    const which = { webhookId: params.id, deliveryId: params.deliveryId };
    return deliveryRecord(await redeliver(context, senderOf(web), which));
  },
};

/** Deliveries by request at once: each may wait for its receiver for ten seconds. */
const AT_ONCE = 4;

/** Room for deliveries by request. */
export function createDeliveryPlaces(): Slots {
  const refusal = "Several deliveries are under way already; try again when one is done";
  return createSlots({ concurrency: AT_ONCE, retryAfter: 10, refusal });
}

/** Delivers messages while there is room; each call throws `limited` otherwise. */
function senderOf({ options: { sendWebhook }, deliveryPlaces }: Web): SendMessage {
  if (sendWebhook === undefined) throw new Error("nothing delivers messages to webhooks here");
  return async (to, message) => {
    const free = deliveryPlaces.take();
    try {
      return await sendWebhook(to, message);
    } finally {
      free();
    }
  };
}
