/** The profile of a group of hosts: it binds whoever comes to a host by the group. */

import { sql } from "drizzle-orm";
import type { Transaction } from "../../store/client.ts";
import { LOCAL_HOST } from "../../store/schema.ts";
import { selectUsersWhere, type User } from "../accounts/find-user.ts";
import { noteProfile, type ProfileStep, takesAway } from "../accounts/profile-change.ts";
import type { Operation } from "../operation/context.ts";
import { requireComparable, requireHeldHere, requireProfile } from "./profile-limits.ts";

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
