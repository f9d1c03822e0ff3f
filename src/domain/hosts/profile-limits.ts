/**
 * Which profiles may be given: those that there are, that the service's own host can hold, and that can be compared with what binds the user
 * already. And the profile of a group of hosts, which binds whoever comes to a host by the group.
 */

import { eq, sql } from "drizzle-orm";
import type { HostProfile } from "../../protocol/profile.ts";
import { compareProfiles } from "../../protocol/profile-order.ts";
import { UamError } from "../../shared/errors.ts";
import type { Database, Transaction } from "../../store/client.ts";
import { LOCAL_HOST } from "../../store/schema.ts";
import { profiles } from "../../store/schema-companies.ts";
import { selectUsersWhere, type User } from "../accounts/find-user.ts";
import { noteProfile, type ProfileStep, takesAway } from "../accounts/profile-change.ts";
import { allProfiles, hostProfileOf } from "../accounts/profiles.ts";
import type { Operation, Services } from "../operation/context.ts";

/** The profile, which stays as it is until the transaction ends. Throws `invalid` if there is none of that name. */
export async function requireProfile(tx: Transaction, name: string): Promise<HostProfile> {
  const [row] = await tx.select().from(profiles).where(eq(profiles.name, name)).for("share");
  if (row !== undefined) return hostProfileOf(row);
  throw new UamError("invalid", `There is no profile named ${JSON.stringify(name)}`, { reason: "profile.missing" });
}

/** Whether it takes anything from what an account without a profile may do. */
function isRestricted({ name: _, kind, secondFactor, forwarding, ...limits }: HostProfile): boolean {
  return kind !== "shell" || secondFactor !== "none" || forwarding !== true || Object.keys(limits).length > 0;
}

/** Throws `conflict` for a profile that the service's own host cannot hold in its mode, where it is to bind an account there. */
export function requireHeldHere({ host }: Pick<Services, "host">, bound: readonly HostProfile[] | null): void {
  const first = host.mode === "sudo" ? bound?.find(isRestricted) : undefined;
  if (first === undefined) return;
  const sentence = `The service's own host is in sudo mode and holds no profile that restricts anything, as ${first.name} does; further hosts with an agent do`;
  throw new UamError("conflict", sentence, { reason: "profile.mode" });
}

/**
 * Throws `conflict` if two profiles would bind an account that cannot be compared: of the user, or of anybody. Call it once the change is made,
 * in its transaction.
 */
export async function requireComparable(tx: Transaction, userId?: number): Promise<void> {
  const known = new Map((await allProfiles(tx)).map((profile) => [profile.name, profile]));
  if (known.size < 2) return;
  const only = userId === undefined ? sql`` : sql`and a.user_id = ${userId}`;
  const rows = await tx.execute<{ username: string; one: string; other: string }>(sql`
    select min(u.username) as username, u.profile as one, g.profile as other from grants a join users u on u.id = a.user_id
      join host_groups g on g.id = a.group_id where u.profile <> g.profile ${only} group by 2, 3
    union all
    select min(u.username), g.profile, o.profile from grants a join host_groups g on g.id = a.group_id
      join grants b on b.user_id = a.user_id and b.group_id > a.group_id join host_groups o on o.id = b.group_id
      join users u on u.id = a.user_id
      where g.profile <> o.profile and exists (select 1 from host_group_members m join host_group_members n on n.host_id = m.host_id
        where m.group_id = g.id and n.group_id = o.id) ${only} group by 2, 3`);
  for (const { username, one, other } of rows) {
    if (compareProfiles(known.get(one), known.get(other)) !== "incomparable") continue;
    const sentence = `${username} would have both profiles, ${one} and ${other}, on a host: neither of them allows less than the other`;
    throw new UamError("conflict", sentence, { reason: "profile.incomparable" });
  }
}

/** The users whom the profile binds on the service's own host. */
export async function usersOfProfile(tx: Transaction | Database, name: string): Promise<readonly User[]> {
  const byGroup = sql`select g.user_id from grants g join host_groups hg on hg.id = g.group_id and hg.profile = ${name}
    join host_group_members m on m.group_id = hg.id and m.host_id = ${LOCAL_HOST}`;
  const found = await selectUsersWhere(tx, sql`(users.profile = ${name} or users.id in (${byGroup}))`);
  return found.filter(({ local }) => local);
}

