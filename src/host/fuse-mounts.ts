/** Mounts of file systems in user space (FUSE) that an account's owner, or somebody they let, made in their home. */

import { closeSync, realpathSync } from "node:fs";
import { UamError } from "../shared/errors.ts";
import type { Kernel } from "../shared/system/kernel.ts";
import { splitHome } from "./plan/plan.ts";
import { atBytes, errorCode, type Mount, mountsWithin, openDirectory, openTrusted, readMounts } from "./safe-open.ts";

const SLASH = Buffer.from("/");

/**
 * Detaches the FUSE mounts at `home` or below it that are not root's, each with all that is mounted in it, whatever bytes are in their
 * names. They need not be its owner's: who may write to it may mount there, and would keep it from being shut. Returns sentences about
 * those that stay.
 */
export function detachFuse(home: string, kernel: Kernel): readonly string[] {
  const path = realHome(home);
  const tried = new Set<string>();
  for (;;) {
    const mounts = mountsWithin(readMounts(), path);
    const own = fuseMountsOf(mounts, path);
    // Root's file systems are left alone; the outermost takes the inner ones with it.
    const foreign = mounts.filter((mount) => !own.includes(mount));
    const next = own
      .filter((mount) => !foreign.some((other) => isWithin(mount.bytes, other.bytes)))
      .filter(({ bytes }) => !tried.has(bytes.toString("latin1")))
      .sort((one, other) => one.bytes.length - other.bytes.length)[0];
    if (next === undefined)
      return own.map((mount) => `${mount.path} is a FUSE mount point and could not be detached: unmount it`);
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

/**
 * The places where `uid`, or without one anybody but root, mounted with FUSE at `path` or below it, in the order of mounting; `user_id` comes from the
 * kernel (fuse(4)).
 */
export function fuseMountsOf(mounts: readonly Mount[], path: string, uid?: number): readonly Mount[] {
  return mountsWithin(mounts, path).filter(({ type, options }) => {
    const mounter = type.startsWith("fuse") ? /(?:^|,)user_id=(\d+)(?:,|$)/.exec(options)?.[1] : undefined;
    return mounter !== undefined && (uid === undefined ? mounter !== "0" : mounter === String(uid));
  });
}

/** Whether a FUSE server has to say what is at that very path: it need not answer, nor let root look. */
export function isServed(path: string): boolean {
  const real = realHome(path);
  return readMounts().some((mount) => mount.path === real && mount.type.startsWith("fuse"));
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
