/** The part of the stored state that a backup carries. */

import { sql } from "drizzle-orm";
import { UamError } from "../../shared/errors.ts";
import type { Executor } from "../client.ts";
import { MIGRATIONS } from "../migrations.ts";
import type { BackupTable, Identity } from "./backup-format.ts";

/** Tables that must not come back: logins, codes and tokens end with the state in which they were issued. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  "sessions",
  "otp_codes",
  "reset_tokens",
  // One that was revoked since would work again.
  "tokens",
  "sso_logins",
  "sso_sessions",
  "sso_logouts",
  "join_tokens",
  "used_captchas",
  "used_tickets",
  "uam_migrations",
]);

/**
 * Columns that are carried in another form, and rows that are not carried. Never a filter that a later restore would
 * miss.
 */
const CHANGED: Readonly<Record<string, { columns?: Readonly<Record<string, string>>; where?: string }>> = {
  // Days later a queued mail is old news, and its text may hold a code: it comes back as one that was dropped. Mail that
  // was sent is carried, because its keys keep reminders from being sent twice.
  outbox: {
    columns: {
      text: "''",
      html: "''",
      status: "case status when 'queued' then 'dropped' else status end",
      finished_at: "coalesce(finished_at, date_trunc('milliseconds', now()))",
      last_error:
        "case status when 'queued' then 'not sent: a backup was made before, and later restored' else last_error end",
    },
  },
  // A link that was mailed before must not answer what a restore brings back; when somebody last answered is kept.
  questions: { columns: { expires_at: "created_at" } },
  // With new keys no earlier captcha or challenge is valid, used or not.
  secrets: { where: "name not in ('captcha', 'ticket')" },
};

/** Tables with rows only if somebody has stored data; the others fill up by themselves. */
const TELLING = ["users", "approvals", "admins", "settings", "audit", "outbox"] as const;

/** The tables that a backup carries, those that others refer to first; throws `conflict` if the database has no schema. */
export async function tablesToCarry(db: Executor): Promise<readonly BackupTable[]> {
  const rows = await db.execute<{ name: string; columns: readonly string[]; refers_to: readonly string[] }>(sql`
    select c.relname as name,
      to_json(array(select a.attname from pg_attribute a
        where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = '' order by a.attnum)) as columns,
      to_json(array(select r.relname from pg_constraint k join pg_class r on r.oid = k.confrelid
        where k.conrelid = c.oid and k.contype = 'f' and k.confrelid <> c.oid)) as refers_to
    from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' order by c.relname`);
  const known = tableNames();
  let waiting = rows.filter((row) => known.has(row.name) && !LEFT_OUT.has(row.name));
  if (waiting.length === 0) throw new UamError("conflict", "The database is empty: there is nothing to back up.");
  const ordered: BackupTable[] = [];
  while (waiting.length > 0) {
    const later = new Set(waiting.map((row) => row.name));
    const ready = waiting.filter((row) => !row.refers_to.some((name) => later.has(name)));
    if (ready.length === 0) throw new Error(`the tables ${[...later].join(", ")} refer to each other`);
    ordered.push(...ready.map(({ name, columns }) => ({ name, columns })));
    waiting = waiting.filter((row) => !ready.includes(row));
  }
  return ordered;
}

/** The statement that writes the carried rows of the table in a fixed order of columns. */
export function copyToStatement({ name, columns }: BackupTable): string {
  const { columns: changed = {}, where = "true" } = CHANGED[name] ?? {};
  const values = columns.map((column) => changed[column] ?? quote(column));
  return `copy (select ${values.join(", ")} from public.${quote(name)} where ${where}) to stdout`;
}

/** The statement that reads them back, into a table that was created or emptied in the same transaction. */
export function copyFromStatement({ name, columns }: BackupTable): string {
  return `copy public.${quote(name)} (${columns.map(quote).join(", ")}) from stdin with (freeze true)`;
}

/** The position of every table's numbering. Throws `forbidden` if this role may not know. */
export async function readIdentities(db: Executor): Promise<readonly Identity[]> {
  const columns = await db.execute<{ table: string; column: string; sequence: string; readable: boolean }>(sql`
    select c.relname as table, a.attname as column, s.name as sequence, has_sequence_privilege(s.name, 'SELECT') as readable
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attidentity <> '',
      lateral (select pg_get_serial_sequence(c.oid::regclass::text, a.attname) as name) s
    where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' order by c.relname`);
  const identities: Identity[] = [];
  for (const { table, column, sequence, readable } of columns) {
    if (!tableNames().has(table)) continue;
    if (!readable) {
      throw new UamError(
        "forbidden",
        "This database role may not read the last numbers that were given out. Set UAM_DATABASE_OWNER_URL, as for migrations.",
      );
    }
    const [row] = await db.execute<{ last: string | null }>(
      `select case when is_called then last_value::text end as last from ${sequence}`,
    );
    identities.push({ table, column, last: row?.last ?? null });
  }
  return identities;
}

/** Whether the database holds data that a restore would destroy. */
export async function holdsData(db: Executor): Promise<boolean> {
  for (const name of TELLING) {
    const [there] = await db.execute<{ name: string | null }>(
      sql`select to_regclass(${`public.${name}`})::text as name`,
    );
    if (there?.name == null) continue;
    const rows = await db.execute(`select 1 from public.${quote(name)} limit 1`);
    if (rows.length > 0) return true;
  }
  return false;
}

/** Names of all tables that any migration creates, and of the migrations' own table. */
export function tableNames(): ReadonlySet<string> {
  return new Set(["uam_migrations", ...namesMade(/CREATE TABLE (?:public\.)?"?(\w+)"?/gi)]);
}

/** Names of all functions that any migration creates. */
export function functionNames(): ReadonlySet<string> {
  return new Set(namesMade(/CREATE (?:OR REPLACE )?FUNCTION (?:public\.)?"?(\w+)"?/gi));
}

/** An identifier as SQL; names come from the catalog or are checked against it. */
export function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

function namesMade(pattern: RegExp): readonly string[] {
  return MIGRATIONS.flatMap(({ sql: text }) => [...text.matchAll(pattern)].map((match) => String(match[1])));
}
