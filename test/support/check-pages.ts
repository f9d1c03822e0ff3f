/** What amcheck finds in a database: every table and B-tree index, page by page. Debian's own PostgreSQL, and the one of a release, have it. */

import type postgres from "postgres";

export interface CheckedPages {
  readonly tables: number;
  readonly indexes: number;
  readonly problems: readonly string[];
}

/** As a superuser; the extension is there only while it is used. */
export async function checkPages(sql: postgres.Sql): Promise<CheckedPages> {
  await sql`create extension amcheck`;
  try {
    const tables = await sql<
      { name: string }[]
    >`select oid::regclass::text as name from pg_class where relkind in ('r', 't')`;
    const problems: string[] = [];
    for (const { name } of tables) {
      const found = await sql`select msg from verify_heapam(${name}::regclass)`;
      problems.push(...found.map(({ msg }) => `${name}: ${msg}`));
    }
    const indexes = await sql<{ name: string }[]>`
      select i.indexrelid::regclass::text as name from pg_index i
      join pg_class c on c.oid = i.indexrelid join pg_am a on a.oid = c.relam
      where a.amname = 'btree' and i.indisvalid`;
    for (const { name } of indexes) {
      await sql`select bt_index_parent_check(${name}::regclass, true, true)`.catch((error: Error) => {
        problems.push(`${name}: ${error.message}`);
      });
    }
    return { tables: tables.length, indexes: indexes.length, problems };
  } finally {
    await sql`drop extension amcheck`;
  }
}
