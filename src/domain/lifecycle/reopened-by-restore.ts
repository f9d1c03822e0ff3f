/** Whom a restore gives access again: who had lost it by what the restore takes back. */

import { sql } from "drizzle-orm";
import type { Executor } from "../../store/client.ts";

/** Usernames without access in a database that is about to be replaced, which may be empty or of an older version. */
export async function usersWithoutAccess(db: Executor): Promise<readonly string[]> {
  const [table] = await db.execute<{ name: string | null }>("select to_regclass('public.users')::text as name");
  if (table?.name == null) return [];
  const rows = await db.execute<{ username: string }>("select username from public.users where status <> 'active'");
  return rows.map(({ username }) => username);
}

/** Which of them have it, by name. */
export async function withAccess(db: Executor, usernames: readonly string[]): Promise<readonly string[]> {
  const rows = await db.execute<{ username: string }>(sql`select username from users where status = 'active'
    and username in (select jsonb_array_elements_text(${JSON.stringify(usernames)}::text::jsonb)) order by username`);
  return rows.map(({ username }) => username);
}
