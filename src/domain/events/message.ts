/** The message that is delivered to a webhook. */

import { randomUUID } from "node:crypto";
import { PING } from "../../shared/product/statuses.ts";
import type { AuditRow } from "../../store/schema-audit.ts";
import { hex } from "../audit/seal.ts";

/** An audit record, or a ping of the webhook. */
export interface Message {
  /** The same for each attempt to deliver this, and for each webhook; receivers recognise repeated messages by it. */
  readonly id: string;
  readonly type: string;
  /** When what it tells of happened. */
  readonly at: Date;
  readonly about: { readonly record: AuditRow } | { readonly webhookId: number };
}

/** The destination of a message, and the key that signs it. */
export interface Receiver {
  readonly url: string;
  readonly secret: Uint8Array;
}

/** Delivers a message; resolves to a sentence that says why it was not accepted, "" if it was. Never throws. */
export type SendMessage = (to: Receiver, message: Message) => Promise<string>;

/** The message of a record. After a restore another record may have its number, but never its seal. */
export function messageOf(record: AuditRow): Message {
  const id = `audit_${record.id}_${hex(record.mac).slice(0, 8)}`;
  return { id, type: record.action, at: record.createdAt, about: { record } };
}

/** A message that only asks whether the webhook answers. */
export function pingOf(webhookId: number, at: Date): Message {
  return { id: `ping_${randomUUID()}`, type: PING, at, about: { webhookId } };
}
