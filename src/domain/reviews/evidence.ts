/** What is known of a user's access, for whoever answers for it. */

import { createHash } from "node:crypto";
import { sql } from "drizzle-orm";
import { ACCOUNT_PREFIX } from "../../shared/text/account-name.ts";
import { boundWords, profileSentence } from "../../shared/text/profile-sentence.ts";
import { DAY, shift } from "../../shared/time/clock.ts";
import { formatTimestamp } from "../../shared/time/timestamp.ts";
import type { Database, Transaction } from "../../store/client.ts";
import { LOCAL_HOST, type UserRow } from "../../store/schema.ts";
import { hostProfileOf, PROFILE_FIELDS, type ProfileFields } from "../accounts/profiles.ts";
import { NOT_REMOVED } from "../accounts/remote-changes.ts";
import { PLACES } from "../hosts/placements.ts";

/** In the form and the order in which it is stored, shown and sealed. Times are RFC 3339, null where there is none. */
export interface Evidence {
  readonly status: UserRow["status"];
  readonly full_name: string;
  readonly email: string;
  readonly supervisor: string;
  readonly purpose: string;
  readonly company: string;
  readonly expire_at: string;
  readonly hosts: readonly string[];
  readonly groups: readonly string[];
  readonly source_networks: readonly string[];
  /** In words, as `mon-fri 08:00-18:00 Europe/Berlin`; "" for always. Evidence stored before there were hours has none. */
  readonly hours?: string;
  /**
   * What they may do, in words: by their own profile, and by those of their groups; "" where no profile binds them. Evidence stored before there
   * were profiles has none.
   */
  readonly profile?: string;
  readonly keys: readonly {
    readonly name: string;
    readonly fingerprint: string;
    readonly created_at: string;
    readonly last_used_at: string | null;
    readonly last_used_from: string;
  }[];
  readonly last_login_at: string | null;
  /** Logins with a code since then. */
  readonly logins: number;
  readonly logins_since: string;
  readonly created_at: string;
  readonly created_by: string;
  readonly extended_at: string | null;
  readonly extended_by: string;
  readonly extended_because: string;
  /** What differs on hosts, those included that were taken from the user and have not removed the account yet. */
  readonly drift: readonly string[];
}

/** Of a host that was taken from the user. */
const STILL_THERE = "taken away, and the account is not removed there yet";
/** Logins are counted over this time. */
const PERIOD = 90 * DAY;

/** The evidence about these users by their ids; who is gone has none. */
export async function readEvidence(
  db: Database | Transaction,
  userIds: readonly number[],
  now: Date,
): Promise<ReadonlyMap<number, Evidence>> {
  if (userIds.length === 0) return new Map();
  const ids = sql`${`{${userIds.join()}}`}::bigint[]`;
  const since = formatTimestamp(shift(now, -PERIOD));
  const rows = await db.execute<{ id: string; evidence: string }>(sql`
    select u.id::text as id, json_build_object(
      'status', case when u.expire_at <= ${formatTimestamp(now)}::timestamptz then 'expired' else u.status end,
      'full_name', u.full_name, 'email', u.email, 'supervisor', u.supervisor, 'purpose', u.purpose,
      'company', coalesce(c.name, ''), 'expire_at', ${time("u.expire_at")},
      'hosts', (select coalesce(json_agg(n.name order by n.name), '[]') from (
        select h.name from hosts h join grants g on g.host_id = h.id where g.user_id = u.id union
        select h.name from grants g join host_group_members m on m.group_id = g.group_id join hosts h on h.id = m.host_id
          where g.user_id = u.id) n),
      'groups', (select coalesce(json_agg(g.name order by g.name), '[]') from grants r
        join host_groups g on g.id = r.group_id where r.user_id = u.id),
      'source_networks', to_json(u.source_networks), 'hours', coalesce(u.hours, ''),
      'profile', (select coalesce(json_agg(json_build_object('group', b.by_group, 'fields', ${PROFILE_FIELDS})
        order by b.by_group nulls first), '[]') from (
          select null as by_group, u.profile as name union
          select g.name, g.profile from grants r join host_groups g on g.id = r.group_id where r.user_id = u.id) b
        join profiles p on p.name = b.name),
      'keys', (select coalesce(json_agg(json_build_object('name', k.name, 'fingerprint', k.fingerprint,
          'created_at', ${time("k.created_at")}, 'last_used_at', ${time("k.last_used_at")}, 'last_used_from', k.last_used_from)
        order by k.id), '[]') from ssh_keys k where k.user_id = u.id and k.status = 'active'),
      'last_login_at', ${time("u.last_login_at")},
      'logins', (select count(*) from audit a where a.subject_id = u.id and a.action = 'auth.otp_login'
        and a.result = 'success' and a.created_at >= ${since}::timestamptz),
      'logins_since', ${since}::text,
      'created_at', ${time("u.created_at")}, 'created_by', coalesce(made.actor, ''),
      'extended_at', ${time("longer.created_at")}, 'extended_by', coalesce(longer.actor, ''),
      'extended_because', coalesce(longer.detail::json ->> 'reason', ''),
      'drift', (select coalesce(json_agg(d.host || ': ' || d.text order by d.host, d.id), '[]') from (
        select h.name as host, p.id, p.text from host_problems p join hosts h on h.id = p.host_id
          where p.account = ${ACCOUNT_PREFIX}::text || u.username union all
        select h.name, 0, ${STILL_THERE}::text from removed_accounts r join hosts h on h.id = any(r.hosts)
          join accounts a on a.user_id = u.id and a.host_id = ${LOCAL_HOST} and a.uid = r.uid
          where r.name = ${ACCOUNT_PREFIX}::text || u.username and ${NOT_REMOVED}
            and not exists (select 1 from ${PLACES} p where p.user_id = u.id and p.host_id = h.id)) d)
    )::text as evidence
    from users u left join companies c on c.id = u.company_id
    left join lateral (select a.actor from audit a where a.subject_id = u.id and a.action in ('user.create', 'user.adopt')
      and a.result = 'success' order by a.id limit 1) made on true
    left join lateral (select a.actor, a.created_at, a.detail from audit a where a.subject_id = u.id
      and a.action = 'user.extend' and a.result = 'success' order by a.id desc limit 1) longer on true
    where u.id = any(${ids})`);
  return new Map(
    rows.map(({ id, evidence }) => {
      const read = JSON.parse(evidence) as Omit<Evidence, "profile"> & { readonly profile: readonly Binding[] };
      return [Number(id), { ...read, profile: read.profile.map(bindingWords).join("; ") }];
    }),
  );
}

interface Binding {
  readonly group: string | null;
  readonly fields: ProfileFields;
}

/** For example "drop-box: may copy files to and from /data/acme, nothing else". */
function bindingWords({ group, fields }: Binding): string {
  const { name, secondFactor, attestation } = fields;
  return boundWords(
    { name, secondFactor, attestation, means: profileSentence(hostProfileOf(fields)) },
    group ?? undefined,
  );
}

/** The evidence as it is stored; "" for a user who is gone. */
export function evidenceText(evidence: Evidence | undefined): string {
  return evidence === undefined ? "" : JSON.stringify(evidence);
}

/** What the record of an answer says of the evidence: its SHA-256, as stored. */
export function evidenceHash(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function time(column: string) {
  return sql.raw(`to_char(${column} at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`);
}
