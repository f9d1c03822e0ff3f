/** What the host itself has to have for a profile: programs, directories, and what its owner allows. */

import { chmodSync, closeSync, fstatSync, lstatSync, mkdirSync, realpathSync, statSync } from "node:fs";
import type { HostProfile } from "../../protocol/profile.ts";
import { publicMessage } from "../../shared/errors.ts";
import { splitHome } from "../plan/plan.ts";
import { errorCode, openTrusted } from "../safe-open.ts";
import type { Layout } from "../settings.ts";
import { COMMANDS_DIRECTORY, isProfileGroup, type ProfilePaths } from "./names.ts";
import { textIn } from "./profile-files.ts";

/** Groups that nobody gets by a profile, whatever a file says: their members are root's equals, or accounts that are ours. */
const NEVER = [
  "root",
  "shadow",
  "disk",
  "kmem",
  "sudo",
  "wheel",
  "admin",
  "docker",
  "lxd",
  "incus-admin",
  "libvirt",
  "uam-ext",
];
const OPEN_TO_ALL = 0o005;
const WRITABLE = 0o022;

/** Sentences: what keeps accounts out altogether, and what they do without. */
export interface Lacks {
  readonly shut: readonly string[];
  readonly without: readonly string[];
}

/** What this host lacks for the profile. Makes a missing directory for files, as root's. Never throws. */
export function lacksOf(profile: HostProfile, layout: Layout, paths: ProfilePaths): Lacks {
  const { kind, command = "", directory = "", banner, groups = [] } = profile;
  const inHomes = kind !== "shell" && !layout.authorizedKeysFile.startsWith("/");
  const allowed = allowedGroups(paths);
  return {
    shut: [
      ...(inHomes
        ? ["Key files are in the homes, which only a shell's owner has: move them with uam install --move-keys"]
        : []),
      ...(kind === "command" ? found(() => commandFault(command)) : []),
      ...(kind === "sftp" ? found(() => directoryFault(directory)) : []),
    ],
    without: [
      ...(banner === undefined ? [] : found(() => bannerFault(banner))),
      ...(kind === "shell" ? groups : [])
        .filter((group) => !allowed.has(group))
        .map((group) => `${paths.groups} does not allow the group ${group}`),
    ],
  };
}

/** The groups that the host's owner lets profiles give. Throws `internal` if that cannot be read. */
export function allowedGroups({ groups }: ProfilePaths): ReadonlySet<string> {
  const named = textIn(groups)
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#"));
  return new Set(named.filter((group) => !NEVER.includes(group) && !isProfileGroup(group)));
}

function found(look: () => string | undefined): readonly string[] {
  try {
    const fault = look();
    return fault === undefined ? [] : [fault];
  } catch (error) {
    return [publicMessage(error)];
  }
}

/** Only what nobody but root can replace may run in place of what the client asked for. */
function commandFault(name: string): string | undefined {
  const path = `${COMMANDS_DIRECTORY}/${name}`;
  if (!exists(path)) return `${path} does not exist`;
  for (const directory of [COMMANDS_DIRECTORY, splitHome(realpathSync(path)).base]) {
    const fault = closedFault(directory);
    if (fault !== undefined) return fault;
  }
  const stat = statSync(path);
  if (!stat.isFile()) return `${path} is no program`;
  if (stat.uid !== 0 || (stat.mode & WRITABLE) !== 0) return `${path} can be changed by others than root`;
  return (stat.mode & OPEN_TO_ALL) === OPEN_TO_ALL ? undefined : `${path} is not for everybody to run: chmod 0755`;
}

/** As sshd wants what it confines somebody to: root's, all the way. */
function directoryFault(path: string): string | undefined {
  if (!exists(path)) {
    const { base, name } = splitHome(path);
    const fd = openTrusted(base);
    try {
      const directory = `/proc/self/fd/${fd}/${name}`;
      mkdirSync(directory);
      // Whatever the umask of the service is.
      chmodSync(directory, 0o755);
    } catch (error) {
      return `${path} cannot be made (${errorCode(error)}): make it, as root's and with mode 0755`;
    } finally {
      closeSync(fd);
    }
  }
  if (realpathSync(path) !== path) return `${path} is not the directory itself but a link to it`;
  return closedFault(path);
}

function closedFault(path: string): string | undefined {
  const fd = openTrusted(path);
  try {
    const { mode } = fstatSync(fd);
    return (mode & OPEN_TO_ALL) === OPEN_TO_ALL ? undefined : `${path} is not for everybody to pass: chmod 0755`;
  } finally {
    closeSync(fd);
  }
}

function bannerFault(path: string): string | undefined {
  if (!exists(path)) return `${path}, which would be shown before a login, does not exist`;
  const stat = statSync(path);
  const isRoots = stat.isFile() && stat.uid === 0 && (stat.mode & WRITABLE) === 0;
  return isRoots ? undefined : `${path}, which would be shown before a login, can be changed by others than root`;
}

function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}
