/** Which profile's group an account is in, and what else of the account depends on its profile. */

import { closeSync, fchmodSync, fchownSync, fstatSync, mkdirSync } from "node:fs";
import type { Account } from "../../protocol/host.ts";
import { UamError } from "../../shared/errors.ts";
import { type AccountTable, createGroupsReader } from "../account.ts";
import { applyInOrder } from "../executor.ts";
import type { HostContext } from "../host-context.ts";
import type { Change } from "../plan/plan.ts";
import { at, errorCode, openDirectory, openTrusted } from "../safe-open.ts";
import { allowedGroups, lacksOf } from "./host-requirements.ts";
import { groupOf, isProfileGroup, PROFILED_GROUP } from "./names.ts";
import { pathsOf, readHeld } from "./profile-files.ts";
import { faultForAccount } from "./sshd-answer.ts";
import type { Block } from "./sshd-blocks.ts";

/** What the host has of profiles, read once for many accounts. */
export interface Ground {
  readonly held: ReadonlyMap<string, Block>;
  readonly allowed: ReadonlySet<string>;
  /** The groups with members, as far as they concern profiles or may be given by one, and all of them by name. */
  readonly members: ReadonlyMap<string, ReadonlySet<string>>;
  readonly groups: AccountTable["groups"];
}

/**
 * Throws `internal` if it cannot be read. Where no account has a profile, and none is in a group of profiles, nothing is read, and all is as if there
 * were none; as in sudo mode, which has none.
 */
export function groundOf({ settings }: HostContext, table: AccountTable, accounts: readonly Account[]): Ground {
  const hasAny = accounts.some(({ profile }) => profile !== undefined);
  const isConcerned = hasAny || [...table.groups.keys()].some(isProfileGroup);
  if (!isConcerned || settings.mode === "sudo") return NO_PROFILES;
  // A table of one account lacks groups without members.
  const groups = hasAny ? readGroups() : table.groups;
  const paths = pathsOf(settings);
  const members = new Map([...groups].flatMap(([name, { members }]) => (members.size > 0 ? [[name, members]] : [])));
  return { held: readHeld(paths), allowed: allowedGroups(paths), members, groups };
}

const readGroups = createGroupsReader();
const NO_PROFILES: Ground = { held: new Map(), allowed: new Set(), members: new Map(), groups: new Map() };

/** The groups of an account with a profile, all of them; the host has those that it is to be in. Undefined for one without. */
export function groupsFor({ settings }: HostContext, ground: Ground, account: Account): readonly string[] | undefined {
  const { profile: name } = account;
  if (name === undefined) return undefined;
  const profile = ground.held.get(name)?.profile;
  const given = profile?.kind === "shell" ? (profile.groups ?? []).filter((group) => ground.allowed.has(group)) : [];
  // A dry run plans for a host that has them all.
  const isThere = (group: string) => settings.mode === "dry-run" || ground.groups.has(group);
  const own = profile === undefined && settings.mode !== "dry-run" ? [] : [groupOf(name)];
  return [
    ...new Set([settings.markerGroup, ...settings.groups, PROFILED_GROUP, ...[...own, ...given].filter(isThere)]),
  ];
}

/** What puts the account into the groups of its profile, and into no other, in one step; nothing if it is in them. */
export function planMembership(context: HostContext, ground: Ground, account: Account): readonly Change[] {
  const wanted = groupsFor(context, ground, account);
  const current = [...ground.members].flatMap(([group, members]) => (members.has(account.name) ? [group] : []));
  if (wanted === undefined && !current.some(isProfileGroup)) return [];
  const { markerGroup, groups } = context.settings;
  const list = wanted ?? [...new Set([markerGroup, ...groups])];
  const isRight = wanted !== undefined && current.length === list.length && current.every((one) => list.includes(one));
  if (isRight) return [];
  const argv = ["/usr/sbin/usermod", "-G", list.join(","), "--", account.name];
  return [...planCommonGroup(ground, list), { kind: "account-command", argv, accept: [0] }];
}

