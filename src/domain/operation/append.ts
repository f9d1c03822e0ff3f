/** Adds one record to the audit log, in the transaction of the change that it records. */

import { sql } from "drizzle-orm";
import { resourceTypeOf } from "../../shared/product/audit-actions.ts";
import { printableJson } from "../../shared/text/text.ts";
import { SECOND } from "../../shared/time/clock.ts";
import { type Database, preparedOnce, type Transaction } from "../../store/client.ts";
import type { AuditContent, Context } from "./context.ts";
import type { Actor, AuditEntry, Recorded } from "./entry.ts";
import { type Asking, isPermitted, onward, permitParameters, requirePermission } from "./permission.ts";

/** Longest text of one value in `detail`: submitted texts must not fill the log. */
const MAX_DETAIL_TEXT = 1000;
/** Longest actor and resource id; an index entry has room for about 2,700 bytes. */
const MAX_NAME = 256;
/** A clock that is further behind the newest record than this is noted in the record. */
const CLOCK_TOLERANCE = SECOND;

/**
 * Adds the record, numbered and sealed. Call it last: from here to the end of the transaction every other writer of
 * the log waits. Its time is never before that of the record before it.
 */
export async function appendAudit(tx: Transaction, context: Context, recorded: Recorded): Promise<RecordRef> {
  return await appendPermitted(tx, onward(context), recorded);
}

/**
 * The same for the caller's own change: throws if they have lost the permission for it. A change that takes the permission is either
 * recorded before this, and seen, or comes after this commit.
 */
export async function appendPermitted(tx: Transaction, context: Context, recorded: Recorded): Promise<RecordRef> {
  const { entry, result, actor = context.actor } = recorded;
  const { resourceId = "", detail: said = {} } = withSentId(entry, context.sentId);
  const names = {
    actor: clip(actor.name, MAX_NAME),
    action: entry.action,
    resourceType: resourceTypeOf(entry.action),
    resourceId: clip(resourceId, MAX_NAME),
    subjectId: entry.subjectId ?? null,
  };
  const next = await lockHead(tx, names);
  const now = context.clock.now();
  const behind = next.floor - now.getTime();
  const detail = {
    ...clipAll({ ...said, ...ownerOf(actor) }),
    ...(behind > CLOCK_TOLERANCE ? { clock: now.toISOString() } : {}),
  };
  const content: AuditContent = {
    id: next.id,
    createdAt: behind > 0 ? new Date(next.floor) : now,
    actorType: actor.type,
    ...names,
    // It goes to terminals, files and receivers as it is.
    detail: printableJson(detail),
    result,
    ip: actor.ip,
    ...next.counters,
    sealedCounters: null,
  };
  const mac = context.seal.record(next.mac, content);
  const isStill = await append(tx, context, { content, previous: next.mac, mac });
  // A session that this transaction itself ends, as a logout does, still exists for other connections.
  if (!isStill) await requirePermission(context.autocommit, context, entry.action);
  return { id: next.id, mac };
}

/** A record, and the seal that no other record of that number would have. */
export interface RecordRef {
  readonly id: number;
  readonly mac: Uint8Array;
}

/** Whether this very record is in the log; waits for a commit that is still under way. */
export async function hasRecord(db: Database, { id, mac }: RecordRef): Promise<boolean> {
  return await db.transaction(async (tx) => {
    // A transaction that commits a record holds the head's lock until the commit is done.
    await lockHead(tx, { actor: "", action: "auth.logout", resourceType: "", resourceId: "", subjectId: null });
    const rows = await tx.execute(sql`select 1 from audit where id = ${id} and mac = ${mac}`);
    return rows.length > 0;
  });
}

/** An id too large for the database was looked up as 0, which nothing has; the record shows the id as sent. */
function withSentId(entry: AuditEntry, sentId: string | undefined): AuditEntry {
  if (sentId === undefined) return entry;
  if (entry.resourceId === "0") return { ...entry, resourceId: sentId };
  return entry.detail?.application === 0 ? { ...entry, detail: { ...entry.detail, application: sentId } } : entry;
}

