/** The key that seals the audit log: from the configuration, or from a file that is created once. */

import { randomBytes } from "node:crypto";
import {
  closeSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { sql } from "drizzle-orm";
import { UamError } from "../../shared/errors.ts";
import type { Database, Executor } from "../../store/client.ts";
import { auditKey } from "../../store/schema-audit.ts";
import type { Seal } from "../operation/context.ts";
import { createSeal, SEAL_KEY_BYTES, sameSeal } from "./seal.ts";

/** Name of the file under the data directory; backups need it as much as they need the records. */
export const AUDIT_KEY_FILE = "audit.key";

/** Where the key comes from: the configuration, or else a file in the data directory. */
export interface KeySource {
  readonly auditKey: Uint8Array | undefined;
  readonly dataDir: string;
}

/**
 * The seal of the log in `db`. Without a configured key one is created at first use, in a file of mode 0600. Throws `conflict`
 * if the log was begun with another key or the key is missing: with a second key all of the log would look forged.
 */
export async function openSeal(db: Database, source: KeySource): Promise<Seal> {
  const stored = await readFingerprint(db);
  const key = source.auditKey ?? readKeyFile(source.dataDir, stored === undefined);
  const seal = key === undefined ? undefined : createSeal(key);
  const fingerprint = stored ?? (seal === undefined ? undefined : await storeFingerprint(db, seal.fingerprint()));
  return requireFit(seal, fingerprint, source);
}

/** Like `openSeal`, but creates and stores nothing; throws `conflict` also for a log that has not begun yet. */
export async function findSeal(db: Database, source: KeySource): Promise<Seal> {
  const stored = await readFingerprint(db);
  if (stored === undefined) throw new UamError("conflict", "The audit log has no key yet; the service creates it.");
  const key = source.auditKey ?? readKeyFile(source.dataDir, false);
  return requireFit(key === undefined ? undefined : createSeal(key), stored, source);
}

function requireFit(seal: Seal | undefined, fingerprint: Uint8Array | undefined, source: KeySource): Seal {
  if (seal !== undefined && fingerprint !== undefined && sameSeal(fingerprint, seal.fingerprint())) return seal;
  throw new UamError(
    "conflict",
    `The audit log in this database was sealed with ${seal === undefined ? "a key that is not here" : "another key"}. Restore ${join(source.dataDir, AUDIT_KEY_FILE)} from a backup, or set UAM_AUDIT_KEY to the key that all replicas share.`,
  );
}

/** The key that a backup has to carry: the one in the data directory, unless the configuration holds it. */
export function keyToCarry(source: KeySource): Uint8Array | undefined {
  return source.auditKey === undefined ? readKeyFile(source.dataDir, false) : undefined;
}

/** The result of replacing the key file. */
export interface KeyChange {
  /** Where the previous key was moved to; undefined if none had to be moved. */
  readonly keptAs: string | undefined;
  /** Puts everything back. */
  undo(): void;
}

/**
 * Makes sure that the key of the log being restored is the one that will be used. `carried` is the backup's key, if it has
 * one. A different key in the data directory is moved aside, never lost. Throws `conflict` without the log's key.
 */
export async function adoptKey(db: Executor, source: KeySource, carried: Uint8Array | undefined): Promise<KeyChange> {
  const [row] = await db.execute<{ value: Uint8Array }>(sql`select fingerprint as value from public.audit_key`);
  const fits = (key: Uint8Array | undefined) =>
    key !== undefined && (row === undefined || sameSeal(row.value, createSeal(key).fingerprint()));
  const path = join(source.dataDir, AUDIT_KEY_FILE);
  const present = source.auditKey ?? readKeyFile(source.dataDir, false);
  if (row === undefined || fits(present)) return { keptAs: undefined, undo() {} };
  if (source.auditKey !== undefined || carried === undefined || !fits(carried)) {
    throw new UamError(
      "conflict",
      source.auditKey === undefined
        ? `The audit log in the backup was sealed with a key that is not in it. Set UAM_AUDIT_KEY to the key it was sealed with, or put its ${AUDIT_KEY_FILE} at ${path}.`
        : "The audit log in the backup was sealed with a key other than UAM_AUDIT_KEY.",
    );
  }
  const keptAs = present === undefined ? undefined : `${path}.${randomBytes(6).toString("hex")}.before-restore`;
  if (keptAs !== undefined) renameSync(path, keptAs);
  const undo = () => {
    rmSync(path, { force: true });
    if (keptAs !== undefined) renameSync(keptAs, path);
  };
  try {
    createKeyFile(path, carried);
  } catch (error) {
    undo();
    throw error;
  }
  return { keptAs, undo };
}

async function readFingerprint(db: Database): Promise<Uint8Array | undefined> {
  const [row] = await db.select().from(auditKey);
  return row?.fingerprint;
}

/** Of several instances that start at once the first decides; returns the stored value. */
async function storeFingerprint(db: Database, value: Uint8Array): Promise<Uint8Array | undefined> {
  const [row] = await db.execute<{ stored: Uint8Array }>(sql`select public.audit_begin(${value}) as stored`);
  return row?.stored;
}

function readKeyFile(dataDir: string, create: boolean): Uint8Array | undefined {
  const path = join(dataDir, AUDIT_KEY_FILE);
  const text = readIfThere(path) ?? (create ? createKeyFile(path) : undefined);
  if (text === undefined) return undefined;
  if (!/^[0-9a-f]{64}\n?$/.test(text)) {
    throw new UamError("internal", `${path} does not hold 64 hexadecimal digits; restore it from a backup.`);
  }
  return Buffer.from(text.trim(), "hex");
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}

/** Two processes may get here at once: the first link wins, and both use its key. */
function createKeyFile(path: string, key: Uint8Array = randomBytes(SEAL_KEY_BYTES)): string {
  // With an external database nothing else may have created the directory yet.
  mkdirSync(dirname(path), { recursive: true, mode: 0o711 });
  const temporary = `${path}.${randomBytes(6).toString("hex")}`;
  const fd = openSync(temporary, "wx", 0o600);
  try {
    writeSync(fd, `${Buffer.from(key).toString("hex")}\n`);
    fsyncSync(fd);
    giveToOwnerOf(dirname(path), fd);
    linkSync(temporary, path);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  } finally {
    closeSync(fd);
    rmSync(temporary, { force: true });
  }
  return readFileSync(path, "utf8");
}

/**
 * A command run by root must not leave the service a key that it cannot read. Uses the descriptor, because the owner may have put a link at the
 * name.
 */
function giveToOwnerOf(directory: string, fd: number): void {
  const { uid, gid } = statSync(directory);
  if (fstatSync(fd).uid !== uid) fchownSync(fd, uid, gid);
}
