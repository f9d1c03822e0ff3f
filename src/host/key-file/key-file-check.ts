/** Whether an account's authorized-keys file is as it should be, checked without following, waiting for or changing anything. */

import { closeSync, constants, fstatSync, openSync, readdirSync, readSync, realpathSync, type Stats } from "node:fs";
import { UamError } from "../../shared/errors.ts";
import { octal } from "../../shared/text/octal.ts";
import { at, errorCode, type Ground, type Mount, mountsWithin, openDirectory, openTrusted } from "../safe-open.ts";
import type { KeyFile } from "./key-path.ts";

const TEMPORARY = /^\.uam\.[0-9a-f]{32}$/;
const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
/** Failures that the owner can cause by renaming, removing or leasing (EAGAIN) while we work; another attempt may succeed. */
export const RACES: ReadonlySet<string> = new Set([
  "ENOENT",
  "EEXIST",
  "ENOTEMPTY",
  "EISDIR",
  "ENOTDIR",
  "ELOOP",
  "ESTALE",
  "ENXIO",
  "EAGAIN",
]);

/** How the file differs from what `writeKeyFile` writes, as a clause; undefined if it does not. Changes nothing. */
export function keyFileDifference(target: KeyFile, text: string, mounts: readonly Mount[]): string | undefined {
  return look(target, text, { mounts, leftovers: true });
}

/** Like `keyFileDifference`, with a choice whether a temporary file beside the file is a difference. */
export function look(target: KeyFile, text: string, how: Ground & { readonly leftovers: boolean }): string | undefined {
  requireNoMount(target, how.mounts);
  const opened: number[] = [];
  try {
    let directory = how.roots?.open(target.trusted) ?? keep(opened, openTrusted(target.trusted));
    for (const [index, name] of target.owned.entries()) {
      directory = keep(opened, openDirectory(directory, name));
      const stat = fstatSync(directory);
      const isHome = target.inHome && index === 0;
      if (isHome && isShut(stat)) continue;
      if (stat.uid !== target.holding.uid) return `${name} belongs to uid ${stat.uid}`;
      if (!target.inHome && stat.gid !== target.holding.gid) return `${name} belongs to gid ${stat.gid}`;
      if (isHome ? (stat.mode & 0o700) !== 0o700 : (stat.mode & 0o7777) !== target.holding.directoryMode)
        return `${name} has mode ${octal(stat.mode)}`;
    }
    const file = keep(opened, openSync(at(directory, target.file), READ));
    const difference = fileDifference(target, fstatSync(file), text);
    if (difference !== undefined) return difference;
    if (!holds(file, text)) return "its content differs";
    return how.leftovers && leftovers(directory).length > 0 ? "a temporary file was left by a crash" : undefined;
  } catch (error) {
    if (!RACES.has(errorCode(error))) throw error instanceof UamError ? error : refused(target, error);
    return errorCode(error) === "ENOENT" ? "it is missing" : "a link, a directory or a special file is in its place";
  } finally {
    for (const fd of opened) closeSync(fd);
  }
}

/** Whether a home is as that of a shut account is: root's, and nobody else's to enter. */
export function isShut(stat: Stats): boolean {
  return stat.uid === 0 && (stat.mode & 0o7777) === 0o700;
}

function fileDifference(target: KeyFile, stat: Stats, text: string): string | undefined {
  if (!stat.isFile()) return "it is not a regular file";
  const { uid, gid, fileMode } = target.holding;
  if (stat.uid !== uid || stat.gid !== gid) return `it belongs to ${stat.uid}:${stat.gid}`;
  if ((stat.mode & 0o7777) !== fileMode) return `it has mode ${octal(stat.mode)}`;
  return stat.size === Buffer.byteLength(text) ? undefined : "its content differs";
}

/** A mount on the path is not the owner's file; a FUSE server could even make the call hang. */
export function requireNoMount(target: KeyFile, mounts: readonly Mount[]): void {
  const [first] = target.owned;
  // Most hosts have no mount that is named like an account.
  if (first === undefined || !mounts.some(({ path }) => path.includes(`/${first}`))) return;
  const base = target.trusted === "/" ? "" : realTrusted(target);
  const top = `${base}/${first}`;
  for (const mount of mountsWithin(mounts, top)) {
    const allowed = mount.path === top && target.inHome && !mount.type.startsWith("fuse");
    const onTheWay = `${base}/${target.owned.join("/")}/${target.file}/`.startsWith(`${mount.path}/`);
    if (onTheWay && !allowed) {
      throw new UamError("internal", `${mount.path} is a mount point on the path to ${target.path}: unmount it`);
    }
  }
}

function realTrusted(target: KeyFile): string {
  try {
    return realpathSync(target.trusted);
  } catch (error) {
    throw refused(target, error);
  }
}

/**
 * The size of a directory (stat(2)) above which nobody looks for leftovers in it: some thousands of names, more than anybody has there but
 * to make whoever lists them, or removes them, take long. What a crash left is harmless.
 */
const LARGEST = 131_072;

/** Files named like our temporary ones. If another process loses one, it tries again; if the owner made one, it is their loss. */
export function leftovers(directory: number): readonly string[] {
  if (fstatSync(directory).size > LARGEST) return [];
  return readdirSync(`/proc/self/fd/${directory}`, { withFileTypes: true })
    .filter((entry) => TEMPORARY.test(entry.name) && !entry.isDirectory())
    .map((entry) => entry.name);
}

/** A failed system call as an error that names the file and the account. */
export function refused(target: KeyFile, cause: unknown): UamError {
  const why = errorCode(cause) || "unexpected error";
  return new UamError("internal", `Cannot write ${target.path} for ${target.owner.name}: ${why}`, { cause });
}

/** One for all: ten thousand files in buffers of their own are as many pieces of memory for the collector. */
const shared = Buffer.alloc(16_384);

function holds(fd: number, text: string): boolean {
  const size = Buffer.byteLength(text);
  const found = size < shared.length ? shared : Buffer.alloc(size + 1);
  let length = 0;
  while (length <= size) {
    const count = readSync(fd, found, length, size + 1 - length, null);
    if (count === 0) break;
    length += count;
  }
  if (length !== size) return false;
  // A key file is ASCII, of which each byte is one letter.
  return size === text.length
    ? found.toString("latin1", 0, length) === text
    : found.subarray(0, length).equals(Buffer.from(text));
}

/** Notes an open descriptor for the `finally` that closes it. */
export function keep(opened: number[], fd: number): number {
  opened.push(fd);
  return fd;
}
