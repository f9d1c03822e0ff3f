/** The work that uam and its rivals do for `GET /me/keys`, as SQL and as a function. */

import process from "node:process";

/** Where the database is. */
export interface Job {
  readonly socket: string;
  readonly username: string;
  readonly database: string;
  /** The directory of its socket. */
  readonly directory: string;
}

export function readJob(): Job {
  return JSON.parse(process.argv[2] ?? "{}");
}

export const SESSION = `
  select s.user_type, s.principal_id as id, s.username, u.email as user_email, a.email as admin_email
  from sessions s
  left join users u on s.user_type = 'user' and u.id = s.principal_id
  left join admins a on s.user_type = 'admin' and a.id = s.principal_id
  where s.token_hash = $1 and s.expires_at > $2`;

export const KEYS = "select * from ssh_keys where user_id = $1 and status = 'active' order by id";

/** A row as the API shows it. */
export function shape(row: Readonly<Record<string, unknown>>) {
  return {
    id: Number(row.id),
    name: row.name,
    type: row.type,
    bits: row.bits,
    fingerprint: row.fingerprint,
    public_key: row.public_key,
    status: row.status,
    created_at: row.created_at,
    revoked_at: row.revoked_at,
  };
}
