/** Brings a database up to date, one instance at a time. */

import { createHash } from "node:crypto";
import { sql } from "drizzle-orm";
import { UamError } from "../shared/errors.ts";
import { LOCKS } from "./advisory-locks.ts";
import { type Database, type Executor, isLockTimeout, type Transaction } from "./client.ts";
import { MIGRATIONS, type Migration } from "./migrations.ts";

/**
 * Applies the migrations that the database lacks and returns their names; on return the schema is the program's.
 * All or nothing, `finish` included: one transaction under an advisory lock, so that of several instances one does the
 * work and the others wait. Throws `internal` if the database was made by a newer program, or if an applied migration is not the one known here.
 */
export async function migrate(
  db: Database,
  migrations: readonly Migration[] = MIGRATIONS,
  finish: (tx: Transaction) => Promise<void> = async () => {},
): Promise<readonly string[]> {
  return await db.transaction(async (tx) => {
    await giveUpWithClient(tx);
    await tx.execute(sql`select pg_advisory_xact_lock(${LOCKS.migration})`);
    const pending = await pendingMigrations(tx, migrations);
    if (pending.length > 0) await lockTables(tx);
    await applyMigrations(tx, migrations, migrations.length - pending.length);
    await finish(tx);
    return pending.map((migration) => migration.name);
  });
}

/**
 * From PostgreSQL 14 on a statement ends within a second of its client's death. Otherwise a killed migration would keep its locks, on
 * every table, until a rewrite of the whole log is through, and shut the older version out. A server that cannot do it goes on without.
 */
async function giveUpWithClient(tx: Transaction): Promise<void> {
  await tx.execute(sql`do $$ begin perform set_config('client_connection_check_interval', '1000', true);
    exception when others then null; end $$`);
}

/** Milliseconds; less than the second after which PostgreSQL looks for a deadlock and aborts one of the transactions in it. */
const LOCK_TIMEOUT = 300;
const LOCK_TRIES = 200;

/**
 * Takes every table at once, or none: an instance of the older version that is running takes them one after the other, in
 * any order, and would deadlock with a migration that does so too.
 */
async function lockTables(tx: Transaction): Promise<void> {
  const rows = await tx.execute<{ name: string }>(
    sql`select c.oid::regclass::text as name from pg_class c
      where c.relnamespace = to_regnamespace('public') and c.relkind = 'r' order by c.relname`,
  );
  if (rows.length === 0) return;
  const lock = sql.raw(`lock table ${rows.map(({ name }) => name).join(", ")} in access exclusive mode`);
  for (let attempt = 1; ; attempt++) {
    try {
      return await tx.transaction(async (savepoint) => {
        await savepoint.execute(sql.raw(`set local lock_timeout = ${LOCK_TIMEOUT}`));
        await savepoint.execute(lock);
        await savepoint.execute(sql`set local lock_timeout to default`);
      });
    } catch (error) {
      if (!isLockTimeout(error)) throw error;
      if (attempt === LOCK_TRIES) {
        const sentence = "The database cannot be brought up to date: its tables are constantly in use";
        throw new UamError("internal", sentence, { cause: error });
      }
    }
  }
}

/** Applies `migrations` from number `first` on, in the transaction of `tx`; those before it have been. */
export async function applyMigrations(tx: Executor, migrations: readonly Migration[], first: number): Promise<void> {
  if (first === 0) {
    await tx.execute(sql`
      create table uam_migrations (
        number integer primary key,
        name text not null,
        sha256 text not null,
        applied_at timestamptz not null default now()
      )`);
  }
  for (const [offset, migration] of migrations.slice(first).entries()) {
    for (const statement of migration.sql.split("--> statement-breakpoint")) await tx.execute(sql.raw(statement));
    await tx.execute(
      sql`insert into uam_migrations (number, name, sha256) values (${first + offset}, ${migration.name}, ${migrationHash(migration)})`,
    );
  }
}

/** The migrations that the database lacks, oldest first. Throws as `migrate` does. */
export async function pendingMigrations(
  db: Executor,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<readonly Migration[]> {
  const [table] = await db.execute<{ name: string | null }>(sql`select to_regclass('uam_migrations')::text as name`);
  const applied =
    table?.name == null
      ? []
      : await db.execute<{ number: number; name: string; sha256: string }>(
          sql`select number, name, sha256 from uam_migrations order by number`,
        );
  if (applied.length > migrations.length) {
    throw new UamError(
      "internal",
      "The database was made by a newer version of uam. Install that version, or restore a backup.",
    );
  }
  for (const row of applied) {
    const known = migrations[row.number];
    if (known === undefined || migrationHash(known) !== row.sha256) {
      throw new UamError(
        "internal",
        `Migration ${row.name} in the database is not the one that this version of uam carries. Install the version that made the database.`,
      );
    }
  }
  return migrations.slice(applied.length);
}

/** Tells whether an applied migration is the one of that name here. */
export function migrationHash(migration: Migration): string {
  return createHash("sha256").update(migration.sql).digest("hex");
}
