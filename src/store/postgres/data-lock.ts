/** A lock that the kernel frees when its holder dies, however it dies: no stale files, no reused process ids. */

import { closeSync, constants, fchownSync, openSync } from "node:fs";
import { dirname } from "node:path";
import process from "node:process";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { UamError } from "../../shared/errors.ts";
import { ownerOf } from "./postgres-owner.ts";

export interface DataLock {
  /** Takes the lock for this holder alone, or returns false at once if anybody else has it. */
  tryExclusive(): boolean;
  /** Takes the lock beside other sharers, or returns false at once if somebody has it alone. */
  tryShared(): boolean;
  /** Releases what was taken; does nothing if nothing was. */
  release(): void;
  /** Releases it and closes the file. */
  close(): void;
}

/**
 * Opens the lock file at `path`, created if missing. SQLite is used for its file locks alone: they are the one kernel
 * lock that Bun and Deno both reach without native code, and they also tell two holders in one process apart.
 */
export function openDataLock(path: string): DataLock {
  createLockFile(path);
  const database = new DatabaseSync(path);
  database.exec("PRAGMA busy_timeout = 0");
  let held = false;
  function attempt(...statements: readonly string[]): boolean {
    release();
    try {
      for (const statement of statements) database.exec(statement);
      held = true;
      return true;
    } catch (error) {
      if (database.isTransaction) database.exec("ROLLBACK");
      if (error instanceof Error && /locked|busy/i.test(error.message)) return false;
      throw error;
    }
  }
  function release(): void {
    if (held) database.exec("ROLLBACK");
    held = false;
  }
  return {
    // A journal on disk would make the lock fail when the disk is full.
    tryExclusive: () => attempt("PRAGMA journal_mode = MEMORY", "BEGIN EXCLUSIVE"),
    tryShared: () => attempt("BEGIN", "SELECT count(*) FROM sqlite_master"),
    release,
    close() {
      release();
      database.close();
    },
  };
}

/** Runs `work` while holding `lock` alone; `conflict` if it is not free within `patience` milliseconds. */
export async function withExclusive<T>(lock: DataLock, patience: number, work: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + patience;
  while (!lock.tryExclusive()) {
    if (performance.now() > deadline) {
      throw new UamError("conflict", "Another uam process has been starting or stopping PostgreSQL for too long.");
    }
    await sleep(15);
  }
  try {
    return await work();
  } finally {
    lock.release();
  }
}

function createLockFile(path: string): void {
  const { O_CREAT, O_RDWR, O_NOFOLLOW } = constants;
  const fd = openSync(path, O_CREAT | O_RDWR | O_NOFOLLOW, 0o600);
  try {
    const owner = ownerOf(dirname(path));
    if (process.getuid?.() === 0) fchownSync(fd, owner.uid, owner.gid);
  } finally {
    closeSync(fd);
  }
}
