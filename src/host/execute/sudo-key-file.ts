/** The authorized-keys file in sudo mode: written as the account's owner, inspected in a way they cannot interfere with. */

import { randomBytes } from "node:crypto";
import { closeSync, constants, fchmodSync, lstatSync, openSync, unlinkSync, writeSync } from "node:fs";
import { publicMessage, UamError } from "../../shared/errors.ts";
import { octal } from "../../shared/text/octal.ts";
import { systemClock } from "../../shared/time/clock.ts";
import type { CommandResult } from "../command.ts";
import { isServed } from "../fuse-mounts.ts";
import { requireNoMount } from "../key-file/key-file-check.ts";
import { type KeyFileText, MAX_KEY_FILE } from "../key-file/key-file-text.ts";
import type { KeyFile } from "../key-file/key-path.ts";
import { errorCode, type Mount, openTrusted } from "../safe-open.ts";
import {
  closeDirectoryCommand,
  directoriesOf,
  installCommand,
  makeDirectoryCommand,
  openHomeCommand,
  readCommand,
  type SudoCommand,
  viewCommand,
} from "./sudo-commands.ts";
import { runSudo } from "./sudo-run.ts";

const ATTEMPTS = 4;
/** A hostile owner can slow commands down; a whole write takes no longer than this, in milliseconds. */
const BUDGET = 4_000;
/** The limit for each of these commands. */
const COMMAND_TIMEOUT = 2_000;
const TYPE = 0o170000;
const DIRECTORY = 0o040000;
const REGULAR = 0o100000;
const LINK = 0o120000;
/** Unlike a link, it may be there still after install(1). */
const NO_FILE = "a directory or a special file is in its place";
/** Where the text is put for install(1) to read: the first that can be written. The file's name is removed before anything is in it. */
const STAGES = ["/run/uam", "/var/lib/uam", "/tmp", "/dev/shm"] as const;

/** The report of stat(1) on one path. */
export interface View {
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  readonly size: number;
}

/** The state of a key file: why it is not as it should be, and whether sshd could read a key from it. */
export interface Finding {
  readonly difference: string | undefined;
  readonly home: number;
  readonly directories: readonly (View | undefined)[];
  readonly filled: boolean;
  /** The same for a file that could be the owner's; a file that root keeps behind a link is not their key. */
  readonly hisOwn: boolean;
}

/** How the file differs from what `writeKeysAsOwner` writes, as a clause; undefined if it does not. */
export async function keyFileDifference(
  file: KeyFile,
  text: string,
  mounts: readonly Mount[],
): Promise<string | undefined> {
  const found = await look(file, text, { mounts, deadline: now() + BUDGET });
  // Nothing better is possible if the owner's own link or file blocks the path, and there is no key to be read.
  return text === "" && !found.hisOwn && obstacle(file, found) !== undefined ? undefined : found.difference;
}

/**
 * Makes the file hold exactly `text`, mode 0600, in directories of mode 0700, and checks that it does. Only commands that
 * run as the owner touch the home, so nothing they set up there affects what is not theirs. Not atomic: between install's removal
 * of the old file and the end of the new one the file is missing or incomplete. Throws `conflict` if a link or file of the
 * owner's blocks the path and `internal` if they keep changing it; an empty text is satisfied
 * if sshd can read no key of theirs.
 */
export async function writeKeysAsOwner(file: KeyFile, text: string, mounts: readonly Mount[]): Promise<void> {
  const deadline = now() + BUDGET;
  let found = await look(file, text, { mounts, deadline });
  for (let attempt = 0; found.difference !== undefined && attempt < ATTEMPTS && now() < deadline; attempt++) {
    const run = (command: SudoCommand, input?: number) =>
      runSudo(command, {
        user: file.owner.name,
        timeout: timeLeft(deadline),
        ...(input === undefined ? {} : { input }),
      });
    if ((found.home & 0o700) !== 0o700) await run(openHomeCommand(file.owner.home));
    for (const [index, path] of directoriesOf(file).entries()) {
      const view = found.directories[index];
      if (view === undefined) await run(makeDirectoryCommand(path));
      if (view === undefined || (isDirectory(view) && (view.mode & 0o7777) !== 0o700)) {
        await run(closeDirectoryCommand(path));
      }
    }
    await withInput(text, (input) => run(installCommand(file.path), input));
    found = await look(file, text, { mounts, deadline });
  }
  if (found.difference === undefined || (text === "" && !found.hisOwn)) return;
  const why = obstacle(file, found);
  const sentence = `Cannot write ${file.path} for ${file.owner.name}: ${why ?? found.difference}`;
  throw new UamError(why === undefined ? "internal" : "conflict", sentence);
}

