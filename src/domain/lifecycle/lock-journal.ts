/**
 * The journal of `uam lock`: one file an entry in the data directory, for accounts that were shut on the host and are not
 * yet recorded as disabled. It needs no database.
 */

import {
  closeSync,
  constants,
  fchownSync,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import type { Log } from "../../shared/log.ts";

/** One account that was shut. */
export interface LockEntry {
  /** Unique among all entries, for ever. */
  readonly id: string;
  readonly at: Date;
  readonly username: string;
  /** The uid the account had on the host; undefined where there is none, as in dry-run mode. */
  readonly uid: number | undefined;
  /** The operator who did it. */
  readonly operator: string;
}

const NAME = /^lock-([0-9a-f-]{36})\.json$/;

/** Writes the entry so that it survives a crash from the moment this returns: mode 0600, the data directory's owner. */
export function writeLock(dataDir: string, entry: LockEntry): void {
  const path = pathOf(dataDir, entry.id);
  const draft = `${path}.draft`;
  const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;
  const fd = openSync(draft, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY, 0o600);
  try {
    writeSync(fd, `${JSON.stringify({ ...entry, at: entry.at.toISOString() })}\n`);
    const owner = statSync(dataDir);
    const own = statSync(draft);
    // Written by root, read by the service, which may run as another.
    if (own.uid !== owner.uid || own.gid !== owner.gid) fchownSync(fd, owner.uid, owner.gid);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  renameSync(draft, path);
  syncDirectory(dataDir);
}

/** All entries, oldest first. One that cannot be read is logged and left where it is. */
export function readLocks(dataDir: string, log: Log): readonly LockEntry[] {
  const entries = namesIn(dataDir).flatMap((name) => {
    try {
      return [parseEntry(readFileSync(join(dataDir, name), "utf8"))];
    } catch (error) {
      log.error("an entry of uam lock cannot be read; the account may be open again", {
        file: join(dataDir, name),
        error,
      });
      return [];
    }
  });
  return entries.sort((a, b) => a.at.getTime() - b.at.getTime());
}

/** Removes an entry that has been recorded; does nothing if it is gone. */
export function removeLock(dataDir: string, id: string): void {
  rmSync(pathOf(dataDir, id), { force: true });
  syncDirectory(dataDir);
}

function namesIn(dataDir: string): readonly string[] {
  try {
    return readdirSync(dataDir).filter((name) => NAME.test(name));
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  }
}

function parseEntry(text: string): LockEntry {
  const { id, at, username, uid, operator } = JSON.parse(text) as Record<string, unknown>;
  const time = new Date(typeof at === "string" ? at : Number.NaN);
  const texts = [id, username, operator].every((value) => typeof value === "string");
  const number = uid === undefined || Number.isSafeInteger(uid);
  if (!texts || !number || Number.isNaN(time.getTime())) throw new Error("the entry is not as uam lock writes it");
  return { id, at: time, username, uid, operator } as LockEntry;
}

function pathOf(dataDir: string, id: string): string {
  return join(dataDir, `lock-${id}.json`);
}

function syncDirectory(path: string): void {
  const fd = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
