/** Making a key file shorter where it is: that needs neither an inode nor a block, whatever its owner has used up. */

import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { at, errorCode, type Mount, openDirectory, openTrusted } from "../walk.ts";
import { keep, requireNoMount } from "./key-file-check.ts";
import type { KeyFile } from "./key-path.ts";

/** How often a file is tried whose owner has a lease on it or keeps replacing it. */
const ATTEMPTS = 20;
const RETRIED: ReadonlySet<string> = new Set(["EAGAIN", "ENOENT"]);

/**
 * Overwrites the file in the open directory with a text that is no longer than it is. False, and nothing changed, if the file
 * is not a regular one of the owner's, or is shorter. If the text finds no room even so, the file is left empty and the
 * error thrown. How many names the file has does not matter: whatever they are, it is the owner's.
 */
export function shrinkInPlace(target: KeyFile, directory: number, text: string): boolean {
  const fd = openSync(at(directory, target.file), constants.O_RDWR | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile() || stat.uid !== target.holding.uid) return false;
    if (stat.size < Buffer.byteLength(text)) return false;
    ftruncateSync(fd, 0);
    try {
      writeAll(fd, text);
    } catch (error) {
      ftruncateSync(fd, 0);
      throw error;
    }
    fchmodSync(fd, target.holding.fileMode);
    fsyncSync(fd);
    return true;
  } finally {
    closeSync(fd);
  }
}

/**
 * The same on the way from `/`, with nothing made or moved on it. If the text cannot be written, or is longer, the file is
 * emptied all the same, and if that is refused, its name is removed; that is false, for what should be in it is missing. A
 * file that is missing is as good as empty. Throws what the system refused the removal with.
 */
export function shrinkOrEmpty(target: KeyFile, text: string, mounts: readonly Mount[]): boolean {
  for (let attempt = 1; ; attempt++) {
    try {
      return inDirectory(target, mounts, (directory) => shrinkOrEmptyIn(target, directory, text));
    } catch (error) {
      if (attempt < ATTEMPTS && RETRIED.has(errorCode(error))) continue;
      if (errorCode(error) === "ENOENT") return text === "";
      throw error;
    }
  }
}

function shrinkOrEmptyIn(target: KeyFile, directory: number, text: string): boolean {
  for (const wanted of new Set([text, ""])) {
    try {
      if (shrinkInPlace(target, directory, wanted)) return wanted === text;
    } catch (error) {
      if (errorCode(error) === "" || RETRIED.has(errorCode(error))) throw error;
    }
  }
  // Where a quota is used up even this is refused (btrfs), but no removal is; of a link only the link goes.
  unlinkSync(at(directory, target.file));
  return text === "";
}

/** Runs `work` in the directory of the file, as it is now; throws ENOTDIR or ELOOP if a link is on the way. */
function inDirectory<T>(target: KeyFile, mounts: readonly Mount[], work: (directory: number) => T): T {
  requireNoMount(target, mounts);
  const opened: number[] = [];
  try {
    let directory = keep(opened, openTrusted(target.trusted));
    for (const name of target.owned) directory = keep(opened, openDirectory(directory, name));
    return work(directory);
  } finally {
    for (const fd of opened) closeSync(fd);
  }
}

/** Writes the whole text. */
export function writeAll(fd: number, text: string): void {
  const bytes = Buffer.from(text);
  for (let offset = 0; offset < bytes.length; ) offset += writeSync(fd, bytes, offset, bytes.length - offset);
}
