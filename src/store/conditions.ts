/** Parts of statements whose spelling decides which plan or index PostgreSQL takes. */

import { type SQL, sql } from "drizzle-orm";
import type { AnyPgColumn, PgColumn } from "drizzle-orm/pg-core";
import { ACCOUNT_PREFIX } from "../shared/text/account-name.ts";

/**
 * Whether the column has one of the values of an array, which is a parameter with a cast to its type. As the result of a subquery its
 * length is unknown to the planner: where that is known, the plan for any list seems dearer than one for this list, and
 * PostgreSQL plans the statement again each time, which takes longer than running it.
 */
export function isAnyOf(column: PgColumn, type: string, array: SQL): SQL {
  return sql`${column} = any((select ${array}::${sql.raw(type)})::${sql.raw(type)})`;
}

/** The texts that a search for users looks through; the index is of the same expression. No field, and no search, holds a line break: a match never spans two fields. */
export function searched({
  username,
  email,
  fullName,
  supervisor,
  purpose,
}: Record<"username" | "email" | "fullName" | "supervisor" | "purpose", AnyPgColumn>): SQL {
  const lineBreak = sql.raw("E'\\n'");
  // Not concat_ws(), which takes half as long again.
  return sql`${sql.raw(`'${ACCOUNT_PREFIX}'`)}::text || ${username} || ${lineBreak} || ${email} || ${lineBreak} || ${fullName} || ${lineBreak} || ${supervisor} || ${lineBreak} || ${purpose}`;
}
