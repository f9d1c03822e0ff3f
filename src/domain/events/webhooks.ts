/** Webhooks: the addresses to which audit records are delivered over HTTP. */

import { randomBytes } from "node:crypto";
import { asc, count, eq, inArray, sql } from "drizzle-orm";
import { UamError } from "../../shared/errors.ts";
import { AUDIT_ACTIONS, type AuditAction } from "../../shared/product/audit-actions.ts";
import { offsetOf, type Page } from "../../shared/product/page.ts";
import type { WEBHOOK_STATUSES } from "../../shared/product/statuses.ts";
import { MAX_WEBHOOKS } from "../../shared/product/webhook-limits.ts";
import type { Database, Transaction } from "../../store/client.ts";
import { admins } from "../../store/schema-auth.ts";
import { type WebhookRow, webhooks } from "../../store/schema-events.ts";
import { askingAdmin } from "../auth/administrators/left-behind.ts";
import { audited } from "../operation/audited.ts";
import type { Context, Seal } from "../operation/context.ts";
import { originOf, requireWebhookUrl } from "./address.ts";
import { waitForDeliveries } from "./delivering.ts";
import { readHead } from "./head.ts";

const SALT_BYTES = 16;

/** A webhook as lists show it. */
export interface WebhookEntry extends Omit<WebhookRow, "salt" | "actions" | "madeById"> {
  /** Whether its author is no longer an administrator. */
  readonly isMakerRemoved: boolean;
  readonly actions: readonly AuditAction[];
  /** Audit records after its position, including those that it does not receive. */
  readonly lag: number;
}

export interface NewWebhook {
  readonly url: string;
  /** None: all. */
  readonly actions: readonly AuditAction[];
}

/** The fields that can be changed; absent ones stay. */
export interface WebhookChanges {
  readonly url?: string | undefined;
  readonly actions?: readonly AuditAction[] | undefined;
  readonly status?: (typeof WEBHOOK_STATUSES)[number] | undefined;
}

/** A new webhook; `secret` is stored nowhere, so it is shown only this once. */
export interface MadeWebhook {
  readonly entry: WebhookEntry;
  readonly secret: string;
}

/**
 * Makes a webhook, which receives every record from that of its own creation on. Throws `invalid` for an address that it cannot
 * have, and `conflict` for one webhook too many.
 */
export async function createWebhook(context: Context, wanted: NewWebhook): Promise<MadeWebhook> {
  return await audited(context, { action: "webhook.create" }, async (op) => {
    const url = requireWebhookUrl(wanted.url, context.policy.webhookNetworks);
    const actions = storedActions(wanted.actions);
    op.about({ detail: { to: originOf(url), actions: shownActions(actions) } });
    await requireRoom(op.tx);
    const [maker] = await makersOf(op.tx, [askingAdmin(context)]);
    const now = context.clock.now();
    const salt = randomBytes(SALT_BYTES);
    const cursor = await readHead(op.tx);
    const [row] = await op.tx
      .insert(webhooks)
      .values({
        ...{ url, actions, salt, cursor, createdAt: now, updatedAt: now },
        ...{ madeBy: maker?.username ?? "", madeById: maker?.id ?? null },
      })
      .returning();
    if (row === undefined) throw new Error("insert returned no row");
    op.record({ resourceId: String(row.id) });
    return { entry: await entryOf(op.tx, row, cursor), secret: shownSecret(secretOf(context.seal, row)) };
  });
}

/** One page of webhooks, oldest first. */
export async function pageWebhooks(
  { db }: Pick<Context, "db">,
  page: Page,
): Promise<{ readonly total: number; readonly items: readonly WebhookEntry[] }> {
  // One snapshot, so that no webhook is ahead of the log.
  return await db.transaction(
    async (tx) => {
      const [row] = await tx.select({ total: count() }).from(webhooks);
      const total = row?.total ?? 0;
      const offset = offsetOf(page);
      if (offset >= total) return { total, items: [] };
      const head = await readHead(tx);
      const rows = await tx.select().from(webhooks).orderBy(asc(webhooks.id)).limit(page.pageSize).offset(offset);
      return { total, items: await entriesOf(tx, rows, head) };
    },
    { isolationLevel: "repeatable read", accessMode: "read only" },
  );
}

/**
 * Changes a webhook. With another address, or once switched on, it continues from its position at once, without the waits of earlier failures. Once this
 * returns, nothing more is sent to its former address, or while it is off. Throws `not_found`, and `invalid` for an address that it cannot have.
 */
