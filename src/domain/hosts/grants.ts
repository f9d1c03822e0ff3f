/** Which hosts a user has: by name, and by group. */

import { and, asc, eq, inArray } from "drizzle-orm";
import { UamError } from "../../shared/errors.ts";
import type { Database, Transaction } from "../../store/client.ts";
import { LOCAL_HOST } from "../../store/schema.ts";
import { grants, hostGroups, hosts } from "../../store/schema-fleet.ts";
import { companyOf, holdCompanyOf, requireHostsWithin } from "../accounts/company-limits.ts";
import { lockUser, requireUser, type User } from "../accounts/find-user.ts";
import { giveLocalAccount, noteLeaving, removeLocalAccount } from "../accounts/local-account.ts";
import { followProfile, noteProfile, type ProfileStep, takesAway } from "../accounts/profile-change.ts";
import { profilesElsewhere } from "../accounts/profiles.ts";
import { leavingHosts, noteLostHosts } from "../accounts/remote-changes.ts";
import { auditedGrant } from "../operation/audited.ts";
import { readCommitted } from "../operation/committed.ts";
import type { Context } from "../operation/context.ts";
import type { AuditDetail } from "../operation/entry.ts";
import { onward } from "../operation/permission.ts";
import { awaitHosts, type Confirmation } from "./confirmation.ts";
import { lockFleet, namedGroups, namedHosts } from "./find-host.ts";
import { membersOf, requireJoinable } from "./group-plan.ts";
import { hostsOfUser, movePlaces } from "./placements.ts";
import { requireComparable, requireHeldHere } from "./profile-limits.ts";
import { listUserHosts, type UserHost } from "./user-hosts.ts";

/** Names of hosts and of groups. */
export interface WantedHosts {
  readonly hosts: readonly string[];
  readonly groups: readonly string[];
}

/**
 * Gives a user exactly these hosts and groups, and returns the hosts where they then have an account. On the service's own host, an
 * added account is there when this returns, or nothing is changed; a removed account is gone, or its removal is owed: then this throws
 * `internal`. Throws `not_found` for the user, `invalid` for an unknown name or one that the user's company does not allow, and `conflict` for an empty list, a host that is being
 * retired, and as `giveLocalAccount` does.
 */
export async function setUserHosts(context: Context, userId: number, wanted: WantedHosts): Promise<GivenHosts> {
  const { leaving, step, tookRemote } = await changeGrants(context, userId, { find: async () => wanted });
  // After storing that the user has no account there: so nothing opens it again meanwhile, and a crash loses nothing.
  if (leaving !== undefined) await removeLocalAccount(onward(context), { userId, note: leaving });
  await followProfile(onward(context), userId, step);
  const taken = tookRemote ? await awaitHosts(context, userId) : undefined;
  const { db } = context;
  const read = async () => ({ given: await grantsOf(db, userId), places: await listUserHosts(context, userId) });
  return { ...(await readCommitted(context, read)), taken };
}

/**
 * Takes from a user the hosts that their company does not allow, unless they would have none left: then nothing changes. Otherwise as
 * `setUserHosts`.
 */
export async function withdrawHosts(context: Context, userId: number, reason: string): Promise<void> {
  const { leaving, step } = await changeGrants(context, userId, { find: allowedOf, detail: { reason } });
  if (leaving !== undefined) await removeLocalAccount(onward(context), { userId, note: leaving });
  await followProfile(onward(context), userId, step);
}

async function allowedOf(tx: Transaction, user: User): Promise<WantedHosts | undefined> {
  const company = await companyOf(tx, user);
  if (company === undefined || company.hostGroups.length === 0) return undefined;
  const rows = await tx
    .select({ name: hostGroups.name })
    .from(grants)
    .innerJoin(hostGroups, eq(hostGroups.id, grants.groupId))
    .where(and(eq(grants.userId, user.id), inArray(grants.groupId, company.hostGroups)));
  return rows.length === 0 ? undefined : { hosts: [], groups: rows.map(({ name }) => name) };
}

/** Where a user has an account now. */
export interface GivenHosts {
  readonly given: WantedHosts;
  readonly places: readonly UserHost[];
  /** The state on the remote hosts that were removed, or where they may do less, if there are any. */
  readonly taken: Confirmation | undefined;
}

interface Changed {
  /** The note of the account to remove from the service's own host, if any. */
  readonly leaving: number | undefined;
  /** What it means on the service's own host for what binds them there. */
  readonly step: ProfileStep;
  readonly tookRemote: boolean;
}

const UNCHANGED: Changed = { leaving: undefined, step: "none", tookRemote: false };

interface Change {
  /** What they have from now on, found under their lock; undefined for no change. */
  readonly find: (tx: Transaction, user: User) => Promise<WantedHosts | undefined>;
  readonly detail?: AuditDetail;
}

