/** Groups of hosts: a user with a grant for a group has an account on each of its hosts. */

import { and, asc, eq, inArray, sql } from "drizzle-orm";
import { UamError } from "../../shared/errors.ts";
import { parseHostName } from "../../shared/text/host-name.ts";
import { formatLease, parseLease } from "../../shared/time/lease.ts";
import { type Database, isDuplicate, type Transaction } from "../../store/client.ts";
import { users } from "../../store/schema.ts";
import { companies } from "../../store/schema-companies.ts";
import { type HostGroupRow, type HostRow, hostGroupMembers, hostGroups } from "../../store/schema-fleet.ts";
import { readOwnHostHours } from "../accounts/find-user.ts";
import { followProfile } from "../accounts/profile-change.ts";
import { audited } from "../operation/audited.ts";
import type { Context, Operation } from "../operation/context.ts";
import { onward } from "../operation/permission.ts";
import { findDefaultGroup, setDefaultGroup } from "./default-group.ts";
import { lockFleet, namedHosts, type Ref, requireGroup } from "./find-host.ts";
import { narrowedHosts, noteNarrowedHosts, storedHours } from "./group-hours.ts";
import { type GroupChanges, type NewGroup, planGroup, requireJoinable } from "./group-plan.ts";
import { type Narrowing, noteOwnHostHours, type OwnHostChange, passOwnHostHours } from "./own-host-hours.ts";
import { concernsLocal, keepLocal, lockGrants, lostHosts, movePlaces } from "./placements.ts";
import { bindingGroup, narrowedByProfile, requireProfile, type Steps } from "./profile-limits.ts";

/** A group as lists show it. */
export interface HostGroup {
  readonly row: HostGroupRow;
  /** Names, in the order of their ids. */
  readonly hosts: readonly string[];
  /** How many users have it. */
  readonly users: number;
  /** Whether new users get it. */
  readonly isDefault: boolean;
}

/** All groups, by name. */
export async function listGroups({ db }: Pick<Context, "db">): Promise<readonly HostGroup[]> {
  return await readGroups(db);
}

/** The group; throws `not_found`. */
export async function getGroup({ db }: Pick<Context, "db">, ref: Ref): Promise<HostGroup> {
  return await readGroup(db, await requireGroup(db, ref));
}

/** Makes a group. Throws `invalid`, or `conflict` for a name that is taken. */
export async function createGroup(context: Context, wanted: NewGroup): Promise<HostGroup> {
  const group = await storeGroup(context, wanted);
  await passOwnHostHours(context);
  return group;
}

async function storeGroup(context: Context, wanted: NewGroup): Promise<HostGroup> {
  const entry = { action: "host_group.create", detail: { name: wanted.name } } as const;
  return await audited(context, entry, async (op) => {
    const name = parseHostName("group", wanted.name);
    const leaseMs = parseLease(wanted.lease ?? null);
    await lockFleet(op.tx);
    const members = await joinable(op.tx, wanted.hosts ?? []);
    const hours = storedHours(wanted.hours ?? null);
    const before = await holdOwnHostHours(op, hours !== null);
    const { profile = null } = wanted;
    if (profile !== null) await requireProfile(op.tx, profile);
    const [row] = await refuseTaken(
      name,
      op.tx.insert(hostGroups).values({ name, leaseMs, hours, profile, createdAt: context.clock.now() }).returning(),
    );
    if (row === undefined) throw new Error("insert returned no row");
    await addMembers(op.tx, row.id, members);
    await noteOwnHostHours(op, before);
    op.record({ resourceId: String(row.id), detail: { name, lease: formatLease(leaseMs), hosts: namesOf(members) } });
    if (hours !== null) op.record({ detail: { hours } });
    if (profile !== null) op.record({ detail: { profile } });
    return await readGroup(op.tx, row);
  });
}

/** The hours of the service's own host. If they may change, users who are being created are waited for, and further ones wait. */
async function holdOwnHostHours({ tx }: Operation, mayChange: boolean): Promise<string | null> {
  if (mayChange) await lockGrants(tx);
  return await readOwnHostHours(tx);
}

/**
 * Changes a group. Its users get an account on each added host, and lose it on each removed host unless another grant has it. Throws
 * `not_found`, `invalid`, and `conflict` for a name that is taken, a host that is being retired, and as `keepLocal` does.
 */
export async function updateGroup(context: Context, ref: Ref, changes: GroupChanges): Promise<HostGroup> {
  return (await changeGroup(context, ref, changes)).group;
}