/** The group that shuts who has a profile and is in no group of one. */
function planCommonGroup({ groups }: Ground, list: readonly string[]): readonly Change[] {
  return list.includes(PROFILED_GROUP) && !groups.has(PROFILED_GROUP) ? planGroup(PROFILED_GROUP) : [];
}

/** Makes a group of profiles; groupadd exits with 9 if it exists. */
export function planGroup(group: string): readonly Change[] {
  return [{ kind: "account-command", argv: ["/usr/sbin/groupadd", "--system", "--", group], accept: [0, 9] }];
}

/** How the account's groups differ from those of its profile, and what puts them right. */
export function profileDifferences(
  context: HostContext,
  ground: Ground,
  account: Account,
): readonly { readonly kind: "profile"; readonly problem: string; readonly changes: readonly Change[] }[] {
  const changes = planMembership(context, ground, account);
  const profile = account.profile === undefined ? "no profile" : `the profile ${account.profile}`;
  return changes.length === 0 ? [] : [{ kind: "profile", problem: `its groups are not those of ${profile}`, changes }];
}

/**
 * Before the account opens: puts it into its profile's group, and asks sshd whether that gives what the profile says. Throws `conflict` if it does
 * not, and what the host refuses. An account without a profile only leaves the groups of profiles.
 */
export async function applyProfile(context: HostContext, account: Account): Promise<Ground> {
  const ground = groundOf(context, context.executor.view.accounts([account]), [account]);
  await applyInOrder(context.executor, planMembership(context, ground, account));
  if (account.profile !== undefined && context.settings.mode !== "dry-run") await requireHeld(context, ground, account);
  return ground;
}

async function requireHeld(context: HostContext, ground: Ground, account: Account): Promise<void> {
  const { name, profile } = account;
  const block = ground.held.get(profile ?? "");
  if (block === undefined || !ground.groups.has(groupOf(block.profile.name)))
    throw new UamError("conflict", `This host does not hold the profile ${profile}: ${name} stays shut`);
  const [lack] = lacksOf(block.profile, context.settings, pathsOf(context.settings)).shut;
  const fault = lack ?? (await faultForAccount(context, { ...block, isShut: false }, name));
  if (fault !== undefined) throw new UamError("conflict", `The profile ${profile} does not hold for ${name}: ${fault}`);
  makeOwnDirectory(context, ground, account);
}

/**
 * The account's own directory in the one that its profile confines it to: nobody else's. Throws `internal` if it cannot be made, or is another's.
 * Does nothing for other profiles, and in a dry run.
 */
export function makeOwnDirectory(
  { settings }: HostContext,
  { held, groups }: Ground,
  { name, uid, profile }: Account,
): void {
  const { kind, directory: base } = held.get(profile ?? "")?.profile ?? {};
  if (kind !== "sftp" || base === undefined || settings.mode === "dry-run") return;
  const gid = groups.get(name)?.gid ?? uid;
  const opened: number[] = [];
  try {
    const top = openTrusted(base);
    opened.push(top);
    try {
      mkdirSync(at(top, name), { mode: 0o700 });
    } catch (error) {
      if (errorCode(error) !== "EEXIST") throw error;
    }
    const fd = openDirectory(top, name);
    opened.push(fd);
    const stat = fstatSync(fd);
    if (stat.uid === 0) fchownSync(fd, uid, gid);
    else if (stat.uid !== uid)
      throw new UamError("internal", `${base}/${name} belongs to the uid ${stat.uid}: move it away`);
    if ((stat.mode & 0o7777) !== 0o700) fchmodSync(fd, 0o700);
  } catch (error) {
    if (error instanceof UamError) throw error;
    const why = errorCode(error) || "unexpected error";
    throw new UamError("internal", `${base}/${name} cannot be made: ${why}`, { cause: error });
  } finally {
    for (const fd of opened) closeSync(fd);
  }
}