/** A token acts for somebody, and its name is not the only one of its kind. */
function ownerOf({ owner, tokenId }: Actor): NonNullable<AuditEntry["detail"]> {
  return { ...(owner === undefined ? {} : { owner }), ...(tokenId === undefined ? {} : { token_id: tokenId }) };
}

type Names = Pick<AuditContent, "actor" | "action" | "resourceType" | "resourceId" | "subjectId">;
type Counters = Pick<
  AuditContent,
  "nAction" | "nActorAction" | "nResourceAction" | "nResourceActorAction" | "nSubject"
>;

/** The database's facts about the next record. */
interface Next {
  readonly id: number;
  /** Milliseconds since 1970 of the record before. */
  readonly floor: number;
  /** Seal of the record before. */
  readonly mac: Uint8Array;
  readonly counters: Counters;
}

async function lockHead(tx: Transaction, names: Names): Promise<Next> {
  const { actor, action, resourceType, resourceId, subjectId } = names;
  const [next] = await selectNext(tx).execute({ actor, action, resourceType, resourceId, subjectId });
  if (next === undefined) throw new Error("audit_next() returned no row");
  const { n, ...head } = next;
  const [nAction = 0, nActorAction = 0, nResourceAction = 0, nResourceActorAction = 0, nSubject = 0] = n;
  return { ...head, counters: { nAction, nActorAction, nResourceAction, nResourceActorAction, nSubject } };
}

const selectNext = preparedOnce((tx) => {
  const { placeholder } = sql;
  return tx
    .select({
      id: sql`id`.mapWith(Number),
      floor: sql`extract(epoch from created_at) * 1000`.mapWith(Number),
      mac: sql<Uint8Array>`mac`,
      n: sql<readonly number[]>`to_json(n)`,
    })
    .from(
      sql`public.audit_next(${placeholder("actor")}, ${placeholder("action")}, ${placeholder("resourceType")},
        ${placeholder("resourceId")}, ${placeholder("subjectId")})`,
    )
    .prepare("audit_next");
});

interface SealedContent {
  readonly content: AuditContent;
  readonly previous: Uint8Array;
  readonly mac: Uint8Array;
}

/** Whether the caller is still permitted. */
async function append(tx: Transaction, asking: Asking, { content: c, previous, mac }: SealedContent): Promise<boolean> {
  const counters = `{${c.nAction},${c.nActorAction},${c.nResourceAction},${c.nResourceActorAction},${c.nSubject}}`;
  const record = { ...c, createdAt: c.createdAt.toISOString(), previous, counters, mac };
  const [row] = await insertRecord(tx).execute({ ...record, ...permitParameters(asking) });
  return row?.permitted === true;
}

const insertRecord = preparedOnce((tx) => {
  const { placeholder } = sql;
  return tx
    .select({ permitted: isPermitted() })
    .from(
      sql`public.audit_append(${placeholder("id")}, ${placeholder("previous")}, ${placeholder("createdAt")}, ${placeholder("actorType")},
        ${placeholder("actor")}, ${placeholder("action")}, ${placeholder("resourceType")}, ${placeholder("resourceId")},
        ${placeholder("detail")}, ${placeholder("result")}, ${placeholder("ip")}, ${placeholder("subjectId")},
        ${placeholder("counters")}::bigint[], ${placeholder("mac")})`,
    )
    .prepare("audit_append");
});

function clipAll(detail: NonNullable<AuditEntry["detail"]>): Record<string, string | number | boolean | null> {
  return Object.fromEntries(
    Object.entries(detail).map(([key, value]) => [
      key,
      typeof value === "string" ? clip(value, MAX_DETAIL_TEXT) : value,
    ]),
  );
}

/** PostgreSQL text cannot hold NUL, nor UTF-8 a lone surrogate. */
function clip(text: string, length: number): string {
  return text.slice(0, length).toWellFormed().replaceAll("\0", "\uFFFD");
}
