/** /webhooks: where audit records are delivered to. */

import { Elysia } from "elysia";
import {
  DeliveryParams,
  DeliveryRecord,
  MadeWebhook,
  NewWebhook,
  WebhookChanges,
  WebhookList,
  WebhookRecord,
} from "../../contract/webhooks.ts";
import { pageDeliveries, pingWebhook, redeliver } from "../../domain/events/deliveries.ts";
import type { SendMessage } from "../../domain/events/message.ts";
import { createOwnWebhook, updateOwnWebhook } from "../../domain/events/own-webhooks.ts";
import { readStream } from "../../domain/events/receivers.ts";
import { deleteWebhook, pageWebhooks } from "../../domain/events/webhooks.ts";
import { createSlots } from "../../shared/bounded.ts";
import { deliveryRecord, streamRecord, webhookRecord } from "../event-records.ts";
import { CONFIRMED, confirming } from "./confirming.ts";
import { jsonBody, requireSession } from "./elysia.ts";
import { created, data, IdParams, PageQuery, paged, responses, statusOf } from "./schemas.ts";
import type { Web } from "./web.ts";

/** Deliveries by request at once: each may wait for its receiver for ten seconds. */
const AT_ONCE = 4;

export function webhookRoutes(web: Web) {
  const send = boundedSender(web);
  return new Elysia({ prefix: "/webhooks" })
    .use(requireSession(web, "admin", "owner"))
    .get(
      "/",
      async ({ context, query }) => {
        const { total, items } = await pageWebhooks(context, { page: query.page, pageSize: query.page_size });
        const stream = await readStream(context);
        const shown = stream === undefined ? null : streamRecord(stream);
        return { data: { total, items: items.map(webhookRecord), stream: shown } };
      },
      {
        query: PageQuery,
        response: responses(data(WebhookList), 400, 401, 403),
        detail: {
          operationId: "listWebhooks",
          summary: "List webhooks, and how they are doing",
          description: "Oldest first; besides, how the stream of audit records is doing.",
        },
      },
    )
    .post(
      "/",
      async ({ context, session, body, status }) => {
        const { url, actions = [], password, passkey } = body;
        const { entry, secret } = await createOwnWebhook(context, session, { url, actions }, { password, passkey });
        return status(201, { data: { ...webhookRecord(entry), secret } });
      },
      {
        parse: jsonBody(web, "admin"),
        body: NewWebhook,
        response: created(data(MadeWebhook), 400, 401, 403, 409, 429),
        detail: {
          operationId: "createWebhook",
          summary: "Make a webhook",
          description: `It is told of each audit record from that of its own creation on, in their order, at least once; signed as Standard Webhooks are. ${CONFIRMED} A token needs none of that.`,
          responses: { ...confirming, 409: { description: "There are as many webhooks as there may be" } },
        },
      },
    )
    .patch(
      "/:id",
      async ({ context, session, params, body }) => {
        const { password, passkey, ...changes } = body;
        const changed = updateOwnWebhook(context, session, { id: params.id, changes }, { password, passkey });
        return { data: webhookRecord(await changed) };
      },
      {
        parse: jsonBody(web, "admin"),
        params: IdParams,
        body: WebhookChanges,
        response: responses(data(WebhookRecord), 400, 401, 403, 404, 429),
        detail: {
          operationId: "updateWebhook",
          summary: "Change a webhook, or switch it on or off",
          description: `Switched on, it goes on where it had got to, at once. What is left out stays; an empty list of actions means all. Switching it off, or giving it another address, waits for what is just being delivered, as deleting it does. With \`url\`: ${CONFIRMED} A token needs none of that.`,
          responses: confirming,
        },
      },
    )
    .delete(
      "/:id",
      async ({ context, params }) => {
        await deleteWebhook(context, params.id);
        return { data: { status: "deleted" as const } };
      },
      {
        params: IdParams,
        response: responses(statusOf("deleted"), 400, 401, 403, 404),
        detail: {
          operationId: "deleteWebhook",
          summary: "Delete a webhook, with its log of deliveries",
          description:
            "Once this is answered, nothing more is sent to it: what is just being delivered is waited for, 15 seconds at most.",
        },
      },
    )
    .post(
      "/:id/ping",
      async ({ context, params }) => ({ data: deliveryRecord(await pingWebhook(context, send(), params.id)) }),
      {
        params: IdParams,
        response: responses(data(DeliveryRecord), 400, 401, 403, 404, 429),
        detail: {
          operationId: "pingWebhook",
          summary: "Ask a webhook whether it answers",
          description: "Also one that is switched off. The answer says what became of it, after ten seconds at most.",
          responses: { 429: { description: "As much as may be is being delivered by request" } },
        },
      },
    )
    .get(
      "/:id/deliveries",
      async ({ context, params, query }) => {
        const page = { page: query.page, pageSize: query.page_size };
        const { total, items } = await pageDeliveries(context, params.id, page);
        return { data: { total, items: items.map(deliveryRecord) } };
      },
      {
        params: IdParams,
        query: PageQuery,
        response: responses(paged(DeliveryRecord), 400, 401, 403, 404),
        detail: {
          operationId: "listDeliveries",
          summary: "The attempts to deliver something to a webhook",
          description: "Newest first; those of the last seven days, and at most 10,000.",
        },
      },
    )
    .post(
      "/:id/deliveries/:deliveryId/redeliver",
      async ({ context, params }) => {
        const which = { webhookId: params.id, deliveryId: params.deliveryId };
        return { data: deliveryRecord(await redeliver(context, send(), which)) };
      },
      {
        params: DeliveryParams,
        response: responses(data(DeliveryRecord), 400, 401, 403, 404, 409, 429),
        detail: {
          operationId: "redeliver",
          summary: "Deliver something once more",
          description: "At once, under the same webhook-id, whatever else the webhook waits for.",
          responses: {
            409: { description: "The record is no longer in the audit log" },
            429: { description: "As much as may be is being delivered by request" },
          },
        },
      },
    );
}

/** What delivers one message, if there is room; throws `limited` when it is asked for. */
function boundedSender({ options }: Web): () => SendMessage {
  const refusal = "Several deliveries are under way already; try again when one is done";
  const slots = createSlots({ concurrency: AT_ONCE, retryAfter: 10, refusal });
  return () => {
    const { sendWebhook } = options;
    if (sendWebhook === undefined) throw new Error("nothing delivers messages to webhooks here");
    return async (to, message) => {
      const free = slots.take();
      try {
        return await sendWebhook(to, message);
      } finally {
        free();
      }
    };
  };
}