export async function updateWebhook(context: Context, id: number, changes: WebhookChanges): Promise<WebhookEntry> {
  return await audited(context, { action: "webhook.update", resourceId: String(id) }, async (op) => {
    if (changes.url !== undefined || changes.status === "disabled") await waitForDeliveries(op.tx, id);
    const row = await lockWebhook(op.tx, id);
    const url = changes.url === undefined ? row.url : requireWebhookUrl(changes.url, context.policy.webhookNetworks);
    const actions = changes.actions === undefined ? row.actions : storedActions(changes.actions);
    const status = changes.status ?? row.status;
    const isElsewhere = url !== row.url;
    const isSwitched = status !== row.status;
    op.about({
      detail: {
        to: originOf(url),
        ...(isElsewhere ? { previous: originOf(row.url) } : {}),
        ...(actions === row.actions ? {} : { actions: shownActions(actions) }),
        ...(isSwitched ? { status } : {}),
      },
    });
    if (!isElsewhere && !isSwitched && actions === row.actions) {
      op.record({ unneeded: true });
      return await entryOf(op.tx, row, await readHead(op.tx));
    }
    const afresh = isElsewhere || (isSwitched && status === "active") ? AFRESH : {};
    const [changed] = await op.tx
      .update(webhooks)
      .set({ url, actions, status, updatedAt: context.clock.now(), generation: row.generation + 1, ...afresh })
      .where(eq(webhooks.id, id))
      .returning();
    if (changed === undefined) throw new Error("update returned no row");
    return await entryOf(op.tx, changed, await readHead(op.tx));
  });
}

/** The progress before the first attempt. */
const AFRESH = { failures: 0, failingSince: null, lastError: "", dueAt: null } as const;

/** Deletes a webhook with its log of deliveries; once this returns nothing more is sent to it. Throws `not_found`. */
export async function deleteWebhook(context: Context, id: number): Promise<void> {
  await audited(context, { action: "webhook.delete", resourceId: String(id) }, async (op) => {
    await waitForDeliveries(op.tx, id);
    const row = await lockWebhook(op.tx, id);
    op.about({ detail: { to: originOf(row.url) } });
    await op.tx.delete(webhooks).where(eq(webhooks.id, id));
  });
}

/** The webhook; throws `not_found`. */
export async function getWebhook(db: Database | Transaction, id: number): Promise<WebhookRow> {
  const [row] = await db.select().from(webhooks).where(eq(webhooks.id, id));
  return row ?? missing(id);
}

/** The webhook, locked until the transaction ends; throws `not_found`. */
export async function lockWebhook(tx: Transaction, id: number): Promise<WebhookRow> {
  const [row] = await tx.select().from(webhooks).where(eq(webhooks.id, id)).for("update");
  return row ?? missing(id);
}

/** The secret that signs deliveries to the webhook. */
export function secretOf(seal: Seal, { salt }: Pick<WebhookRow, "salt">): Uint8Array {
  return seal.webhookSecret(salt);
}

/** The actions that a webhook receives; undefined for all. */
export function actionsOf({ actions }: Pick<WebhookRow, "actions">): ReadonlySet<string> | undefined {
  return actions === "" ? undefined : new Set(actions.split(" "));
}

/** As the Standard Webhooks scheme writes it. */
function shownSecret(secret: Uint8Array): string {
  return `whsec_${Buffer.from(secret).toString("base64")}`;
}

async function entryOf(tx: Transaction, row: WebhookRow, head: number): Promise<WebhookEntry> {
  const [entry] = await entriesOf(tx, [row], head);
  if (entry === undefined) throw new Error("a webhook has no entry");
  return entry;
}

async function entriesOf(tx: Transaction, rows: readonly WebhookRow[], head: number): Promise<WebhookEntry[]> {
  const makers = await makersOf(
    tx,
    rows.map(({ madeById }) => madeById),
  );
  const present = new Set(makers.map(({ id }) => id));
  return rows.map(({ salt: _, actions, madeById, ...row }) => ({
    ...row,
    actions: actions === "" ? [] : (actions.split(" ") as AuditAction[]),
    isMakerRemoved: row.madeBy !== "" && !(madeById !== null && present.has(madeById)),
    lag: Math.max(0, head - row.cursor),
  }));
}

/** Those of these administrators that there are. */
async function makersOf(tx: Transaction, ids: readonly (number | null)[]) {
  const known = ids.filter((id) => id !== null);
  if (known.length === 0) return [];
  return await tx.select({ id: admins.id, username: admins.username }).from(admins).where(inArray(admins.id, known));
}

/** In a fixed order, each once, so that the same actions are the same text. */
function storedActions(actions: readonly AuditAction[]): string {
  return AUDIT_ACTIONS.filter((action) => actions.includes(action)).join(" ");
}

function shownActions(stored: string): string {
  return stored === "" ? "all" : stored;
}

/** Simultaneous creations wait for each other. */
async function requireRoom(tx: Transaction): Promise<void> {
  await tx.execute(sql`lock table ${webhooks} in share row exclusive mode`);
  const [row] = await tx.select({ total: count() }).from(webhooks);
  if ((row?.total ?? 0) < MAX_WEBHOOKS) return;
  throw new UamError("conflict", `There are ${MAX_WEBHOOKS} webhooks already; delete one first`, {
    reason: "webhook.limit",
  });
}

function missing(id: number): never {
  throw new UamError("not_found", `There is no webhook ${id}`, { reason: "webhook.missing" });
}
