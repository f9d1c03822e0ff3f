/** /webhooks: where audit records are delivered to. */

import * as v from "valibot";
import { AUDIT_ACTIONS } from "../shared/product/audit-actions.ts";
import { DELIVERY_STATUSES, PING, WEBHOOK_STATUSES } from "../shared/product/statuses.ts";
import { MAX_WEBHOOK_URL } from "../shared/product/webhook-limits.ts";
import { CONFIRMED, CONFIRMING, confirmation, NOT_CONFIRMED } from "./confirmation.ts";
import { described, IdParams, id, idNumber, listOf, PageQuery, pageOf, statusOf, text, timestamp } from "./fields.ts";
import { owners, type Routes } from "./route.ts";

const URL_EXAMPLE = "https://hooks.example.org/uam";
/** As long as a real one. */
const SECRET_EXAMPLE = `whsec_${"c2FtcGxl".repeat(5)}c2E=`;

const actions = v.array(v.pipe(v.picklist(AUDIT_ACTIONS), v.examples(["user.create"])));
const status = v.pipe(
  v.picklist(WEBHOOK_STATUSES),
  v.description("Switched off by an owner, or because it took nothing for three days"),
);

export const lag = v.pipe(
  v.number(),
  v.integer(),
  v.minValue(0),
  v.metadata({ description: "How many audit records it has not been told of yet", examples: [0] }),
);

const progress = {
  lag,
  failing_since: v.pipe(v.nullable(timestamp), v.description("Since when it takes nothing; null while all is well")),
  last_error: described("hooks.example.org refuses connections", "Why; empty while all is well"),
  last_delivered_at: v.pipe(v.nullable(timestamp), v.description("When it last took a record")),
};

const fields = {
  id,
  url: described(URL_EXAMPLE),
  actions: v.pipe(actions, v.description("Which records it is told of; none means all")),
  status,
  created_at: timestamp,
  made_by: described(
    "root-admin",
    "The administrator who made it; empty for the host's operator, and where it is not known",
  ),
  maker_removed: v.pipe(
    v.boolean(),
    v.examples([false]),
    v.description("Whether that administrator was removed since: then somebody else should answer for it"),
  ),
  ...progress,
};

export const WebhookRecord = v.pipe(v.object(fields), v.title("Webhook"));

export const MadeWebhook = v.pipe(
  v.object({ ...fields, secret: described(SECRET_EXAMPLE, "Shown here and never again: it is stored nowhere") }),
  v.title("MadeWebhook"),
);

const StreamRecord = v.pipe(
  v.object({ target: described("syslog+tls://siem.example.org:6514", "As UAM_AUDIT_STREAM names it"), ...progress }),
  v.title("AuditStream"),
);

export const WebhookList = v.object({
  total: v.pipe(v.number(), v.integer(), v.minValue(0), v.examples([1])),
  items: v.array(WebhookRecord),
  stream: v.pipe(v.nullable(StreamRecord), v.description("The stream of all audit records; null if there is none")),
});

const url = text(
  URL_EXAMPLE,
  "With https, at a public address; UAM_WEBHOOK_NETWORKS allows networks besides, and http there. Without a name and password, and without a fragment",
  { minLength: 1, maxLength: MAX_WEBHOOK_URL },
);
const wantedActions = v.optional(
  listOf(
    v.pipe(v.picklist(AUDIT_ACTIONS), v.examples(["user.create"])),
    AUDIT_ACTIONS.length,
    "Which audit actions it is told of; none means all",
  ),
);

export const NewWebhook = v.pipe(v.object({ url, actions: wantedActions, ...confirmation }), v.title("NewWebhook"));

export const WebhookChanges = v.pipe(
  v.object({ url: v.optional(url), actions: wantedActions, status: v.optional(status), ...confirmation }),
  v.title("WebhookChanges"),
);

