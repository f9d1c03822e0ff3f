/** Numbers that are never given out twice, not even where a restore goes back in time: ids and uids. */

import { sql } from "drizzle-orm";
import { DEFAULT_LEASE } from "../../shared/time/lease.ts";
import type { Executor } from "../client.ts";
import type { Identity } from "./backup-format.ts";
import { quote, readIdentities } from "./backup-tables.ts";
import { existing } from "./restore-target.ts";

/** Which uids may be given out, and the highest of them that the host has. */
export interface UidRange {
  readonly first: number;
  readonly last: number;
  readonly onHost: number | undefined;
}

/** The position of numbering in the previous database. */
export interface Numbers {
  readonly identities: readonly Identity[];
  /** The last uid given out; 0 if none was. */
  readonly uid: number;
}

/**
 * Uids that are skipped by a restore: as many may have been given out after the backup to accounts that are gone again, but
 * own files yet. Never more than a tenth of those left, so that restoring again and again does not use them up.
 */
export const UID_GAP = 1000;

/** The position of numbering; nothing in a database without the tables, which may be those of an older version. */
export async function readNumbers(db: Executor): Promise<Numbers> {
  const [table] = await existing(db, ["uid_counter"]);
  const [older] = await existing(db, ["counters"]);
  const uid =
    table !== undefined
      ? await lastUid(db)
      : older === undefined
        ? 0
        : await numberOf(db, "select value::text as last from public.counters where name = 'uid'");
  return { identities: await readIdentities(db), uid };
}

/** Makes the numbering of every table continue above the highest number given for it, and above its rows. */
export async function raiseIdentities(db: Executor, identities: readonly Identity[]): Promise<void> {
  for (const now of await readIdentities(db)) {
    const { table, column } = now;
    const [row] = await db.execute<{ last: string }>(
      `select coalesce(max(${quote(column)}), 0)::text as last from public.${quote(table)}`,
    );
    const given = identities.filter((identity) => identity.table === table && identity.column === column);
    const last = [...given.map((identity) => identity.last), row?.last]
      .map((text) => BigInt(text ?? 0))
      .reduce((one, other) => (one > other ? one : other));
    if (last === 0n) continue;
    await db.execute(
      sql`select setval(pg_get_serial_sequence(${`public.${quote(table)}`}, ${column}), ${last.toString()})`,
    );
  }
}

/** Raises the stored counter above every uid known to have been given out, and by a gap; returns the next uid. */
export async function raiseUid(db: Executor, before: number, { first, last, onHost }: UidRange): Promise<number> {
  const [users] = await db.execute<{ uid: number | null }>(
    sql`select max(uid) as uid from public.accounts where uid <= ${last}`,
  );
  const stored = await lastUid(db);
  const known = Math.max(first - 1, before, stored, users?.uid ?? 0, onHost ?? 0);
  // The replaced database gave these out after the backup was made.
  await db.execute(sql`
    insert into public.given_uids (uid) select * from generate_series(${Math.max(first, stored + 1)}::integer, ${before}::integer)
    on conflict do nothing`);
  const uid = known + Math.min(UID_GAP, Math.max(0, Math.floor((last - known) / 10)));
  await db.execute(sql`
    insert into public.uid_counter (one, last) values (1, ${uid})
    on conflict (one) do update set last = excluded.last`);
  return uid + 1;
}

/**
 * A backup from before the service's first heartbeat gets one as old as itself, so that nothing is deleted on the first day
 * after a restore either (see domain/lifecycle/heartbeat.ts).
 */
export async function ensureHeartbeat(db: Executor, createdAt: number): Promise<void> {
  await db.execute(
    sql`insert into public.service_state (one, heartbeat_at) values (1, to_timestamp(${createdAt} / 1000.0)) on conflict (one) do nothing`,
  );
}

/**
 * Agents may hold leases that were granted after the backup, and the service must not state too early an end for them: each counts as
 * if it had been granted just now.
 */
export async function extendLeases(db: Executor): Promise<void> {
  await db.execute(sql`
    update public.hosts h set lease_until = greatest(h.lease_until, date_trunc('milliseconds', now()) + 1.01 * interval '1 millisecond' *
      coalesce(nullif(h.lease_ms, 0), (select min(nullif(g.lease_ms, 0)) from public.host_groups g
        join public.host_group_members m on m.group_id = g.id where m.host_id = h.id), ${DEFAULT_LEASE}::bigint))
    where h.kind = 'remote'`);
}

async function lastUid(db: Executor): Promise<number> {
  return await numberOf(db, "select last::text from public.uid_counter");
}

async function numberOf(db: Executor, query: string): Promise<number> {
  const [row] = await db.execute<{ last: string }>(query);
  return Number(row?.last ?? 0);
}
