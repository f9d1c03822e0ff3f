/** The database that a backup is loaded into: nobody else may use it, and what was there makes room. */

import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "drizzle-orm";
import { UamError } from "../core/errors.ts";
import { functionNames, quote, tableNames } from "./backup-tables.ts";
import type { ConnectionOptions, Executor } from "./client.ts";
import { APPLICATION, withCopyClient } from "./copy-client.ts";

/** A process that has just ended may still be seen for that long, in milliseconds. */
const FAREWELL = 2000;
const GLANCE = 100;

/** SQLSTATE dependent_objects_still_exist: somebody else's view, for one, is made from our tables. */
const DEPENDENT = "2BP01";

/** Throws `conflict` if any other process of this program is connected to the database. */
export async function refuseCompany(db: Executor): Promise<void> {
  for (let waited = 0; ; waited += GLANCE) {
    // Within a transaction the first look would otherwise be the only one.
    await db.execute("select pg_stat_clear_snapshot()");
    const others = await db.execute<{ pid: number }>(sql`
      select pid from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and application_name like ${`${APPLICATION}%`}`);
    if (others.length === 0) return;
    if (waited >= FAREWELL) {
      throw new UamError(
        "conflict",
        "The service, or another uam command, is using the database. Stop it (systemctl stop uam) and try again; nothing was changed.",
      );
    }
    await sleep(GLANCE);
  }
}

/** Those of the names that tables have. */
export async function existing(db: Executor, names: readonly string[]): Promise<readonly string[]> {
  const tables = await db.execute<{ name: string }>(
    "select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'",
  );
  return tables.map(({ name }) => name).filter((name) => names.includes(name));
}

/**
 * Removes every table and function that migrations make, and nothing else. Throws `conflict` where something that is not the
 * program's depends on one.
 */
export async function dropSchema(db: Executor): Promise<void> {
  const tables = await existing(db, [...tableNames()]);
  const functions = await db.execute<{ name: string; signature: string }>(
    "select proname as name, oid::regprocedure::text as signature from pg_proc where pronamespace = 'public'::regnamespace",
  );
  const known = functionNames();
  const ours = functions.filter(({ name }) => known.has(name)).map(({ signature }) => signature);
  try {
    if (tables.length > 0) await db.execute(`drop table ${tables.map((name) => `public.${quote(name)}`).join(", ")}`);
    if (ours.length > 0) await db.execute(`drop function ${ours.join(", ")}`);
  } catch (cause) {
    if (!(cause instanceof Error && "code" in cause && cause.code === DEPENDENT)) throw cause;
    const detail = "detail" in cause ? ` (${String(cause.detail)})` : "";
    throw new UamError("conflict", `Something in the database depends on uam's tables; remove it first${detail}.`, {
      cause,
    });
  }
}

/** Drops the indexes that are no constraint's and returns what makes them again: faster than filling them row by row. */
export async function dropIndexes(db: Executor): Promise<() => Promise<void>> {
  const indexes = await db.execute<{ name: string; definition: string }>(`
    select i.indexrelid::regclass::text as name, pg_get_indexdef(i.indexrelid) as definition
    from pg_index i join pg_class c on c.oid = i.indrelid
    where c.relnamespace = 'public'::regnamespace
      and c.relname in (${[...tableNames()].map((name) => `'${name}'`).join(", ")})
      and not exists (select 1 from pg_constraint k where k.conindid = i.indexrelid)`);
  for (const { name } of indexes) await db.execute(`drop index ${name}`);
  return async () => {
    for (const { definition } of indexes) await db.execute(definition);
  };
}

/** The name of the role that a connection works as. */
export async function roleOf(connection: ConnectionOptions, signal: AbortSignal): Promise<string> {
  return await withCopyClient(connection, signal, async (client) => {
    const [row] = await client.execute<{ name: string }>("select current_user as name");
    if (row === undefined) throw new Error("current_user returned no row");
    return row.name;
  });
}
