/** Reading the audit log: any page of any filter at the cost of some index look-ups. core/append.ts writes it. */

import { getTableColumns, type SQL, sql } from "drizzle-orm";
import type { Context } from "../core/context.ts";
import { RESOURCE_TYPES } from "../core/operation.ts";
import { offsetOf, type Page, type Paged } from "../core/page.ts";
import type { Database, Transaction } from "../db/client.ts";
import { type AuditRow, audit } from "../db/schema.ts";

/** What of the log is wanted; `since` and `until` are both inclusive. */
export interface AuditFilter {
  readonly actor?: string | undefined;
  readonly action?: string | undefined;
  readonly resourceType?: string | undefined;
  readonly resourceId?: string | undefined;
  readonly since?: Date | undefined;
  readonly until?: Date | undefined;
}

/** The numbers of the records in a span of time; none if `first` is above `last`. */
export interface AuditRange {
  readonly first: number;
  readonly last: number;
}

/**
 * Records that their own counters number (see audit_page() in drizzle/): those with the names `a` and `b` and one of
 * `types` as resource type.
 */
interface Series {
  readonly name: "all" | "type" | "action" | "actor" | "actor_action" | "resource" | "subject";
  readonly a: string;
  readonly b: string;
  readonly types: readonly string[];
}

/** What concerns neither a user, a key nor a setting has the type "". */
const ALL_TYPES: readonly string[] = ["", ...RESOURCE_TYPES];

/** One page of the log, newest first. Total and page are of one snapshot. */
export async function listAudit(context: Context, filter: AuditFilter, page: Page): Promise<Paged<AuditRow>> {
  const { actor, action, resourceId } = filter;
  // No text in PostgreSQL has a NUL; asking for one would be an error.
  if (actor?.includes("\0") || resourceId?.includes("\0")) return { total: 0, items: [] };
  const counted = resourceId === undefined || (actor === undefined && action === undefined);
  return await readPage(
    context.db,
    counted ? pageOfSeries(seriesOf(filter), filter, page) : pageOfResource(filter, page),
  );
}

/** One page of the records in which an external user is the actor or the object, newest first. */
export function listOwnAudit(context: Context, userId: number, page: Page): Promise<Paged<AuditRow>> {
  return readPage(context.db, pageOfSeries({ name: "subject", a: String(userId), b: "", types: [""] }, {}, page));
}

/** The records of a span of time, which is one range of numbers: no record is older than the one before it. */
export async function auditRange(db: Database | Transaction, since?: Date, until?: Date): Promise<AuditRange> {
  const [range] = await db
    .select({ first: sql`first`.mapWith(Number), last: sql`last`.mapWith(Number) })
    .from(rangeOf({ since, until }))
    .prepare("audit_range")
    .execute();
  if (range === undefined) throw new Error("an aggregate returned no row");
  return range;
}

function seriesOf(filter: AuditFilter): Series {
  const { actor, action, resourceType, resourceId } = filter;
  const types = resourceType === undefined ? ALL_TYPES : [resourceType];
  if (resourceId !== undefined) return { name: "resource", a: resourceId, b: "", types };
  if (actor !== undefined && action !== undefined) return { name: "actor_action", a: actor, b: action, types };
  if (actor !== undefined) return { name: "actor", a: actor, b: "", types };
  if (action !== undefined) return { name: "action", a: action, b: "", types };
  if (resourceType !== undefined) return { name: "type", a: "", b: "", types };
  return { name: "all", a: "", b: "", types: [""] };
}

/** `(first, last)` of the filter's span of time. */
function rangeOf({ since, until }: AuditFilter): SQL {
  const from = since?.toISOString() ?? null;
  const to = until?.toISOString() ?? null;
  const newest = sql`(select h.id from public.audit_head h)`;
  return sql`(select
    case when ${from}::timestamptz is null then 1 else coalesce((
      select a.id from public.audit a where a.created_at >= ${from}::timestamptz order by a.created_at, a.id limit 1
    ), ${newest} + 1) end as first,
    case when ${to}::timestamptz is null then ${newest} else coalesce((
      select a.id from public.audit a where a.created_at <= ${to}::timestamptz order by a.created_at desc, a.id desc limit 1
    ), 0) end as last) range`;
}

/** `(total, ids)` of a page of records that are counted in the log. */
function pageOfSeries(series: Series, filter: AuditFilter, page: Page): SQL {
  return sql`${rangeOf(filter)} cross join lateral public.audit_page(${series.name}, ${series.a}, ${series.b},
    ${textArray(series.types)}, range.first, range.last, ${offsetOf(page)}, ${page.pageSize}) page`;
}

/** The same for one resource and more conditions: what ever happened to one user, key or setting is counted one by one. */
function pageOfResource(filter: AuditFilter, page: Page): SQL {
  const types = filter.resourceType === undefined ? ALL_TYPES : [filter.resourceType];
  return sql`${rangeOf(filter)} cross join lateral public.audit_resource_page(${filter.resourceId}, ${filter.actor ?? null},
    ${filter.action ?? null}, ${textArray(types)}, range.first, range.last, ${offsetOf(page)}, ${page.pageSize}) page`;
}

/** An array parameter; the driver would make a list of values of it. */
function textArray(items: readonly string[]): SQL {
  const values = items.map((item) => sql`${item}::text`);
  return sql`array[${sql.join(values, sql`, `)}]`;
}

async function readPage(db: Database, page: SQL): Promise<Paged<AuditRow>> {
  const rows = await db
    .select({ total: sql`page.total`.mapWith(Number), item: getTableColumns(audit) })
    .from(page)
    .leftJoin(audit, sql`${audit.id} = any(page.ids)`)
    .orderBy(sql`${audit.id} desc`)
    .prepare("list_audit")
    .execute();
  const items = rows.map((row) => row.item).filter((item) => item !== null);
  return { total: rows[0]?.total ?? 0, items };
}