/** A changed group; what hosts have to confirm, if it took access away. */
export interface ChangedGroup extends Narrowing {
  readonly group: HostGroup;
}

/** The same as `updateGroup`. */
export async function changeGroup(context: Context, ref: Ref, changes: GroupChanges): Promise<ChangedGroup> {
  let narrowing: number | undefined;
  let own: OwnHostChange | undefined;
  let steps: Steps = new Map();
  const entry = { action: "host_group.update", resourceId: typeof ref === "number" ? String(ref) : "" } as const;
  const group = await audited(context, entry, async (op) => {
    await lockFleet(op.tx);
    const group = await requireGroup(op.tx, ref);
    op.record({ resourceId: String(group.id) });
    op.about({ detail: { name: group.name } });
    const seen = await planGroup(op.tx, group, changes);
    const before = await holdOwnHostHours(op, concernsLocal(seen) || seen.hours !== group.hours);
    const planned = concernsLocal(seen) ? await planGroup(op.tx, group, changes) : seen;
    if (Object.values(changes).every((change) => change === undefined)) throw nothingToChange();
    const move = async () => {
      await addMembers(op.tx, group.id, planned.added);
      await dropMembers(op.tx, group.id, planned.removed);
    };
    const { name, leaseMs, hours, profile } = planned;
    const binding = { groupId: group.id, old: group.profile, profile };
    let row: HostGroupRow | undefined;
    steps = await bindingGroup(op, binding, async () => {
      await movePlaces(op, planned, () => keepLocal(op, planned, move));
      row = await storeChanged(op.tx, group, { name, leaseMs, hours, profile });
    });
    const narrowed = new Set([
      ...narrowedHosts({ ...planned, old: group.hours, joining: planned.gaining }, context.clock.now()),
      ...(await narrowedByProfile(op.tx, { ...planned, old: group.profile })),
      ...(await lostHosts(op.tx, planned)),
    ]);
    noteNarrowedHosts(op, [...narrowed], (record) => {
      narrowing = record;
    });
    own = await noteOwnHostHours(op, before);
    if (changes.isDefault === true) await setDefaultGroup(op, { id: group.id, name });
    op.record({
      detail: {
        ...(name === group.name ? {} : { new_name: name }),
        ...(leaseMs === group.leaseMs ? {} : { lease: formatLease(leaseMs), old_lease: formatLease(group.leaseMs) }),
        ...(hours === group.hours ? {} : { hours: hours ?? "", old_hours: group.hours ?? "" }),
        ...(profile === group.profile ? {} : { profile: profile ?? "", old_profile: group.profile ?? "" }),
        ...(planned.added.length === 0 ? {} : { added: namesOf(planned.added) }),
        ...(planned.removed.length === 0 ? {} : { removed: namesOf(planned.removed) }),
        ...(changes.isDefault === true ? { for_new_users: true } : {}),
      },
    });
    return await readGroup(op.tx, row ?? group);
  });
  for (const [userId, step] of steps) await followProfile(onward(context), userId, step);
  if (own !== undefined) await passOwnHostHours(context);
  return { group, record: narrowing, own };
}

/** Deletes a group that no user has. Throws `not_found`, and `conflict` for one that is in use. */
export async function deleteGroup(context: Context, ref: Ref): Promise<void> {
  const entry = { action: "host_group.delete", resourceId: typeof ref === "number" ? String(ref) : "" } as const;
  await audited(context, entry, async (op) => {
    await lockFleet(op.tx);
    const before = await readOwnHostHours(op.tx);
    if (before !== null) await lockGrants(op.tx);
    // Transactions that grant the group, or create a user in it, wait for this lock, and then find the group gone.
    const [locked] = await op.tx
      .select()
      .from(hostGroups)
      .where(typeof ref === "number" ? eq(hostGroups.id, ref) : eq(hostGroups.name, ref))
      .for("update");
    const group = await readGroup(op.tx, locked ?? (await requireGroup(op.tx, ref)));
    op.record({ resourceId: String(group.row.id) });
    op.about({ detail: { name: group.row.name } });
    requireUnused(group);
    await requireNoCompany(op.tx, group.row);
    await requireNoRule(op.tx, group.row);
    op.record({ detail: { hosts: group.hosts.join(", ") } });
    await op.tx.delete(hostGroups).where(eq(hostGroups.id, group.row.id));
    await noteOwnHostHours(op, before);
  });
  await passOwnHostHours(context);
}

