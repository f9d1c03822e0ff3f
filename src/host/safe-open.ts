/** Opening directories one component at a time, so that no link set up on the path is ever followed. */

import { closeSync, constants, fstatSync, openSync, readSync, realpathSync, type Stats, statSync } from "node:fs";
import { UamError } from "../shared/errors.ts";

const DIRECTORY = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/**
 * `name` inside the open directory, as a path. Resolving /proc/self/fd/<fd> goes to the directory itself (proc(5)), so
 * no rename or link above it can redirect the call: openat(2) for a runtime that lacks it.
 */
export function at(directory: number, name: string): string {
  return `/proc/self/fd/${directory}/${name}`;
}

/** The same for a name that may not be text. */
export function atBytes(directory: number, name: Buffer): Buffer {
  return Buffer.concat([Buffer.from(at(directory, "")), name]);
}

/** Opens a directory inside another without following a link: ENOTDIR or ELOOP if `name` is one. */
export function openDirectory(parent: number, name: string | Buffer): number {
  return openSync(typeof name === "string" ? at(parent, name) : atBytes(parent, name), DIRECTORY);
}

/** The effective uid of this process, read in a way that works on Bun and Deno. */
export function ownUid(): number {
  // It keeps it: a sweep, which works as an account, is over when its call returns.
  known ??= statSync("/proc/self").uid;
  return known;
}

let known: number | undefined;

/**
 * Opens a directory by its absolute path, whose parts all belong to root (or to this process) and can be changed by nobody else; a sticky
 * directory such as /tmp is accepted above it. Throws `internal` with the part that is open to others.
 */
export function openTrusted(path: string): number {
  try {
    return openClosed(path);
  } catch (error) {
    // A link on the way, as an administrator may have made one: then where it leads to.
    if (errorCode(error) !== "ENOTDIR" && errorCode(error) !== "ELOOP") throw error;
    return openClosed(realpathSync(path));
  }
}

/** Opens an absolute path that has no link in it. */
function openClosed(path: string): number {
  const parts = path.split("/").filter((part) => part !== "");
  const own = ownUid();
  let current = openSync("/", DIRECTORY);
  try {
    requireClosed(fstatSync(current), "/", own, parts.length > 0);
    for (const [index, part] of parts.entries()) {
      const next = openDirectory(current, part);
      closeSync(current);
      current = next;
      requireClosed(fstatSync(next), `/${parts.slice(0, index + 1).join("/")}`, own, index < parts.length - 1);
    }
    return current;
  } catch (error) {
    closeSync(current);
    throw error;
  }
}

/** Trusted directories that are opened once for many files. */
export interface Roots {
  /** The descriptor of what `openTrusted` opens; it is not the caller's to close. Throws what that throws. */
  open(path: string): number;
  /** Closes all of them; they are opened anew if they are asked for again. */
  close(): void;
}

/** For a moment only: a directory that is open cannot be unmounted. */
export function createRoots(): Roots {
  const opened = new Map<string, number>();
  return {
    open(path) {
      const fd = opened.get(path) ?? openTrusted(path);
      opened.set(path, fd);
      return fd;
    },
    close() {
      for (const fd of opened.values()) closeSync(fd);
      opened.clear();
    },
  };
}

function requireClosed(stat: Stats, path: string, own: number, stickyAllowed: boolean): void {
  const sticky = stickyAllowed && (stat.mode & 0o1000) !== 0;
  if (stat.uid !== 0 && stat.uid !== own) {
    throw new UamError("internal", `${path} belongs to uid ${stat.uid}, not to root: refusing to work below it`);
  }
  if ((stat.mode & 0o022) !== 0 && !sticky) {
    throw new UamError("internal", `${path} is writable by users other than its owner: refusing to work below it`);
  }
}

/** The code of a failed system call, such as `EISDIR`; empty for any other error. */
export function errorCode(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}

/** One mount in this process's namespace. */
export interface Mount {
  /** For people, and for comparing with paths that are text; invalid UTF-8 becomes U+FFFD. */
  readonly path: string;
  /** The exact bytes, as system calls need them. */
  readonly bytes: Buffer;
  readonly type: string;
  /** Super options, `user_id=1000` for a FUSE mount. */
  readonly options: string;
}

/** The starting point of a look at a file. */
export interface Ground {
  readonly mounts: readonly Mount[];
  /** Without them, each look opens its own. */
  readonly roots?: Roots;
}

/** The mounts as the kernel lists them (proc(5), mountinfo); nobody can hide one. */
export function readMounts(): readonly Mount[] {
  const content = readMountinfo();
  if (!last.content.equals(content)) last = { content: Buffer.from(content), mounts: parseMounts(content) };
  return last.mounts;
}

/** The mounts that were read last: they are asked for again and again, and seldom change. */
let last: { readonly content: Buffer; readonly mounts: readonly Mount[] } = { content: Buffer.alloc(0), mounts: [] };
let buffer = Buffer.alloc(16_384);

/** Valid until the next call. */
function readMountinfo(): Buffer {
  const fd = openSync("/proc/self/mountinfo", "r");
  try {
    for (let length = 0; ; ) {
      if (length === buffer.length) buffer = Buffer.concat([buffer, Buffer.alloc(length)]);
      const count = readSync(fd, buffer, length, buffer.length - length, null);
      if (count === 0) return buffer.subarray(0, length);
      length += count;
    }
  } finally {
    closeSync(fd);
  }
}

/** Parses mountinfo, whose paths are bytes in any encoding or none; octal escapes such as `\040` are undone. */
export function parseMounts(content: Buffer): readonly Mount[] {
  return content
    .toString("latin1")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const [left = "", right = ""] = line.split(" - ");
      const raw = (left.split(" ")[4] ?? "").replace(/\\([0-7]{3})/g, (_, octal: string) =>
        String.fromCharCode(Number.parseInt(octal, 8)),
      );
      const bytes = Buffer.from(raw, "latin1");
      const [type = "", , options = ""] = right.split(" ");
      return { path: bytes.toString("utf8"), bytes, type, options };
    });
}

/** The mounts at `path` or below it. */
export function mountsWithin(mounts: readonly Mount[], path: string): readonly Mount[] {
  return mounts.filter((mount) => mount.path === path || mount.path.startsWith(`${path}/`));
}
