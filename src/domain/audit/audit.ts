/** Reads the audit log: any page of any filter costs a few index lookups. operation/append.ts writes it. */

import { desc, type SQL, sql } from "drizzle-orm";
import { AUDIT_ACTIONS, type AuditAction, resourceTypeOf } from "../../shared/product/audit-actions.ts";
import { offsetOf, type Page, type Paged } from "../../shared/product/page.ts";
import { type Database, preparedOnce, type Transaction } from "../../store/client.ts";
import { jsonRows } from "../../store/json-rows.ts";
import { type AuditRow, audit } from "../../store/schema-audit.ts";
import type { Context } from "../operation/context.ts";

/** The filter; `since` and `until` are both inclusive. */
export interface AuditFilter {
  /** All records about this user, stored or deleted, regardless of the actor. */
  readonly userId?: number | undefined;
  readonly actor?: string | undefined;
  readonly action?: string | undefined;
  readonly resourceType?: string | undefined;
  readonly resourceId?: string | undefined;
  /** Whether it was done. */
  readonly result?: AuditRow["result"] | undefined;
  readonly since?: Date | undefined;
  readonly until?: Date | undefined;
  /** A text in actor, resource id, address or a value of the detail, in any case. */
  readonly search?: string | undefined;
}

/**
 * The columns of a record in lists. Nobody reads seals and counters there, and they would take half of a page's time.
 */
export type ShownRecord = Pick<AuditRow, keyof typeof SHOWN>;

/** The numbers of the records in a span of time; none if `first` is above `last`. */
export interface AuditRange {
  readonly first: number;
  readonly last: number;
}

/** One page of the log, newest first. Total and page come from one snapshot. Without `search` and `result`, which `searchAudit` looks for. */
export async function listAudit(context: Context, filter: AuditFilter, page: Page): Promise<Paged<ShownRecord>> {
  // PostgreSQL text cannot hold a NUL; a query with one would be an error.
  if (filter.actor?.includes("\0") || filter.resourceId?.includes("\0")) return { total: 0, items: [] };
  const { kind, values } = lookupOf(filter);
  const select = { all: selectOfAll, series: selectOfSeries, subject: selectOfSubject }[kind];
  return await select(context.db, { ...valuesOf(filter), ...boundsOf(page), ...values });
}

/** How the records that match a filter are found: by their numbers, as a series that the log counts, or one by one among a user's. */
export interface Lookup {
  readonly kind: "all" | "series" | "subject";
  /** Besides the filter's own. */
  readonly values: Values;
}

/** The cheapest way to the records that match. */
export function lookupOf(filter: AuditFilter): Lookup {
  const { userId, actor, action, resourceType, resourceId } = filter;
  const isWhole = [actor, action, resourceType, resourceId].every((wanted) => wanted === undefined);
  if (userId === undefined) {
    return isWhole ? { kind: "all", values: {} } : { kind: "series", values: seriesOf(filter) };
  }
  if (isWhole) return { kind: "series", values: subjectSeries(userId) };
  return { kind: "subject", values: { subject: userId, actions: joined(actionsOf(filter)) } };
}

/**
 * One page of the records with the caller, an external user, as the actor or the object, newest first. Shows addresses
 * only for the caller's own actions, and nothing of what administrators write for their colleagues.
 */
export async function listOwnAudit({ db, actor }: Context, userId: number, page: Page): Promise<Paged<ShownRecord>> {
  const wanted = { ...valuesOf({}), ...boundsOf(page), ...subjectSeries(userId) };
  const { total, items } = await selectOfSeries(db, wanted);
  const isOwn = (row: ShownRecord) => row.actorType === actor.type && row.actor === actor.name;
  return { total, items: items.map((row) => (isOwn(row) ? row : { ...row, ip: "", detail: withoutWords(row) })) };
}

/** The actions whose reason administrators give for each other. */
const REASONED: ReadonlySet<string> = new Set<AuditAction>([
  "user.disable",
  "user.enable",
  "user.extend",
  "user.shorten",
  "user.delete",
]);

/** The detail of a record without the words that the user must not read. */
function withoutWords({ action, detail }: ShownRecord): string {
  const { note: _note, old_note: _old, ...shown } = JSON.parse(detail);
  if (REASONED.has(action)) delete shown.reason;
  return JSON.stringify(shown);
}

/** The records of a time span, which are one range of numbers: no record is older than its predecessor. */
export async function auditRange(db: Database | Transaction, since?: Date, until?: Date): Promise<AuditRange> {
  const [range] = await db
    .select({ first: sql`first`.mapWith(Number), last: sql`last`.mapWith(Number) })
    .from(rangeBetween(sql`${since?.toISOString() ?? null}`, sql`${until?.toISOString() ?? null}`))
    .prepare("audit_range")
    .execute();
  if (range === undefined) throw new Error("an aggregate returned no row");
  return range;
}

