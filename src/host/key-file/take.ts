/** Taking keys out of an account's files as root, despite anything their owner, a full disk or an attribute does against it. */

import { closeSync, readlinkSync } from "node:fs";
import { publicMessage, UamError } from "../../shared/errors.ts";
import { findCommand, runCommand } from "../command.ts";
import { errorCode, type Mount, openDirectory, openTrusted } from "../safe-open.ts";
import { type KeyFileWrite, retireKeyFile, writeKeyFile } from "./key-file.ts";
import { keep } from "./key-file-check.ts";
import type { KeyFile } from "./key-path.ts";
import { shrinkOrEmpty } from "./shrink.ts";

const CHATTR = "/usr/bin/chattr";

/**
 * Makes the file hold exactly `text`, as `writeKeyFile` does. If that fails, the text is written into the existing file, if it
 * is no longer; else the file is emptied and the failure thrown: what remains to be done is to write the keys that stay.
 * Throws `internal` also if not even that could be done.
 */
export function takeFromKeyFile(target: KeyFile, text: string, mounts: readonly Mount[]): Promise<KeyFileWrite> {
  return withoutFlags(target, () => {
    try {
      return writeKeyFile(target, text, mounts);
    } catch (error) {
      if (attempted(() => shrinkOrEmpty(target, text, mounts)) === true) return { changed: true, notes: [] };
      throw error;
    }
  });
}

/** Moves away a file that sshd would read besides ours, or empties it in place; see `retireKeyFile`. */
export function takeOtherKeyFile(target: KeyFile, mounts: readonly Mount[]): Promise<string | undefined> {
  return withoutFlags(target, () => {
    try {
      return retireKeyFile(target, mounts);
    } catch (error) {
      if (!target.inHome || attempted(() => shrinkOrEmpty(target, "", mounts)) !== true) throw error;
      return `${target.path}, which sshd also reads, could not be moved away (${publicMessage(error)}) and was emptied`;
    }
  });
}

/** Removes the flags of an open directory that prevent even root from renaming or deleting it; see `withoutFlags`. */
export async function clearDirectoryFlags(directory: number): Promise<void> {
  await clearFlags(directory, ".");
}

/** Undefined if it throws: then the failure that led to it is the one to report. */
function attempted<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (errorCode(error) === "" && !(error instanceof UamError)) throw error;
    return undefined;
  }
}

/**
 * Does the work; if the system does not permit it, once more without the immutable and append-only attributes
 * (chattr(1)) on the path and on the file. Only root can have set them, as restored backups and images do; only a process with
 * CAP_LINUX_IMMUTABLE can remove them.
 */
async function withoutFlags<T>(target: KeyFile, work: () => T): Promise<T> {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof UamError) || errorCode(error.cause) !== "EPERM") throw error;
    try {
      await clearFlagsOnTheWay(target);
    } catch (cause) {
      if (!(cause instanceof UamError) && errorCode(cause) === "") throw cause;
      throw error;
    }
    return work();
  }
}

async function clearFlagsOnTheWay(target: KeyFile): Promise<void> {
  const opened: number[] = [];
  try {
    let directory = keep(opened, openTrusted(target.trusted));
    for (const name of target.owned) {
      directory = keep(opened, openDirectory(directory, name));
      await clearFlags(directory, ".");
    }
    await clearFlags(directory, target.file);
  } finally {
    for (const fd of opened) closeSync(fd);
  }
}

/** Through the open directory, so that no link on the path is followed; chattr(1) itself skips one in the last place. */
async function clearFlags(directory: number, name: string): Promise<void> {
  if (findCommand(CHATTR) === undefined) return;
  await runCommand([CHATTR, "-f", "-i", "-a", "--", `/proc/${readlinkSync("/proc/self")}/fd/${directory}/${name}`]);
}
