/** The progress of receivers: stored as it changes. A webhook that accepts nothing is switched off. */

import { eq, sql } from "drizzle-orm";
import { DAY, SECOND, shift } from "../../shared/time/clock.ts";
import type { Database } from "../../store/client.ts";
import {
  type AuditStreamRow,
  auditStreams,
  type WebhookRow,
  webhookDeliveries,
  webhooks,
} from "../../store/schema-events.ts";
import { tellAdministrators } from "../mail/administrators.ts";
import { webhookSwitchedOff } from "../mail/webhook-messages.ts";
import { audited } from "../operation/audited.ts";
import { type Services, systemContext } from "../operation/context.ts";
import { originOf } from "./address.ts";
import { lockWebhook } from "./webhooks.ts";

/** A webhook that accepts nothing for this long is switched off. */
export const PATIENCE = 3 * DAY;
/** The wait after the first failure; it doubles with each, up to the longest. */
const FIRST_WAIT = SECOND;
export const LONGEST_WAIT = 600 * SECOND;

/** The progress of a webhook that is being worked on. */
export type Progress = Pick<
  WebhookRow,
  "id" | "generation" | "cursor" | "failures" | "failingSince" | "lastError" | "deliveredAt" | "dueAt"
>;

/** An attempt to deliver a record. */
export interface Attempt {
  readonly webhookId: number;
  readonly recordId: number;
  readonly messageId: string;
  readonly type: string;
  readonly attempt: number;
  /** "" for one that succeeded. */
  readonly error: string;
  readonly at: Date;
}

/** Milliseconds until the next attempt after so many failures in a row. */
export function waitAfter(failures: number, longest = LONGEST_WAIT): number {
  return Math.min(longest, FIRST_WAIT * 2 ** Math.min(failures - 1, 30));
}

/** The progress after an attempt. */
export function progressAfter<P extends Progress | AuditStreamRow>(
  progress: P,
  { error, at, cursor }: { readonly error: string; readonly at: Date; readonly cursor: number },
): P {
  if (error === "") return { ...progress, cursor, failures: 0, failingSince: null, lastError: "", deliveredAt: at };
  const failures = progress.failures + 1;
  return { ...progress, failures, failingSince: progress.failingSince ?? at, lastError: error };
}

/** All webhooks, as they are stored. */
export async function readWebhooks(db: Database): Promise<readonly WebhookRow[]> {
  return await db.select().from(webhooks).orderBy(webhooks.id).prepare("read_webhooks").execute();
}

/**
 * Stores attempts and the progress of their webhooks; all of it or nothing. For a webhook that was changed meanwhile only the
 * position is stored, for a deleted one nothing.
 */
export async function storeProgress(
  db: Database,
  attempts: readonly Attempt[],
  progress: readonly Progress[],
): Promise<void> {
  await db.transaction(async (tx) => {
    // First, because it locks the webhooks: none is deleted between this and the log of its deliveries.
    await tx.execute(sql`
      update ${webhooks} w set
        cursor = greatest(w.cursor, p.cursor),
        delivered_at = greatest(w.delivered_at, p."deliveredAt"),
        failures = case when w.generation = p.generation then p.failures else w.failures end,
        failing_since = case when w.generation = p.generation then p."failingSince" else w.failing_since end,
        last_error = case when w.generation = p.generation then p."lastError" else w.last_error end,
        due_at = case when w.generation = p.generation then p."dueAt" else w.due_at end
      from json_to_recordset(${JSON.stringify(progress)}::json) p (id bigint, generation int, cursor bigint, failures int,
        "failingSince" timestamptz, "lastError" text, "deliveredAt" timestamptz, "dueAt" timestamptz)
      where w.id = p.id`);
    if (attempts.length === 0) return;
    await tx.execute(sql`
      insert into ${webhookDeliveries} (webhook_id, record_id, message_id, type, attempt, error, at)
      select a."webhookId", a."recordId", a."messageId", a.type, a.attempt, a.error, a.at
      from json_to_recordset(${JSON.stringify(attempts)}::json) a ("webhookId" bigint, "recordId" bigint, "messageId" text,
        type text, attempt int, error text, at timestamptz)
      where exists (select from ${webhooks} w where w.id = a."webhookId")
      order by a."recordId", a.attempt`);
  });
}

/**
 * Switches off a webhook that has accepted nothing for that long, on record, and mails the owners; unless it was changed
 * meanwhile.
 */
export async function switchOff(services: Services, { id, generation }: Progress): Promise<void> {
  const context = systemContext(services);
  await audited(context, { action: "webhook.update", resourceId: String(id) }, async (op) => {
    const row = await lockWebhook(op.tx, id);
    const { failingSince: since, lastError: error, url } = row;
    const now = context.clock.now();
    if (row.generation !== generation || row.status !== "active" || since === null || shift(since, PATIENCE) > now) {
      op.record({ unneeded: true });
      return;
    }
    const reason = `It took nothing for three days: ${error}`;
    op.about({ detail: { to: originOf(url), status: "disabled", reason } });
    await op.tx
      .update(webhooks)
      .set({ status: "disabled", generation: generation + 1, updatedAt: now, dueAt: null })
      .where(eq(webhooks.id, id));
    const message = webhookSwitchedOff(context.policy.site, { id, origin: originOf(url), since, error });
    await tellAdministrators(op, message, { about: "webhooks", occasion: `webhook-off:${id}:${generation}` });
  });
}

/** The position of the stream to that target; a new one begins at 0. */
export async function openStream(db: Database, target: string): Promise<AuditStreamRow> {
  await db.insert(auditStreams).values({ target, cursor: 0 }).onConflictDoNothing();
  const [row] = await db.select().from(auditStreams).where(eq(auditStreams.target, target));
  if (row === undefined) throw new Error(`the stream ${target} was stored and is not there`);
  return row;
}

/** Stores how far the stream has got. */
export async function storeStream(db: Database, { target, ...progress }: AuditStreamRow): Promise<void> {
  await db.update(auditStreams).set(progress).where(eq(auditStreams.target, target));
}