/** Throws `conflict` for a group that users have, or that new ones get. */
export function requireUnused({ row: { name }, users, isDefault }: HostGroup): void {
  if (isDefault) {
    const sentence = `New users get the group ${name}; make another group the one for new users first`;
    throw new UamError("conflict", sentence, { reason: "host_group.used" });
  }
  if (users === 0) return;
  const sentence = `${users === 1 ? "1 user has" : `${users} users have`} the group ${name}; give them other hosts first`;
  throw new UamError("conflict", sentence, { reason: "host_group.used" });
}

/** Throws `conflict` for a group that a company names: without its last group, a company would allow every host. */
export async function requireNoCompany(db: Database | Transaction, { id, name }: HostGroupRow): Promise<void> {
  const [company] = await db
    .select({ name: companies.name })
    .from(companies)
    .where(sql`${id}::bigint = any(${companies.hostGroups})`)
    .limit(1);
  if (company === undefined) return;
  const sentence = `${company.name} allows the group ${name}; change the company first`;
  throw new UamError("conflict", sentence, { reason: "host_group.used" });
}

/** Throws `conflict` for a group whose hosts alone somebody may ask for: under another name, or gone, they could ask for none. */
export async function requireNoRule(db: Database | Transaction, { name }: Pick<HostGroupRow, "name">): Promise<void> {
  const [user] = await db
    .select({ username: users.username })
    .from(users)
    .where(sql`${name}::text = any(${users.requestGroups})`)
    .limit(1);
  if (user === undefined) return;
  const sentence = `${user.username} may ask for access to hosts of the group ${name} only; change that first`;
  throw new UamError("conflict", sentence, { reason: "host_group.used" });
}

async function readGroup(db: Database | Transaction, row: HostGroupRow): Promise<HostGroup> {
  const [group] = await readGroups(db, row.id);
  if (group === undefined) throw new Error("a group's row is gone");
  return group;
}

async function readGroups(db: Database | Transaction, id?: number): Promise<readonly HostGroup[]> {
  const { id: standard } = await findDefaultGroup(db);
  const rows = await db
    .select({
      row: hostGroups,
      hosts: sql<string>`(select coalesce(json_agg(h.name order by h.id), '[]')::text from host_group_members m
        join hosts h on h.id = m.host_id where m.group_id = ${sql.raw("host_groups.id")})`,
      users: sql<number>`(select count(*)::int from grants g where g.group_id = ${sql.raw("host_groups.id")})`,
    })
    .from(hostGroups)
    .where(id === undefined ? undefined : eq(hostGroups.id, id))
    .orderBy(asc(hostGroups.name));
  return rows.map(({ row, users, hosts }) => ({
    row,
    users,
    hosts: JSON.parse(hosts) as string[],
    isDefault: row.id === standard,
  }));
}

async function storeChanged(tx: Transaction, { id, name }: HostGroupRow, set: Omit<HostGroupRow, "id" | "createdAt">) {
  const update = tx.update(hostGroups).set(set).where(eq(hostGroups.id, id)).returning();
  const [row] = await refuseTaken(set.name, update);
  // Once the row is locked: who names the group meanwhile has waited, or is seen.
  if (set.name !== name) await requireNoRule(tx, { name });
  return row;
}

async function joinable(tx: Transaction, names: readonly string[]): Promise<readonly HostRow[]> {
  const found = await namedHosts(tx, names);
  requireJoinable(found);
  return found;
}

async function addMembers(tx: Transaction, groupId: number, added: readonly HostRow[]): Promise<void> {
  if (added.length > 0) await tx.insert(hostGroupMembers).values(added.map(({ id }) => ({ groupId, hostId: id })));
}

async function dropMembers(tx: Transaction, groupId: number, removed: readonly HostRow[]): Promise<void> {
  const ids = removed.map(({ id }) => id);
  if (ids.length === 0) return;
  await tx
    .delete(hostGroupMembers)
    .where(and(eq(hostGroupMembers.groupId, groupId), inArray(hostGroupMembers.hostId, ids)));
}

async function refuseTaken<T>(name: string, statement: PromiseLike<T>): Promise<T> {
  try {
    return await statement;
  } catch (error) {
    if (!isDuplicate(error, "host_groups_name_unique")) throw error;
    throw new UamError("conflict", `There is a group of hosts named ${name}`, { reason: "host_group.taken" });
  }
}

function nothingToChange(): UamError {
  return new UamError(
    "invalid",
    "Nothing to change: send name, hosts, add, remove, lease, hours, profile or for_new_users",
  );
}

function namesOf(rows: readonly HostRow[]): string {
  return rows.map(({ name }) => name).join(", ");
}
