/** Mounts of file systems in user space (FUSE) that an account's owner made in their home. */

import { closeSync, realpathSync } from "node:fs";
import { UamError } from "../shared/errors.ts";
import type { Kernel } from "../shared/kernel.ts";
import { splitHome } from "./plan/plan.ts";
import { atBytes, errorCode, type Mount, mountsWithin, openDirectory, openTrusted, readMounts } from "./walk.ts";

const SLASH = Buffer.from("/");

/**
 * Detaches the uid's own FUSE mounts at `home` or below it, each with all that is mounted in it, whatever bytes are in their names.
 * Returns sentences about those that stay: they prevent only the removal of the home.
 */
export function detachFuse(home: string, uid: number, kernel: Kernel): readonly string[] {
  const path = realHome(home);
  const tried = new Set<string>();
  for (;;) {
    const mounts = mountsWithin(readMounts(), path);
    const own = fuseMountsOf(mounts, path, uid);
    // A file system that is not the account's is left alone; the outermost takes the inner ones with it.
    const foreign = mounts.filter((mount) => !own.includes(mount));
    const next = own
      .filter((mount) => !foreign.some((other) => isWithin(mount.bytes, other.bytes)))
      .filter(({ bytes }) => !tried.has(bytes.toString("latin1")))
      .sort((one, other) => one.bytes.length - other.bytes.length)[0];
    if (next === undefined)
      return own.map((mount) => `${mount.path} is a mount point of uid ${uid} and could not be detached: unmount it`);
    // Mounts at one place are stacked, and each is detached on its own.
    if (!detach(path, next.bytes, kernel)) tried.add(next.bytes.toString("latin1"));
  }
}

/** Reaches the mount only through directories that are opened without following a link, so that nothing else is hit. */
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
    // Moved meanwhile, or on a path that root does not trust: it stays and is reported.
    if (errorCode(error) === "" && !(error instanceof UamError)) throw error;
    return false;
  } finally {
    for (const fd of opened) closeSync(fd);
  }
}

/** Where `uid` mounted with FUSE at `path` or below it, in the order of mounting; `user_id` comes from the kernel (fuse(4)). */
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

/** Only the path to the home is resolved, which is root's; the home itself may be a link to anywhere. */
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
