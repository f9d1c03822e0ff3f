/** What the files that sshd reads for an account hold once access was taken away: read back, not taken for granted. */

import { createHash } from "node:crypto";
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { UamError } from "../../shared/errors.ts";
import type { HostSettings } from "../settings.ts";
import { errorCode } from "../walk.ts";
import type { KeyFile } from "./key-path.ts";

/** More than any key file; a key behind it would be missed, so a longer file is refused as a whole. */
const MAX_KEY_FILE = 4_194_304;
/** Where no file is, no key is. */
const ABSENT: ReadonlySet<string> = new Set(["ENOENT", "ENOTDIR", "ELOOP", "ENXIO"]);

/** Which keys must be in no file any more: the one with this fingerprint, or every key there is. */
export type DeadKeys = { readonly kind: "key"; readonly fingerprint: string } | { readonly kind: "all" };

/**
 * Sentences about files outside the home that still hold a dead key. They are an administrator's, so nothing here changes
 * them. One that cannot be read counts as holding it.
 */
export function deadKeysIn(
  files: readonly KeyFile[],
  dead: DeadKeys,
  keysIn: HostSettings["keysIn"],
): readonly string[] {
  return files
    .filter((file) => !file.inHome)
    .flatMap((file) => {
      const { text, problem } = readKeyFile(file.path);
      const found = keysIn(text).filter(
        ({ base64 }) => dead.kind === "all" || fingerprintOf(base64) === dead.fingerprint,
      );
      if (problem !== undefined) return [`sshd reads keys of ${file.owner.name} from ${file.path}, which ${problem}`];
      if (found.length === 0) return [];
      const which = dead.kind === "all" ? "keys" : `the revoked key ${dead.fingerprint}`;
      return [`sshd still reads ${which} of ${file.owner.name} from ${file.path}, which is not uam's: remove it there`];
    });
}

/** Throws `internal` with the first of the sentences, if there are any. */
export function requireNone(sentences: readonly string[]): void {
  const [first] = sentences;
  if (first !== undefined) throw new UamError("internal", first);
}

/** As ssh-keygen -l prints it. */
function fingerprintOf(base64: string): string {
  const digest = createHash("sha256").update(Buffer.from(base64, "base64")).digest("base64");
  return `SHA256:${digest.replace(/=+$/, "")}`;
}

/** Follows links, as sshd does, but waits for nothing; sshd takes keys from regular files only (auth2-pubkeyfile.c). */
function readKeyFile(path: string): { readonly text: string; readonly problem?: string } {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    const code = errorCode(error);
    if (code === "") throw error;
    return ABSENT.has(code) ? { text: "" } : { text: "", problem: `cannot be read (${code})` };
  }
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) return { text: "" };
    if (stat.size > MAX_KEY_FILE) return { text: "", problem: "is too long to be searched" };
    return { text: readAll(fd, stat.size) };
  } finally {
    closeSync(fd);
  }
}

function readAll(fd: number, size: number): string {
  const bytes = Buffer.alloc(size);
  let length = 0;
  while (length < size) {
    const count = readSync(fd, bytes, length, size - length, null);
    if (count === 0) break;
    length += count;
  }
  return bytes.toString("utf8", 0, length);
}
