/** Writes a backup: all stored state as it was at one moment, with memory that does not grow with it. */

import { createHash } from "node:crypto";
import { Readable, type Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { constants, createZstdCompress } from "node:zlib";
import { LOCKS } from "../advisory-locks.ts";
import type { ConnectionOptions } from "../client.ts";
import { migrationHash, pendingMigrations } from "../migrate.ts";
import { MIGRATIONS } from "../migrations.ts";
import {
  type BackupHeader,
  type BackupTable,
  createFrameHash,
  encodeFrame,
  FORMAT,
  type Frame,
  type FrameType,
  lastLine,
  MAGIC,
} from "./backup-format.ts";
import { copyToStatement, readIdentities, tablesToCarry } from "./backup-tables.ts";
import { type CopyClient, withCopyClient } from "./copy-client.ts";

/** The source of a backup. */
export interface BackupSource {
  /** A role that may read everything: the owner, where the service is not. */
  readonly connection: ConnectionOptions;
  readonly program: string;
  readonly createdAt: Date;
  readonly auditKey: Uint8Array | undefined;
  /** Aborts the backup; the file is then not a backup. */
  readonly signal: AbortSignal;
}

/** The content of a backup. */
export interface BackupSummary {
  readonly header: BackupHeader;
  readonly rows: Readonly<Record<string, number>>;
  /** Of the whole backup, as it is in its file. */
  readonly bytes: number;
}

/** COPY gives a few rows at a time; frames of this size keep the cost of each frame negligible. */
const FRAME = 128 * 1024;
const UNPACKED_CHUNK = 256 * 1024;

/**
 * Writes a backup to `sink` and ends it. Others may go on using the database, and their changes are in the backup completely
 * or not at all. Throws `conflict` for an empty database, `internal` for one of another version of the program.
 */
export async function writeBackup(source: BackupSource, sink: Writable): Promise<BackupSummary> {
  return await withCopyClient(source.connection, source.signal, async (client) => {
    await client.execute("set search_path = public; set statement_timeout = 0; set lock_timeout = 0");
    await client.execute("set idle_in_transaction_session_timeout = 0; set timezone = 'UTC'; set datestyle = 'ISO'");
    // Taken before the snapshot, so that nobody migrates between it and the last table. It is released with the connection.
    await client.execute(`select pg_advisory_lock_shared(${LOCKS.migration})`);
    await client.execute("begin isolation level repeatable read read only");
    const header = await readHeader(client, source);
    const rows: Record<string, number> = {};
    const compress = createZstdCompress({
      chunkSize: UNPACKED_CHUNK,
      params: { [constants.ZSTD_c_compressionLevel]: 3, [constants.ZSTD_c_checksumFlag]: 1 },
    });
    let bytes = 0;
    const written = (size: number) => {
      bytes += size;
    };
    const frames = Readable.from(backupFrames(client, header, rows));
    await pipeline(frames, compress, (packed) => enclosed(packed, written), sink, { signal: client.signal });
    return { header, rows, bytes };
  });
}

/** The packed frames between the first line and the last; `written` is told the size of each piece. */
async function* enclosed(
  packed: AsyncIterable<Uint8Array>,
  written: (size: number) => void,
): AsyncGenerator<Uint8Array, void, undefined> {
  const hash = createHash("sha256");
  const first = Buffer.from(`${MAGIC}${FORMAT}\n`);
  hash.update(first);
  written(first.length);
  yield first;
  for await (const chunk of packed) {
    hash.update(chunk);
    written(chunk.length);
    yield chunk;
  }
  const last = Buffer.from(lastLine(hash.digest("hex")));
  written(last.length);
  yield last;
}

async function readHeader(client: CopyClient, source: BackupSource): Promise<BackupHeader> {
  const pending = await pendingMigrations(client);
  const applied = MIGRATIONS.slice(0, MIGRATIONS.length - pending.length);
  return {
    program: source.program,
    createdAt: source.createdAt.getTime(),
    migrations: applied.map((migration) => ({ name: migration.name, sha256: migrationHash(migration) })),
    tables: await tablesToCarry(client),
    identities: await readIdentities(client),
    auditKey: source.auditKey === undefined ? null : Buffer.from(source.auditKey).toString("hex"),
  };
}

async function* backupFrames(
  client: CopyClient,
  header: BackupHeader,
  rows: Record<string, number>,
): AsyncGenerator<Buffer, void, undefined> {
  const hash = createFrameHash();
  yield hash.add(jsonFrame("H", header));
  for (const table of header.tables) {
    yield hash.add(jsonFrame("T", table.name));
    const content = createHash("sha256");
    const end = yield* tableFrames(client, table, (data) => content.update(data));
    rows[table.name] = end;
    yield hash.add(jsonFrame("E", { rows: end, sha256: content.digest("hex") }));
  }
  yield encodeFrame(jsonFrame("Z", { sha256: hash.digest() }));
}

/** Returns the number of rows. */
async function* tableFrames(
  client: CopyClient,
  table: BackupTable,
  see: (data: Buffer) => void,
): AsyncGenerator<Buffer, number, undefined> {
  const copy = client.copyTo(copyToStatement(table));
  let waiting: Buffer[] = [];
  let size = 0;
  const flush = (): Buffer => {
    const content = Buffer.concat(waiting);
    waiting = [];
    size = 0;
    see(content);
    return encodeFrame({ type: "D", content });
  };
  for await (const chunk of copy as AsyncIterable<Buffer>) {
    waiting.push(chunk);
    size += chunk.length;
    if (size >= FRAME) yield flush();
  }
  if (size > 0) yield flush();
  return copy.rowCount;
}

function jsonFrame(type: FrameType, value: unknown): Frame {
  return { type, content: Buffer.from(JSON.stringify(value)) };
}
