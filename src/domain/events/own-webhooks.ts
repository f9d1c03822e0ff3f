/** Changes to webhooks over the API. The caller confirms again who they are, because a webhook outlives the session. */

import { type Confirmation, confirmPerson } from "../auth/factors/step-up.ts";
import type { OwnSession } from "../auth/sessions/sessions.ts";
import type { Context } from "../operation/context.ts";
import {
  createWebhook,
  type MadeWebhook,
  type NewWebhook,
  updateWebhook,
  type WebhookChanges,
  type WebhookEntry,
} from "./webhooks.ts";

/** Throws as `confirmCaller` and `createWebhook` do. */
export async function createOwnWebhook(
  context: Context,
  session: OwnSession,
  wanted: NewWebhook,
  confirmation: Confirmation,
): Promise<MadeWebhook> {
  await confirmPerson(context, session, confirmation, { action: "webhook.create" });
  return await createWebhook(context, wanted);
}

/**
 * Asks for confirmation only before a new address: other changes send nothing elsewhere. Throws as `confirmCaller` and
 * `updateWebhook` do.
 */
export async function updateOwnWebhook(
  context: Context,
  session: OwnSession,
  { id, changes }: { readonly id: number; readonly changes: WebhookChanges },
  confirmation: Confirmation,
): Promise<WebhookEntry> {
  const entry = { action: "webhook.update", resourceId: String(id) } as const;
  if (changes.url !== undefined) await confirmPerson(context, session, confirmation, entry);
  return await updateWebhook(context, id, changes);
}