/** Stores what the user has from now on. */
async function changeGrants(context: Context, userId: number, { find, detail = {} }: Change): Promise<Changed> {
  const entry = { action: "user.grant", resourceId: String(userId), subjectId: userId, detail } as const;
  return await auditedGrant(context, entry, async (op) => {
    const user = await lockUser(op.tx, userId);
    op.about({ detail: { username: user.username } });
    await holdCompanyOf(op.tx, user);
    await lockFleet(op.tx);
    const wanted = await find(op.tx, user);
    if (wanted === undefined) {
      op.record({ unneeded: true });
      return UNCHANGED;
    }
    const planned = await planHosts(op.tx, user, wanted);
    op.record({ detail: { hosts: planned.hosts.names.join(", "), groups: planned.groups.names.join(", ") } });
    if (isSame(planned.before, planned)) {
      op.record({ unneeded: true });
      return UNCHANGED;
    }
    const isBound = user.profiles !== null;
    const boundBefore = isBound ? await profilesElsewhere(op.tx, userId) : undefined;
    await movePlaces(op, { userIds: [userId], ...planned }, async () => {
      await op.tx.delete(grants).where(eq(grants.userId, userId));
      const createdAt = context.clock.now();
      await op.tx
        .insert(grants)
        .values([
          ...planned.groups.ids.map((groupId) => ({ userId, groupId, createdAt })),
          ...planned.hosts.ids.map((hostId) => ({ userId, hostId, createdAt })),
        ]);
    });
    const boundAfter = isBound ? await profilesElsewhere(op.tx, userId) : undefined;
    const bound = (id: number) => takesAway(boundBefore?.(id), boundAfter?.(id));
    const taken = [...planned.losing, ...planned.staying.filter(bound)].filter((id) => id !== LOCAL_HOST);
    if (taken.length > 0) {
      // A host that they had lost before, and that has not removed the account, lets them in as it did.
      const lostBefore = (await leavingHosts(op.tx, user)).map(({ id }) => id);
      noteLostHosts(op, user, [...new Set([...taken, ...lostBefore])]);
    }
    const { before } = planned;
    op.record({ detail: { old_hosts: before.hosts.join(", "), old_groups: before.groups.join(", ") } });
    const after = await requireUser(op.tx, userId);
    if (after.profile !== null || (after.profiles ?? []).length > 0) await requireComparable(op.tx, userId);
    if (after.local) requireHeldHere(context, after.profiles);
    if (after.local && !user.local) await giveLocalAccount(op, after);
    const leaving = user.local && !after.local ? await noteLeaving(op, userId) : undefined;
    return { leaving, step: await noteProfile(op, user, after), tookRemote: taken.length > 0 };
  });
}

/** The names that a user was given. */
export async function grantsOf(db: Database | Transaction, userId: number): Promise<WantedHosts> {
  const rows = await db
    .select({ host: hosts.name, group: hostGroups.name })
    .from(grants)
    .leftJoin(hosts, eq(hosts.id, grants.hostId))
    .leftJoin(hostGroups, eq(hostGroups.id, grants.groupId))
    .where(eq(grants.userId, userId))
    .orderBy(asc(hosts.id), asc(hostGroups.id));
  return {
    hosts: rows.flatMap(({ host }) => (host === null ? [] : [host])),
    groups: rows.flatMap(({ group }) => (group === null ? [] : [group])),
  };
}

interface Named {
  readonly ids: readonly number[];
  readonly names: readonly string[];
}

/** The effect of giving a user these hosts. */
export interface PlannedHosts {
  readonly before: WantedHosts;
  readonly hosts: Named;
  readonly groups: Named;
  readonly losing: readonly number[];
  readonly gaining: readonly number[];
  readonly staying: readonly number[];
}

/** Checks the wanted hosts of a user, and returns the changes; throws as `setUserHosts` does. */
export async function planHosts(
  db: Database | Transaction,
  user: Pick<User, "id" | "companyId">,
  wanted: WantedHosts,
): Promise<PlannedHosts> {
  const given = { hosts: [...new Set(wanted.hosts)], groups: [...new Set(wanted.groups)] };
  const named = await namedHosts(db, given.hosts);
  const groups = await namedGroups(db, given.groups);
  if (named.length + groups.length === 0) {
    const sentence = "A user has at least one host or group; to take all access away, disable or delete the user";
    throw new UamError("conflict", sentence, { reason: "grant.last" });
  }
  requireHostsWithin(await companyOf(db, user), { hosts: named.map(({ name }) => name), groups });
  const before = await grantsOf(db, user.id);
  requireJoinable(named.filter(({ name }) => !before.hosts.includes(name)));
  const members = [];
  for (const { id } of groups) members.push(...(await membersOf(db, id)));
  const after = new Set([...named, ...members].map(({ id }) => id));
  const held = await hostsOfUser(db, user.id);
  return {
    before,
    hosts: { ids: named.map(({ id }) => id), names: named.map(({ name }) => name) },
    groups: { ids: groups.map(({ id }) => id), names: groups.map(({ name }) => name) },
    losing: held.filter((id) => !after.has(id)),
    gaining: [...after].filter((id) => !held.includes(id)),
    staying: held.filter((id) => after.has(id)),
  };
}

function isSame(before: WantedHosts, { hosts, groups }: PlannedHosts): boolean {
  return before.hosts.join() === hosts.names.join() && before.groups.join() === groups.names.join();
}
