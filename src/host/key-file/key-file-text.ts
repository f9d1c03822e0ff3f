/** The text sshd would find in a key file, read without following the owner's links and without waiting for anything. */

import { closeSync, constants, fstatSync, lstatSync, openSync, readSync } from "node:fs";
import { publicMessage, UamError } from "../../shared/errors.ts";
import { at, errorCode, type Ground, openDirectory, openTrusted } from "../safe-open.ts";
import { keep, requireNoMount } from "./key-file-check.ts";
import type { KeyFile } from "./key-path.ts";

/** More than any key file has; a key after it would be missed, so the content of a longer file counts as unknown. */
export const MAX_KEY_FILE = 4_194_304;
/** A missing file holds no keys. */
const ABSENT: ReadonlySet<string> = new Set(["ENOENT", "ENOTDIR", "ELOOP", "ENXIO"]);
/** The same where each part was checked first: its owner swapped in what has become a link since, and sshd may follow it. */
const GONE: ReadonlySet<string> = new Set(["ENOENT", "ENXIO"]);

export interface KeyFileText {
  /** Empty if the file is missing. */
  readonly text: string;
  /** Why the file may contain more, as a clause that begins with a verb: then it counts as containing any key. */
  readonly problem?: string;
}

/** A file in a home is its owner's and is read without following any link; one elsewhere as sshd reads it. */
export function readKeyFile(file: KeyFile, ground: Ground): KeyFileText {
  return file.inHome ? readInHome(file, ground) : readOutside(file.path);
}

function readInHome(file: KeyFile, { mounts, roots }: Ground): KeyFileText {
  const opened: number[] = [];
  try {
    requireNoMount(file, mounts);
    let directory = roots?.open(file.trusted) ?? keep(opened, openTrusted(file.trusted));
    for (const name of file.owned) {
      const found = openOrName(directory, name);
      if (found === "link") return { text: "", problem: `is behind a link, ${name}` };
      if (found === "other") return { text: "" };
      directory = keep(opened, found);
    }
    const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
    return textOf(keep(opened, openSync(at(directory, file.file), flags)));
  } catch (error) {
    if (error instanceof UamError) return { text: "", problem: `cannot be inspected: ${publicMessage(error)}` };
    // Only the file itself is opened in a way that says so of a link.
    if (errorCode(error) === "ELOOP") return { text: "", problem: "is a link" };
    return unread(error, GONE);
  } finally {
    for (const fd of opened) closeSync(fd);
  }
}

/** Follows links, as sshd does, but waits for nothing. */
function readOutside(path: string): KeyFileText {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    return unread(error);
  }
  try {
    return textOf(fd);
  } finally {
    closeSync(fd);
  }
}

/** sshd reads keys from regular files only (auth2-pubkeyfile.c). */
function textOf(fd: number): KeyFileText {
  const stat = fstatSync(fd);
  if (!stat.isFile()) return { text: "" };
  if (stat.size > MAX_KEY_FILE) return { text: "", problem: "is too long to be searched" };
  const bytes = Buffer.alloc(stat.size);
  let length = 0;
  while (length < bytes.length) {
    const count = readSync(fd, bytes, length, bytes.length - length, null);
    if (count === 0) break;
    length += count;
  }
  return { text: bytes.toString("utf8", 0, length) };
}

function unread(error: unknown, absent = ABSENT): KeyFileText {
  const code = errorCode(error);
  if (code === "") throw error;
  return absent.has(code) ? { text: "" } : { text: "", problem: `cannot be read (${code})` };
}

/** The opened directory, or the file in its place. Throws ENOTDIR if it has become a directory meanwhile: its owner is swapping it. */
function openOrName(directory: number, name: string): number | "link" | "other" {
  try {
    return openDirectory(directory, name);
  } catch (error) {
    if (errorCode(error) !== "ENOTDIR") throw error;
    const stat = lstatSync(at(directory, name), { throwIfNoEntry: false });
    if (stat === undefined || stat.isDirectory()) throw error;
    return stat.isSymbolicLink() ? "link" : "other";
  }
}
