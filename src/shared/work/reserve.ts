/**
 * Disk space that is reserved for taking access away: a file, given up piece by piece when the database finds its disk full, and
 * laid again once there is room. Its size shows how much of it is left, to every process of the installation.
 */

import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
} from "node:fs";
import { dirname, join } from "node:path";

const MEGABYTE = 1024 * 1024;
/** One of PostgreSQL's files for its write-ahead log, the largest that it makes at once. */
const PIECE = 16 * MEGABYTE;
/** Several, because the process that filled the disk may take a piece before the database does. */
export const RESERVE_SIZE = 4 * PIECE;
/** The space that must be left beside it. */
const LEFT_FREE = RESERVE_SIZE;
/** Milliseconds between two attempts to lay it on a caller's request. */
const BETWEEN = 1000;

/** Reserves that many bytes of disk for the open file; false if that fails. */
export type Allocate = (descriptor: number, bytes: number) => boolean;

/** The reserve of an installation's embedded database. */
export interface Reserve {
  /** Gives up a piece; false if nothing is left to give up. */
  release(): boolean;
  /** Whether a part of it was given up, and there is still no room to lay it again, which this tries. */
  isInUse(): boolean;
  /** Lays the missing part if there is ample room. Throws the system's error, except for a lack of room. */
  lay(): void;
}

/** Where it is in a data directory: beside the database, on the disk that it is for. */
export function reserveIn(dataDir: string): string {
  return join(dataDir, "postgres", "reserve");
}

/** How much of it is there, in bytes; undefined if it was never laid. */
export function reserveLeft(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.size;
}

/** Whether the disk that the file is on, or is to be on, has no room for another piece. */
export function isDiskFull(path: string): boolean {
  return freeBytes(path) < PIECE;
}

/** Gives up a piece; false if nothing is left, or it was never laid. */
export function releaseReserve(path: string): boolean {
  const left = reserveLeft(path) ?? 0;
  if (left === 0) return false;
  const fd = openSync(path, constants.O_RDWR | constants.O_NOFOLLOW);
  try {
    // Two processes that give up a piece at the same instant may give up the same one.
    ftruncateSync(fd, Math.max(0, left - PIECE));
    // Until that is on the disk its blocks are not free for others.
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  return true;
}

/** The reserve at that path. `given` is told of each piece that is given up, with the bytes that are left. */
export function openReserve(path: string, allocate: Allocate, given: (left: number) => void): Reserve {
  let tried = Number.NEGATIVE_INFINITY;
  const reserve: Reserve = {
    release() {
      if (!releaseReserve(path)) return false;
      given(reserveLeft(path) ?? 0);
      return true;
    },
    isInUse() {
      if (!isMissing(path)) return false;
      const now = performance.now();
      if (now - tried < BETWEEN) return true;
      tried = now;
      reserve.lay();
      return isMissing(path);
    },
    lay: () => layReserve(path, allocate),
  };
  return reserve;
}

function isMissing(path: string): boolean {
  return (reserveLeft(path) ?? RESERVE_SIZE) < RESERVE_SIZE;
}

function layReserve(path: string, allocate: Allocate): void {
  const before = reserveLeft(path);
  if (before === RESERVE_SIZE) return;
  if (freeBytes(path) < RESERVE_SIZE - (before ?? 0) + LEFT_FREE) return;
  // A first reserve is laid as a draft, so that a partial file never has this name.
  const place = before === undefined ? `${path}.draft` : path;
  const fd = openSync(place, constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW, 0o600);
  try {
    const begin = fstatSync(fd).size;
    if (!allocate(fd, RESERVE_SIZE) || fstatSync(fd).size < RESERVE_SIZE) {
      ftruncateSync(fd, begin);
      return;
    }
    fsyncSync(fd);
    if (place !== path) renameSync(place, path);
  } finally {
    closeSync(fd);
    if (place !== path) rmSync(place, { force: true });
  }
}

function freeBytes(path: string): number {
  const { bavail, bsize } = statfsSync(dirname(path));
  return bavail * bsize;
}
