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
  const draft = draftOf(context, recorded);
  const sealed = seal(context, draft, await lockHead(tx, draft.names));
  const isStill = await append(tx, context, sealed);
  // A session that this transaction itself ends, as a logout does, still exists for other connections.
  if (!isStill) await requirePermission(context.autocommit, context, recorded.entry.action);
  return { id: sealed.content.id, mac: sealed.mac };
}

/** The same for several, in their order; many take two round trips to the database, and not two each. Undefined for none. */
export async function appendAllPermitted(
  tx: Transaction,
  context: Context,
  records: readonly Recorded[],
): Promise<RecordRef | undefined> {
  const [first] = records;
  if (first === undefined || records.length === 1) return first && (await appendPermitted(tx, context, first));
  const drafts = records.map((recorded) => draftOf(context, recorded));
  const heads = await lockHeadForAll(
    tx,
    drafts.map(({ names }) => names),
  );
  const counted = new Map<string, number>();
  const chain: SealedContent[] = [];
  for (const [at, draft] of drafts.entries()) {
    const head = heads[at];
    if (head === undefined) throw new Error("audit_next() returned too few rows");
    const counters = countersAfter(counted, draft.names, head.counters);
    const last = chain.at(-1);
    const before = last === undefined ? head : { mac: last.mac, floor: last.content.createdAt.getTime() };
    chain.push(seal(context, draft, { ...before, id: head.id + at, counters }));
  }
  const isStill = await appendAll(tx, context, chain);
  if (!isStill) await requirePermission(context.autocommit, context, first.entry.action);
  const last = chain.at(-1);
  return last && { id: last.content.id, mac: last.mac };
}

/** Raises the counters of a record by the records before it that are being added with it. */
function countersAfter(counted: Map<string, number>, names: Names, counters: Counters): Counters {
  const { actor, action, resourceId, subjectId } = names;
  const raised = (series: readonly unknown[], next: number) => {
    const key = JSON.stringify(series);
    const before = counted.get(key) ?? 0;
    counted.set(key, before + 1);
    return next + before;
  };
  return {
    nAction: raised(["a", action], counters.nAction),
    nActorAction: raised(["aa", actor, action], counters.nActorAction),
    nResourceAction: raised(["ra", resourceId, action], counters.nResourceAction),
    nResourceActorAction: raised(["raa", resourceId, actor, action], counters.nResourceActorAction),
    nSubject: subjectId === null ? 0 : raised(["s", subjectId], counters.nSubject),
  };
}

/** What a record says before its place in the log is known. */
interface Draft {
  readonly names: Names;
  readonly content: Pick<AuditContent, "actorType" | "result" | "ip">;
  readonly detail: NonNullable<AuditEntry["detail"]>;
}

function draftOf(context: Context, { entry, result, actor = context.actor }: Recorded): Draft {
  const { resourceId = "", detail = {} } = withSentId(entry, context.sentId);
  return {
    names: {
      actor: clip(actor.name, MAX_NAME),
      action: entry.action,
      resourceType: resourceTypeOf(entry.action),
      resourceId: clip(resourceId, MAX_NAME),
      subjectId: entry.subjectId ?? null,
    },
    content: { actorType: actor.type, result, ip: actor.ip },
    detail: clipAll({ ...detail, ...ownerOf(actor) }),
  };
}

function seal(context: Context, { names, content: own, detail: said }: Draft, next: Next): SealedContent {
  const now = context.clock.now();
  const behind = next.floor - now.getTime();
  const detail = { ...said, ...(behind > CLOCK_TOLERANCE ? { clock: now.toISOString() } : {}) };
  const content: AuditContent = {
    id: next.id,
    createdAt: behind > 0 ? new Date(next.floor) : now,
    ...own,
    ...names,
    // It goes to terminals, files and receivers as it is.
    detail: printableJson(detail),
    ...next.counters,
    sealedCounters: null,
  };
  return { content, previous: next.mac, mac: context.seal.record(next.mac, content) };
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
  return nextOf(next);
}

/** The same for several records; each gets what holds if it comes first. */
async function lockHeadForAll(tx: Transaction, all: readonly Names[]): Promise<readonly Next[]> {
  const rows = await selectNextOfAll(tx).execute({ names: JSON.stringify(all) });
  return rows.map(nextOf);
}

function nextOf({ n, ...head }: Omit<Next, "counters"> & { readonly n: readonly number[] }): Next {
  const [nAction = 0, nActorAction = 0, nResourceAction = 0, nResourceActorAction = 0, nSubject = 0] = n;
  return { ...head, counters: { nAction, nActorAction, nResourceAction, nResourceActorAction, nSubject } };
}

const NEXT = {
  id: sql`id`.mapWith(Number),
  floor: sql`extract(epoch from created_at) * 1000`.mapWith(Number),
  mac: sql<Uint8Array>`mac`,
  n: sql<readonly number[]>`to_json(n)`,
};

const selectNextOfAll = preparedOnce((tx) =>
  tx
    .select(NEXT)
    .from(
      sql`json_array_elements(${sql.placeholder("names")}::json) with ordinality as names (one, at), lateral public.audit_next(
        one ->> 'actor', one ->> 'action', one ->> 'resourceType', one ->> 'resourceId', (one ->> 'subjectId')::bigint)`,
    )
    .orderBy(sql`at`)
    .prepare("audit_next_of_all"),
);

const selectNext = preparedOnce((tx) => {
  const { placeholder } = sql;
  return tx
    .select(NEXT)
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
async function append(tx: Transaction, asking: Asking, sealed: SealedContent): Promise<boolean> {
  const { previous, mac } = sealed;
  const [row] = await insertRecord(tx).execute({ ...rowOf(sealed), previous, mac, ...permitParameters(asking) });
  return row?.permitted === true;
}

/** The same for records that follow each other. */
async function appendAll(tx: Transaction, asking: Asking, chain: readonly SealedContent[]): Promise<boolean> {
  const rows = chain.map((sealed) => ({
    ...rowOf(sealed),
    previous: Buffer.from(sealed.previous).toString("hex"),
    mac: Buffer.from(sealed.mac).toString("hex"),
  }));
  const [row] = await insertRecords(tx).execute({ rows: JSON.stringify(rows), ...permitParameters(asking) });
  return row?.permitted === true;
}

function rowOf({ content: c }: SealedContent) {
  const counters = `{${c.nAction},${c.nActorAction},${c.nResourceAction},${c.nResourceActorAction},${c.nSubject}}`;
  return { ...c, createdAt: c.createdAt.toISOString(), counters };
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

/** The function itself refuses a record that does not follow the one before it. */
const insertRecords = preparedOnce((tx) =>
  tx
    .select({ permitted: isPermitted(), records: sql`count(*)` })
    .from(
      sql`json_array_elements(${sql.placeholder("rows")}::json) r, lateral public.audit_append((r ->> 'id')::bigint,
        decode(r ->> 'previous', 'hex'), (r ->> 'createdAt')::timestamptz, r ->> 'actorType', r ->> 'actor', r ->> 'action',
        r ->> 'resourceType', r ->> 'resourceId', r ->> 'detail', r ->> 'result', r ->> 'ip', (r ->> 'subjectId')::bigint,
        (r ->> 'counters')::bigint[], decode(r ->> 'mac', 'hex'))`,
    )
    .prepare("audit_append_all"),
);

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
