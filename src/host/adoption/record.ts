/** What root writes down of an account before it is taken over: one file each, root's, in the service's directory. */

import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Adoption, AdoptionState, FoundKey, KeptKey } from "../../protocol/adoption.ts";
import { removeDurably, writeDurably } from "../../shared/system/durable-file.ts";
import { readPlainFile } from "../../shared/system/plain-file.ts";
import { errorCode } from "../safe-open.ts";

/** A range of subuid(5). */
export interface IdRange {
  readonly first: number;
  readonly count: number;
}

/** All that gives an account back. It holds a password's hash. */
export interface AdoptionRecord extends Adoption {
  readonly home: string;
  readonly homeMode: number;
  readonly groups: readonly string[];
  /** The fields of shadow(5) from the password to the expiry date. */
  readonly shadow: readonly string[];
  readonly keyFiles: readonly { readonly path: string; readonly text: string }[];
  readonly subuid: readonly IdRange[];
  readonly subgid: readonly IdRange[];
}

const NAME = /^(\d{1,10})\.json$/;

/** Writes it so that it survives a crash from the moment this returns. Throws what the system says. */
export function writeRecord(directory: string, record: AdoptionRecord): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  writeDurably(pathOf(directory, record.uid), `${JSON.stringify(record)}\n`);
}

/** The record of that uid; undefined if there is none. Throws for one that cannot be read. */
export function findRecord(directory: string, uid: number): AdoptionRecord | undefined {
  try {
    // Only root writes here: what is in it was checked when it was written.
    return JSON.parse(readPlainFile(pathOf(directory, uid))) as AdoptionRecord;
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** All of them, as far as others need them. */
export function readAdoptions(directory: string): readonly Adoption[] {
  return uidsIn(directory).flatMap((uid) => readAdoption(directory, uid) ?? []);
}

/** The one of that uid, as far as others need it; undefined if there is none. */
export function readAdoption(directory: string, uid: number): Adoption | undefined {
  const record = findRecord(directory, uid);
  if (record === undefined) return undefined;
  const { former, name, state, keys } = record;
  // Records of before name no files.
  return { uid, former, name, state, keys: keys.map((key: KeptKey | FoundKey) => ({ path: "", ...key })) };
}

/** Changes how far it is; does nothing without a record. */
export function markRecord(directory: string, uid: number, state: AdoptionState): void {
  const record = findRecord(directory, uid);
  if (record !== undefined && record.state !== state) writeRecord(directory, { ...record, state });
}

/** Removes it; does nothing if it is gone. */
export function removeRecord(directory: string, uid: number): void {
  if (findRecord(directory, uid) !== undefined) removeDurably(pathOf(directory, uid));
}

function uidsIn(directory: string): readonly number[] {
  try {
    return readdirSync(directory).flatMap((name) => {
      const uid = NAME.exec(name)?.[1];
      return uid === undefined ? [] : [Number(uid)];
    });
  } catch (error) {
    if (errorCode(error) === "ENOENT") return [];
    throw error;
  }
}

function pathOf(directory: string, uid: number): string {
  return join(directory, `${uid}.json`);
}
