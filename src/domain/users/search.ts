/** The condition that finds users by a part of their texts. */

import { type SQL, sql } from "drizzle-orm";
import { searched } from "../../store/conditions.ts";
import { users } from "../../store/schema.ts";

/**
 * Whether the text is part of a field, literally: unlike with `like`, no character has a special meaning. For a text without letters
 * beyond ASCII the index finds the users who have all its parts; then those who have it as a whole are picked.
 */
export function holds(search: string, parts: readonly string[]): SQL {
  const all = searched(users);
  // Letters beyond ASCII take PostgreSQL several times as long, and matter only where some are searched for.
  const plain = sql`lower((${all}) ${isAscii(search) ? sql`collate "C"` : sql``})`;
  const whole = sql`strpos(${plain}, lower(${search}::text)) > 0`;
  if (parts.length === 0) return whole;
  const wanted = sql.join(
    parts.map((part) => sql`${part}::text`),
    sql`, `,
  );
  return sql`(public.text_parts(${plain}) @> array[${wanted}] and ${whole})`;
}

function isAscii(search: string): boolean {
  return /^[\x20-\x7e]*$/.test(search);
}

/** As many parts of the index find few enough users, however long the text is. */
const MOST_PARTS = 4;
const PART = 3;

/** Some of the parts that the index knows, spread over the text; none of a text that is shorter than one, or not of ASCII alone. */
export function partsOf(search: string): readonly string[] {
  if (!isAscii(search)) return [];
  const count = search.length - PART + 1;
  if (count <= 0) return [];
  const step = Math.max(1, (count - 1) / (MOST_PARTS - 1));
  const starts = Array.from({ length: Math.min(count, MOST_PARTS) }, (_, n) => Math.round(n * step));
  return [...new Set(starts.map((start) => search.slice(start, start + PART).toLowerCase()))];
}
