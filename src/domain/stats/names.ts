/** Names of stored things, for completion at a shell. */

import { sql } from "drizzle-orm";
import { ACCOUNT_PREFIX } from "../../shared/text/account-name.ts";
import type { Database } from "../../store/client.ts";

/** The kinds of things with names: users, a user's active keys, administrators, pending applications, tokens in use, hosts, their groups, companies, and profiles. */
export type Nameable =
  | "users"
  | "keys"
  | "admins"
  | "applications"
  | "tokens"
  | "hosts"
  | "host groups"
  | "companies"
  | "profiles";

/** A name, and a hint that tells it from the others; strangers typed nothing in either. */
export interface Name {
  readonly name: string;
  readonly hint: string;
}

const MOST = 200;

/** At most 200 names that begin with `prefix`; `of` is the user to list the keys of. */
export async function listNames(
  db: Database,
  kind: Nameable,
  { prefix, of }: { readonly prefix: string; readonly of: string },
): Promise<readonly Name[]> {
  const source = {
    users: sql`select username as name, status as hint from users`,
    keys: sql`select k.id::text as name, k.type || ' of ' || to_char(k.created_at, 'YYYY-MM-DD') as hint from ssh_keys k
      join users u on u.id = k.user_id where k.status = 'active' and ${of} in (u.username, ${ACCOUNT_PREFIX}::text || u.username, u.id::text)`,
    admins: sql`select username as name, '' as hint from admins`,
    applications: sql`select id::text as name, to_char(created_at, 'YYYY-MM-DD') as hint from approvals where status = 'pending'`,
    tokens: sql`select id::text as name, prefix || ' of ' || owner as hint from tokens where revoked_at is null and expires_at > now()`,
    hosts: sql`select name, status as hint from hosts`,
    "host groups": sql`select name, '' as hint from host_groups`,
    companies: sql`select name, status as hint from companies`,
    profiles: sql`select name, kind as hint from profiles`,
  }[kind];
  const names = await db.execute<{ name: string; hint: string }>(
    sql`select name, hint from (${source}) all_names where starts_with(name, ${prefix}) order by name limit ${MOST}`,
  );
  // A name that a shell would not read as one plain word is left for people to type.
  return names.filter(({ name }) => /^[\w.@-]+$/.test(name));
}
