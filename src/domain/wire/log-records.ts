/** Reads the audit log, and what lies beside it, for the follower. The head, and what follows it, are read from a primary only: else these throw. */

import { sql } from "drizzle-orm";
import type { AccountRef } from "../../protocol/host.ts";
import type { Database } from "../../store/client.ts";
import type { AuditHead } from "../audit/head.ts";
import { hex } from "../audit/seal.ts";
import { type Touch, touchOf, WITHOUT_SUBJECT } from "./audit-effects.ts";

/** A record, with what it touches; undefined for one that concerns no host. */
export interface LogRecord {
  readonly id: number;
  readonly mac: Uint8Array;
  readonly action: string;
  readonly touch: Touch | undefined;
}

interface Row extends Record<string, unknown> {
  readonly id: string;
  readonly mac: Uint8Array;
  readonly action: string;
  readonly resource_id: string;
  readonly subject_id: string | null;
  readonly standby: boolean;
}

/** The newest record; number 0 for an empty log. */
export async function readHead(db: Database): Promise<AuditHead> {
  const [row] = await db.execute<{ id: string; mac: Uint8Array; standby: boolean }>(
    sql`select id, mac, pg_is_in_recovery() as standby from audit_head`,
  );
  requirePrimary(row);
  return { id: Number(row?.id ?? 0), seal: row === undefined ? "" : hex(row.mac) };
}

/** Number and touch of all records after `floor` that concern a host, up to `newest`. */
export async function readTouches(
  db: Database,
  floor: number,
  newest: number,
): Promise<readonly { readonly id: number; readonly touch: Touch }[]> {
  const rows = await db.execute<Row>(sql`
    select id, action, resource_id, subject_id from audit where id > ${floor} and id <= ${newest}
      and (subject_id is not null or action = any(${`{${WITHOUT_SUBJECT.join(",")}}`}::text[])) order by id`);
  return rows.flatMap((row) => {
    const touch = touchIn(row);
    return touch === undefined ? [] : [{ id: Number(row.id), touch }];
  });
}

/** Up to `most` records after the head; undefined if the head is no longer there, unchanged: then the log has another history. */
export async function readAfter(
  db: Database,
  head: AuditHead,
  most: number,
): Promise<readonly LogRecord[] | undefined> {
  const rows = await db.execute<Row>(sql`
    select id, mac, action, resource_id, subject_id, pg_is_in_recovery() as standby
    from audit where id >= ${head.id} order by id limit ${most + 1}`);
  requirePrimary(rows[0]);
  const records = rows.map((row) => ({
    ...{ id: Number(row.id), mac: row.mac, action: row.action },
    touch: touchIn(row),
  }));
  if (head.id === 0) return records.slice(0, most);
  const [first] = records;
  return first?.id === head.id && hex(first.mac) === head.seal ? records.slice(1) : undefined;
}

/**
 * Older replicas store accounts to be removed without a record number. They get a number that is certainly not too early. Returns whether
 * there were any.
 */
export async function numberRemovals(db: Database): Promise<boolean> {
  const rows = await db.execute(
    sql`update removed_accounts set record_id = (select id from audit_head) where record_id = 0 returning 1`,
  );
  return rows.length > 0;
}

/** The accounts to be removed since that record, by host. */
export async function readRemovalsAfter(db: Database, id: number): Promise<ReadonlyMap<number, readonly AccountRef[]>> {
  const rows = await db.execute<{ name: string; uid: number; hosts: readonly number[] }>(
    sql`select name, uid, to_json(hosts) as hosts from removed_accounts where record_id > ${id} order by id`,
  );
  const found = new Map<number, AccountRef[]>();
  for (const { name, uid, hosts } of rows) {
    const ref = { name, uid: Number(uid) };
    for (const host of hosts) {
      const known = found.get(host);
      if (known === undefined) found.set(host, [ref]);
      else known.push(ref);
    }
  }
  return found;
}

function touchIn({ action, resource_id, subject_id }: Row): Touch | undefined {
  return touchOf({ action, resourceId: resource_id, subjectId: subject_id === null ? null : Number(subject_id) });
}

function requirePrimary(row: { readonly standby: boolean } | undefined): void {
  if (row?.standby === true) throw new Error("the database is a standby, not the primary");
}
