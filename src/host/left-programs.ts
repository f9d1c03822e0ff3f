/** Set-uid and set-gid files on this host's own disks: programs that a deleted account left for others to start. */

import { closeSync, lstatSync, openSync, readdirSync, readFileSync, type Stats } from "node:fs";
import { setImmediate as breathe } from "node:timers/promises";
import { replaceUnprintable } from "../shared/text/text.ts";
import { at, atBytes, errorCode, openDirectory, parseMounts } from "./safe-open.ts";

export interface LeftProgram {
  readonly path: string;
  /** The account whose rights it gives. */
  readonly uid: number;
}

export interface LeftPrograms {
  readonly found: readonly LeftProgram[];
  /** Why there may be more; none if all was seen. */
  readonly unseen: readonly string[];
}

/** How far a search goes. */
export interface SearchBounds {
  readonly files: number;
  readonly milliseconds: number;
  /** Directories below a file system's own. */
  readonly depth: number;
  readonly found: number;
}

export const BOUNDS: SearchBounds = { files: 2_000_000, milliseconds: 20_000, depth: 100, found: 20 };
/** File systems that wait for a network or for a user's program are left out: reading them may never end. */
const LOCAL = new Set([
  "bcachefs",
  "btrfs",
  "ext2",
  "ext3",
  "ext4",
  "f2fs",
  "jfs",
  "overlay",
  "ramfs",
  "reiserfs",
  "tmpfs",
  "xfs",
  "zfs",
]);
/** Where anybody may leave a file: looked at first. */
const OPEN_TO_ALL = ["/tmp", "/var/tmp", "/dev/shm", "/run"] as const;
const SET_UID = 0o4000;
const SET_GID = 0o2000;
const FILES_A_TURN = 500;
const UNREADABLE = "directories that this user may not read";

interface Search {
  readonly isGone: (id: number) => boolean;
  readonly bounds: SearchBounds;
  readonly end: number;
  /** Directories, by device and number, that are looked at for themselves, or not at all. */
  readonly apart: ReadonlySet<string>;
  readonly found: LeftProgram[];
  readonly unseen: Set<string>;
  files: number;
}

/**
 * Those whose owner or group `isGone` says it of, outside of `homes`: on file systems of this machine that heed such bits. No link is
 * followed, no mount passed, and no file opened. Bounded: parts that were not searched are reported.
 */
export async function findLeftPrograms(
  isGone: (id: number) => boolean,
  {
    homes,
    roots = searchedRoots(),
    bounds = BOUNDS,
  }: {
    readonly homes: string;
    readonly roots?: readonly string[];
    readonly bounds?: SearchBounds;
  },
): Promise<LeftPrograms> {
  const apart = new Set([homes, ...roots].flatMap((path) => keyOf(lstatSync(path, { throwIfNoEntry: false }))));
  const end = performance.now() + bounds.milliseconds;
  const search: Search = { isGone, bounds, end, apart, found: [], unseen: new Set(), files: 0 };
  for (const root of roots) {
    if (root === homes || root.startsWith(`${homes}/`)) continue;
    const opened = lstatSync(root, { throwIfNoEntry: false })?.isDirectory()
      ? open(() => openSync(root, "r"))
      : undefined;
    if (opened === undefined) continue;
    try {
      await searchIn(search, opened, { path: root === "/" ? "" : root, depth: 0 });
    } finally {
      closeSync(opened);
    }
  }
  return { found: search.found, unseen: [...search.unseen] };
}

/** The mounts that are looked at, and what anybody may write to first. */
function searchedRoots(): readonly string[] {
  const content = readFileSync("/proc/self/mountinfo");
  const flags = content
    .toString("latin1")
    .split("\n")
    .map((line) => line.split(" ")[5] ?? "");
  const mounts = parseMounts(content).filter(
    ({ type }, index) => LOCAL.has(type) && !(flags[index] ?? "").split(",").includes("nosuid"),
  );
  const mounted = new Set(mounts.map(({ path }) => path));
  // A directory on a file system that ignores the bits is left out with it.
  const isSearched = (path: string) => !parseMounts(content).some((mount) => mount.path === path) || mounted.has(path);
  return [...new Set([...OPEN_TO_ALL.filter(isSearched), ...mounted])];
}

interface Place {
  readonly path: string;
  readonly depth: number;
}

async function searchIn(search: Search, directory: number, { path, depth }: Place): Promise<void> {
  // A name need not be text.
  const names = open(() => readdirSync(`/proc/self/fd/${directory}`, { encoding: "buffer" }));
  const here = lstat(at(directory, "."));
  if (names === undefined || here === undefined) return void search.unseen.add(UNREADABLE);
  for (const name of names) {
    if (!(await mayGoOn(search))) return;
    const stat = lstat(atBytes(directory, name));
    const place = { path: `${path}/${name.toString("utf8")}`, depth: depth + 1 };
    if (stat?.isFile()) look(search, stat, place.path);
    // A directory that is a mount's own is looked at in its turn, if at all.
    if (stat?.isDirectory() && stat.dev === here.dev && !keyOf(stat).some((key) => search.apart.has(key)))
      await enter(
        search,
        open(() => openDirectory(directory, name)),
        place,
      );
  }
}

async function enter(search: Search, opened: number | undefined, place: Place): Promise<void> {
  if (opened === undefined) return void search.unseen.add(UNREADABLE);
  try {
    if (place.depth > search.bounds.depth) search.unseen.add(`what is deeper than ${search.bounds.depth} directories`);
    else await searchIn(search, opened, place);
  } finally {
    closeSync(opened);
  }
}

async function mayGoOn(search: Search): Promise<boolean> {
  const { bounds, end, found, unseen } = search;
  search.files += 1;
  if (search.files % FILES_A_TURN === 0) await breathe();
  if (found.length >= bounds.found) unseen.add("more of the kind");
  else if (search.files > bounds.files || performance.now() > end) unseen.add("what there was no time for");
  else return true;
  return false;
}

function look({ isGone, found }: Search, stat: Stats, path: string): void {
  const shown = replaceUnprintable(path, () => "?");
  if ((stat.mode & SET_UID) !== 0 && isGone(stat.uid)) found.push({ path: shown, uid: stat.uid });
  else if ((stat.mode & SET_GID) !== 0 && isGone(stat.gid)) found.push({ path: shown, uid: stat.gid });
}

function keyOf(stat: Stats | undefined): readonly string[] {
  return stat === undefined ? [] : [`${stat.dev}:${stat.ino}`];
}

function lstat(path: string | Buffer): Stats | undefined {
  return open(() => lstatSync(path));
}

/** Undefined for a file that has gone meanwhile, or may not be seen. */
function open<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch (error) {
    if (errorCode(error) === "") throw error;
    return undefined;
  }
}
