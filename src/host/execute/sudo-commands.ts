/** The commands that sudo mode runs, each with the user it runs as. Pure; the sudoers file is made from these very commands. */

import type { AccountRef } from "../../protocol/host.ts";
import { UamError } from "../../shared/errors.ts";
import { MAX_KEY_FILE } from "../key-file/key-file-text.ts";
import type { KeyFile } from "../key-file/key-path.ts";
import { type HostSettings, isPlainPath, type Layout } from "../settings.ts";
import { settingsCommand } from "../sshd/sshd.ts";
import { withoutDirectory } from "../sshd/sshd-settings.ts";

/**
 * `root`; or the account's `owner`; or `observer`, which has only the owner's rights to files, but a real uid
 * of the service's: the owner can neither trace it nor change what it says (ptrace(2), access mode checks).
 */
export type RunAs = "root" | "owner" | "observer";

export interface SudoCommand {
  readonly as: RunAs;
  readonly argv: readonly string[];
  /** It only looks, and so often that sudo need not log it. */
  readonly quiet?: true;
}

/** Type and mode, uid, gid, size and path; see `parseViews`. */
const VIEW = "--format=%f/%u/%g/%s%n";
const SAFE_PATH = /^[A-Za-z0-9._/-]+$/;

/** Where homes wait to be deleted. */
export function trashPath(base: string): string {
  return `${base}/.uam-trash`;
}

/**
 * Throws `invalid` for a layout that sudo mode does not support: key files must be in the homes, where their owner may write
 * them, and paths must contain nothing that sudoers would read as its own syntax.
 */
