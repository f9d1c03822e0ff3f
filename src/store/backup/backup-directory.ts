/** A directory of backups that a timer makes: their names, and which of them stay. */

import { lstatSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { UamError } from "../../shared/errors.ts";

const NAME = /^uam-\d{8}T\d{6}\.\d{3}Z\.uam-backup$/;
const WRITABLE_BY_OTHERS = 0o022;

/** The name of a backup made then, to the millisecond; names are in the order of time. */
export function backupName(at: Date): string {
  return `uam-${at.toISOString().replaceAll(/[-:]/g, "")}.uam-backup`;
}

/**
 * Makes the directory if it is missing, for its owner alone. Throws `conflict` if somebody else can write to it: files of theirs would
 * count as backups, and old ones be removed for them.
 */
export function requireOwnDirectory(directory: string): void {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new UamError("conflict", `${directory} is not a directory and cannot be made: ${why}`, { cause });
  }
  const { uid, mode } = lstatSync(directory);
  const isOwn = uid === userInfo().uid && (mode & WRITABLE_BY_OTHERS) === 0;
  if (!isOwn) throw new UamError("conflict", `Others can write to ${directory}; use a directory that only you can.`);
}

/** Removes the oldest backups, so that `keep` stay, and nothing that has another name; returns the paths of what it removed. */
export function pruneBackups(directory: string, keep: number): readonly string[] {
  const names = readdirSync(directory)
    .filter((name) => NAME.test(name))
    .sort();
  const old = names.slice(0, -keep).map((name) => join(directory, name));
  for (const path of old) rmSync(path);
  return old;
}
