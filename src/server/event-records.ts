/** Webhooks, their deliveries and the stream of audit records, as the API and the command line show them. */

import type { ReceiverState } from "../domain/events/receivers.ts";
import type { WebhookEntry } from "../domain/events/webhooks.ts";
import type { AuditAction } from "../shared/product/audit-actions.ts";
import type { PING } from "../shared/product/statuses.ts";
import { formatOptionalTimestamp, formatTimestamp } from "../shared/time/timestamp.ts";
import type { DeliveryRow } from "../store/schema-events.ts";

export function webhookRecord(webhook: WebhookEntry) {
  return {
    id: webhook.id,
    url: webhook.url,
    actions: [...webhook.actions],
    status: webhook.status,
    created_at: formatTimestamp(webhook.createdAt),
    made_by: webhook.madeBy,
    maker_removed: webhook.isMakerRemoved,
    lag: webhook.lag,
    failing_since: formatOptionalTimestamp(webhook.failingSince),
    last_error: webhook.lastError,
    last_delivered_at: formatOptionalTimestamp(webhook.deliveredAt),
  };
}

export function deliveryRecord({ id, messageId, type, attempt, error, at }: DeliveryRow) {
  const status = error === "" ? ("delivered" as const) : ("failed" as const);
  return {
    id,
    message_id: messageId,
    type: type as AuditAction | typeof PING,
    attempt,
    status,
    error,
    at: formatTimestamp(at),
  };
}

/** The stream of audit records. */
export function streamRecord({ name, lag, failingSince, lastError, deliveredAt }: ReceiverState) {
  const times = {
    failing_since: formatOptionalTimestamp(failingSince),
    last_delivered_at: formatOptionalTimestamp(deliveredAt),
  };
  return { target: name, lag, last_error: lastError, ...times };
}

/** A receiver that has taken nothing for long. */
export function awayRecord({ kind, id, name, lag, failingSince, lastError }: ReceiverState) {
  return { kind, id, name, since: formatOptionalTimestamp(failingSince), lag, problem: lastError };
}
