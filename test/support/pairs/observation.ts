/** What is stored about a subject, in one query of one snapshot. */

import { type SQL, sql } from "drizzle-orm";
import type { Subject } from "./world.ts";

/** One row with one column, `seen`: what `Observed` has, but for the host. */
export function observation({ username, userId, since }: Subject, now: Date): SQL {
  const ids = sql`(select id from users where username = ${username} union select ${userId}::bigint)`;
  const rows = (from: SQL) => sql`coalesce((select json_agg(r) from (${from}) r), '[]'::json)`;
  return sql`select json_build_object(
    'users', ${rows(sql`select u.*, u.expire_at <= ${now.toISOString()}::timestamptz as due, exists (
        select 1 from grants g left join host_group_members m on m.group_id = g.group_id
        where g.user_id = u.id and (g.host_id = 1 or m.host_id = 1)) as local
      from users u where username = ${username}`)},
    'accounts', ${rows(sql`select user_id, host_id, uid from accounts where user_id in ${ids}`)},
    'keys', ${rows(sql`select id, user_id, name, fingerprint, source_networks, status, revoked_at from ssh_keys
      where user_id in ${ids}`)},
    'grants', ${rows(sql`select user_id, host_id, group_id from grants where user_id in ${ids}`)},
    'closings', ${rows(sql`select user_id, kind, key_id, networks, action, problem from closings where user_id in ${ids}`)},
    'approvals', ${rows(sql`select * from approvals where username = ${username}`)},
    'intents', ${rows(sql`select name from account_intents where name = ${`ext_${username}`}`)},
    'mails', ${rows(sql`select recipient, subject from outbox where recipient = ${`${username}@example.org`}`)},
    'records', ${rows(sql`select actor_type, actor, action, resource_type, resource_id, detail, result, subject_id
      from audit where id > ${since}`)}
  ) as seen`;
}
