/** When each key was last used, from sshd's own log. */

import { and, eq, isNull, lt, or, sql } from "drizzle-orm";
import type { Login } from "../../protocol/logins.ts";
import { withoutPrefix } from "../../shared/text/account-name.ts";
import { formatTimestamp } from "../../shared/time/timestamp.ts";
import { LOCAL_HOST, loginLogs, sshKeys, users } from "../../store/schema.ts";
import type { Services } from "../operation/context.ts";

/** How many logins one query attributes. */
const AT_ONCE = 1000;

/**
 * Reads sshd's log on from its last position, at most as much as one reading takes, and notes the use of each key.
 * Repeating a part, after an interruption or a replaced log, does no harm: the last use only ever moves forward.
 */
export async function noteKeyUse({ db, host }: Pick<Services, "db" | "host">, signal: AbortSignal): Promise<void> {
  const [stored] = await db.select().from(loginLogs).where(eq(loginLogs.hostId, LOCAL_HOST));
  const { logins, next } = await host.logins(stored?.next ?? "");
  for (let start = 0; start < logins.length; start += AT_ONCE) {
    for (const use of await usesOf(db, logins.slice(start, start + AT_ONCE))) {
      if (signal.aborted) return;
      await noteUse(db, use);
    }
  }
  if (next === stored?.next) return;
  await db
    .insert(loginLogs)
    .values({ hostId: LOCAL_HOST, next })
    .onConflictDoUpdate({ target: loginLogs.hostId, set: { next } });
}

interface Use {
  readonly userId: number;
  readonly keyId: number;
  readonly at: Date;
  readonly from: string;
}

/**
 * The last of these uses of each key. A login is by the key with that fingerprint that the user of that name then had: a name
 * may have been another's before, and a key may have been revoked and uploaded again.
 */
async function usesOf(db: Services["db"], logins: readonly Login[]): Promise<readonly Use[]> {
  const given = logins.map(({ account, fingerprint, at, from }) => ({
    ...{ username: withoutPrefix(account), fingerprint, at: formatTimestamp(at), address: from },
  }));
  const rows = await db.execute<{ user: string; id: string; at: string; address: string }>(sql`
    select distinct on (k.id) u.id::text as user, k.id::text as id, to_char(l.at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at, l.address
    from jsonb_to_recordset(${JSON.stringify(given)}::text::jsonb)
      as l(username text, fingerprint text, at timestamptz, address text)
    join users u on u.username = l.username
    cross join lateral (select id from ssh_keys where user_id = u.id and fingerprint = l.fingerprint
      and created_at <= l.at order by created_at desc, id desc limit 1) k
    order by k.id, l.at desc`);
  return rows.map(({ user, id, at, address }) => ({
    userId: Number(user),
    keyId: Number(id),
    at: new Date(at),
    from: address,
  }));
}

/**
 * One row in each transaction, so that there is no deadlock with a transaction that locks several, as a deletion does. The user comes last:
 * a part that is cut short is repeated.
 */
async function noteUse(db: Services["db"], { userId, keyId, at, from }: Use): Promise<void> {
  await db
    .update(sshKeys)
    .set({ lastUsedAt: at, lastUsedFrom: from })
    .where(and(eq(sshKeys.id, keyId), or(isNull(sshKeys.lastUsedAt), lt(sshKeys.lastUsedAt, at))))
    .prepare("note_key_use")
    .execute();
  await db
    .update(users)
    .set({ seenAt: at })
    .where(and(eq(users.id, userId), or(isNull(users.seenAt), lt(users.seenAt, at))))
    .prepare("note_user_seen")
    .execute();
}
