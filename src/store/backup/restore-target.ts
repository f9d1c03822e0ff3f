/** The database that a backup is loaded into: nobody else may use it, and existing data makes room. */

import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "drizzle-orm";
import { UamError } from "../../shared/errors.ts";
import type { ConnectionOptions, Executor } from "../client.ts";
import { functionNames, quote, tableNames } from "./backup-tables.ts";
import { APPLICATION, withCopyClient } from "./copy-client.ts";

/** A process that has just ended may still be seen for that long, in milliseconds. */
const FAREWELL = 2000;
const GLANCE = 100;

/** SQLSTATE dependent_objects_still_exist: somebody else's view, for one, is made from our tables. */
const DEPENDENT = "2BP01";

/** Throws `conflict` if any other process of this program is connected to the database. */
export async function refuseCompany(db: Executor): Promise<void> {
  for (let waited = 0; ; waited += GLANCE) {
    // Within a transaction PostgreSQL would otherwise repeat its first answer.
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

/** The names among these for which there is a table. */
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

/**
 * Drops every index that no foreign key needs, and returns what recreates them, constraints included, but for those that are
 * `left`: faster than filling them row by row. A row that breaks a constraint is then refused at the end instead.
 */
export async function dropIndexes(db: Executor, left: readonly string[]): Promise<() => Promise<void>> {
  const indexes = await db.execute<{ name: string; remove: string; make: string }>(`
    select (select relname from pg_class where oid = i.indexrelid) as name, case when k.oid is null then format('drop index %s', i.indexrelid::regclass)
        else format('alter table %s drop constraint %I', i.indrelid::regclass, k.conname) end as remove,
      case when k.oid is null then pg_get_indexdef(i.indexrelid)
        else format('alter table %s add constraint %I %s', i.indrelid::regclass, k.conname, pg_get_constraintdef(k.oid))
      end as make
    from pg_index i join pg_class c on c.oid = i.indrelid
      left join pg_constraint k on k.conindid = i.indexrelid and k.contype in ('p', 'u', 'x')
    where c.relnamespace = 'public'::regnamespace
      and c.relname in (${[...tableNames()].map((name) => `'${name}'`).join(", ")})
      and c.relname <> 'uam_migrations'
      and not exists (select 1 from pg_constraint f where f.conindid = i.indexrelid and f.contype = 'f')
    order by i.indexrelid`);
  for (const { remove } of indexes) await db.execute(remove);
  return async () => {
    for (const { name, make } of indexes) if (!left.includes(name)) await db.execute(make);
  };
}

/** The name of the role that a connection uses. */
export async function roleOf(connection: ConnectionOptions, signal: AbortSignal): Promise<string> {
  return await withCopyClient(connection, signal, async (client) => {
    const [row] = await client.execute<{ name: string }>("select current_user as name");
    if (row === undefined) throw new Error("current_user returned no row");
    return row.name;
  });
}
