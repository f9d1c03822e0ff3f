/** Reading files from directories of another user, where anything may have been put in their place. */

import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";

/** Bytes; more than any file of ours has. */
const LARGEST = 256 * 1024 * 1024;

/** The file's text. Never waits, and follows no link as the last part of the path. Throws for whatever is not a file, and what open(2) throws. */
export function readPlainFile(path: string): string {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) throw new Error(`${path} is not a file`);
    if (stat.size > LARGEST) throw new Error(`${path} has ${stat.size} bytes, more than any that uam writes`);
    return readFileSync(fd, "utf8");
  } finally {
    closeSync(fd);
  }
}
