/** Shutting a home and giving it back: what reads files in it as its owner, a mail server for example, finds nothing in a shut one. */

import { closeSync, fchmodSync, fchownSync, fstatSync, lstatSync, realpathSync } from "node:fs";
import { UamError } from "../shared/errors.ts";
import { isShut } from "./key-file/key-file-check.ts";
import { clearDirectoryFlags } from "./key-file/take.ts";
import { splitHome } from "./plan/plan.ts";
import { errorCode, type Mount, openDirectory, openTrusted, readMounts } from "./safe-open.ts";

/** A home by its path, and whose it is. */
export interface Home {
  readonly path: string;
  readonly uid: number;
  readonly gid: number;
}

const SHUT = { uid: 0, gid: 0 } as const;
const MODE = 0o700;

/**
 * Makes the home root's, mode 0700; one that is missing needs nothing. Never follows a link, and does not touch a home that is neither the
 * account's nor root's: throws `internal` then, as for what the system refuses.
 */
export async function shutHome(home: Home): Promise<void> {
  await settle(home, SHUT);
}

/** Gives a home that is root's back to the account, mode 0700; leaves one that is the account's as it is. Throws as `shutHome` does. */
export async function openHome(home: Home): Promise<void> {
  await settle(home, home);
}

/** Undefined if there is no home, or a FUSE server would have to say so, which need not answer. */
export function isHomeShut(path: string, mounts: readonly Mount[]): boolean | undefined {
  const { name } = splitHome(path);
  if (mounts.some((mount) => mount.type.startsWith("fuse") && mount.path.endsWith(`/${name}`))) return undefined;
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat === undefined ? undefined : stat.isDirectory() && isShut(stat);
}

async function settle(home: Home, owner: Pick<Home, "uid" | "gid">): Promise<void> {
  const { base, name } = splitHome(home.path);
  const opened: number[] = [];
  try {
    const top = openTrusted(base);
    opened.push(top);
    requireAnswer(`${realpathSync(base)}/${name}`);
    const fd = openDirectory(top, name);
    opened.push(fd);
    try {
      give(fd, home, owner);
    } catch (error) {
      if (errorCode(error) !== "EPERM") throw error;
      await clearDirectoryFlags(fd);
      give(fd, home, owner);
    }
  } catch (error) {
    if (errorCode(error) === "ENOENT") return;
    if (error instanceof UamError) throw error;
    const why = errorCode(error) || "unexpected error";
    throw new UamError("internal", `The home directory ${home.path} cannot be given to uid ${owner.uid}: ${why}`, {
      cause: error,
    });
  } finally {
    for (const fd of opened) closeSync(fd);
  }
}

/** The owner first: a mode that is set while it is the account's may be set back. */
function give(fd: number, home: Home, owner: Pick<Home, "uid" | "gid">): void {
  const stat = fstatSync(fd);
  if (stat.uid !== home.uid && stat.uid !== SHUT.uid)
    throw new UamError("internal", `${home.path} belongs to uid ${stat.uid}, not to ${home.uid}: it is left alone`);
  // Opening leaves what is open as its owner has it.
  if (owner.uid !== SHUT.uid && stat.uid === owner.uid) return;
  if (stat.uid !== owner.uid || stat.gid !== owner.gid) fchownSync(fd, owner.uid, owner.gid);
  if ((fstatSync(fd).mode & 0o7777) !== MODE) fchmodSync(fd, MODE);
}

/** A FUSE server of the owner's could make the call hang. */
function requireAnswer(path: string): void {
  const mount = readMounts().find((it) => it.path === path && it.type.startsWith("fuse"));
  if (mount !== undefined) throw new UamError("internal", `${path} is a FUSE mount point: unmount it`);
}
