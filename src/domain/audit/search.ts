/**
 * Searches the audit log for a text or a result, which it does not count: through the newest records that match the other filters, at most so
 * many. What failed has an index of its own: there it is the newest that failed, whatever the other filters are.
 */

import { desc, inArray } from "drizzle-orm";
import { MOST_SEARCHED } from "../../shared/product/limits.ts";
import { offsetOf, type Page, type Paged } from "../../shared/product/page.ts";
import { audit } from "../../store/schema-audit.ts";
import type { Context } from "../operation/context.ts";
import { type AuditFilter, type AuditRange, auditRange, listAudit, SHOWN, type ShownRecord } from "./audit.ts";
import { hasResult, holdsText, matchesFilter, matchingPage, type Parameter, parseSearch } from "./matching.ts";

/** How far a search has looked. */
export interface Searched {
  /** How many records it looked through: of those that match the other filters or, if it is about what failed, of those. */
  readonly records: number;
  /** The time of the oldest of them; null if there are none. */
  readonly since: Date | null;
  /** Whether there are none before it. */
  readonly isComplete: boolean;
}

/** A page of what a list or a search finds. */
export interface Found extends Paged<ShownRecord> {
  /** Undefined if neither a text nor a result is asked for. */
  readonly searched: Searched | undefined;
}

/**
 * One page of the log as `listAudit` has it, of records that hold `filter.search` and have `filter.result`, if given. Of these `total` counts
 * those that are among the records looked through; `until` the oldest of them looks further. Throws `invalid` for a search that no record could hold.
 */
export async function searchAudit(context: Context, filter: AuditFilter, page: Page): Promise<Found> {
  const search = parseSearch(filter.search);
  if (search === "" && filter.result === undefined)
    return { ...(await listAudit(context, filter, page)), searched: undefined };
  const range = await auditRange(context.db, filter.since, filter.until);
  const { total, ids, matching, since } = await look(context, { filter, range, search, page });
  const items =
    ids.length === 0
      ? []
      : await context.db.select(SHOWN).from(audit).where(inArray(audit.id, ids)).orderBy(desc(audit.id));
  const isComplete = matching <= MOST_SEARCHED;
  return { total, items, searched: { records: Math.min(matching, MOST_SEARCHED), since, isComplete } };
}

interface Wanted {
  readonly filter: AuditFilter;
  readonly range: AuditRange;
  readonly search: string;
  readonly page: Page;
}

interface Looked {
  /** How many of the records looked through hold the text. */
  readonly total: number;
  /** The page of these. */
  readonly ids: readonly number[];
  /** How many records there are to look through; one more than are looked through stands for any number of more. */
  readonly matching: number;
  /** When the oldest record was written that was looked at; null if there is none. */
  readonly since: Date | null;
}

interface FoundRow {
  readonly total: string;
  readonly ids: string;
  readonly matching: string;
  readonly since: string | null;
}

/** In one statement, which reads only what it looks through. */
async function look({ db }: Context, { filter, range, search, page }: Wanted): Promise<Looked> {
  const { looked, isLooked, parameters } = lookedThrough(filter, range);
  const words = search === "" ? undefined : holdsText(search, parameters.length);
  const own = [...parameters, ...(words?.parameters ?? [])];
  const isFound = words === undefined ? isLooked : `${isLooked} and ${words.text}`;
  const text = `with ${looked},
    found as materialized (select id from looked, public.audit where ${isFound})
    select (select count(*) from found)::text as total,
      (select coalesce(string_agg(id::text, ',' order by id desc), '')
        from (select id from found order by id desc limit $${own.length + 1} offset $${own.length + 2}) page) as ids,
      coalesce(looked.matching, 0)::text as matching,
      (select to_json(created_at) #>> '{}' from public.audit where id = looked.low) as since
    from looked`;
  const [row] = await db.$client
    .unsafe<FoundRow[]>(text, [...own, page.pageSize, offsetOf(page)], { prepare: true })
    .execute();
  if (row === undefined) throw new Error("a search returned no row");
  return {
    total: Number(row.total),
    ids: row.ids === "" ? [] : row.ids.split(",").map(Number),
    matching: Number(row.matching),
    since: row.since === null ? null : new Date(row.since),
  };
}

/** A table `looked` of one row: how many records there are to look through, the oldest that is looked at, and which of these are wanted. */
function lookedThrough(filter: AuditFilter, range: AuditRange) {
  if (filter.result === "failed") return failedIn(filter, range);
  const page = matchingPage(filter, range);
  const isDone = hasResult(filter.result)
    .map((text) => ` and ${text}`)
    .join("");
  if (page === undefined) {
    return {
      looked: `oldest as (select min(id) as id from public.audit where id between $1 and $2),
        looked as (select $2 - oldest.id + 1 as matching, greatest(oldest.id, $2 - ${MOST_SEARCHED} + 1) as low from oldest)`,
      isLooked: `id between looked.low and $2${isDone}`,
      parameters: [range.first, range.last] as Parameter[],
    };
  }
  return {
    looked: `looked as (select total as matching, ids, (select min(one) from unnest(ids) one) as low
      from ${page.text} page)`,
    isLooked: `id = any(looked.ids)${isDone}`,
    parameters: [...page.parameters, 0, MOST_SEARCHED],
  };
}

/** The same of the newest that failed, by their own index: the other filters rule out what is looked at, and need not be counted. */
export function failedIn(filter: AuditFilter, { first, last }: AuditRange) {
  const { text, parameters } = matchesFilter({ ...filter, result: "failed" }, 2);
  const newest = (limit: number) => `select id from public.audit where result = 'failed' and id between $1 and $2
    order by id desc limit ${limit}`;
  return {
    looked: `looked as (select (select count(*) from (${newest(MOST_SEARCHED + 1)}) more) as matching,
      (select min(id) from (${newest(MOST_SEARCHED)}) kept) as low)`,
    isLooked: `id between looked.low and $2 and ${text}`,
    parameters: [first, last, ...parameters],
  };
}
