/**
 * The indexes that only make queries fast: a restore commits its rows before it builds them, several at a time, and a start builds
 * those that an interrupted restore has left out. Indexes that hold a rule, of keys and of uniqueness, are never missing.
 */

import { availableParallelism } from "node:os";
import { sql } from "drizzle-orm";
import { LOCKS } from "./advisory-locks.ts";
import type { Database, Executor } from "./client.ts";
import type { Migration } from "./migrations.ts";

/** Each sorts its rows in memory of its own. */
const MOST_AT_ONCE = 4;

/** How many indexes are built at the same time; the connections that take. */
export const INDEXES_AT_ONCE = Math.max(1, Math.min(MOST_AT_ONCE, availableParallelism()));

/** The statements that make the indexes of a schema with these migrations, by the index's name. */
export function indexesOf(migrations: readonly Migration[]): ReadonlyMap<string, string> {
  const indexes = new Map<string, { readonly table: string | undefined; readonly statement: string }>();
  for (const { sql: text } of migrations) {
    for (const statement of text.split("--> statement-breakpoint").map(withoutComments)) {
      const [, made, on] = /^CREATE INDEX "(\w+)" ON "(\w+)"/.exec(statement) ?? [];
      if (made !== undefined) indexes.set(made, { table: on, statement });
      const [, kind, dropped = ""] = /^DROP (INDEX|TABLE) "(\w+)"/.exec(statement) ?? [];
      if (kind === "INDEX") indexes.delete(dropped);
      if (kind === "TABLE") for (const [name, { table }] of indexes) if (table === dropped) indexes.delete(name);
    }
  }
  return new Map([...indexes].map(([name, { statement }]) => [name, statement]));
}

/** The names of those that are not there. */
export async function missingIndexes(db: Executor, migrations: readonly Migration[]): Promise<readonly string[]> {
  const rows = await db.execute<{ name: string }>(
    "select relname as name from pg_class where relkind = 'i' and relnamespace = 'public'::regnamespace",
  );
  const there = new Set(rows.map(({ name }) => name));
  return [...indexesOf(migrations).keys()].filter((name) => !there.has(name));
}

/**
 * Builds the missing ones, each in a transaction of its own, so that built ones stay; the role has to own the tables.
 * Simultaneous callers wait for each other. Begins no further one once `signal` is aborted. Returns their names.
 */
export async function buildIndexes(
  db: Database,
  migrations: readonly Migration[],
  signal?: AbortSignal,
): Promise<readonly string[]> {
  const missing = await missingIndexes(db, migrations);
  const statements = indexesOf(migrations);
  const waiting = missing.values();
  const build = async () => {
    for (const name of waiting) {
      if (signal?.aborted) return;
      await db.transaction(async (tx) => {
        await tx.execute(sql`select pg_advisory_xact_lock(${LOCKS.index}, hashtext(${name}))`);
        if (!(await missingIndexes(tx, migrations)).includes(name)) return;
        // Several processes with an index each use the processors better than one after the other with helpers.
        await tx.execute("set local max_parallel_maintenance_workers = 0; set local maintenance_work_mem = '128MB'");
        await tx.execute("set local statement_timeout = 0; set local search_path = public");
        await tx.execute(sql.raw(statements.get(name) ?? ""));
      });
    }
  };
  await Promise.all(Array.from({ length: INDEXES_AT_ONCE }, build));
  return missing;
}

function withoutComments(statement: string): string {
  return statement.replaceAll(/^\s*--.*$/gm, "").trim();
}
