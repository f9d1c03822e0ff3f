/** Shortening a key file in place: that needs neither an inode nor a block, whatever its owner has used up. */

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
import { at, errorCode, type Mount, openDirectory, openTrusted } from "../safe-open.ts";
import { keep, requireNoMount } from "./key-file-check.ts";
import type { KeyFile } from "./key-path.ts";

/** How often to try a file whose owner has a lease on it or keeps replacing it. */
const ATTEMPTS = 20;
const RETRIED: ReadonlySet<string> = new Set(["EAGAIN", "ENOENT"]);

/**
 * Overwrites the file in the open directory with a text that is no longer than its content. False, with nothing changed, if the file
 * is not a regular one of the owner's, or is shorter. If there is no room for the text even so, the file is left empty and the
 * error thrown. How many names the file has does not matter: it is the owner's file under all of them.
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
 * The same along the path from `/`, with nothing created or moved on it. If the text cannot be written, or is longer, the file is
 * emptied all the same, and if that is refused, its name is removed; the result is then false, as its content is missing. A
 * missing file counts as empty. Throws the system's error if the removal is refused.
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
  // With a used-up quota even this is refused (btrfs), but a removal never is; of a link only the link is removed.
  unlinkSync(at(directory, target.file));
  return text === "";
}

/** Runs `work` in the directory of the file, as it is now; throws ENOTDIR or ELOOP if a link is on the path. */
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
