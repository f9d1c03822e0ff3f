/**
 * The journal of `uam lock`: one file an entry in the data directory, for accounts that were shut on the host and are not
 * yet recorded as disabled. It needs no database; on an agent's host, no service either.
 */

import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { Log } from "../log.ts";
import { hostAccountOf } from "../text/account-name.ts";
import { removeDurably, writeDurably } from "./durable-file.ts";
import { readPlainFile } from "./plain-file.ts";

/** One account that was shut. */
export interface LockEntry {
  /** Unique among all entries ever made. */
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
  writeDurably(pathOf(dataDir, entry.id), `${JSON.stringify({ ...entry, at: entry.at.toISOString() })}\n`);
}

/** All entries, oldest first. One that cannot be read is logged and left where it is. */
export function readLocks(dataDir: string, log: Log): readonly LockEntry[] {
  const entries = namesIn(dataDir).flatMap((name) => {
    try {
      return [parseEntry(readPlainFile(join(dataDir, name)))];
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

/** The names of the accounts that the entries keep shut. */
export function lockedAccounts(entries: readonly Pick<LockEntry, "username">[]): ReadonlySet<string> {
  return new Set(entries.map(({ username }) => hostAccountOf(username)));
}

/** Removes an entry that has been recorded; does nothing if it is gone. */
export function removeLock(dataDir: string, id: string): void {
  removeDurably(pathOf(dataDir, id));
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
