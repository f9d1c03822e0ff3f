/**
 * Previews of changes to hosts, groups or a user's hosts. Each makes the refusals of the operation itself, reads without locks,
 * changes nothing and records nothing.
 */

import { inArray, sql } from "drizzle-orm";
import type { Preview } from "../../shared/product/preview.ts";
import { hostAccountOf } from "../../shared/text/account-name.ts";
import { counted, namedUpTo } from "../../shared/text/counted.ts";
import { profileSentence } from "../../shared/text/profile-sentence.ts";
import { formatLease, leaseInForce } from "../../shared/time/lease.ts";
import type { Database, Transaction } from "../../store/client.ts";
import { LOCAL_HOST } from "../../store/schema.ts";
import { type HostRow, hosts } from "../../store/schema-fleet.ts";
import { accountOf, openAccountOf, refOf } from "../accounts/account.ts";
import { requireUser, statusAt, type User } from "../accounts/find-user.ts";
import type { Context } from "../operation/context.ts";
import { type Ref, requireGroup, requireHost } from "./find-host.ts";
import { type PlannedHosts, planHosts, type WantedHosts } from "./grants.ts";
import { type GroupChanges, membersOf, planGroup, requireJoinable } from "./group-plan.ts";
import { getGroup, requireNoCompany, requireUnused } from "./groups.ts";
import { groupLeasesOf } from "./leases.ts";
import { localMove, PLACES, usersOfGroup } from "./placements.ts";
import { requireProfile } from "./profile-limits.ts";

/** A preview, with the number of accounts it affects. */
export interface FleetPreview extends Preview {
  readonly accounts: Accounts;
}

interface Accounts {
  /** Accounts that people can then log in to, and could not before. */
  readonly opened: number;
  /** Accounts that are made, and stay shut: their users are disabled or expired. */
  readonly shut: number;
  /** That are removed, with their homes. */
  readonly removed: number;
}

/** A change that touches no account. */
export const NO_ACCOUNTS: Accounts = { opened: 0, shut: 0, removed: 0 };
/** Names in a sentence. */
const MOST = 10;

/** Previews `setUserHosts`. */
export async function previewUserHosts(context: Context, userId: number, wanted: WantedHosts): Promise<FleetPreview> {
  const { db, clock } = context;
  const user = await requireUser(db, userId);
  const planned = await planHosts(db, user, wanted);
  const host = await plannedOnOwnHost(context, user, planned);
  const isOpen = statusAt(user, clock.now()) === "active";
  const account = hostAccountOf(user.username);
  const gained = await namesOf(db, planned.gaining);
  const lost = await namesOf(db, planned.losing);
  const effects = [
    ...(gained.length === 0
      ? []
      : [
          isOpen
            ? `${user.username} can log in on ${namedUpTo(MOST, gained)}, as ${account}.`
            : `${account} is made on ${namedUpTo(MOST, gained)}, and stays shut: ${user.username} is ${statusAt(user, clock.now())}.`,
        ]),
    ...(lost.length === 0
      ? []
      : [`${account} is removed from ${namedUpTo(MOST, lost)}, with everything in its home directory.`]),
  ];
  const made = { [isOpen ? "opened" : "shut"]: gained.length, removed: lost.length };
  return {
    effects: effects.length === 0 ? [`No account changes: ${user.username} has the same hosts then.`] : effects,
    ...{ host, accounts: { ...NO_ACCOUNTS, ...made } },
  };
}

/** The changes on the service's own host. */
async function plannedOnOwnHost(
  { db, clock, host }: Context,
  user: User,
  { losing, gaining }: Pick<PlannedHosts, "losing" | "gaining">,
): Promise<readonly string[]> {
  if (losing.includes(LOCAL_HOST)) return await host.planned((planner) => planner.removeAccount(refOf(user)));
  if (!gaining.includes(LOCAL_HOST)) return [];
  const account = await accountOf(db, user, clock.now());
  return await host.planned(async (planner) => {
    await planner.createAccount(openAccountOf(user, []));
    if (account.open) await planner.openAccount(account);
    else await planner.shutAccount(account);
  });
}

