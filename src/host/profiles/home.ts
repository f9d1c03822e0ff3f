/** Whose the home of an account is, by its profile. */

import type { Account } from "../../protocol/host.ts";
import type { PasswdEntry } from "../account.ts";
import type { HostContext } from "../host-context.ts";
import { type Change, planOpenHome } from "../plan/plan.ts";
import type { Mount } from "../safe-open.ts";
import type { Ground } from "./membership.ts";

interface Homed {
  readonly mounts: readonly Mount[];
  readonly profiles: Ground;
  readonly account: Account;
  readonly owner: PasswdEntry;
}

/**
 * Whether the home is its owner's while the account is open: for a shell only. Whoever may do less gets nothing read that they wrote there when they might
 * do more: by a shell, PAM, a mail server, or the manager of their user's units, all of which run as them.
 */
export function ownsHome({ held }: Pick<Ground, "held">, { profile }: Account): boolean {
  return profile === undefined || held.get(profile)?.profile.kind === "shell";
}

/** Makes the home root's, once nothing of the account's own is mounted there. */
export function planShutHome(owner: PasswdEntry): readonly Change[] {
  return [
    { kind: "detach-fuse", path: owner.home, uid: owner.uid },
    { kind: "shut-home", owner },
  ];
}

/** The home of an account that is open. */
export function planHome(
  context: HostContext,
  ground: Ground,
  account: Account,
  owner: PasswdEntry,
): readonly Change[] {
  return ownsHome(ground, account) ? planOpenHome(context.settings, owner) : planShutHome(owner);
}

/** How the home of an account differs from what it should be, and what puts that right: of one that is shut, shutting it once more. */
export function homeDifferences(
  context: HostContext,
  { mounts, profiles, account, owner }: Homed,
): readonly { readonly kind: "home"; readonly problem: string; readonly changes: readonly Change[] }[] {
  const { settings, executor } = context;
  const isShut = settings.homesStay === true ? undefined : executor.view.isHomeShut(owner.home, mounts);
  const isOwners = account.open && ownsHome(profiles, account);
  if (isShut === undefined || isShut !== isOwners) return [];
  const whose = account.open ? "the profile gives no shell" : "the account is shut";
  const problem = isOwners ? "the home is still root's" : `the home is open although ${whose}`;
  return [{ kind: "home", problem, changes: account.open ? planHome(context, profiles, account, owner) : [] }];
}
