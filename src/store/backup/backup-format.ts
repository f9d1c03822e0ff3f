/**
 * The format of a backup: a line of text, a zstd stream of frames, and a line with the SHA-256 of all before it. A frame is
 * one letter, the length of its content as four bytes, most significant first, and the content:
 *
 *     H  header, JSON                               once, first
 *     T  name of a table, JSON                      then for each table, in the header's order
 *     D  rows, as COPY writes them in text format   any number
 *     E  end of the table, JSON {rows, sha256}
 *     Z  end of the backup, JSON {sha256}           once, last; of all H, T and E frames
 */

import { createHash, type Hash } from "node:crypto";
import { UamError } from "../../shared/errors.ts";

/** Raised when a program that reads the previous format could not read a new file. */
export const FORMAT = 1;
export const MAGIC = "uam-backup ";
/** How the last line begins; the hash and a line feed follow. It shows that a file is complete before all of it is read. */
const LAST = "\nuam-backup end ";
export const LAST_LENGTH = LAST.length + 64 + 1;
/** Longest first line; a file with a longer one is not a backup. */
const MAX_MAGIC = 32;
/** Longest content of a frame: no file makes a reader hold more in memory. */
const MAX_FRAME = 16 * 1024 * 1024;
const FRAME_HEAD = 5;

/** The first frame of a backup. */
export interface BackupHeader {
  /** Version of the program that made it. */
  readonly program: string;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  readonly migrations: readonly { readonly name: string; readonly sha256: string }[];
  readonly tables: readonly BackupTable[];
  readonly identities: readonly Identity[];
  /** The key that seals the audit log, 64 hexadecimal digits; null where the configuration holds it. */
  readonly auditKey: string | null;
}

export interface BackupTable {
  readonly name: string;
  readonly columns: readonly string[];
}

/** Where the numbering of a table's rows has got to. */
export interface Identity {
  readonly table: string;
  readonly column: string;
  /** The last number given out, as text because it has 64 bits; null before the first. */
  readonly last: string | null;
}

export interface TableEnd {
  readonly rows: number;
  /** Of the content of the table's D frames. */
  readonly sha256: string;
}

export type FrameType = "H" | "T" | "D" | "E" | "Z";

export interface Frame {
  readonly type: FrameType;
  readonly content: Buffer;
}

/** A frame as it is written. */
export function encodeFrame({ type, content }: Frame): Buffer {
  const head = Buffer.alloc(FRAME_HEAD);
  head.write(type, 0, "latin1");
  head.writeUInt32BE(content.length, 1);
  return Buffer.concat([head, content]);
}

/** The hash that the Z frame holds; `add` returns the frame as it is written. */
export function createFrameHash(): { add(frame: Frame): Buffer; digest(): string } {
  const hash: Hash = createHash("sha256");
  return {
    add(frame) {
      const bytes = encodeFrame(frame);
      hash.update(bytes);
      return bytes;
    },
    digest: () => hash.digest("hex"),
  };
}

/** The frames in `bytes`, with any cut into chunks. Throws `invalid` for a missing or partial frame. */
export async function* readFrames(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Frame, void, undefined> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of bytes) {
    rest = rest.length === 0 ? Buffer.from(chunk) : Buffer.concat([rest, chunk]);
    let offset = 0;
    while (rest.length - offset >= FRAME_HEAD) {
      const length = rest.readUInt32BE(offset + 1);
      const type = frameType(rest.toString("latin1", offset, offset + 1));
      if (type === undefined || length > MAX_FRAME) throw damaged("it holds something that is not part of a backup");
      const end = offset + FRAME_HEAD + length;
      if (end > rest.length) break;
      yield { type, content: rest.subarray(offset + FRAME_HEAD, end) };
      offset = end;
    }
    rest = rest.subarray(offset);
  }
  if (rest.length > 0) throw damaged("it is truncated");
}

/** The last line of a backup, of which everything before has the SHA-256 `hash`. */
export function lastLine(hash: string): string {
  return `${LAST}${hash}\n`;
}

/** The hash in a last line. Throws `invalid` if `bytes` are not one. */
export function parseLastLine(bytes: Buffer): string {
  const line = bytes.toString("latin1");
  const hash = line.slice(LAST.length, -1);
  if (line !== lastLine(hash) || !/^[0-9a-f]{64}$/.test(hash)) throw damaged("its end is missing");
  return hash;
}

/** How many bytes the first line has, if `start` begins a backup that this program can read. Throws `invalid` if not. */
export function checkMagic(start: Buffer): number {
  const end = start.subarray(0, MAX_MAGIC).indexOf("\n");
  const line = start.toString("latin1", 0, Math.max(end, 0));
  const version = line.startsWith(MAGIC) ? line.slice(MAGIC.length) : "";
  if (!/^[1-9]\d{0,8}$/.test(version)) throw new UamError("invalid", "The file is not a backup made by uam.");
  if (Number(version) > FORMAT) {
    throw new UamError(
      "invalid",
      `The backup has format ${version}, this version of uam reads up to ${FORMAT}. Restore it with the version that made it, or a newer one.`,
    );
  }
  return end + 1;
}

/** The header in an H frame. Throws `invalid` if it is not one. */
export function parseHeader(content: Buffer): BackupHeader {
  const header = parseRecord(content);
  const tables = records(header.tables).map((table) => ({
    name: text(table.name),
    columns: list(table.columns).map(text),
  }));
  return {
    program: text(header.program),
    createdAt: integer(header.createdAt),
    migrations: records(header.migrations).map((row) => ({ name: text(row.name), sha256: text(row.sha256) })),
    tables,
    identities: records(header.identities).map((row) => ({
      table: text(row.table),
      column: text(row.column),
      last: row.last === null ? null : digits(row.last),
    })),
    auditKey: header.auditKey === null ? null : key(header.auditKey),
  };
}

/** The JSON object in a frame. Throws `invalid` if there is none. */
export function parseRecord(content: Buffer): Readonly<Record<string, unknown>> {
  try {
    return record(JSON.parse(content.toString("utf8")));
  } catch (cause) {
    throw damaged("a part of it cannot be read", cause);
  }
}

/** The refusal of a file that is not, or no longer, as the program wrote it. */
export function damaged(how: string, cause?: unknown): UamError {
  return new UamError("invalid", `The backup is damaged: ${how}. Nothing was changed; use another copy.`, { cause });
}

function frameType(letter: string): FrameType | undefined {
  return letter === "H" || letter === "T" || letter === "D" || letter === "E" || letter === "Z" ? letter : undefined;
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw damaged("an object is missing");
  return Object.fromEntries(Object.entries(value));
}

function list(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw damaged("a list is missing");
  return value;
}

function records(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  return list(value).map(record);
}

function text(value: unknown): string {
  if (typeof value !== "string") throw damaged("a text is missing");
  return value;
}

function integer(value: unknown): number {
  if (!Number.isSafeInteger(value)) throw damaged("a number is missing");
  return Number(value);
}

function digits(value: unknown): string {
  if (!/^\d{1,19}$/.test(text(value))) throw damaged("a number is missing");
  return text(value);
}

function key(value: unknown): string {
  if (!/^[0-9a-f]{64}$/.test(text(value))) throw damaged("the audit key is not valid");
  return text(value);
}