/** Previews `updateGroup`. */
export async function previewGroup(context: Context, ref: Ref, changes: GroupChanges): Promise<FleetPreview> {
  const { db } = context;
  const group = await requireGroup(db, ref);
  const planned = await planGroup(db, group, changes);
  const { userIds, losing, gaining, added, removed, name, leaseMs, hours, profile } = planned;
  if (userIds.length > 0) await refuseLocalOfGroup(db, group.id, planned);
  const opening = await openingOn(context, userIds, gaining);
  const removing = await removingFrom(db, group.id, userIds, losing);
  const effects = [
    ...(name === group.name ? [] : [`The group ${group.name} is called ${name}.`]),
    ...added.flatMap((host) => openedSentences(host, opening.get(host.id))),
    ...removed.map((host) => removedSentence(host, removing.get(host.id) ?? 0)),
    ...(leaseMs === group.leaseMs ? [] : [leaseSentence(name, leaseMs)]),
    ...(hours === group.hours ? [] : [hoursSentence(name, hours)]),
    ...(profile === group.profile ? [] : [await profileSentenceOf(db, name, profile)]),
    ...(changes.isDefault === true ? [`New users get the group ${name}. Existing users keep their hosts.`] : []),
  ];
  return {
    effects: effects.length === 0 ? [`The group ${name} stays as it is.`] : effects,
    ...{ host: [], accounts: { ...sum(opening), removed: total([...removing.values()]) } },
  };
}

/** Previews `deleteGroup`. */
export async function previewGroupDelete(context: Context, ref: Ref): Promise<FleetPreview> {
  const group = await getGroup(context, ref);
  requireUnused(group);
  await requireNoCompany(context.db, group.row);
  const effects = [`The group ${group.row.name} is deleted. No user has it, so no account changes.`];
  if (group.row.leaseMs !== null && group.hosts.length > 0) {
    effects.push(`The lease of ${namedUpTo(MOST, group.hosts)} is no longer that of the group.`);
  }
  return { effects, host: [], accounts: NO_ACCOUNTS };
}

/** Previews adding the host to the group. */
export async function previewJoin(context: Context, ref: Ref, groupRef: Ref): Promise<FleetPreview> {
  const { db } = context;
  const host = await requireHost(db, ref);
  const group = await requireGroup(db, groupRef);
  requireJoinable([host]);
  const isMember = (await membersOf(db, group.id)).some(({ id }) => id === host.id);
  if (isMember)
    return { effects: [`${host.name} is in the group ${group.name} already.`], host: [], accounts: NO_ACCOUNTS };
  const userIds = await usersOfGroup(db, group.id);
  const opening = await openingOn(context, userIds, [host.id]);
  const leases = await groupLeasesOf(db, host.id);
  const before = leaseInForce(host.leaseMs, leases);
  const after = leaseInForce(host.leaseMs, [...leases, group.leaseMs]);
  const effects = [
    ...openedSentences(host, opening.get(host.id)),
    ...(before === after || host.kind === "local"
      ? []
      : [`The lease of ${host.name} becomes ${formatLease(after)}, instead of ${formatLease(before)}.`]),
  ];
  return { effects, host: [], accounts: { ...NO_ACCOUNTS, ...sum(opening) } };
}

interface Opening {
  readonly opened: number;
  readonly shut: number;
}

/** How many of the users get an account on each of the hosts. */
async function openingOn(
  { db, clock }: Pick<Context, "db" | "clock">,
  userIds: readonly number[],
  hostIds: readonly number[],
): Promise<ReadonlyMap<number, Opening>> {
  if (userIds.length === 0 || hostIds.length === 0) return new Map();
  const now = clock.now().toISOString();
  const rows = await db.execute<{ id: number; opened: number; shut: number }>(sql`
    select h.id, count(*) filter (where u.open)::int as opened, count(*) filter (where not u.open)::int as shut
    from unnest(${`{${hostIds.join(",")}}`}::int[]) as h(id)
    cross join (select id, status = 'active' and expire_at > ${now}::timestamptz as open from users
      where id = any(${`{${userIds.join(",")}}`}::bigint[])) u
    where not exists (select 1 from ${PLACES} p where p.user_id = u.id and p.host_id = h.id) group by h.id`);
  return new Map(rows.map(({ id, opened, shut }) => [Number(id), { opened, shut }]));
}