export const DeliveryRecord = v.pipe(
  v.object({
    id,
    message_id: described("audit_42_9f86d081", "The header webhook-id; the same for each attempt"),
    type: v.pipe(v.picklist([...AUDIT_ACTIONS, PING]), v.examples(["user.create"])),
    attempt: v.pipe(v.number(), v.integer(), v.minValue(1), v.examples([1])),
    status: v.picklist(DELIVERY_STATUSES),
    error: described("", "Why it failed; empty if it did not"),
    at: timestamp,
  }),
  v.title("Delivery"),
);

const DeliveryParams = v.object({ id: idNumber(), deliveryId: idNumber() });

const TOO_MANY = "As much as may be is being delivered by request";

export const webhooks = {
  "GET /webhooks": {
    operationId: "listWebhooks",
    summary: "List webhooks, and how they are doing",
    description: "Oldest first; besides, how the stream of audit records is doing.",
    who: owners,
    query: PageQuery,
    answer: WebhookList,
  },
  "POST /webhooks": {
    operationId: "createWebhook",
    summary: "Make a webhook",
    description: `It is told of each audit record from that of its own creation on, in their order, at least once; signed as Standard Webhooks are. ${CONFIRMED} A token needs none of that.`,
    who: owners,
    records: "webhook.create",
    body: NewWebhook,
    status: 201,
    answer: MadeWebhook,
    refusals: { ...CONFIRMING, 409: "There are as many webhooks as there may be" },
    reasons: [...NOT_CONFIRMED, "webhook.address", "webhook.limit"],
  },
  "PATCH /webhooks/:id": {
    operationId: "updateWebhook",
    summary: "Change a webhook, or switch it on or off",
    description: `Switched on, it continues from its position at once. Absent fields stay; an empty list of actions means all. Switching it off, or giving it another address, waits for a delivery under way, as deleting it does. With \`url\`: ${CONFIRMED} A token needs none of that.`,
    who: owners,
    records: "webhook.update",
    params: IdParams,
    body: WebhookChanges,
    answer: WebhookRecord,
    refusals: { ...CONFIRMING, 404: true },
    reasons: [...NOT_CONFIRMED, "webhook.missing", "webhook.address"],
  },
  "DELETE /webhooks/:id": {
    operationId: "deleteWebhook",
    summary: "Delete a webhook, with its log of deliveries",
    description:
      "Once this is answered, nothing more is sent to it: it waits for a delivery under way, 15 seconds at most.",
    who: owners,
    params: IdParams,
    answer: statusOf("deleted"),
    refusals: { 404: true },
    reasons: ["webhook.missing"],
  },
  "POST /webhooks/:id/ping": {
    operationId: "pingWebhook",
    summary: "Ask a webhook whether it answers",
    description: "Also one that is switched off. The answer has the outcome, after ten seconds at most.",
    who: owners,
    params: IdParams,
    answer: DeliveryRecord,
    refusals: { 404: true, 429: TOO_MANY },
    reasons: ["webhook.missing", "service.busy"],
  },
  "GET /webhooks/:id/deliveries": {
    operationId: "listDeliveries",
    summary: "The attempts to deliver something to a webhook",
    description: "Newest first; those of the last seven days, and at most 10,000.",
    who: owners,
    params: IdParams,
    query: PageQuery,
    answer: pageOf(DeliveryRecord),
    refusals: { 404: true },
    reasons: ["webhook.missing"],
  },
  "POST /webhooks/:id/deliveries/:deliveryId/redeliver": {
    operationId: "redeliver",
    summary: "Deliver something once more",
    description: "At once, under the same webhook-id, even if the webhook is waiting to retry.",
    who: owners,
    params: DeliveryParams,
    answer: DeliveryRecord,
    refusals: { 404: true, 409: "The record is no longer in the audit log", 429: TOO_MANY },
    reasons: ["webhook.missing", "delivery.missing", "webhook.record_gone", "service.busy"],
  },
} as const satisfies Routes;
