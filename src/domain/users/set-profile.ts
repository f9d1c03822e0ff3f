/** Gives a user another profile, or none: what they may do. */

import { sql } from "drizzle-orm";
import type { Profile } from "../../protocol/profile-order.ts";
import type { Preview } from "../../shared/product/preview.ts";
import { hostAccountOf } from "../../shared/text/account-name.ts";
import { profileSentence } from "../../shared/text/profile-sentence.ts";
import type { Transaction } from "../../store/client.ts";
import { storeUser } from "../accounts/access.ts";
import { accountOf, refOf } from "../accounts/account.ts";
import { requireUser, type User } from "../accounts/find-user.ts";
import { noteProfile, type ProfileStep, takesAway } from "../accounts/profile-change.ts";
import { profileHere } from "../accounts/profiles.ts";
import { noteFleetChange } from "../accounts/remote-changes.ts";
import { lockFleet } from "../hosts/find-host.ts";
import { requireComparable, requireHeldHere, requireProfile } from "../hosts/profile-limits.ts";
import { unprovenSentence } from "../keys/second-factor.ts";
import type { Context, Operation } from "../operation/context.ts";

/** A user with their new profile. */
export interface Bound {
  readonly user: User;
  /** What it means on the service's own host, which has to follow once it is committed. */
  readonly step: ProfileStep;
  /** Whether further hosts have to follow because it allows less. */
  readonly isNarrower: boolean;
}

/**
 * Stores the profile, and notes what it takes away; nothing if it is the one that they have. Throws `invalid` if there is none of that name, and
 * `conflict` as `requireComparable` and `requireHeldHere` do.
 */
export async function setUserProfile(op: Operation, user: User, profile: string | null | undefined): Promise<Bound> {
  if (profile === undefined || profile === user.profile) return { user, step: "none", isNarrower: false };
  await lockFleet(op.tx);
  const before = await named(op.tx, user.profile);
  const after = await named(op.tx, profile);
  await storeUser(op, user, { profile });
  await requireComparable(op.tx, user.id);
  const bound = await requireUser(op.tx, user.id);
  if (bound.local) requireHeldHere(op.context, bound.profiles);
  op.record({ detail: { profile: profile ?? "", old_profile: user.profile ?? "" } });
  const isNarrower = takesAway(before, after);
  if (isNarrower) await noteFleetChange(op, bound);
  return { user: bound, step: await noteProfile(op, user, bound), isNarrower };
}

async function named(tx: Transaction, name: string | null): Promise<Profile> {
  return name === null ? undefined : await requireProfile(tx, name);
}

/** Previews giving the user this profile, or none: who is logged in, and what ends. Changes nothing and records nothing. */
export async function previewUserProfile(context: Context, userId: number, profile: string | null): Promise<Preview> {
  const { db, host, clock } = context;
  return await db.transaction(async (tx) => {
    const user = await requireUser(tx, userId);
    const after = await named(tx, profile);
    const others = (user.profiles ?? []).filter(({ name }) => name !== user.profile);
    const bound = { ...user, profile, profiles: after === undefined ? others : [after, ...others] };
    if (user.local) requireHeldHere(context, bound.profiles);
    const counts = profileHere(bound);
    const says = [
      counts === undefined || counts === "incomparable"
        ? `${user.username} may do what the hosts let any account do.`
        : `${user.username} ${profileSentence(counts)}.`,
    ];
    if (after?.attestation === "required") says.push(await unprovenSentence(tx, sql`id = ${userId}`));
    const isTaking = user.local && takesAway(profileHere(user), counts);
    const account = await accountOf(tx, bound, clock.now());
    if (!isTaking || !account.open) return { effects: [...says, "Nothing that is open ends."], host: [] };
    const open = (await host.countSessions([refOf(user)]))?.get(account.name);
    const logged =
      open === undefined
        ? ""
        : open === 0
          ? ", which is not logged in now"
          : `, which is logged in ${open === 1 ? "once" : `${open} times`} now`;
    const ends = `Every session and process of ${hostAccountOf(user.username)} ends${logged}.`;
    return { effects: [...says, ends], host: await host.planned((planner) => planner.narrowProfile(account)) };
  });
}
