/**
 * An agent's stored state: its identity, its key, its count of starts, and the last answer of the service. All of it in one directory that
 * only it and root can read; each write is atomic and synced.
 */

import { Buffer } from "node:buffer";
import { randomBytes } from "node:crypto";
import {
  closeSync,
  constants,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { UamError } from "../shared/errors.ts";
import { removeDurably, writeDurably } from "../shared/system/durable-file.ts";
import { readPlainFile } from "../shared/system/plain-file.ts";
import { IDENTITY_FILE } from "./paths.ts";
import type { AgentState } from "./records.ts";

/** The agent's identity, and the service it trusts. */
export interface AgentIdentity {
  /** Origin of the service, and a path if it has one; without the API's root. */
  readonly service: string;
  /** A file of certificates that are trusted in place of the system's. */
  readonly ca?: string | undefined;
  readonly host_id: number;
  readonly name: string;
  /** The service's public key: 32 bytes in base64. */
  readonly fleet_key: string;
  readonly joined_at: string;
  /** When the agent's own key was made. */
  readonly key_since: string;
}

const KEY = "agent.key";
const NEXT_KEY = "agent.key.next";
const EPOCH = "epoch";
const STATE = "state.json";
const GIVEN = "given";
/** In /run. */
const NEWEST = "newest";
/** Digits in the file of the epoch, so that it is overwritten in place: that works on a disk that is full. */
const EPOCH_DIGITS = 10;
const MAX_EPOCH = 2 ** 21 - 1;

/** The identity of the agent in this directory; undefined if no host was joined there. Throws `internal` for a damaged file. */
export function findIdentity(directory: string): AgentIdentity | undefined {
  const text = readIfThere(join(directory, IDENTITY_FILE));
  if (text === undefined) return undefined;
  try {
    const value = JSON.parse(text) as AgentIdentity;
    if (typeof value.service === "string" && Number.isInteger(value.host_id) && typeof value.fleet_key === "string") {
      return value;
    }
  } catch {
    // Said below.
  }
  throw new UamError("internal", `${join(directory, IDENTITY_FILE)} is damaged: join again, with a new token`);
}

export function writeIdentity(directory: string, identity: AgentIdentity): void {
  writeDurably(join(directory, IDENTITY_FILE), `${JSON.stringify(identity, undefined, 2)}\n`);
}

/** A new key's 32 bytes, kept beside the present one until the service has bound it. */
export function makeNextKey(directory: string): Uint8Array {
  const seed = randomBytes(32);
  writeDurably(join(directory, NEXT_KEY), `${seed.toString("base64")}\n`);
  return seed;
}

/** The agent's keys: the present one, and one that the service may have bound already. */
export function readKeys(directory: string): {
  readonly present: Uint8Array | undefined;
  readonly next: Uint8Array | undefined;
} {
  return { present: readKey(join(directory, KEY)), next: readKey(join(directory, NEXT_KEY)) };
}

/** From now on the next key is the present one. */
export function adoptNextKey(directory: string): void {
  renameSync(join(directory, NEXT_KEY), join(directory, KEY));
  removeDurably(join(directory, NEXT_KEY));
}

/** Forgets what was begun with a host that was joined before. */
export function resetEpoch(directory: string): void {
  writeDurably(join(directory, EPOCH), `${"0".repeat(EPOCH_DIGITS)}\n`);
}

/**
 * The number of this start: higher than any before, on disk when this returns. Throws if it cannot be stored, because two
 * starts with one number look like two agents with one key.
 */
export function nextEpoch(directory: string): number {
  const path = join(directory, EPOCH);
  const text = readIfThere(path)?.trim() ?? "";
  if (!/^\d{10}$/.test(text)) throw new UamError("internal", `${path} is damaged: join again, with a new token`);
  const epoch = Number(text) + 1;
  if (epoch > MAX_EPOCH) throw new UamError("internal", "The agent was started too often: join again");
  const fd = openSync(path, constants.O_WRONLY | constants.O_NOFOLLOW);
  try {
    writeSync(fd, `${String(epoch).padStart(EPOCH_DIGITS, "0")}\n`, 0);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  return epoch;
}

/** The service's last answer and the outstanding work; undefined if nothing is known, or it is damaged. */
export function readState(directory: string): AgentState | undefined {
  const text = readIfThere(join(directory, STATE));
  if (text === undefined) return undefined;
  try {
    const state = JSON.parse(text) as AgentState;
    return state.version === 1 && Array.isArray(state.records) ? state : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Stores it. Where that fails, for example on a full disk, nothing is left stored, because what is stored could open again what
 * was shut since: after a restart the agent then asks for all of it. Throws what the system says.
 */
export function writeState(directory: string, state: AgentState): void {
  try {
    writeDurably(join(directory, STATE), `${JSON.stringify(state)}\n`);
  } catch (error) {
    forgetState(directory);
    throw error;
  }
}

/**
 * The number of the newest answer that was stored since the boot; undefined if none was, or it cannot be read. It lies in /run: whoever
 * puts an older state back on the disk does not put that back.
 */
export function readNewest(runDirectory: string): number | undefined {
  const text = readIfThere(join(runDirectory, NEWEST))?.trim() ?? "";
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

/** Notes it before the answer is stored; where that fails, nothing is left stored, as with the answer itself. Throws what the system says. */
export function writeNewest(directory: string, runDirectory: string, newest: number): void {
  const path = join(runDirectory, NEWEST);
  try {
    mkdirSync(runDirectory, { recursive: true, mode: 0o755 });
    writeFileSync(`${path}.new`, `${newest}\n`, { mode: 0o600 });
    renameSync(`${path}.new`, path);
  } catch (error) {
    forgetState(directory);
    throw error;
  }
}

/**
 * The uid of every account that the service ever told this host of, in the order of their numbers. It is kept apart from the orders, which
 * are forgotten where they cannot be stored: what a deleted account left for others to start can still be told from what is nobody's.
 */
export function readGiven(directory: string): readonly number[] {
  const text = readIfThere(join(directory, GIVEN)) ?? "";
  return text.split("\n").flatMap((line) => (/^\d{1,10}$/.test(line) ? [Number(line)] : []));
}

/** Throws what the system says, and leaves stored what was. */
export function writeGiven(directory: string, uids: Iterable<number>): void {
  const lines = [...uids].toSorted((one, other) => one - other).map((uid) => `${uid}\n`);
  writeDurably(join(directory, GIVEN), lines.join(""));
}

/** Removes what is stored of the service's orders. */
export function forgetState(directory: string): void {
  removeDurably(join(directory, STATE));
}

/** Removes all that makes the directory an agent's. */
export function forgetAgent(directory: string): void {
  for (const name of [IDENTITY_FILE, KEY, NEXT_KEY, EPOCH, STATE, GIVEN])
    rmSync(join(directory, name), { force: true });
  removeDurably(join(directory, IDENTITY_FILE));
}

function readKey(path: string): Uint8Array | undefined {
  const text = readIfThere(path);
  if (text === undefined) return undefined;
  const seed = Buffer.from(text.trim(), "base64");
  if (seed.length !== 32) throw new UamError("internal", `${path} is damaged: join again, with a new token`);
  return seed;
}

function readIfThere(path: string): string | undefined {
  try {
    return readPlainFile(path);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw error;
  }
}
