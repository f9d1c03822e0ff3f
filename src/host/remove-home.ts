/** Moving a home out of its place and deleting it, in whatever state it is: no link is followed and no mount is crossed. */

import { randomBytes } from "node:crypto";
import { closeSync, fstatSync, lstatSync, mkdirSync, readdirSync, realpathSync, renameSync, type Stats } from "node:fs";
import { UamError } from "../shared/errors.ts";
import type { Log } from "../shared/log.ts";
import { faultPoint } from "../shared/work/fault-point.ts";
import { type CommandResult, findCommand, runCommand } from "./command.ts";
import { clearDirectoryFlags } from "./key-file/take.ts";
import { at, errorCode, mountsWithin, openDirectory, openTrusted, ownUid, readMounts } from "./safe-open.ts";

/** Beside the homes, so that moving there is a rename; root's alone, so that nobody can interfere with the deletion. */
export const TRASH = ".uam-trash";
const DELETE_TIMEOUT = 20_000;
const CHATTR = "/usr/bin/chattr";

/** Creates the trash of `base`, so that deleting something later needs no space for it. */
export function makeTrash(base: string): void {
  const opened: number[] = [];
  try {
    const top = openTrusted(base);
    opened.push(top);
    opened.push(openTrash(top));
  } catch (error) {
    if (error instanceof UamError) throw error;
    throw new UamError("internal", `Cannot make ${base}/${TRASH}: ${errorCode(error) || "unexpected error"}`, {
      cause: error,
    });
  } finally {
    for (const fd of opened) closeSync(fd);
  }
}

/**
 * Like `setAside`; what an attribute (chattr(1)) prevents from being moved is moved without it, if this process may. If even a
 * rename finds no space, as with a used-up quota, it is deleted in place: deleting needs none.
 */
export async function setAsideAnyhow(base: string, path: readonly string[], uid: number): Promise<void> {
  try {
    setAside(base, path, uid);
  } catch (error) {
    const code = error instanceof UamError ? errorCode(error.cause) : "";
    if (code === "EPERM") {
      await clearFlagsOf(base, path);
      setAside(base, path, uid);
    } else if (code === "ENOSPC" || code === "EDQUOT") {
      await deleteInPlace(`${realpathSync(base)}/${path.join("/")}`, path.length, error);
    } else throw error;
  }
}

/** For what is directly in `base`, which is root's: nobody else can put something in its place meanwhile. */
async function deleteInPlace(path: string, depth: number, cause: unknown): Promise<void> {
  if (depth > 1) throw cause;
  const result = await deleteTree(path);
  if (result.exitCode === -1)
    throw new UamError("internal", `${path} takes long to delete; the deletion continues later`);
  if (result.exitCode !== 0)
    throw new UamError("internal", `${path} could not be removed completely: ${refusal(result)}`);
}

/**
 * Renames `<base>/<path…>` into the trash of `base`; false if there is nothing. Refuses with `conflict` what belongs to
 * neither `uid` nor root, and with `internal` what has a mount in it. A link is moved, never followed.
 */
export function setAside(base: string, path: readonly string[], uid: number): boolean {
  const opened: number[] = [];
  const whole = `${base}/${path.join("/")}`;
  try {
    const top = openTrusted(base);
    opened.push(top);
    let parent = top;
    for (const part of path.slice(0, -1)) {
      parent = openDirectory(parent, part);
      opened.push(parent);
    }
    const name = path.at(-1) ?? "";
    // First: a FUSE server need not answer who it is.
    requireNoMounts(`${realpathSync(base)}/${path.join("/")}`);
    requireOurs(whole, lstatSync(at(parent, name)), uid);
    const trash = openTrash(top);
    opened.push(trash);
    renameSync(at(parent, name), at(trash, `${path.join(".")}.${randomBytes(8).toString("hex")}`));
    return true;
  } catch (error) {
    if (errorCode(error) === "ENOENT") return false;
    if (error instanceof UamError) throw error;
    throw new UamError("internal", `Cannot move ${whole} away: ${errorCode(error) || "unexpected error"}`, {
      cause: error,
    });
  } finally {
    for (const fd of opened) closeSync(fd);
  }
}

/** The entries left in the trash of `base`. */
export function trashOf(base: string): readonly string[] {
  let top: number | undefined;
  let trash: number | undefined;
  try {
    top = openTrusted(base);
    trash = openDirectory(top, TRASH);
    return readdirSync(`/proc/self/fd/${trash}`);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return [];
    throw error;
  } finally {
    for (const fd of [trash, top]) if (fd !== undefined) closeSync(fd);
  }
}