/**
 * The key of the series that the log itself counts, one for each of `actions` (see audit_page() in drizzle/): records with the actor and
 * the resource id that the series' name mentions.
 */
function seriesOf(filter: AuditFilter): Values {
  const { actor, resourceId } = filter;
  const actions = joined(actionsOf(filter));
  if (resourceId === undefined)
    return { series: actor === undefined ? "action" : "actor_action", subject: null, actions };
  return { series: actor === undefined ? "resource_action" : "resource_actor_action", subject: null, actions };
}

/** The same for all that concerns one user. */
function subjectSeries(userId: number): Values {
  return { series: "subject", subject: userId, actions: "" };
}

/** The actions that match a filter; the records of an action all have the same resource type. */
export function actionsOf({ action, resourceType }: AuditFilter): readonly AuditAction[] {
  return AUDIT_ACTIONS.filter(
    (one) =>
      (action === undefined || one === action) && (resourceType === undefined || resourceTypeOf(one) === resourceType),
  );
}

/** One parameter for any number of actions; no action contains a comma. */
function joined(actions: readonly AuditAction[]): string {
  return actions.join(",");
}

type Values = Readonly<Record<string, string | number | null>>;

function valuesOf({ since, until, actor, resourceId }: AuditFilter): Values {
  return {
    since: since?.toISOString() ?? null,
    until: until?.toISOString() ?? null,
    actor: actor ?? null,
    resourceId: resourceId ?? null,
  };
}

function boundsOf(page: Page): Values {
  return { offset: offsetOf(page), size: page.pageSize };
}

/** `(first, last)` of the filter's time span. */
function rangeBetween(from: SQL, to: SQL): SQL {
  const newest = sql`(select h.id from public.audit_head h)`;
  return sql`(select
    case when ${from}::timestamptz is null then 1 else coalesce((
      select a.id from public.audit a where a.created_at >= ${from}::timestamptz order by a.created_at, a.id limit 1
    ), ${newest} + 1) end as first,
    case when ${to}::timestamptz is null then ${newest} else coalesce((
      select a.id from public.audit a where a.created_at <= ${to}::timestamptz order by a.created_at desc, a.id desc limit 1
    ), 0) end as last) range`;
}

/** What lists show of a record. */
export const SHOWN = {
  id: audit.id,
  createdAt: audit.createdAt,
  actorType: audit.actorType,
  actor: audit.actor,
  action: audit.action,
  resourceType: audit.resourceType,
  resourceId: audit.resourceId,
  detail: audit.detail,
  result: audit.result,
  ip: audit.ip,
};

/** The parameters of the statements below. */
const given = (name: string) => sql`${sql.placeholder(name)}`;
const RANGE = rangeBetween(given("since"), given("until"));
const ACTIONS = sql`string_to_array(${given("actions")}, ',')`;

/** All records; the time span has a statement of its own, because PostgreSQL would otherwise plan this one anew for each call. */
const EVER = sql`(select 1::bigint as first, h.id as last from public.audit_head h) range`;

/**
 * The records of a page that `page` makes, with its total, and that `isOnIt`. Built once: building takes longer than running it.
 */
function selectPage(page: SQL, isOnIt = sql`${audit.id} = any(page.ids)`) {
  const items = jsonRows(SHOWN, sql`${audit} where ${isOnIt}`, [desc(audit.id)]);
  const from = (range: SQL) =>
    preparedOnce((db) =>
      db
        .select({ total: sql`page.total`.mapWith(Number), items })
        .from(sql`${range} cross join lateral ${page} page`)
        .prepare("list_audit"),
    );
  const [ever, between] = [from(EVER), from(RANGE)];
  return async (db: Database, wanted: Values): Promise<Paged<ShownRecord>> => {
    const [found] = await (wanted.since === null && wanted.until === null ? ever : between)(db).execute(wanted);
    return found ?? { total: 0, items: [] };
  };
}

/** A page of all records: their numbers have no gaps, and retention removes the lowest. */
const selectOfAll = selectPage(
  sql`(
  select greatest(range.last - low + 1, 0) as total, range.last - ${given("offset")}::bigint as high,
    greatest(low, range.last - ${given("offset")}::bigint - ${given("size")}::bigint + 1) as low
  from (select coalesce(min(a.id), range.last + 1) as low from public.audit a where a.id >= range.first) oldest)`,
  sql`${audit.id} between page.low and page.high`,
);

/** The same for records that are counted in the log. */
const selectOfSeries = selectPage(sql`public.audit_page(${given("series")}, ${given("actor")}, ${given("resourceId")},
  ${given("subject")}, ${ACTIONS}, range.first, range.last, ${given("offset")}, ${given("size")})`);

/** The same for the records about one user that match the other filters: they are few enough to be counted one by one. */
const selectOfSubject = selectPage(sql`public.audit_subject_page(${given("subject")}, ${given("actor")},
  ${given("resourceId")}, ${ACTIONS}, range.first, range.last, ${given("offset")}, ${given("size")})`);
