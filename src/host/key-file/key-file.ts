/** The safe full rewrite of an authorized-keys file whose directory belongs to a hostile account. Synchronous throughout:
 *  during an `await` between opening a descriptor and its last use, its number could come to name something else. */

import { randomBytes } from "node:crypto";
import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  unlinkSync,
} from "node:fs";
import { UamError } from "../../shared/errors.ts";
import { faultPoint } from "../../shared/work/fault-point.ts";
import { at, errorCode, type Mount, openDirectory, openTrusted, ownUid } from "../safe-open.ts";
import { isShut, keep, leftovers, look, RACES, refused, requireNoMount } from "./key-file-check.ts";
import type { KeyFile } from "./key-path.ts";
import { shrinkInPlace, writeAll } from "./shrink.ts";

const ATTEMPTS = 50;
/** The outcome of a write: `notes` are sentences about hostile things that were set aside, for the log. */
export interface KeyFileWrite {
  readonly changed: boolean;
  readonly notes: readonly string[];
}

/**
 * Makes the file hold exactly `text`, with owner and modes as `target.holding` says (in a home: 0600 in a directory of mode
 * 0700, both owned by the account), and reads it back along the path from `/`. Writes nothing if that is so already. Never
 * follows a link, and never opens, changes or removes what is not in the account's own directories. On failure (throws
 * `internal`) the file is completely the old one; or, if only the last sync failed, completely the new one; or, if the disk is
 * full and the new text is no longer than the old, empty: never a mixture.
 */
export function writeKeyFile(target: KeyFile, text: string, mounts: readonly Mount[]): KeyFileWrite {
  const notes: string[] = [];
  let difference = look(target, text, { mounts, leftovers: true });
  if (difference === undefined) return { changed: false, notes };
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    try {
      withOwnedDirectory(target, mounts, notes, (directory) => replaceFile(target, directory, text, notes));
      difference = look(target, text, { mounts, leftovers: false });
      if (difference === undefined) return { changed: true, notes };
    } catch (error) {
      if (error instanceof UamError) throw error;
      difference = errorCode(error);
      if (!RACES.has(difference)) throw refused(target, error);
      requireHome(target);
    }
  }
  throw new UamError(
    "internal",
    `Cannot write ${target.path} for ${target.owner.name}: its owner keeps changing it (${difference})`,
  );
}

/**
 * Moves away a second file that sshd would read keys from, within its own directory, so that no key in it stays valid; what a
 * link points to is left alone. Returns a sentence for the log if there was one. Only for files in the home: one elsewhere is
 * an administrator's. Throws `internal` if its owner keeps putting it back.
 */
export function retireKeyFile(target: KeyFile, mounts: readonly Mount[]): string | undefined {
  const notes: string[] = [];
  for (let attempt = 0; target.inHome && attempt < ATTEMPTS; attempt++) {
    requireNoMount(target, mounts);
    const opened: number[] = [];
    try {
      const base = keep(opened, openTrusted(target.trusted));
      let directory = keep(opened, openHome(target, base, target.owned[0] ?? ""));
      for (const name of target.owned.slice(1)) {
        const next = openOrSetAside(target, directory, name, notes);
        if (next === undefined) return notes[0];
        directory = keep(opened, next);
      }
      setAside(target, directory, target.file, notes);
    } catch (error) {
      if (errorCode(error) === "ENOENT") return notes[0];
      if (error instanceof UamError) throw error;
      if (!RACES.has(errorCode(error))) throw refused(target, error);
    } finally {
      for (const fd of opened) closeSync(fd);
    }
  }
  if (!target.inHome) return undefined;
  throw new UamError(
    "internal",
    `Cannot move ${target.path} of ${target.owner.name} away: its owner keeps putting it back`,
  );
}

/** Opens a directory; undefined if a link or file, now moved away, stood in its place: sshd would have followed it. */
function openOrSetAside(target: KeyFile, parent: number, name: string, notes: string[]): number | undefined {
  try {
    return openDirectory(parent, name);
  } catch (error) {
    if (errorCode(error) !== "ENOTDIR" && errorCode(error) !== "ELOOP") throw error;
    setAside(target, parent, name, notes);
    return undefined;
  }
}

/** Opens the directories on the path, creating or replacing the account's own (never the home), and runs `work` in the last. */
function withOwnedDirectory(
  target: KeyFile,
  mounts: readonly Mount[],
  notes: string[],
  work: (fd: number) => void,
): void {
  requireNoMount(target, mounts);
  const opened: number[] = [];
  try {
    let directory = keep(opened, openTrusted(target.trusted));
    for (const [index, name] of target.owned.entries()) {
      const isHome = target.inHome && index === 0;
      const parent = directory;
      directory = keep(opened, isHome ? openHome(target, parent, name) : openOwned(target, parent, name, notes));
    }
    work(directory);
  } finally {
    for (const fd of opened) closeSync(fd);
  }
}

