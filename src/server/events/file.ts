/** Records as lines of JSON in a file, for whatever ships logs. */

import { constants } from "node:fs";
import { type FileHandle, open as openFile, stat } from "node:fs/promises";
import { printableJson } from "../../shared/text/text.ts";
import { auditRecord } from "../audit-records.ts";
import { type Sink, SinkError } from "./stream.ts";

/** Group and owner: those who ship it read it through the group. */
const MODE = 0o640;
/** Appending, never through a link, and never waiting for the other end of a pipe. */
const FLAGS = constants.O_RDWR | constants.O_APPEND | constants.O_NOFOLLOW | constants.O_NONBLOCK;
/** Longest part of a line that is looked for at the end. */
const MAX_LINE = 1024 * 1024;
/** The start of each line. */
const BEGINNING = '{"id":';

/**
 * A sink that appends to the file, and creates it. It is opened again when something else is at its path, or nothing. What could
 * be written only in part, as on a full disk, is taken back; a half line that a crash left is removed.
 */
export function createFileSink(path: string): Sink {
  let handle: FileHandle | undefined;
  let isStale = false;
  let last: number | undefined;

  async function close(): Promise<void> {
    const old = handle;
    [handle, last] = [undefined, undefined];
    await old?.close().catch(() => {});
  }

  async function opened(): Promise<FileHandle> {
    if (handle !== undefined && !isStale && (await isAt(handle, path))) return handle;
    await handle?.close().catch(() => {});
    [handle, isStale] = [undefined, false];
    handle = await openWhole(path);
    return handle;
  }

  return {
    async write(records) {
      try {
        const file = await opened();
        const { size } = await file.stat();
        try {
          await file.appendFile(records.map((row) => `${printableJson(auditRecord(row))}\n`).join(""));
          // The database forgets nothing of what it says was written here, not even when the machine loses power.
          await file.datasync();
        } catch (error) {
          await file.truncate(size);
          throw error;
        }
      } catch (error) {
        throw new SinkError(`${path} cannot be written: ${reasonOf(error)}`);
      }
      last = records.at(-1)?.id ?? last;
    },
    settled: () => last,
    reopen() {
      isStale = true;
    },
    close,
  };
}

/** Opens the file with whole lines only. */
async function openWhole(path: string): Promise<FileHandle> {
  const file = await openOrCreate(path);
  try {
    const about = await file.stat();
    const { size } = about;
    if (!about.isFile()) throw new SinkError("it is not a regular file");
    const rest = await halfLine(file, size);
    if (rest === "") return file;
    // Only what was certainly begun here is taken back; anything else is ended.
    const isOurs = rest.startsWith(BEGINNING) || BEGINNING.startsWith(rest);
    if (isOurs) await file.truncate(size - rest.length);
    else await file.appendFile("\n");
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

async function openOrCreate(path: string): Promise<FileHandle> {
  try {
    const made = await openFile(path, FLAGS | constants.O_CREAT | constants.O_EXCL, MODE);
    // The umask may have taken the group's permission away.
    await made.chmod(MODE);
    return made;
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
    return await openFile(path, FLAGS);
  }
}

/** The text after the last line's end, a character for each byte. */
async function halfLine(file: FileHandle, size: number): Promise<string> {
  if (size === 0) return "";
  const length = Math.min(size, MAX_LINE);
  const buffer = Buffer.alloc(length);
  const { bytesRead } = await file.read(buffer, 0, length, size - length);
  const text = buffer.subarray(0, bytesRead).toString("latin1");
  return text.slice(text.lastIndexOf("\n") + 1);
}

async function isAt(file: FileHandle, path: string): Promise<boolean> {
  const [own, there] = await Promise.all([file.stat(), stat(path).catch(() => undefined)]);
  return there !== undefined && own.ino === there.ino && own.dev === there.dev;
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return "unknown";
  if (error instanceof SinkError) return error.message;
  return "code" in error && typeof error.code === "string" ? (EXPLAINED[error.code] ?? error.code) : error.message;
}

const EXPLAINED: Readonly<Record<string, string>> = {
  ENOSPC: "the disk is full",
  EDQUOT: "the quota is used up",
  ENOENT: "its directory does not exist",
  EACCES: "the service may not write there",
  EISDIR: "it is a directory",
  ELOOP: "it is a symbolic link",
  EROFS: "the file system is read-only",
};
