/** Whole rows as one value: for pages, because driver and Drizzle would otherwise look at each column of each row. */

import { type GetColumnData, type SQL, sql } from "drizzle-orm";
import type { PgColumn } from "drizzle-orm/pg-core";

/** A value that is made of the row, and what it is read as. */
interface Computed<T> {
  readonly sql: SQL;
  readonly read: (value: unknown) => T;
}

type Columns = Readonly<Record<string, PgColumn | Computed<unknown>>>;

/** A row as Drizzle would select these columns. */
export type RowOf<C extends Columns> = {
  [Name in keyof C]: C[Name] extends PgColumn ? GetColumnData<C[Name]> : C[Name] extends Computed<infer T> ? T : never;
};

/**
 * The rows of `from`, with any conditions after it, in that order; an empty list if there are none. PostgreSQL makes one text of
 * them, as arrays without names, which takes both sides half as long as rows do. Columns convert their values as usual.
 */
export function jsonRows<C extends Columns>(columns: C, from: SQL, order: readonly SQL[]): SQL<RowOf<C>[]> {
  const named = Object.entries(columns);
  const list = sql.join(
    named.map(([, column]) => ("sql" in column ? column.sql : sql`${column}`)),
    sql`, `,
  );
  const rows = sql`json_agg(json_build_array(${list}) order by ${sql.join([...order], sql`, `)})`;
  const decode = (text: string) =>
    (JSON.parse(text) as readonly (readonly unknown[])[]).map((values) => {
      const row: Record<string, unknown> = {};
      for (let index = 0; index < named.length; index++) {
        const [name, column] = named[index] as (typeof named)[number];
        const value = values[index];
        row[name] = "sql" in column ? column.read(value) : value === null ? null : column.mapFromDriverValue(value);
      }
      return row as RowOf<C>;
    });
  return sql`(select coalesce(${rows}::text, '[]') from ${from})`.mapWith(decode) as SQL<RowOf<C>[]>;
}
