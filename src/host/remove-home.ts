/** Taking a home out of its place and deleting it, however it was left: no link is followed and no mount is crossed. */

import { randomBytes } from "node:crypto";
import { closeSync, fstatSync, lstatSync, mkdirSync, readdirSync, realpathSync, renameSync, type Stats } from "node:fs";
import { UamError } from "../shared/errors.ts";
import type { Kernel } from "../shared/kernel.ts";
import { runCommand } from "./execute/command.ts";
import { splitHome } from "./plan/plan.ts";
import {
  at,
  atBytes,
  errorCode,
  type Mount,
  mountsWithin,
  openDirectory,
  openTrusted,
  ownUid,
  readMounts,
} from "./walk.ts";

/** Beside the homes, so that moving there is a rename; root's alone, so that nobody can interfere with the deleting. */
export const TRASH = ".uam-trash";
const DELETE_TIMEOUT = 20_000;
const SLASH = Buffer.from("/");

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
  const mounts = readMounts();
  const own = fuseMountsOf(mounts, path, uid);
  const mount = mountsWithin(mounts, path).find((candidate) => !own.includes(candidate));
  if (mount !== undefined) throw new UamError("internal", mountMessage(mount.path, home));
}

/**
 * Detaches the uid's own FUSE mounts at `home` or below it, each with all that is mounted in it, whatever their names are made of.
 * Sentences about those that stay: they keep nothing but the removal of the home.
 */
export function detachFuse(home: string, uid: number, kernel: Kernel): readonly string[] {
  const path = realHome(home);
  const tried = new Set<string>();
  for (;;) {
    const mounts = mountsWithin(readMounts(), path);
    const own = fuseMountsOf(mounts, path, uid);
    // Nothing is asked of a file system that is not the account's; the outermost takes the inner ones with it.
    const foreign = mounts.filter((mount) => !own.includes(mount));
    const next = own
      .filter((mount) => !foreign.some((other) => isWithin(mount.bytes, other.bytes)))
      .filter(({ bytes }) => !tried.has(bytes.toString("latin1")))
      .sort((one, other) => one.bytes.length - other.bytes.length)[0];
    if (next === undefined)
      return own.map((mount) => `${mount.path} is a mount point of uid ${uid} and could not be detached: unmount it`);
    // Mounts of one place lie over one another, and each goes on its own.
    if (!detach(path, next.bytes, kernel)) tried.add(next.bytes.toString("latin1"));
  }
}

/** Reaches the mount through directories alone that are opened without following a link, so that nothing else is hit. */
function detach(home: string, mount: Buffer, kernel: Kernel): boolean {
  const { base, name } = splitHome(home);
  const below = mount.subarray(Buffer.byteLength(home) + 1).toString("latin1");
  const parts = [
    Buffer.from(name),
    ...(below === "" ? [] : below.split("/").map((part) => Buffer.from(part, "latin1"))),
  ];
  const opened: number[] = [];
  try {
    opened.push(openTrusted(base));
    for (const part of parts.slice(0, -1)) opened.push(openDirectory(opened.at(-1) ?? -1, part));
    return kernel.detachMount(atBytes(opened.at(-1) ?? -1, parts.at(-1) ?? Buffer.alloc(0)));
  } catch (error) {
    // Moved meanwhile, or a way that root does not trust: it stays and is reported.
    if (errorCode(error) === "" && !(error instanceof UamError)) throw error;
    return false;
  } finally {
    for (const fd of opened) closeSync(fd);
  }
}

/** Where `uid` mounted with FUSE at `path` or below it, in the order of mounting; `user_id` is the kernel's word (fuse(4)). */
export function fuseMountsOf(mounts: readonly Mount[], path: string, uid: number): readonly Mount[] {
  return mountsWithin(mounts, path).filter(
    (mount) => mount.type.startsWith("fuse") && mount.options.split(",").includes(`user_id=${uid}`),
  );
}

function isWithin(path: Buffer, directory: Buffer): boolean {
  return (
    path.length > directory.length && path.subarray(0, directory.length + 1).equals(Buffer.concat([directory, SLASH]))
  );
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
