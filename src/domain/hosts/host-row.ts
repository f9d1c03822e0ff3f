/** The stored fields of a host that its agent's requests need. */

import { sql } from "drizzle-orm";
import type { Cursor } from "../../protocol/fleet.ts";
import type { HostProfile } from "../../protocol/profile.ts";
import { DEFAULT_LEASE } from "../../shared/time/lease.ts";
import type { HostRow } from "../../store/schema-fleet.ts";
import { hostProfileOf, PROFILE_FIELDS, type ProfileFields } from "../accounts/profiles.ts";
import type { Services } from "../operation/context.ts";

/** The host of an admitted request, as it is stored now. */
export interface AdmittedHost {
  readonly id: number;
  readonly name: string;
  readonly status: HostRow["status"];
  /** In force, in milliseconds; 0 for none at all. */
  readonly lease: number;
  readonly leaseEnds: HostRow["leaseEnds"];
  /** Whether the agent knew another history, and nobody has accepted the current one yet. */
  readonly diverged: boolean;
  readonly appliedId: number;
  /** Whether it reported problems that are stored. */
  readonly hasProblems: boolean;
  /** Ids of its locks that are recorded. */
  readonly recordedLocks: readonly string[];
  /** The position that the request reported as applied, if it was stored with the request. */
  readonly applied?: Cursor | undefined;
  /** Which of NEWER_KEY_TYPES its agent's program can read, as the request says. */
  readonly reads?: readonly string[] | undefined;
  /** Until when its agent knows the hours of its accounts, as the request says; undefined of an agent that keeps none. */
  readonly hours?: Date | "none" | undefined;
  /** The hours of its groups, which limit each of its accounts. */
  readonly groupHours?: readonly string[] | undefined;
  /** Whether its agent holds profiles, as the request says. */
  readonly holdsProfiles?: boolean | undefined;
  /** All profiles, and those of its groups; undefined where there is none. */
  readonly profiles?: HostProfiles | undefined;
}

interface HostProfiles {
  readonly all: readonly HostProfile[];
  readonly groups: readonly { readonly id: number; readonly profile: string }[];
}

/** The lease of a host, in SQL about `hosts` as h; see `leaseInForce`. */
export const LEASE = sql`coalesce(h.lease_ms, (select coalesce(min(nullif(g.lease_ms, 0)), min(g.lease_ms)) from host_groups g
  join host_group_members m on m.group_id = g.id where m.host_id = h.id), ${DEFAULT_LEASE}::bigint)`;

/** The columns of HostFields, in SQL about `hosts` as h. */
export const HOST_FIELDS = sql`h.id, h.name, h.status, ${LEASE} as lease, h.lease_ends, h.diverged_at is not null as diverged, h.applied_id,
  exists (select 1 from host_problems p where p.host_id = h.id) as troubled,
  (select to_json(array_agg(split_part(l.id, '/', 3))) from imported_locks l where l.id like h.id || '/lock/%') as locks,
  (select to_json(array_agg(g.hours order by g.id)) from host_groups g join host_group_members m on m.group_id = g.id
    where m.host_id = h.id and g.hours is not null) as group_hours,
  case when (select exists (select 1 from profiles)) then json_build_object(
    'all', (select json_agg(${PROFILE_FIELDS} order by p.name) from profiles p),
    'groups', (select coalesce(json_agg(json_build_object('id', g.id, 'profile', g.profile) order by g.id), '[]') from host_groups g
      join host_group_members m on m.group_id = g.id where m.host_id = h.id and g.profile is not null)) end as profiles`;

export interface HostFields extends Record<string, unknown> {
  readonly id: number | null;
  readonly name: string;
  readonly status: HostRow["status"];
  readonly lease: string;
  readonly lease_ends: HostRow["leaseEnds"];
  readonly diverged: boolean;
  readonly applied_id: string;
  readonly troubled: boolean;
  readonly locks: readonly string[] | null;
  readonly group_hours: readonly string[] | null;
  readonly profiles: { readonly all: readonly ProfileFields[]; readonly groups: HostProfiles["groups"] } | null;
}

/** The host of a row with these columns. */
export function hostOf(row: HostFields): AdmittedHost {
  const { name, status, diverged, lease_ends: leaseEnds } = row;
  const host = { id: Number(row.id), name, status, lease: Number(row.lease), leaseEnds, diverged };
  const known = { hasProblems: row.troubled, recordedLocks: row.locks ?? [], groupHours: row.group_hours ?? [] };
  const { profiles } = row;
  const bound = profiles === null ? {} : { profiles: { ...profiles, all: profiles.all.map(hostProfileOf) } };
  return { ...host, appliedId: Number(row.applied_id), ...known, ...bound };
}

/** The host as it is stored now; undefined if it is gone. */
export async function readHost({ db }: Pick<Services, "db">, id: number): Promise<AdmittedHost | undefined> {
  const [row] = await db.execute<HostFields>(sql`select ${HOST_FIELDS} from hosts h where h.id = ${id}`);
  return row === undefined ? undefined : hostOf(row);
}
