/** What sshd would find in a key file, read without following a link of the owner's and without waiting for anything. */

import { closeSync, constants, fstatSync, lstatSync, openSync, readSync } from "node:fs";
import { publicMessage, UamError } from "../../shared/errors.ts";
import { at, errorCode, type Mount, openDirectory, openTrusted } from "../walk.ts";
import { keep, requireNoMount } from "./key-file-check.ts";
import type { KeyFile } from "./key-path.ts";

/** More than any key file; a key behind it would be missed, so a longer file is one that cannot be told. */
export const MAX_KEY_FILE = 4_194_304;
/** Where no file is, no key is. */
const ABSENT: ReadonlySet<string> = new Set(["ENOENT", "ENOTDIR", "ELOOP", "ENXIO"]);
/** The same where each part was looked at first: what has become a link since its owner swapped, and sshd may follow it. */
const GONE: ReadonlySet<string> = new Set(["ENOENT", "ENXIO"]);

export interface KeyFileText {
  /** Empty if there is no file. */
  readonly text: string;
  /** Why there may be more to it, as a clause that begins with a verb: then it counts as holding any key. */
  readonly problem?: string;
}

/** One in a home is read without following any link, as it is its owner's; one elsewhere as sshd reads it. */
export function readKeyFile(file: KeyFile, mounts: readonly Mount[]): KeyFileText {
  return file.inHome ? readInHome(file, mounts) : readOutside(file.path);
}

function readInHome(file: KeyFile, mounts: readonly Mount[]): KeyFileText {
  const opened: number[] = [];
  try {
    requireNoMount(file, mounts);
    let directory = keep(opened, openTrusted(file.trusted));
    for (const name of file.owned) {
      const found = kindOf(directory, name);
      if (found === "link") return { text: "", problem: `is behind a link, ${name}` };
      if (found === "other") return { text: "" };
      directory = keep(opened, openDirectory(directory, name));
    }
    if (kindOf(directory, file.file) === "link") return { text: "", problem: "is a link" };
    const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
    return textOf(keep(opened, openSync(at(directory, file.file), flags)));
  } catch (error) {
    if (error instanceof UamError) return { text: "", problem: `cannot be looked at: ${publicMessage(error)}` };
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

/** sshd takes keys from regular files only (auth2-pubkeyfile.c). */
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

function kindOf(directory: number, name: string): "missing" | "link" | "directory" | "other" {
  const stat = lstatSync(at(directory, name), { throwIfNoEntry: false });
  if (stat === undefined) return "missing";
  if (stat.isSymbolicLink()) return "link";
  return stat.isDirectory() ? "directory" : "other";
}
