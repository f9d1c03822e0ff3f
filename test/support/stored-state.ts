/** Everything that is stored and everything on the fake host, to see that nothing has changed. */

import { sql } from "drizzle-orm";
import type { TestApp } from "./app.ts";

/** What a refused request may leave: its record in the log. */
const RECORDS = ["audit", "audit_head"];

/** All rows of all tables but those of the audit log, and all that the fake host has and was told, as a text that is the same only if it is. */
export async function storedState({ db, host }: Pick<TestApp, "db" | "host">): Promise<string> {
  const tables = await db.execute<{ name: string }>(
    sql`select tablename as name from pg_tables where schemaname = 'public' order by 1`,
  );
  const parts = tables
    .filter(({ name }) => !RECORDS.includes(name))
    .map(({ name }) => `(select string_agg(t::text, '\n' order by t::text) from public."${name}" t)`);
  const [row] = await db.execute<{ all: unknown }>(
    sql.raw(`select md5(concat_ws(chr(0x1f), ${parts.map((part) => `coalesce(${part}, '')`).join(", ")})) as all`),
  );
  return JSON.stringify([row?.all, [...host.accounts], host.sessionsOpen, host.calls]);
}
