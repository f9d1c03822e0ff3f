/** What a change of a group of hosts comes to, before it is made. */

import { asc, eq } from "drizzle-orm";
import { UamError } from "../../shared/errors.ts";
import type { Hours } from "../../shared/hours/hours.ts";
import { parseHostName } from "../../shared/text/host-name.ts";
import { parseLease } from "../../shared/time/lease.ts";
import type { Database, Transaction } from "../../store/client.ts";
import { type HostGroupRow, type HostRow, hostGroupMembers, hosts } from "../../store/schema-fleet.ts";
import { namedHosts } from "./find-host.ts";
import { storedHours } from "./group-hours.ts";
import { usersOfGroup } from "./placements.ts";

export interface NewGroup {
  readonly name: string;
  /** Names of hosts; none by default. */
  readonly hosts?: readonly string[] | undefined;
  /** As a text; null or absent for none of its own. */
  readonly lease?: string | null | undefined;
  /** In which its hosts are open; null, or no windows, for always. */
  readonly hours?: Hours | null | undefined;
  /** The profile of whoever comes to its hosts by it, by its name; null for none. */
  readonly profile?: string | null | undefined;
}

/** The changes to a group; absent fields stay. */
export interface GroupChanges extends Partial<NewGroup> {
  /** True makes it the group that new users get; it stays that until another group is. */
  readonly isDefault?: boolean | undefined;
  /** Hosts that join and leave, instead of `hosts`: so that two changes at once do not undo each other. */
  readonly add?: readonly string[] | undefined;
  readonly remove?: readonly string[] | undefined;
}

/** The effect of changing a group. */
export interface PlannedGroup {
  readonly name: string;
  readonly leaseMs: number | null;
  readonly hours: string | null;
  readonly profile: string | null;
  readonly added: readonly HostRow[];
  readonly removed: readonly HostRow[];
  readonly userIds: readonly number[];
  readonly losing: readonly number[];
  readonly gaining: readonly number[];
  /** The hosts that were members, and stay it. */
  readonly staying: readonly number[];
}

/** Checks a change of a group, and returns its effect; throws as `updateGroup` does. */
export async function planGroup(
  db: Database | Transaction,
  group: HostGroupRow,
  changes: GroupChanges,
): Promise<PlannedGroup> {
  if (changes.isDefault === false) {
    throw new UamError("invalid", "for_new_users can only be true: make another group the one for new users instead");
  }
  const name = changes.name === undefined ? group.name : parseHostName("group", changes.name);
  const leaseMs = changes.lease === undefined ? group.leaseMs : parseLease(changes.lease);
  const hours = changes.hours === undefined ? group.hours : storedHours(changes.hours);
  const profile = changes.profile === undefined ? group.profile : changes.profile;
  const before = await membersOf(db, group.id);
  const after = await wantedMembers(db, before, changes);
  const members = after.map(({ id }) => id);
  const added = after.filter(({ id }) => !before.some((host) => host.id === id));
  requireJoinable(added);
  const removed = before.filter(({ id }) => !after.some((host) => host.id === id));
  const gaining = added.map(({ id }) => id);
  const moved = {
    gaining,
    losing: removed.map(({ id }) => id),
    staying: members.filter((id) => !gaining.includes(id)),
  };
  return { name, leaseMs, hours, profile, added, removed, userIds: await usersOfGroup(db, group.id), ...moved };
}

async function wantedMembers(
  db: Database | Transaction,
  before: readonly HostRow[],
  { hosts: all, add = [], remove = [] }: GroupChanges,
): Promise<readonly HostRow[]> {
  if (all === undefined) {
    const leaving = (await namedHosts(db, remove)).map(({ id }) => id);
    const joining = await namedHosts(db, add);
    const both = joining.find(({ id }) => leaving.includes(id));
    if (both !== undefined) throw new UamError("invalid", `${both.name} cannot both join and leave`);
    const staying = before.filter(({ id }) => !leaving.includes(id) && !joining.some((host) => host.id === id));
    return [...staying, ...joining];
  }
  if (add.length + remove.length === 0) return await namedHosts(db, all);
  throw new UamError("invalid", "Send either hosts, which are all of the group, or add and remove");
}

/** A host that is being retired joins nothing. */
export function requireJoinable(found: readonly HostRow[]): void {
  const retiring = found.find(({ status }) => status === "retiring");
  if (retiring === undefined) return;
  throw new UamError("conflict", `${retiring.name} is being retired`, { reason: "host.retiring" });
}

/** The hosts of a group, in the order of their ids. */
export async function membersOf(db: Database | Transaction, groupId: number): Promise<readonly HostRow[]> {
  const rows = await db
    .select({ host: hosts })
    .from(hostGroupMembers)
    .innerJoin(hosts, eq(hosts.id, hostGroupMembers.hostId))
    .where(eq(hostGroupMembers.groupId, groupId))
    .orderBy(asc(hosts.id));
  return rows.map(({ host }) => host);
}
