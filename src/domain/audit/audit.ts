/** Reads the audit log: any page of any filter costs a few index lookups. operation/append.ts writes it. */

import { getTableColumns, type SQL, sql } from "drizzle-orm";
import { offsetOf, type Page, type Paged } from "../../shared/page.ts";
import type { Database, Transaction } from "../../store/client.ts";
import { type AuditRow, audit } from "../../store/schema-audit.ts";
import { AUDIT_ACTIONS, type AuditAction, RESOURCE_TYPE_OF } from "../operation/audit-actions.ts";
import type { Context } from "../operation/context.ts";

/** Which records are wanted; `since` and `until` are both inclusive. */
export interface AuditFilter {
  /** Everything that concerns this user, stored or deleted, whoever did it. */
  readonly userId?: number | undefined;
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
 * Records that are counted in the log itself, one series for each of `actions` (see audit_page() in drizzle/): those with the
 * actor and the resource id that the series' name mentions. `subject` is the series about one user, whatever the action.
 */
interface Series {
  readonly name: "action" | "actor_action" | "resource_action" | "resource_actor_action" | "subject";
  readonly actor?: string | undefined;
  readonly resourceId?: string | undefined;
  readonly subjectId?: number;
  readonly actions: readonly string[];
}

/** One page of the log, newest first. Total and page come from one snapshot. */
export async function listAudit(context: Context, filter: AuditFilter, page: Page): Promise<Paged<AuditRow>> {
  const { userId, actor, action, resourceType, resourceId } = filter;
  // PostgreSQL text cannot hold a NUL; a query with one would be an error.
  if (actor?.includes("\0") || resourceId?.includes("\0")) return { total: 0, items: [] };
  const isWhole = [actor, action, resourceType, resourceId].every((wanted) => wanted === undefined);
  if (userId === undefined) {
    return await readPage(context.db, isWhole ? pageOfAll(filter, page) : pageOfSeries(seriesOf(filter), filter, page));
  }
  const subject = { name: "subject", subjectId: userId, actions: [] } as const;
  return await readPage(
    context.db,
    isWhole ? pageOfSeries(subject, filter, page) : pageOfSubject(userId, filter, page),
  );
}

/**
 * One page of the records in which the caller, an external user, is the actor or the object, newest first. Addresses are
 * shown only for what the caller did.
 */
export async function listOwnAudit({ db, actor }: Context, userId: number, page: Page): Promise<Paged<AuditRow>> {
  const series = { name: "subject", subjectId: userId, actions: [] } as const;
  const { total, items } = await readPage(db, pageOfSeries(series, {}, page));
  const isOwn = (row: AuditRow) => row.actorType === actor.type && row.actor === actor.name;
  return { total, items: items.map((row) => (isOwn(row) ? row : { ...row, ip: "" })) };
}

/** The records of a time span, which are one range of numbers: no record is older than the one before it. */
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
  const { actor, resourceId } = filter;
  const actions = actionsOf(filter);
  if (resourceId !== undefined) {
    return { name: actor === undefined ? "resource_action" : "resource_actor_action", actor, resourceId, actions };
  }
  return { name: actor === undefined ? "action" : "actor_action", actor, actions };
}

/** The actions that match a filter; the records of an action all have the same resource type. */
function actionsOf({ action, resourceType }: AuditFilter): readonly AuditAction[] {
  return AUDIT_ACTIONS.filter(
    (one) =>
      (action === undefined || one === action) &&
      (resourceType === undefined || RESOURCE_TYPE_OF[one] === resourceType),
  );
}

/** `(first, last)` of the filter's time span. */
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

/** `(total, ids)` of a page of all records: their numbers have no gaps, and retention removes the lowest. */
function pageOfAll(filter: AuditFilter, page: Page): SQL {
  const newest = sql`range.last - ${offsetOf(page)}::bigint`;
  return sql`${rangeOf(filter)} cross join lateral (
      select coalesce(min(a.id), range.last + 1) as low from public.audit a where a.id >= range.first
    ) oldest cross join lateral (
      select greatest(range.last - low + 1, 0) as total,
        array(select generate_series(${newest}, greatest(low, ${newest} - ${page.pageSize}::bigint + 1), -1)) as ids
    ) page`;
}

/** The same for records that are counted in the log. */
function pageOfSeries(series: Series, filter: AuditFilter, page: Page): SQL {
  return sql`${rangeOf(filter)} cross join lateral public.audit_page(${series.name}, ${series.actor ?? null},
    ${series.resourceId ?? null}, ${series.subjectId ?? null}, ${textArray(series.actions)}, range.first, range.last,
    ${offsetOf(page)}, ${page.pageSize}) page`;
}

/** The same for the records about one user that match the other filters: they are few enough to be counted one by one. */
function pageOfSubject(userId: number, filter: AuditFilter, page: Page): SQL {
  return sql`${rangeOf(filter)} cross join lateral public.audit_subject_page(${userId}, ${filter.actor ?? null},
    ${filter.resourceId ?? null}, ${textArray(actionsOf(filter))}, range.first, range.last, ${offsetOf(page)},
    ${page.pageSize}) page`;
}

/** One parameter for any number of actions, so that one prepared statement is enough; no action contains a comma. */
function textArray(items: readonly string[]): SQL {
  return sql`string_to_array(${items.join(",")}, ',')`;
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
