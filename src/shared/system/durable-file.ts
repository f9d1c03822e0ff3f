/** Files that survive a crash from the moment their writing returns, and are never seen half written. */

import {
  closeSync,
  constants,
  fchownSync,
  fstatSync,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { faultPoint } from "../work/fault-point.ts";

/**
 * Puts the text at `path` by a rename, synced, for the owner of its directory: root writes what a service reads that runs as
 * another. Only that owner may be able to write the directory. Throws what the system says, and leaves the old file then.
 */
export function writeDurably(path: string, text: string, mode = 0o600): void {
  const draft = `${path}.draft`;
  const directory = dirname(path);
  // A crash may have left it.
  rmSync(draft, { force: true });
  const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;
  const fd = openSync(draft, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY, mode);
  try {
    const bytes = Buffer.from(text);
    for (let written = 0; written < bytes.length; ) written += writeSync(fd, bytes, written);
    const owner = statSync(directory);
    const own = fstatSync(fd);
    if (own.uid !== owner.uid || own.gid !== owner.gid) fchownSync(fd, owner.uid, owner.gid);
    fsyncSync(fd);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  } finally {
    closeSync(fd);
  }
  faultPoint("file: draft written, not in place");
  renameSync(draft, path);
  faultPoint("file: in place, not synced");
  syncDirectory(directory);
}

/** Removes the file, synced; does nothing if it is gone. */
export function removeDurably(path: string): void {
  rmSync(path, { force: true });
  faultPoint("file: removed, not synced");
  syncDirectory(dirname(path));
}

function syncDirectory(path: string): void {
  const fd = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