/** Empties a file that sshd would read besides ours, if it could read a key from it. True if it did. */
export async function emptyAsOwner(file: KeyFile, mounts: readonly Mount[]): Promise<boolean> {
  const deadline = now() + BUDGET;
  for (let attempt = 0; attempt < ATTEMPTS && now() < deadline; attempt++) {
    const found = await look(file, "", { mounts, deadline });
    if (!found.filled) return attempt > 0;
    const options = { user: file.owner.name, timeout: timeLeft(deadline) };
    await withInput("", (input) => runSudo(installCommand(file.path), { ...options, input }));
  }
  const found = await look(file, "", { mounts, deadline: now() + COMMAND_TIMEOUT });
  if (!found.filled) return true;
  throw new UamError("internal", `Cannot empty ${file.path} of ${file.owner.name}: its owner keeps putting it back`);
}

/** The content that sshd could read from the file: it reads with the owner's rights, as this does. */
export async function keyFileText(file: KeyFile, mounts: readonly Mount[]): Promise<KeyFileText> {
  try {
    requireNoMount(file, mounts);
    const options = { user: file.owner.name, timeout: COMMAND_TIMEOUT };
    const view = viewsOf(file, await runSudo(viewCommand(file), options)).get(file.path);
    if (!canHoldKeys(view) || view === undefined) return { text: "" };
    if ((view.mode & TYPE) === LINK) return { text: "", problem: "is a link" };
    if (view.size > MAX_KEY_FILE) return { text: "", problem: "is too long to be searched" };
    const read = await runSudo(readCommand(file), options);
    return read.exitCode === 0 ? { text: read.stdout } : { text: "", problem: "cannot be read" };
  } catch (error) {
    if (!(error instanceof UamError)) throw error;
    return { text: "", problem: `cannot be inspected: ${publicMessage(error)}` };
  }
}

/** Why stat(1) has nothing to print for a path that sshd, with the owner's rights, could not read either (LC_ALL=C). */
const ABSENT = [
  "No such file or directory",
  "Not a directory",
  "Permission denied",
  "Too many levels of symbolic links",
];

/** Parses the output of `viewCommand`. A path is absent only if stat(1) says so: a failed command proves nothing, and throws `internal`. Pure. */
export function viewsOf(file: KeyFile, { exitCode, stdout, stderr }: CommandResult): ReadonlyMap<string, View> {
  const views = parseViews(stdout);
  const isAbsent = (path: string) => ABSENT.some((reason) => stderr.includes(`'${path}': ${reason}`));
  const isAnswered = [...directoriesOf(file), file.path].every((path) => views.has(path) || isAbsent(path));
  if ((exitCode !== 0 && exitCode !== 1) || !isAnswered) throw unanswered(file);
  return views;
}

/** Parses what `viewCommand` prints: path to view. A path that is missing or closed to its owner is not in it. Pure. */
export function parseViews(text: string): ReadonlyMap<string, View> {
  const views = new Map<string, View>();
  for (const line of text.split("\n")) {
    const match = /^([0-9a-f]+)\/(\d+)\/(\d+)\/(\d+)(\/.*)$/.exec(line);
    if (match === null) continue;
    const [, mode = "", uid, gid, size, path = ""] = match;
    views.set(path, { mode: Number.parseInt(mode, 16), uid: Number(uid), gid: Number(gid), size: Number(size) });
  }
  return views;
}

async function look(
  file: KeyFile,
  text: string,
  how: { readonly mounts: readonly Mount[]; readonly deadline: number },
): Promise<Finding> {
  requireNoMount(file, how.mounts);
  const home = requireHome(file);
  const options = () => ({ user: file.owner.name, timeout: timeLeft(how.deadline) });
  const finding = findingOf(file, text, { home, views: viewsOf(file, await runSudo(viewCommand(file), options())) });
  if (finding.difference !== undefined) return finding;
  const read = await runSudo(readCommand(file), options());
  const differs = read.exitCode !== 0 || read.stdout !== text;
  return { ...finding, difference: differs ? "its content differs" : undefined };
}

/** The state of the file as far as it is known without reading it. Pure. */
export function findingOf(
  file: KeyFile,
  text: string,
  { home, views }: { readonly home: number; readonly views: ReadonlyMap<string, View> },
): Finding {
  const paths = directoriesOf(file);
  const view = views.get(file.path);
  const directories = paths.map((path) => views.get(path));
  const difference =
    ((home & 0o700) === 0o700 ? undefined : `its home has mode ${octal(home)}`) ??
    paths.map((path, index) => directoryDifference(path, directories[index], file.owner.uid)).find((it) => it) ??
    fileDifference(file, view, text);
  return { home, directories, filled: canHoldKeys(view), hisOwn: canHoldKeys(view, file.owner.uid), difference };
}

