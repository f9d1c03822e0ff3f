/** Reads a backup from start to end, and trusts nothing in it before its hashes are checked. */

import { createHash } from "node:crypto";
import { stat } from "node:fs/promises";
import type { BackupSummary } from "./backup.ts";
import { unpackFile, unpackStream } from "./backup-file.ts";
import {
  type BackupHeader,
  type BackupTable,
  createFrameHash,
  damaged,
  type Frame,
  type FrameType,
  parseHeader,
  parseRecord,
  readFrames,
} from "./backup-format.ts";

/** Receives the parts of a backup as they are read. */
export interface BackupVisitor {
  /** Called first; throwing ends the reading. */
  header(header: BackupHeader): Promise<void>;
  /** Called for each table in turn; has to read `rows` to the end, and returns how many rows they were if it counted. */
  table(table: BackupTable, rows: AsyncIterable<Buffer>): Promise<number | undefined>;
}

/** Where a backup is: the path of a file, or its bytes, which can be read only once. */
export type BackupPlace = string | AsyncIterable<Buffer>;

/**
 * Reads the backup and returns what it holds; on return every byte was verified to be as it was written.
 * Throws `invalid` at the first that is not, when the visitor may already have seen part of it.
 */
export async function readBackup(
  place: BackupPlace,
  signal: AbortSignal,
  visitor: BackupVisitor,
): Promise<BackupSummary> {
  let bytes = 0;
  const told = (size: number) => {
    bytes = size;
  };
  const frames = readFrames(typeof place === "string" ? unpackFile(place, signal) : unpackStream(place, signal, told));
  try {
    const hash = createFrameHash();
    const first = await next(frames, "H");
    hash.add(first);
    const header = parseHeader(first.content);
    await visitor.header(header);
    const rows: Record<string, number> = {};
    for (const table of header.tables) {
      const start = await next(frames, "T");
      hash.add(start);
      if (start.content.toString("utf8") !== JSON.stringify(table.name))
        throw damaged(`${table.name} is not where it should be`);
      const content = createHash("sha256");
      const reading = { end: undefined as Frame | undefined };
      const counted = await visitor.table(table, tableRows(frames, reading, content));
      if (reading.end === undefined) throw new Error(`the rows of ${table.name} were not read to the end`);
      hash.add(reading.end);
      const end = parseRecord(reading.end.content);
      if (end.sha256 !== content.digest("hex")) throw damaged(`the checksum of ${table.name} does not match`);
      if (counted !== undefined && end.rows !== counted) throw damaged(`${table.name} has the wrong number of rows`);
      rows[table.name] = Number(end.rows);
    }
    const last = parseRecord((await next(frames, "Z")).content);
    if (last.sha256 !== hash.digest()) throw damaged("its parts do not belong together");
    if ((await frames.next()).done !== true) throw damaged("something follows its end");
    return { header, rows, bytes: typeof place === "string" ? (await stat(place)).size : bytes };
  } finally {
    await frames.return();
  }
}

/** The header of a backup; nothing of the file is verified yet. Throws `invalid` if it cannot be read. */
export async function readHeader(path: string, signal: AbortSignal): Promise<BackupHeader> {
  const frames = readFrames(unpackFile(path, signal));
  try {
    return parseHeader((await next(frames, "H")).content);
  } finally {
    await frames.return();
  }
}

/** Reads the whole backup to see that it is as it was written. Throws `invalid` if not. */
export async function verifyBackup(place: BackupPlace, signal: AbortSignal): Promise<BackupSummary> {
  return await readBackup(place, signal, {
    header: async () => {},
    table: async (_, rows) => {
      for await (const _chunk of rows);
      return undefined;
    },
  });
}

async function* tableRows(
  frames: AsyncGenerator<Frame>,
  reading: { end: Frame | undefined },
  hash: { update(data: Buffer): unknown },
): AsyncGenerator<Buffer, void, undefined> {
  for (;;) {
    const frame = await next(frames, "D", "E");
    if (frame.type === "E") {
      reading.end = frame;
      return;
    }
    hash.update(frame.content);
    yield frame.content;
  }
}

async function next(frames: AsyncGenerator<Frame>, ...expected: readonly FrameType[]): Promise<Frame> {
  const { done, value } = await frames.next();
  if (done) throw damaged("its end is missing");
  if (!expected.includes(value.type)) throw damaged("its parts are not in order");
  return value;
}