/** How many of the group's users have each of its hosts only by the group. */
async function removingFrom(
  db: Database | Transaction,
  groupId: number,
  userIds: readonly number[],
  hostIds: readonly number[],
): Promise<ReadonlyMap<number, number>> {
  if (userIds.length === 0 || hostIds.length === 0) return new Map();
  const rows = await db.execute<{ id: number; removed: number }>(sql`
    select h.id, count(*)::int as removed from unnest(${`{${hostIds.join(",")}}`}::int[]) as h(id)
    cross join unnest(${`{${userIds.join(",")}}`}::bigint[]) as u(id)
    where not exists (select 1 from grants g where g.user_id = u.id and (g.host_id = h.id or (g.group_id <> ${groupId}
      and exists (select 1 from host_group_members m where m.group_id = g.group_id and m.host_id = h.id)))) group by h.id`);
  return new Map(rows.map(({ id, removed }) => [Number(id), removed]));
}

/** Makes the refusals of `keepLocal` for a change to a group's hosts. */
async function refuseLocalOfGroup(
  db: Database,
  groupId: number,
  {
    userIds,
    losing,
    gaining,
  }: { readonly userIds: readonly number[] } & Record<"losing" | "gaining", readonly number[]>,
): Promise<void> {
  const [local] = await db
    .select()
    .from(hosts)
    .where(inArray(hosts.kind, ["local"]));
  if (local === undefined) return;
  const removing = losing.includes(local.id) ? await removingFrom(db, groupId, userIds, [local.id]) : new Map();
  const lost = removing.size > 0;
  const opening = gaining.includes(local.id)
    ? await openingOn({ db, clock: { now: () => new Date(0) } }, userIds, [local.id])
    : new Map();
  if (lost || opening.size > 0) throw localMove();
}

function openedSentences({ name }: HostRow, opening: Opening = { opened: 0, shut: 0 }): readonly string[] {
  const { opened, shut } = opening;
  if (opened + shut === 0) return [`No account is added on ${name}.`];
  return [
    ...(opened === 0 ? [] : [`${counted(opened, "account")} ${opened === 1 ? "opens" : "open"} on ${name}.`]),
    ...(shut === 0
      ? []
      : [
          `${counted(shut, "account")} of disabled or expired users ${shut === 1 ? "is" : "are"} made on ${name}, shut.`,
        ]),
  ];
}

function removedSentence({ name }: HostRow, removed: number): string {
  if (removed === 0) return `${name} leaves the group; no account there changes.`;
  return `${counted(removed, "account")} ${removed === 1 ? "is" : "are"} removed from ${name}, with everything in ${removed === 1 ? "its home directory" : "their home directories"}.`;
}

function leaseSentence(name: string, leaseMs: number | null): string {
  if (leaseMs === null) return `The group ${name} has no lease of its own.`;
  if (leaseMs === 0)
    return `Hosts of the group ${name} without a shorter lease stay open without the service indefinitely.`;
  return `Hosts of the group ${name} stay open without the service for at most ${formatLease(leaseMs)}, unless they have a lease of their own.`;
}

function hoursSentence(name: string, hours: string | null): string {
  if (hours === null) return `Hosts of the group ${name} are open at all hours that their users have.`;
  return `Accounts on hosts of the group ${name} are open only ${hours}; what runs outside these hours ends.`;
}

/** Throws `invalid` if there is no such profile. */
async function profileSentenceOf(db: Database, name: string, profile: string | null): Promise<string> {
  if (profile === null) return `Whoever has the group ${name} may do on its hosts what their own profile says.`;
  const said = profileSentence(await db.transaction((tx) => requireProfile(tx, profile)));
  return `Whoever has the group ${name} ${said} on its hosts, or less; what is open and may do more ends.`;
}

async function namesOf(db: Database, ids: readonly number[]): Promise<readonly string[]> {
  if (ids.length === 0) return [];
  const rows = await db
    .select({ name: hosts.name })
    .from(hosts)
    .where(inArray(hosts.id, [...ids]))
    .orderBy(hosts.id);
  return rows.map(({ name }) => name);
}

function sum(opening: ReadonlyMap<number, Opening>): Accounts {
  const all = [...opening.values()];
  return { ...NO_ACCOUNTS, opened: total(all.map(({ opened }) => opened)), shut: total(all.map(({ shut }) => shut)) };
}

function total(numbers: readonly number[]): number {
  return numbers.reduce((before, number) => before + number, 0);
}
