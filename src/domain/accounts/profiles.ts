/** Stored profiles, and which of them counts for a user on the service's own host. */

import { asc, type SQL, sql } from "drizzle-orm";
import type { HostProfile } from "../../protocol/profile.ts";
import { narrowestOf, type Profile } from "../../protocol/profile-order.ts";
import type { Database, Transaction } from "../../store/client.ts";
import { LOCAL_HOST, users } from "../../store/schema.ts";
import { type ProfileRow, profiles } from "../../store/schema-companies.ts";

/** What a profile is made of, however it is stored. */
export type ProfileFields = Omit<ProfileRow, "id" | "createdAt" | "updatedAt">;

/** As hosts hold it: only what its kind has. */
export function hostProfileOf(stored: ProfileFields): HostProfile {
  const { name, kind, directory, umask, targets, forwarding, command, idleSeconds, maxSessions, banner } = stored;
  return {
    ...{ name, kind, secondFactor: stored.secondFactor },
    ...(stored.attestation === "required" ? { attestation: stored.attestation } : {}),
    ...(kind === "sftp" && directory !== null ? { directory, readOnly: stored.readOnly } : {}),
    ...(kind === "sftp" && umask !== null ? { umask } : {}),
    ...(kind === "forward" ? { targets } : {}),
    ...(kind === "shell" ? { forwarding: forwarding && targets.length > 0 ? targets : forwarding } : {}),
    ...(kind === "shell" && stored.groups.length > 0 ? { groups: stored.groups } : {}),
    ...(kind === "shell" && stored.sudo.length > 0 ? { sudo: stored.sudo } : {}),
    ...(kind === "command" && command !== null ? { command } : {}),
    ...(idleSeconds === null ? {} : { idleSeconds }),
    ...(maxSessions === null ? {} : { maxSessions }),
    ...(banner === null ? {} : { banner }),
  };
}

/** All of them, by name, as hosts hold them. */
export async function allProfiles(db: Database | Transaction): Promise<readonly HostProfile[]> {
  return (await db.select().from(profiles).orderBy(asc(profiles.name))).map(hostProfileOf);
}

/** What a profile is made of, as JSON, in SQL about `profiles` as p. */
export const PROFILE_FIELDS = sql`json_build_object('name', p.name, 'kind', p.kind, 'directory', p.directory, 'readOnly', p.read_only,
  'umask', p.umask, 'targets', p.targets, 'forwarding', p.forwarding, 'command', p.command, 'idleSeconds', p.idle_seconds,
  'maxSessions', p.max_sessions, 'secondFactor', p.second_factor,
  'attestation', p.attestation, 'groups', p.groups, 'sudo', p.sudo, 'banner', p.banner)`;

/**
 * The profiles that bind the user of the row on the service's own host, their own first: theirs, and those of the groups by which they come
 * there. Without any profile at all it costs next to nothing.
 */
export const PROFILES_HERE = sql`case when (select exists (select 1 from profiles)) then (
  select coalesce(json_agg(${PROFILE_FIELDS} order by p.name = ${users.profile} desc nulls last, p.id), '[]')::text from profiles p
  where p.name = ${users.profile} or p.name in (select hg.profile from grants g
    join host_groups hg on hg.id = g.group_id
    join host_group_members m on m.group_id = hg.id and m.host_id = ${sql.raw(String(LOCAL_HOST))}
    where g.user_id = ${users.id})) end`.mapWith(readProfiles) as SQL<readonly HostProfile[] | null>;

function readProfiles(text: string): readonly HostProfile[] {
  return (JSON.parse(text) as readonly ProfileFields[]).map(hostProfileOf);
}

/** The profile that counts for a user on a further host, by the number of the host: as `profileHere` for this one. */
export async function profilesElsewhere(db: Database | Transaction, userId: number) {
  const rows = await db.execute<{ host_id: number | null; fields: ProfileFields }>(sql`
    select null::int as host_id, ${PROFILE_FIELDS} as fields from users u join profiles p on p.name = u.profile
      where u.id = ${userId}
    union all
    select m.host_id, ${PROFILE_FIELDS} from grants g join host_groups hg on hg.id = g.group_id
      join profiles p on p.name = hg.profile join host_group_members m on m.group_id = hg.id where g.user_id = ${userId}`);
  return (hostId: number): Profile | "incomparable" => {
    const binding = rows.filter(({ host_id: bound }) => bound === null || Number(bound) === hostId);
    return narrowestOf(binding.map(({ fields }) => hostProfileOf(fields)));
  };
}

/**
 * The profile that counts on the service's own host: the narrowest of those that bind the user there. "incomparable" where none is, which is
 * refused when they are given: then nothing is allowed.
 */
export function profileHere({
  profiles: binding,
}: {
  readonly profiles: readonly HostProfile[] | null;
}): Profile | "incomparable" {
  return narrowestOf(binding ?? []);
}

/** Of these keys, those that may open anything where the profile counts: sshd itself cannot tell which are proven. */
export function withProof<K extends { readonly model: string | null }>(
  profile: Profile | "incomparable",
  keys: readonly K[],
): readonly K[] {
  return asksProof(profile) ? keys.filter(isProven) : keys;
}

/** Whether the profile that counts takes only keys whose make is proven. */
export function asksProof(profile: Profile | "incomparable"): boolean {
  return profile !== "incomparable" && profile?.attestation === "required";
}

/** Whether it is a security key whose make was proven. */
export function isProven({ model }: { readonly model: string | null }): boolean {
  return model !== null;
}