function openHome(target: KeyFile, parent: number, name: string): number {
  const fd = openDirectory(parent, name);
  const stat = fstatSync(fd);
  if (isShut(stat)) return fd;
  if (stat.uid !== target.owner.uid) {
    closeSync(fd);
    throw new UamError(
      "conflict",
      `The home directory of ${target.owner.name} belongs to uid ${stat.uid}, not to ${target.owner.uid}`,
    );
  }
  if ((stat.mode & 0o700) !== 0o700) fchmodSync(fd, (stat.mode & 0o7777) | 0o700);
  return fd;
}

function openOwned(target: KeyFile, parent: number, name: string, notes: string[]): number {
  let made = false;
  let fd: number;
  try {
    fd = openDirectory(parent, name);
  } catch (error) {
    const code = errorCode(error);
    if (code === "ENOENT") {
      mkdirSync(at(parent, name), 0o700);
      made = true;
    } else if (code === "ENOTDIR" || code === "ELOOP") setAside(target, parent, name, notes);
    if (!made) throw error;
    fd = openDirectory(parent, name);
  }
  try {
    const stat = fstatSync(fd);
    if (stat.dev !== fstatSync(parent).dev) {
      throw new UamError("internal", `${name} on the path to ${target.path} is a mount point: unmount it`);
    }
    const { uid, gid, directoryMode } = target.holding;
    if (stat.uid !== uid) {
      // Only the directory that was just created may be given away: it is ours and empty.
      if (made && stat.uid === ownUid() && readdirSync(`/proc/self/fd/${fd}`).length === 0) {
        fchownSync(fd, uid, gid);
      } else {
        setAside(target, parent, name, notes);
        throw Object.assign(new Error(`${name} was set aside`), { code: "ENOENT" });
      }
    }
    if (!target.inHome && stat.gid !== gid) fchownSync(fd, uid, gid);
    if ((stat.mode & 0o7777) !== directoryMode) fchmodSync(fd, directoryMode);
    return fd;
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

function replaceFile(target: KeyFile, directory: number, text: string, notes: string[]): void {
  const temporary = `.uam.${randomBytes(16).toString("hex")}`;
  for (const name of leftovers(directory)) removeTemporary(directory, name);
  try {
    writeTemporary(target, directory, temporary, text);
    faultPoint("key file: draft written, not in place");
    renameSync(at(directory, temporary), at(directory, target.file));
    faultPoint("key file: in place, not synced");
    fsyncSync(directory);
  } catch (error) {
    removeTemporary(directory, temporary);
    const code = errorCode(error);
    if (code === "EISDIR") setAside(target, directory, target.file, notes);
    if ((code === "ENOSPC" || code === "EDQUOT") && shrinkInPlace(target, directory, text)) return;
    throw error;
  }
}

function writeTemporary(target: KeyFile, directory: number, name: string, text: string): void {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  const fd = openSync(at(directory, name), flags, 0o600);
  try {
    writeAll(fd, text);
    fchownSync(fd, target.holding.uid, target.holding.gid);
    fchmodSync(fd, target.holding.fileMode);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

function removeTemporary(directory: number, name: string): void {
  try {
    unlinkSync(at(directory, name));
  } catch (error) {
    if (errorCode(error) !== "ENOENT") throw error;
  }
}

/** Renames what is in the way within its own directory: nothing is removed, and a link's target is not touched. */
function setAside(target: KeyFile, directory: number, name: string, notes: string[]): void {
  const aside = `${name}.uam-aside.${randomBytes(8).toString("hex")}`;
  renameSync(at(directory, name), at(directory, aside));
  notes.push(`${name} on the path to ${target.path} did not belong to this service and is now ${aside}`);
}

function requireHome(target: KeyFile): void {
  const opened: number[] = [];
  try {
    const base = keep(opened, openTrusted(target.trusted));
    if (target.inHome) keep(opened, openDirectory(base, target.owned[0] ?? ""));
  } catch (error) {
    if (!RACES.has(errorCode(error))) throw error instanceof UamError ? error : refused(target, error);
    const what = target.inHome ? `home directory ${target.owner.home}` : `directory ${target.trusted}`;
    throw new UamError("conflict", `The ${what} of ${target.owner.name} is missing or is not a directory`, {
      cause: error,
    });
  } finally {
    for (const fd of opened) closeSync(fd);
  }
}