/** The entries not deleted: those that need help, as sentences, and those that merely take long, as paths. */
export interface TrashLeft {
  readonly stuck: readonly string[];
  readonly slow: readonly string[];
}

/** Empties the trash of `base`, for all accounts or only that one; entries that cannot be deleted stay for the next time. */
export async function emptyTrash(base: string, account?: string): Promise<TrashLeft> {
  return await emptyEach(base, ofAccount(trashOf(base), account), async (path) => {
    const result = await deleteTree(path);
    if (!/Operation not permitted/.test(result.stderr) || findCommand(CHATTR) === undefined) return result;
    await runCommand([CHATTR, "-R", "-f", "-i", "-a", "--", path], DELETE_TIMEOUT);
    return await deleteTree(path);
  });
}

/** Throws `internal`, naming what is left and where, unless everything is deleted or will be. */
export function requireEmpty({ stuck, slow }: TrashLeft, log: Log): void {
  for (const path of slow) log.info(`${path} takes long to delete; the deletion continues later`);
  for (const sentence of stuck) log.error(sentence);
  if (stuck.length > 0) throw new UamError("internal", stuck.join("; "));
}

/** Those of the trash's entries that the account left; all without one. Entries are named `<account>.<…>`. */
export function ofAccount(names: readonly string[], account: string | undefined): readonly string[] {
  return account === undefined ? names : names.filter((name) => name.startsWith(`${account}.`));
}

/** Deletes each of the entries with `remove`, if nothing is mounted in it. */
export async function emptyEach(
  base: string,
  names: readonly string[],
  remove: (path: string, name: string) => Promise<CommandResult>,
): Promise<TrashLeft> {
  const stuck: string[] = [];
  const slow: string[] = [];
  for (const name of names) {
    const path = `${realpathSync(base)}/${TRASH}/${name}`;
    const mount = mountsWithin(readMounts(), path)[0];
    if (mount !== undefined) {
      stuck.push(`${path} is waiting to be deleted, but ${mount.path} is a mount point: unmount it`);
      continue;
    }
    const result = await remove(path, name);
    // -1: the time was up; entries deleted until then are gone.
    if (result.exitCode === -1) slow.push(path);
    else if (result.exitCode !== 0) stuck.push(`${path} could not be removed completely: ${refusal(result)}`);
  }
  return { stuck, slow };
}

/** rm(1)'s own message without its name: which file, and why. */
function refusal({ stderr, exitCode }: CommandResult): string {
  const line = stderr.split("\n").find((it) => it !== "") ?? `rm ended with ${exitCode}`;
  const [, file, why] = /^[^ ]*rm: cannot remove '(.*)': ([^:]+)$/.exec(line) ?? [];
  return file === undefined || why === undefined ? line : `${file}: ${why}`;
}

/** rm(1) works with openat and unlinkat, never follows a link and needs no stack for depth. */
function deleteTree(path: string): Promise<CommandResult> {
  faultPoint("trash: to be emptied");
  return runCommand(["/usr/bin/rm", "-rf", "--one-file-system", "--", path], DELETE_TIMEOUT);
}

async function clearFlagsOf(base: string, path: readonly string[]): Promise<void> {
  const opened: number[] = [];
  try {
    let directory = openTrusted(base);
    opened.push(directory);
    for (const name of path) {
      directory = openDirectory(directory, name);
      opened.push(directory);
      await clearDirectoryFlags(directory);
    }
  } catch (error) {
    // A file or link in the last place is moved as it is, or not at all.
    if (!["ENOTDIR", "ELOOP", "ENOENT"].includes(errorCode(error))) throw error;
  } finally {
    for (const fd of opened) closeSync(fd);
  }
}

function openTrash(top: number): number {
  try {
    mkdirSync(at(top, TRASH), 0o700);
  } catch (error) {
    if (errorCode(error) !== "EEXIST") throw error;
  }
  const trash = openDirectory(top, TRASH);
  const stat = fstatSync(trash);
  if (stat.uid === ownUid() && (stat.mode & 0o077) === 0) return trash;
  closeSync(trash);
  throw new UamError("internal", `${TRASH} beside the home directories is not root's alone: remove it`);
}

function requireOurs(path: string, stat: Stats, uid: number): void {
  if (stat.uid !== uid && stat.uid !== 0 && stat.uid !== ownUid()) {
    throw new UamError("conflict", `${path} belongs to uid ${stat.uid}, not to ${uid}: it is left alone`);
  }
}

function requireNoMounts(path: string): void {
  const mount = mountsWithin(readMounts(), path)[0];
  if (mount !== undefined) throw new UamError("internal", mountMessage(mount.path, path));
}

function mountMessage(mount: string, path: string): string {
  return `${mount} is a mount point: unmount it before ${path} is removed`;
}