/** The home's mode, seen from outside: it and the path to it must be as they were created. */
function requireHome(file: KeyFile): number {
  const { home, name, uid } = file.owner;
  closeSync(openTrusted(file.trusted));
  if (isServed(home)) throw new UamError("internal", `${home} is a FUSE mount point: unmount it`);
  try {
    const stat = lstatSync(home);
    if (stat.isDirectory() && stat.uid === uid) return stat.mode & 0o7777;
  } catch (error) {
    if (errorCode(error) === "") throw error;
  }
  throw new UamError("conflict", `The home directory ${home} of ${name} is missing, or is not its own directory`);
}

function directoryDifference(path: string, view: View | undefined, uid: number): string | undefined {
  if (view === undefined) return `${path} is missing`;
  if (!isDirectory(view)) return `${path} is not a directory`;
  if (view.uid !== uid) return `${path} belongs to uid ${view.uid}`;
  return (view.mode & 0o7777) === 0o700 ? undefined : `${path} has mode ${octal(view.mode)}`;
}

function fileDifference(file: KeyFile, view: View | undefined, text: string): string | undefined {
  if (view === undefined) return "it is missing";
  if ((view.mode & TYPE) === LINK) return "a link is in its place";
  if ((view.mode & TYPE) !== REGULAR) return NO_FILE;
  if (view.uid !== file.owner.uid || view.gid !== file.owner.gid) return `it belongs to ${view.uid}:${view.gid}`;
  if ((view.mode & 0o7777) !== 0o600) return `it has mode ${octal(view.mode)}`;
  return view.size === Buffer.byteLength(text) ? undefined : "its content differs";
}

/** sshd reads keys from regular files only (auth2-pubkeyfile.c), but through links. */
function canHoldKeys(view: View | undefined, uid = view?.uid): boolean {
  if (view === undefined) return false;
  return (view.mode & TYPE) === LINK || ((view.mode & TYPE) === REGULAR && view.size > 0 && view.uid === uid);
}

/** The first obstacle on the path that the permitted commands cannot remove; undefined if there is none. Pure. */
export function obstacle(file: KeyFile, found: Finding): string | undefined {
  const paths = directoriesOf(file);
  const blocked = found.directories.findIndex((view) => view !== undefined && !isDirectory(view));
  if (blocked >= 0) return `${paths[blocked]} is not a directory; its owner has to remove it`;
  const foreign = found.directories.findIndex((view) => view !== undefined && view.uid !== file.owner.uid);
  if (foreign >= 0) return `${paths[foreign]} belongs to another uid; remove it`;
  return found.difference === NO_FILE ? `${file.path} is not a file; its owner has to remove it` : undefined;
}

/** Gives `work` an open file that contains the text and has no name; an empty text needs no space anywhere. */
export async function withInput(text: string, work: (fd: number) => Promise<unknown>): Promise<void> {
  const fd = text === "" ? openSync("/dev/null", constants.O_RDONLY) : stage(text);
  try {
    await work(fd);
  } finally {
    closeSync(fd);
  }
}

function stage(text: string): number {
  const bytes = Buffer.from(text);
  const flags = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  let cause: unknown;
  for (const directory of STAGES) {
    const path = `${directory}/.uam.${randomBytes(16).toString("hex")}`;
    let fd: number | undefined;
    try {
      fd = openSync(path, flags, 0o600);
      unlinkSync(path);
      for (let offset = 0; offset < bytes.length; ) offset += writeSync(fd, bytes, offset, bytes.length - offset);
      // The owner can take the descriptor from install(1), which runs as them; public keys are no secret, and nobody else can open it.
      fchmodSync(fd, 0o644);
      const readOnly = openSync(`/proc/self/fd/${fd}`, constants.O_RDONLY);
      closeSync(fd);
      return readOnly;
    } catch (error) {
      if (fd !== undefined) closeSync(fd);
      if (errorCode(error) === "") throw error;
      cause = error;
    }
  }
  throw new UamError("internal", `No space to prepare a key file in any of ${STAGES.join(", ")}`, { cause });
}

function unanswered(file: KeyFile): UamError {
  return new UamError("internal", `Cannot inspect ${file.path} of ${file.owner.name}: stat did not answer`);
}

/** At least a moment, so that a check at the end of the time can still succeed. */
function timeLeft(deadline: number): number {
  return Math.max(200, Math.min(COMMAND_TIMEOUT, deadline - now()));
}

function isDirectory(view: View): boolean {
  return (view.mode & TYPE) === DIRECTORY;
}

function now(): number {
  return systemClock.now().getTime();
}
