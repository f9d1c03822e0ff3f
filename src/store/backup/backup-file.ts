/** The file that a backup is in: it appears complete, readable by its owner alone, or not at all. */

import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { createReadStream, createWriteStream, type WriteStream } from "node:fs";
import { link, lstat, open, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createZstdDecompress } from "node:zlib";
import { UamError } from "../../shared/errors.ts";
import { checkMagic, damaged, LAST_LENGTH, parseLastLine } from "./backup-format.ts";

const CHUNK = 256 * 1024;
const FIRST_BYTES = 64;

/**
 * Lets `write` fill a file beside `path`, mode 0600, which then gets that name: on disk before it is returned. Throws
 * `conflict` if `path` exists, unless `replace`; on any failure an existing file stays, and nothing else is left.
 */
export async function writeFileWhole<T>(
  path: string,
  replace: boolean,
  write: (sink: WriteStream) => Promise<T>,
): Promise<T> {
  const directory = dirname(path);
  const before = await lstat(path).catch((cause: unknown) =>
    errorCode(cause) === "ENOENT" ? undefined : fail(unwritable(directory, cause)),
  );
  if (before?.isDirectory()) throw new UamError("conflict", `${path} is a directory; name a file.`);
  if (before !== undefined && !replace) throw exists(path);
  const part = join(directory, `.${basename(path)}.${randomBytes(6).toString("hex")}.part`);
  const sink = createWriteStream(part, { flags: "wx", mode: 0o600, highWaterMark: CHUNK });
  await once(sink, "open").catch((cause: unknown) => fail(unwritable(directory, cause)));
  try {
    const result = await write(sink);
    await sync(part, "r+");
    if (replace) await rename(part, path);
    else await link(part, path).catch((cause: unknown) => fail(errorCode(cause) === "EEXIST" ? exists(path) : cause));
    await sync(directory, "r");
    return result;
  } finally {
    sink.destroy();
    await rm(part, { force: true });
  }
}

/** The frames of a backup, unpacked. Throws `invalid` for a file that is not a backup or no longer as it was written. */
export async function* unpackFile(path: string, signal: AbortSignal): AsyncGenerator<Uint8Array, void, undefined> {
  const { start, end, hash } = await readEnds(path);
  const packed = createReadStream(path, { end: end - 1, highWaterMark: CHUNK });
  try {
    yield* unpack(checked(packed, start, hash), signal, (cause) => unreadable(path, cause));
  } finally {
    packed.destroy();
  }
}

/** The same of bytes that are read only once; `told` is told how many they were by then. A failure of theirs is passed on. */
export async function* unpackStream(
  bytes: AsyncIterable<Buffer>,
  signal: AbortSignal,
  told: (size: number) => void,
): AsyncGenerator<Uint8Array, void, undefined> {
  yield* unpack(checkedStream(bytes, told), signal, (cause) => cause);
}

async function* unpack(
  packed: AsyncIterable<Buffer>,
  signal: AbortSignal,
  unreadableFor: (cause: unknown) => unknown,
): AsyncGenerator<Uint8Array, void, undefined> {
  const unpacked = createZstdDecompress({ chunkSize: CHUNK });
  const feeding = pipeline(packed, unpacked, { signal });
  // Its failure also makes the loop below fail.
  feeding.catch(() => {});
  try {
    for await (const chunk of unpacked) yield chunk;
  } catch (cause) {
    if (signal.aborted || cause instanceof UamError) throw signal.aborted ? signal.reason : cause;
    if (/^E[A-Z]+$/.test(errorCode(cause) ?? "")) throw unreadableFor(cause);
    throw damaged("it cannot be unpacked", cause);
  } finally {
    unpacked.destroy();
  }
}

/** Passes on everything after the first line; throws at the end if the whole does not have that hash. */
async function* checked(
  chunks: AsyncIterable<Buffer>,
  start: number,
  expected: string,
): AsyncGenerator<Buffer, void, undefined> {
  const hash = createHash("sha256");
  let skip = start;
  for await (const chunk of chunks) {
    hash.update(chunk);
    if (skip < chunk.length) yield chunk.subarray(skip);
    skip = Math.max(0, skip - chunk.length);
  }
  if (hash.digest("hex") !== expected) throw damaged("its checksum does not match");
}

/** Like `checked`, but holds back what may be the last line. */
async function* checkedStream(
  chunks: AsyncIterable<Buffer>,
  told: (size: number) => void,
): AsyncGenerator<Buffer, void, undefined> {
  const hash = createHash("sha256");
  let held = Buffer.alloc(0);
  let size = 0;
  let hasBegun = false;
  for await (const chunk of chunks) {
    size += chunk.length;
    told(size);
    held = Buffer.concat([held, chunk]);
    const ready = held.length - LAST_LENGTH;
    if (ready < FIRST_BYTES) continue;
    hash.update(held.subarray(0, ready));
    yield held.subarray(hasBegun ? 0 : checkMagic(held.subarray(0, FIRST_BYTES)), ready);
    hasBegun = true;
    held = held.subarray(ready);
  }
  if (!hasBegun) {
    checkMagic(held);
    throw damaged("its end is missing");
  }
  if (parseLastLine(held) !== hash.digest("hex")) throw damaged("its checksum does not match");
}

/** Where the packed frames begin and end, and the hash of all up to there. */
async function readEnds(path: string): Promise<{ start: number; end: number; hash: string }> {
  const file = await open(path, "r").catch((cause: unknown) => fail(unreadable(path, cause)));
  try {
    const read = async (position: number, length: number) => {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position);
      return buffer.subarray(0, bytesRead);
    };
    const { size } = await file.stat();
    const start = checkMagic(await read(0, FIRST_BYTES).catch((cause: unknown) => fail(unreadable(path, cause))));
    const end = size - LAST_LENGTH;
    if (end < start) throw damaged("its end is missing");
    return { start, end, hash: parseLastLine(await read(end, LAST_LENGTH)) };
  } finally {
    await file.close();
  }
}

/** On disk on return, whichever descriptor it was written through (fsync(2)). */
async function sync(path: string, flags: "r" | "r+"): Promise<void> {
  const file = await open(path, flags);
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

function exists(path: string): UamError {
  return new UamError("conflict", `${path} already exists; name another file, or replace it with --force.`);
}

function unreadable(path: string, cause: unknown): UamError {
  return new UamError("not_found", `${path} cannot be read: ${reasonOf(cause)}`, { cause });
}

/** In sudo mode the service's user writes the file, which root's own directories keep out. */
function unwritable(directory: string, cause: unknown): UamError {
  const sentence = `${directory} cannot be written to by the user that this runs as: ${reasonOf(cause)}`;
  return new UamError("conflict", sentence, { cause });
}

function fail(error: unknown): never {
  throw error;
}

function errorCode(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
