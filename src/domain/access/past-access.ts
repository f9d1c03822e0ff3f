/** Who could log in at a moment of the past, told from the audit log alone. */

import { and, asc, gt, inArray, lte, sql } from "drizzle-orm";
import { UamError } from "../../shared/errors.ts";
import type { Database } from "../../store/client.ts";
import { audit } from "../../store/schema-audit.ts";
import { auditRange } from "../audit/audit.ts";
import { takePlace } from "../exports/export-file.ts";
import type { ExportPlaces } from "../exports/places.ts";
import type { Context } from "../operation/context.ts";
import { type Access, type AccessFilter, History, type HistoryRecord } from "./history.ts";

export interface Asked extends AccessFilter {
  readonly at: Date;
}

/** One account that could be logged in to, and whether its user has been deleted since. */
export type KnownAccess = Access & { readonly isDeleted: boolean };

/** Everybody who could log in at a moment. */
export interface PastAccess {
  /** By username and host. */
  readonly items: readonly KnownAccess[];
  /** From when on the answers are complete; null if users that still exist were created before the oldest record. */
  readonly completeFrom: Date | null;
  /** How many users the answer may lack, because they were created before the oldest record. */
  readonly unknown: number;
}

/** Records that are read at once. */
const BLOCK = 10_000;

/**
 * Everybody who could log in at `at`, as far as the log reaches. What hosts with agents had not heard of yet counts as done. Reads all that
 * the log says about users, keys and hosts up to then; takes one of the places for exports meanwhile, and throws `limited` if none is free.
 * Throws `invalid` for a moment in the future.
 */
export async function pastAccessAt(
  context: Context,
  { at, ...filter }: Asked,
  places: ExportPlaces,
): Promise<PastAccess> {
  const { clock, db } = context;
  if (at > clock.now()) throw new UamError("invalid", "at lies in the future");
  const place = takePlace(context, places);
  try {
    const { first, last } = await auditRange(db, undefined, at);
    const history = new History();
    for (let after = first - 1; after < last; after += BLOCK) {
      for (const record of await readBlock(db, after, Math.min(after + BLOCK, last))) history.apply(record);
    }
    const items = await withUsers(db, history.accessAt(at, filter));
    return { items, ...(await reach(db, last)) };
  } finally {
    place.release();
  }
}

async function withUsers(db: Database, items: readonly Access[]): Promise<readonly KnownAccess[]> {
  const ids = [...new Set(items.map(({ userId }) => userId))].join(",");
  const stored = await db.execute<{ id: string }>(
    sql`select id::text as id from users where id = any(string_to_array(${ids}, ',')::bigint[])`,
  );
  const known = new Set(stored.map(({ id }) => Number(id)));
  return items.map((item) => ({ ...item, isDeleted: !known.has(item.userId) }));
}

/** The records of a block that a history is made of, oldest first. */
async function readBlock(db: Database, after: number, end: number): Promise<readonly HistoryRecord[]> {
  return await db
    .select({
      actor: audit.actor,
      action: audit.action,
      resourceId: audit.resourceId,
      subjectId: audit.subjectId,
      result: audit.result,
      detail: audit.detail,
    })
    .from(audit)
    .where(and(gt(audit.id, after), lte(audit.id, end), inArray(audit.action, [...History.ACTIONS])))
    .orderBy(asc(audit.id));
}

const REMOVED = sql`select subject_id, id, created_at from ${audit}
  where action in ('user.delete', 'user.give_back', 'lifecycle.recycle') and result = 'success'`;

/** How far the log reaches: retention may have removed the creation of users who existed when the record `last` was the newest. */
async function reach(db: Database, last: number): Promise<Pick<PastAccess, "completeFrom" | "unknown">> {
  const [row] = await db.execute<{ begins: string | null; stored: number; removed: number; latest: string | null }>(sql`
    with oldest as (select id, created_at from ${audit} order by id limit 1),
      created as (select subject_id from ${audit} where action in ('user.create', 'user.adopt') and result = 'success'),
      removed as (${REMOVED}),
      earlier as (
        select u.id as subject_id, null::timestamptz as until from users u, oldest o where o.id > 1 and u.created_at < o.created_at
        union all
        select r.subject_id, r.created_at from removed r, oldest o where o.id > 1)
    select (select created_at from oldest) as begins,
      count(*) filter (where until is null)::int as stored,
      count(*) filter (where until is not null and not exists (
        select 1 from removed r where r.subject_id = e.subject_id and r.id <= ${last}))::int as removed,
      max(until) as latest
    from earlier e where not exists (select 1 from created c where c.subject_id = e.subject_id)`);
  if (row === undefined) throw new Error("an aggregate returned no row");
  const { begins, stored, removed, latest } = row;
  const from = latest ?? begins;
  return { completeFrom: stored > 0 || from === null ? null : new Date(from), unknown: stored + removed };
}
