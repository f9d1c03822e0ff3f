/** Taking a home out of its place and deleting it, however it was left: no link is followed and no mount is crossed. */

import { randomBytes } from "node:crypto";
import { closeSync, fstatSync, lstatSync, mkdirSync, readdirSync, realpathSync, renameSync, type Stats } from "node:fs";
import { UamError } from "../shared/errors.ts";
import { runCommand } from "./execute/command.ts";
import { at, errorCode, type Mount, mountsWithin, openDirectory, openTrusted, ownUid, readMounts } from "./walk.ts";

/** Beside the homes, so that moving there is a rename; root's alone, so that nobody can interfere with the deleting. */
export const TRASH = ".uam-trash";
const DELETE_TIMEOUT = 20_000;

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
    const stat = lstatSync(at(parent, name));
    requireOurs(whole, stat, uid);
    requireNoMounts(`${realpathSync(base)}/${path.join("/")}`);
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

/**
 * Throws `internal` if something is mounted at `home` or below it that is not the uid's own FUSE mount: a home with
 * other data in it is an administrator's to sort out, before anything is removed.
 */
export function requireRemovable(home: string, uid: number): void {
  const path = realHome(home);
  const own = fuseMountsOf(readMounts(), path, uid);
  const mount = mountsWithin(readMounts(), path).find((candidate) => !own.includes(candidate.path));
  if (mount !== undefined) throw new UamError("internal", mountMessage(mount.path, home));
}

/** Detaches the uid's own FUSE mounts at `home` or below it, the innermost first. */
export async function detachFuse(home: string, uid: number): Promise<void> {
  for (const path of [...fuseMountsOf(readMounts(), realHome(home), uid)].reverse()) {
    const result = await runCommand(["/usr/bin/umount", "--lazy", "--no-canonicalize", "--", path]);
    if (result.exitCode !== 0) throw new UamError("internal", mountMessage(path, home));
  }
}

/** Where `uid` mounted with FUSE at `path` or below it, in the order of mounting; `user_id` is the kernel's word (fuse(4)). */
export function fuseMountsOf(mounts: readonly Mount[], path: string, uid: number): readonly string[] {
  return mountsWithin(mounts, path)
    .filter((mount) => mount.type.startsWith("fuse") && mount.options.split(",").includes(`user_id=${uid}`))
    .map((mount) => mount.path);
}

/** What is left in the trash of `base`. */
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

/** Deletes what is in the trash of `base`; sentences about what could not be deleted, which stays there for the next time. */
export async function emptyTrash(base: string): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const name of trashOf(base)) {
    const path = `${realpathSync(base)}/${TRASH}/${name}`;
    const mount = mountsWithin(readMounts(), path)[0];
    if (mount !== undefined) {
      problems.push(`${path} waits to be deleted, but ${mount.path} is a mount point: unmount it`);
      continue;
    }
    // rm(1) works with openat and unlinkat, never follows a link and needs no stack for depth.
    const result = await runCommand(["/usr/bin/rm", "-rf", "--one-file-system", "--", path], DELETE_TIMEOUT);
    if (result.exitCode !== 0)
      problems.push(`${path} could not be deleted: ${result.stderr.split("\n")[0] || "it takes long"}`);
  }
  return problems;
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

/** Only the way to the home is resolved, which is root's; the home itself may be a link to anywhere. */
function realHome(home: string): string {
  const cut = home.lastIndexOf("/");
  const base = home.slice(0, cut) || "/";
  try {
    return `${realpathSync(base)}${home.slice(cut)}`;
  } catch (error) {
    if (errorCode(error) === "ENOENT") return home;
    throw error;
  }
}
