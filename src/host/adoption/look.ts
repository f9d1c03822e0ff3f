/** An account that somebody else made, looked at before it may become a user's. Nothing is changed. */

import { lstatSync, readFileSync } from "node:fs";
import type { FoundAccount, NewName } from "../../protocol/adoption.ts";
import { isWithin } from "../../shared/system/uids.ts";
import { type AccountTable, isMarked, nameServiceEntry, type PasswdEntry, readAccounts } from "../account.ts";
import { listedOf, readProcesses } from "../processes/processes.ts";
import { countLogins } from "../processes/ssh-sessions.ts";
import { readReservedIds } from "../reserved-ids.ts";
import { mountsWithin, readMounts } from "../safe-open.ts";
import type { HostSettings } from "../settings.ts";
import { createKeyFilePatterns } from "../sshd/sshd.ts";
import { valuesOf } from "../sshd/sshd-settings.ts";
import { readFoundKeys } from "./found-keys.ts";
import { sudoRules, waysOfHost, waysOfSshd } from "./ways-in.ts";

const LOWEST_UID = 1000;
/** Ranges of login.defs and subuid(5) that ordinary accounts are in, or that are no uids. */
const NOT_SYSTEM = /^(?:UID_|GID_|SYS_GID_|SUB_|\/etc\/)/;
/** Members of these are root, or can become it. */
const POWERFUL = new Set([
  "root",
  "sudo",
  "wheel",
  "admin",
  "adm",
  "docker",
  "lxd",
  "incus-admin",
  "libvirt",
  "disk",
  "shadow",
]);

/** See `Adopter.look`. */
export async function lookAtAccount(
  settings: HostSettings,
  name: string,
  wanted: NewName,
): Promise<FoundAccount | undefined> {
  const table = readAccounts();
  const entry = table.passwd.get(name);
  const known = await nameServiceEntry(name);
  if (entry === undefined) return known && elsewhere(known);
  const { password, expires } = table.shadow?.get(name) ?? { password: "*", expires: undefined };
  const asked = await createKeyFilePatterns(settings.tools).settingsFor(name);
  const patterns =
    asked.settings && valuesOf(asked.settings, "AuthorizedKeysFile").flatMap((value) => value.split(" "));
  const groups = [...table.groups].filter(([group, { members }]) => group !== name && members.has(name));
  return {
    ...entry,
    shell: shellOf(name),
    groups: groups.map(([group]) => group),
    password: password === "" ? "empty" : /^[!*]/.test(password) ? "none" : "set",
    expires,
    keyFiles: readFoundKeys(patterns, entry),
    otherWays: [
      ...(asked.settings === undefined ? [] : waysOfSshd(asked.settings, !/^[!*]/.test(password))),
      ...(asked.problem === undefined ? [] : [asked.problem]),
      ...groups
        .filter(([group]) => POWERFUL.has(group))
        .map(([group]) => `Its group ${group} can give it root's rights`),
      ...(await waysOfHost(entry)),
    ],
    sudo: await sudoRules(name),
    processes: listedOf(readProcesses(), entry.uid).length,
    sessions: countLogins([entry])?.get(name),
    obstacles: [
      ...(known === undefined || known.uid === entry.uid
        ? []
        : [`The name service switch knows another ${name}, with the uid ${known.uid}`]),
      ...obstaclesOf(settings, table, entry),
      ...homeObstacles(settings, table, entry, wanted),
    ],
  };
}

/** An account of LDAP, NIS or the like is not this host's to give. */
function elsewhere(known: PasswdEntry): FoundAccount {
  const obstacles = [`${known.name} is not in /etc/passwd: it comes from a directory such as LDAP, and stays there`];
  const none = { groups: [], keyFiles: [], otherWays: [], sudo: [], processes: 0, sessions: undefined };
  return { ...known, ...none, shell: "", password: "none", expires: undefined, obstacles };
}

/** Why an account of the table cannot be a user's, whatever its home is. */
function obstaclesOf(settings: HostSettings, table: AccountTable, entry: PasswdEntry): readonly string[] {
  const { name, uid, gid } = entry;
  const system = readReservedIds().find((range) => !NOT_SYSTEM.test(range.what) && isWithin(uid, range));
  const sharing = (table.namesByUid.get(uid) ?? []).filter((other) => other !== name);
  const own = table.groups.get(name);
  const inGroup = [...table.passwd.values()].filter((other) => other.gid === gid && other.name !== name);
  const members = [...(own?.members ?? [])].filter((member) => member !== name);
  return [
    ...(uid < LOWEST_UID || system !== undefined ? [`${name} is an account of the system (uid ${uid})`] : []),
    ...(sharing.length === 0 ? [] : [`${sharing.join(", ")} has the same uid ${uid}`]),
    ...(settings.uidRange !== undefined && isWithin(uid, settings.uidRange)
      ? [`${name} has the uid ${uid}, which only this service gives (UAM_UID_RANGE)`]
      : []),
    ...(isMarked(table, entry, settings.markerGroup)
      ? [`${name} is in ${settings.markerGroup}: it is a user's already`]
      : []),
    ...(table.shadow?.has(name) === true ? [] : [`${name} has no entry in /etc/shadow`]),
    ...(own?.gid === gid && inGroup.length === 0 && members.length === 0
      ? []
      : [
          `${name} has no group of its own, or shares it. Give it one: groupadd ${name}; usermod -g ${name} ${name}; and move the others out of it`,
        ]),
  ];
}

function homeObstacles(
  settings: HostSettings,
  table: AccountTable,
  { name, uid, home }: PasswdEntry,
  wanted: NewName,
): readonly string[] {
  const inBase = home.startsWith(`${settings.homeBase}/`) && !home.slice(settings.homeBase.length + 1).includes("/");
  if (!inBase || /\/\.{0,2}$/.test(home))
    return [`The home of ${name} is ${home}, not in ${settings.homeBase} (UAM_HOME_BASE): move it there first`];
  const stat = lstatSync(home, { throwIfNoEntry: false });
  if (stat?.isDirectory() !== true || stat.uid !== uid) return [`${home} is not a directory that belongs to ${name}`];
  const others = [...table.passwd.values()].filter((other) => other.home === home && other.name !== name);
  const mounts = mountsWithin(readMounts(), home);
  const place = `${settings.homeBase}/${wanted.name}`;
  const isTaken = wanted.name !== name && (table.passwd.has(wanted.name) || table.groups.has(wanted.name));
  return [
    ...others.map((other) => `${other.name} has the same home ${home}`),
    ...mounts.map(({ path }) => `${path} is a mount: unmount it first`),
    ...(isTaken ? [`The host already has an account or a group named ${wanted.name}`] : []),
    ...(place !== home && lstatSync(place, { throwIfNoEntry: false }) !== undefined ? [`${place} exists already`] : []),
  ];
}

function shellOf(name: string): string {
  const line = readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .find((one) => one.startsWith(`${name}:`));
  return line?.split(":")[6] ?? "";
}