/** Users, and what a change means for each on the service's own host. */
export type Steps = ReadonlyMap<number, ProfileStep>;

const NO_STEPS: Steps = new Map();

interface Change {
  readonly groupId: number;
  readonly old: string | null;
  readonly profile: string | null;
  /** Numbers of the hosts that stay in the group, and of those that join. */
  readonly staying: readonly number[];
  readonly gaining: readonly number[];
}

/**
 * Makes a change of a group, and notes what its profile takes away from its users on the service's own host; their steps follow once it is
 * committed. Throws `invalid` if there is no such profile, and `conflict` as `requireComparable` and `requireHeldHere` do.
 */
export async function bindingGroup(
  op: Operation,
  { groupId, old, profile }: Pick<Change, "groupId" | "old" | "profile">,
  make: () => Promise<void>,
): Promise<Steps> {
  if (profile !== null) await requireProfile(op.tx, profile);
  const isBound = old !== null || profile !== null;
  const before = isBound ? await localUsers(op.tx, groupId) : [];
  await make();
  if (!isBound) return NO_STEPS;
  await requireComparable(op.tx);
  const earlier = new Map(before.map((user) => [user.id, user]));
  const steps = new Map<number, ProfileStep>();
  for (const user of await localUsers(op.tx, groupId)) {
    requireHeldHere(op.context, user.profiles);
    const step = await noteProfile(op, earlier.get(user.id) ?? user, user);
    if (step !== "none") steps.set(user.id, step);
  }
  return steps;
}

/** Whoever has the group, and an account on the service's own host by it or by anything else. */
async function localUsers(tx: Transaction, groupId: number): Promise<readonly User[]> {
  const found = await selectUsersWhere(tx, sql`users.id in (select user_id from grants where group_id = ${groupId})`);
  return found.filter(({ local }) => local);
}

/** The further hosts on which the change lets the group's users do less, rising. */
export async function narrowedByProfile(
  tx: Transaction,
  { old, profile, staying, gaining }: Omit<Change, "groupId">,
): Promise<readonly number[]> {
  if (profile === null) return [];
  const after = await requireProfile(tx, profile);
  const isNarrower = takesAway(old === null ? undefined : await requireProfile(tx, old), after);
  return [...(isNarrower ? staying : []), ...gaining]
    .filter((id) => id !== LOCAL_HOST)
    .sort((one, other) => one - other);
}

/**
 * The hosts where each of these profiles binds an account, by the user's own or by a group that they come by; none for one that is gone. With those
 * that have still to remove such an account: until then it may do there what it could.
 */
export async function readHostsOfProfiles(
  db: Database | Transaction,
  ids: readonly number[],
): Promise<ReadonlyMap<number, ReadonlySet<number>>> {
  // A record of a refused change may name anything.
  const known = ids.filter((id) => Number.isSafeInteger(id));
  const rows = await db.execute<{ id: string; hosts: readonly number[] }>(sql`
    select p.id, to_json(array(
      select distinct g.host_id from (
        select g.host_id, g.user_id, null::text as profile from grants g where g.host_id is not null
        union all select m.host_id, g.user_id, hg.profile from grants g join host_groups hg on hg.id = g.group_id
          join host_group_members m on m.group_id = hg.id
        union all select x.id, a.user_id, hg.profile from removed_accounts r cross join unnest(r.hosts) as x(id)
          join accounts a on a.uid = r.uid and a.host_id = ${LOCAL_HOST}
          left join grants g on g.user_id = a.user_id left join host_groups hg on hg.id = g.group_id
          where r.record_id >= 0) g join users u on u.id = g.user_id
      where g.host_id <> ${LOCAL_HOST} and (u.profile = p.name or g.profile = p.name) order by 1)) as hosts
    from profiles p where p.id = any(${`{${known.join(",")}}`}::bigint[])`);
  return new Map(rows.map(({ id, hosts }) => [Number(id), new Set(hosts.map(Number))]));
}