export function requireSudoLayout(layout: Layout): void {
  const fail = (message: string): never => {
    throw new UamError("invalid", `UAM_HOST_MODE=sudo ${message}`);
  };
  const pattern = layout.authorizedKeysFile;
  if (pattern.startsWith("/")) {
    fail(`needs UAM_AUTHORIZED_KEYS_FILE in the home, such as %h/.ssh/authorized_keys, not ${pattern}`);
  }
  if (!SAFE_PATH.test(pattern.replace(/^%h\//, "").replace(/%[uU]/g, ""))) {
    fail(`needs a plainer UAM_AUTHORIZED_KEYS_FILE (letters, digits, . _ - /, %u, %U): ${pattern}`);
  }
  if (!SAFE_PATH.test(layout.homeBase) || !isPlainPath(layout.homeBase)) {
    fail(`needs a plainer UAM_HOME_BASE, such as /home (letters, digits, . _ - /): ${layout.homeBase}`);
  }
  if (!SAFE_PATH.test(layout.shell)) fail(`needs a plainer UAM_SHELL (letters, digits, . _ - /): ${layout.shell}`);
}

/** The file that sshd reads besides `.ssh/authorized_keys` unless its configuration says otherwise. */
export function secondKeyFile(layout: Layout): string | undefined {
  return /^(?:%h\/)?\.ssh\/authorized_keys$/.test(layout.authorizedKeysFile) ? ".ssh/authorized_keys2" : undefined;
}

/** The account's own directories on the way to the file, below its home. */
export function directoriesOf(file: KeyFile): readonly string[] {
  return file.owned.slice(1).map((_, index) => [file.owner.home, ...file.owned.slice(1, index + 2)].join("/"));
}

/** Inspects the directories and the file themselves, never the target of a link in the last place. */
export function viewCommand(file: KeyFile): SudoCommand {
  return { as: "observer", argv: ["/usr/bin/stat", VIEW, "--", ...directoriesOf(file), file.path] };
}

/** Prints the file; follows no link and does not wait for a FIFO or a lease. */
export function readCommand(file: KeyFile): SudoCommand {
  const how = ["iflag=nofollow,nonblock,fullblock", `bs=${MAX_KEY_FILE}`, "count=1", "status=none"];
  return { as: "observer", argv: ["/usr/bin/dd", `if=${file.path}`, ...how] };
}

/** Gives the owner of a home access to it again. */
export function openHomeCommand(home: string): SudoCommand {
  return { as: "owner", argv: ["/usr/bin/chmod", "u+rwx", "--", home] };
}

export function makeDirectoryCommand(path: string): SudoCommand {
  return { as: "owner", argv: ["/usr/bin/mkdir", "-m", "0700", "--", path] };
}

/** Five digits: chmod(1) clears the setgid bit of a directory with no fewer. */
export function closeDirectoryCommand(path: string): SudoCommand {
  return { as: "owner", argv: ["/usr/bin/chmod", "00700", "--", path] };
}

/** Replaces the file by standard input; removes a link, a FIFO or a hard link in its place and never writes through it. */
export function installCommand(path: string): SudoCommand {
  return { as: "owner", argv: ["/usr/bin/install", "-T", "-m", "0600", "--", "/dev/stdin", path] };
}

/** Detaches a FUSE mount as its owner: fusermount(1) itself checks that it is one. */
export function detachCommands(path: string): readonly SudoCommand[] {
  return ["/usr/bin/fusermount3", "/usr/bin/fusermount"].map((program) => ({
    as: "owner",
    argv: [program, "-u", "-z", "--", path],
  }));
}

/**
 * Ends sshd's own processes for the account's connections, found by the title that only root can give a root process: whatever stage
 * it names behind the account (`[priv]`, and `[postauth]` from OpenSSH 10.5 on).
 */
export function endConnectionsCommand(account: AccountRef): SudoCommand {
  const title = `sshd(-session)?: ${account.name} .*`;
  return { as: "root", argv: ["/usr/bin/pkill", "-KILL", "-U", "0", "-x", "-f", "--", title] };
}

/** Kills the account's processes as root, by a listing of them; the account can do nothing to root's processes. */
export function killSeenCommands({ uid }: AccountRef): readonly SudoCommand[] {
  return ["-u", "-U"].map((which) => ({ as: "root", argv: ["/usr/bin/pkill", "-KILL", which, String(uid)] }));
}

/**
 * Kills every process of the account at one moment, by this very program as root: a program that became the account's uid and
 * then ran another (setpriv(1) and kill(1)) could be stopped and killed by it, since that sets the saved uid, too.
 */
export function sweepCommand({ uid }: AccountRef, program: readonly string[]): SudoCommand {
  return { as: "root", argv: [...program, "sweep", String(uid)] };
}

export function shadowCommand(names: readonly string[]): SudoCommand {
  return { as: "root", argv: ["/usr/bin/getent", "shadow", ...names] };
}

export function removeFileCommand(path: string): SudoCommand {
  return { as: "root", argv: ["/usr/bin/rm", "-f", "--", path] };
}

export function removeOwnedCommand(directory: string, uid: number): SudoCommand {
  const which = ["-mindepth", "1", "-maxdepth", "1", "-type", "f", "-uid", String(uid)];
  return { as: "root", argv: ["/usr/bin/find", directory, ...which, "-delete"] };
}

export function makeTrashCommand(base: string): SudoCommand {
  return { as: "root", argv: ["/usr/bin/mkdir", "-m", "0700", "--", trashPath(base)] };
}

/** Renames a home into the trash. The home's own entry is in a directory of root's, so the owner can only choose what is moved. */
export function moveHomeCommand(base: string, name: string, mark: string): SudoCommand {
  return { as: "root", argv: ["/usr/bin/mv", "-T", "--", `${base}/${name}`, `${trashPath(base)}/${name}.${mark}`] };
}

export function listTrashCommand(base: string): SudoCommand {
  return { as: "root", argv: ["/usr/bin/ls", "-A", "--", trashPath(base)] };
}

export function deleteTrashCommand(base: string, entry: string): SudoCommand {
  return { as: "root", argv: ["/usr/bin/rm", "-rf", "--one-file-system", "--", `${trashPath(base)}/${entry}`] };
}

/** Both forms of the question; see `askedForSettings`. */
export function keyFilesCommands(name: string, tools: HostSettings["tools"]): readonly SudoCommand[] {
  const argv = settingsCommand(name, tools);
  return [argv, withoutDirectory(argv)].map((argv) => ({ as: "root", argv }));
}

/** Names those that differ of the accounts in standard input, by this very program as root, which looks at all of them at once. */
export function lookCommand(layout: Layout, program: readonly string[]): SudoCommand {
  const where = [layout.markerGroup, layout.homeBase, layout.authorizedKeysFile];
  return { as: "root", argv: [...program, "host", "look", ...where], quiet: true };
}

/** Lists who is logged in to the account, by this very program as root, which alone may see what proves it. */
export function sessionsCommand(account: AccountRef, program: readonly string[]): SudoCommand {
  return { as: "root", argv: [...program, "host", "sessions", account.name, String(account.uid)], quiet: true };
}

/** Reads sshd's refusals of the account from the journal, and nothing else of it. */
export function refusalsCommand({ name, uid }: AccountRef, program: readonly string[]): SudoCommand {
  return { as: "root", argv: [...program, "host", "refusals", name, String(uid)], quiet: true };
}

/** Ends one of these logins; the program itself checks that it is one of this account. */
export function endSessionCommand({ name, uid }: AccountRef, id: string, program: readonly string[]): SudoCommand {
  return { as: "root", argv: [...program, "host", "end-session", name, String(uid), id] };
}

/** Copies what is scheduled for the account to where only root can look, by this very program as root. */
export function keepJobsCommand({ name, uid }: AccountRef, program: readonly string[]): SudoCommand {
  return { as: "root", argv: [...program, "host", "keep-jobs", name, String(uid)] };
}

/** Removes such copies once they are old. */
export function forgetJobsCommand(program: readonly string[]): SudoCommand {
  return { as: "root", argv: [...program, "host", "forget-jobs"], quiet: true };
}

/** Reads sshd's logins of our accounts from the journal, and nothing else of it. `from` in hexadecimal digits: it is journald's text. */
export function loginsCommand(from: string, program: readonly string[]): SudoCommand {
  return { as: "root", argv: [...program, "host", "logins", from], quiet: true };
}
