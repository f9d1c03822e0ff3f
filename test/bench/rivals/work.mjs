/** What uam and its rivals do for the hot reads, as SQL and as functions; plain JavaScript, so that any Node.js runs it. */

import { createHash } from "node:crypto";

/** By the token's hash; refused unless a row is found. */
export const SESSION = `
  select s.user_type, s.principal_id as id, s.username, u.email as user_email, a.email as admin_email, a.role,
    (case when a.id is not null then (select count(*) from passkeys where admin_id = a.id) else 0 end)::int as passkeys,
    case when a.id is not null then exists (select 1 from totp_secrets where admin_id = a.id) else false end as totp
  from sessions s
  left join users u on s.user_type = 'user' and u.id = s.principal_id
  left join admins a on s.user_type = 'admin' and a.id = s.principal_id
  where s.token_hash = $1 and s.expires_at > $2`;

const KEYS = "select * from ssh_keys where user_id = $1 and status = 'active' order by id";

const USERS = `
  select page.*, (select count(*)::int from users) as total
  from (select * from users order by id desc limit $1 offset $2) page order by id desc`;

const AUDIT = `
  select a.*, greatest(h.id - low + 1, 0)::int as total
  from audit_head h
    cross join lateral (select coalesce(min(id), h.id + 1) as low from audit) oldest
    left join audit a on a.id between greatest(low, h.id - $2 - $1 + 1) and h.id - $2
  order by a.id desc`;

const PAGE = [20, 0];

/** The reads: for whom, the statement behind the session's, and the answer that its rows make. */
export const READS = {
  "/auth/me": {
    for: "user",
    answer: (session) => ({
      data: {
        user_type: session.user_type,
        id: Number(session.id),
        username: session.username,
        email: session.user_email,
      },
    }),
  },
  "/me/keys": {
    for: "user",
    name: "keys",
    text: KEYS,
    values: (session) => [session.id],
    answer: (_session, rows) => ({ data: { items: rows.map(keyOf) } }),
  },
  "/users": { for: "admin", name: "users", text: USERS, values: () => PAGE, answer: pageOf(userOf) },
  "/audit": { for: "admin", name: "audit", text: AUDIT, values: () => PAGE, answer: pageOf(recordOf) },
};

/** What the session of a request is found by: the hash of its token, and the time. */
export function sessionValues(cookie) {
  const token = /__Host-uam_session=([A-Za-z0-9_-]{43})/.exec(cookie ?? "")?.[1] ?? "";
  return [createHash("sha256").update(token).digest(), new Date().toISOString()];
}

function pageOf(shape) {
  return (_session, rows) => ({ data: { total: rows[0]?.total ?? 0, items: rows.map(shape) } });
}

function keyOf(row) {
  return {
    id: Number(row.id),
    name: row.name,
    type: row.type,
    bits: row.bits,
    fingerprint: row.fingerprint,
    public_key: row.public_key,
    source_networks: row.source_networks,
    status: row.status,
    created_at: row.created_at,
    revoked_at: row.revoked_at,
    last_used_at: row.last_used_at,
    last_used_from: row.last_used_from,
  };
}

function userOf(row) {
  return {
    id: Number(row.id),
    username: row.username,
    host_account: `ext_${row.username}`,
    email: row.email,
    supervisor: row.supervisor,
    purpose: row.purpose,
    source_networks: row.source_networks,
    status: row.status === "expired" || row.expire_at <= new Date() ? "expired" : row.status,
    expire_at: row.expire_at,
    disabled_at: row.disabled_at,
    created_at: row.created_at,
    updated_at: row.updated_at,
  };
}

function recordOf(row) {
  return {
    id: Number(row.id),
    created_at: row.created_at,
    actor_type: row.actor_type,
    actor: row.actor,
    action: row.action,
    resource_type: row.resource_type,
    resource_id: row.resource_id,
    detail: row.detail,
    result: row.result,
    ip: row.ip,
  };
}
