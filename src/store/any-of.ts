/** Comparing a column with a list that is a parameter. */

import { type SQL, sql } from "drizzle-orm";
import type { PgColumn } from "drizzle-orm/pg-core";

/**
 * Whether the column has one of the values of an array, which is a parameter with a cast to its type. As the result of a subquery its
 * length is unknown to the planner: where that is known, the plan for any list seems dearer than one for this list, and
 * PostgreSQL plans the statement again each time, which takes longer than running it.
 */
export function isAnyOf(column: PgColumn, type: string, array: SQL): SQL {
  return sql`${column} = any((select ${array}::${sql.raw(type)})::${sql.raw(type)})`;
}
