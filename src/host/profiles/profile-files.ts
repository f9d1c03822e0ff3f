/** The file by which a host holds profiles: what sshd includes, and says which are held. */

import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { UamError } from "../../shared/errors.ts";
import { faultPoint } from "../../shared/work/fault-point.ts";
import { at, errorCode, openTrusted } from "../safe-open.ts";
import { PROFILE_PATHS, type ProfilePaths, sshdFileIn, sudoDirectoryIn } from "./names.ts";
import { type Block, blocksIn } from "./sshd-blocks.ts";

/** Of this one name, so that a crash leaves at most one; nothing includes it. */
const DRAFT = ".draft";

export function pathsOf({ profilePaths }: { readonly profilePaths?: ProfilePaths }): ProfilePaths {
  return profilePaths ?? PROFILE_PATHS;
}

/** The text of a file of root's; "" if there is none. */
export function textIn(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes(errorCode(error))) return "";
    throw new UamError("internal", `Cannot read ${path}: ${errorCode(error) || "unexpected error"}`, { cause: error });
  }
}

/** The profiles that the host holds, by name. Throws `internal` if that cannot be read. */
export function readHeld({ directory }: ProfilePaths): ReadonlyMap<string, Block> {
  return new Map(blocksIn(textIn(sshdFileIn(directory))).map((block) => [block.profile.name, block]));
}

/** Opens our directory, which is made if it is missing; throws `internal` unless it is root's alone. */
export function openProfiles({ directory }: ProfilePaths): number {
  for (const path of [directory, sudoDirectoryIn(directory)]) {
    try {
      mkdirSync(path);
      // Whatever the umask of the service is.
      chmodSync(path, 0o755);
    } catch (error) {
      if (errorCode(error) !== "EEXIST") throw failed(path, error);
    }
  }
  return openTrusted(directory);
}

/** Replaces a file whole, as far as the disk keeps it; the old one stays if that fails, with `internal`. */
export function placeText(directory: number, path: string, text: string, mode: number): void {
  const draft = at(directory, DRAFT);
  try {
    writeDraft(draft, text, mode);
    renameSync(draft, at(directory, path));
    fsyncSync(directory);
  } catch (error) {
    removeText(directory, DRAFT);
    throw failed(path, error);
  }
  faultPoint("host: a change made");
}

/** Writes the text where nothing reads it. */
export function writeDraft(path: string, text: string, mode: number): void {
  const { O_WRONLY, O_CREAT, O_TRUNC, O_NOFOLLOW } = constants;
  const file = openSync(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, mode);
  try {
    fchmodSync(file, mode);
    const bytes = Buffer.from(text);
    for (let written = 0; written < bytes.length; ) written += writeSync(file, bytes, written);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Removes a file; it may be missing. Throws `internal` if it stays. */
export function removeText(directory: number, path: string): void {
  try {
    unlinkSync(at(directory, path));
  } catch (error) {
    if (errorCode(error) !== "ENOENT") throw failed(path, error);
  }
}

function failed(path: string, cause: unknown): UamError {
  return new UamError("internal", `Cannot write ${path}: ${errorCode(cause) || "unexpected error"}`, { cause });
}
