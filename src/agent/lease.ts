/**
 * The lease: for how long the host may let external accounts in without the service. While it lives, the link that sshd reads as
 * its list of revoked keys is there; without the link sshd refuses every key, whatever is in the homes. The agent and a timer of
 * systemd both hold to the files in /run, so that one of them is enough. Nothing of it is on a disk.
 *
 * A file holds `BOOT WALL ENDS`: it ends when the host has been up for BOOT seconds or the clock reads WALL seconds since 1970,
 * whichever is first, so that no change of the clock makes it longer.
 */

import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, readlinkSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readPlainFile } from "../shared/system/plain-file.ts";
import { type Clock, SECOND } from "../shared/time/clock.ts";

/** A moment on two clocks, in seconds. */
export interface Moment {
  /** Since the boot, also while the machine slept (proc(5), uptime). */
  readonly boot: number;
  /** Since 1970. */
  readonly wall: number;
}

/** Whether the end of the lease ends only new logins, or the sessions too. */
export type LeaseEnds = "logins" | "sessions";

export interface Lease extends Moment {
  readonly ends: LeaseEnds;
}

/** `lease` is the service's; `hold` is root's, who keeps the host open without it. */
export type LeaseName = "lease" | "hold";

export interface LeaseFiles {
  /** AGENT_RUN_DIRECTORY. */
  readonly directory: string;
  /** The target of the link: the administrator's own list. */
  readonly target: string;
}

const LINK = "revoked-keys";
/** For ever, as digits, so that the timer's script has one case. */
const FOREVER: Moment = { boot: 99_999_999_999, wall: 99_999_999_999 };
/** Of the lease, to be early by: our clock may be slower than the service's. */
const SHARE = 0.99;

/** Now, on both clocks. */
export function momentOf(clock: Clock): Moment {
  const [uptime = ""] = readFileSync("/proc/uptime", "utf8").split(" ");
  return { boot: Number(uptime), wall: clock.now().getTime() / SECOND };
}

/**
 * When a lease of so many milliseconds ends that was asked for at `sent`; null: never. It is early by a hundredth, and by `early`
 * seconds, in which the timer may not have looked.
 */
export function endOf(sent: Moment, milliseconds: number | null, early: number): Moment {
  if (milliseconds === null) return FOREVER;
  const length = (milliseconds / SECOND) * SHARE - early;
  return { boot: Math.floor(sent.boot + length), wall: Math.floor(sent.wall + length) };
}

/** Writes the file; what is alive by it counts once `enforce` has run. */
export function writeLease({ directory }: LeaseFiles, name: LeaseName, { boot, wall, ends }: Lease): void {
  mkdirSync(directory, { recursive: true, mode: 0o755 });
  const draft = draftIn(directory);
  writeFileSync(draft, `${Math.floor(boot)} ${Math.floor(wall)} ${ends}\n`, { flag: "wx", mode: 0o644 });
  renameSync(draft, join(directory, name));
}

/** Parses the file; undefined if it is missing or cannot be read as a lease. */
export function readLease({ directory }: LeaseFiles, name: LeaseName): Lease | undefined {
  let text: string;
  try {
    text = readPlainFile(join(directory, name));
  } catch {
    return undefined;
  }
  const [, boot, wall, ends] = /^(\d{1,15}) (\d{1,15}) (logins|sessions)\n/.exec(text) ?? [];
  return boot === undefined ? undefined : { boot: Number(boot), wall: Number(wall), ends: ends as LeaseEnds };
}

/** True for a lease that never ends. */
export function isForever(lease: Moment): boolean {
  return lease.boot >= FOREVER.boot && lease.wall >= FOREVER.wall;
}

export function isAlive(lease: Moment | undefined, now: Moment): boolean {
  return lease !== undefined && now.boot < lease.boot && now.wall < lease.wall;
}

/** How many seconds are left of it, none if it has ended; undefined for one that never ends. */
export function secondsLeft(lease: Moment, now: Moment): number | undefined {
  return isForever(lease) ? undefined : Math.max(0, Math.min(lease.boot - now.boot, lease.wall - now.wall));
}

/**
 * For how many seconds the host may stay open by these files, whatever its clock is set to; Infinity for a lease without end. Above it
 * only by the clock that nobody sets: a wall clock that ends a lease early may be set back.
 */
export function longestLeft(files: LeaseFiles, now: Moment): number {
  const ends = (["lease", "hold"] as const).flatMap((name) => readLease(files, name) ?? []);
  if (ends.some(isForever)) return Number.POSITIVE_INFINITY;
  return Math.ceil(Math.max(0, ...ends.map(({ boot }) => boot - now.boot)));
}

/** Makes the link be there while a lease or a hold lives, and only then. Returns which it is. */
export function enforce(files: LeaseFiles, now: () => Moment): "open" | "shut" {
  const lives = () => {
    const moment = now();
    return isAlive(readLease(files, "lease"), moment) || isAlive(readLease(files, "hold"), moment);
  };
  const path = join(files.directory, LINK);
  if (lives()) {
    if (targetOf(path) !== files.target) link(files, path);
    // This process may have been stopped in between, for longer than the lease was.
    if (lives()) return "open";
  }
  rmSync(path, { force: true, recursive: true });
  return "shut";
}

/** Ends lease and hold at once. */
export function endLease(files: LeaseFiles): void {
  rmSync(join(files.directory, LINK), { force: true, recursive: true });
  for (const name of ["lease", "hold"] as const) removeLease(files, name);
}

/** The host stays open until `enforce` has run. */
export function removeLease({ directory }: LeaseFiles, name: LeaseName): void {
  rmSync(join(directory, name), { force: true });
}

/** Whether sshd can find its list by the link. */
export function isLinked({ directory, target }: LeaseFiles): boolean {
  return targetOf(join(directory, LINK)) === target;
}

function link({ directory, target }: LeaseFiles, path: string): void {
  const draft = draftIn(directory);
  symlinkSync(target, draft);
  try {
    renameSync(draft, path);
  } catch {
    // Something that a rename does not replace: a directory.
    rmSync(path, { force: true, recursive: true });
    renameSync(draft, path);
  }
}

function targetOf(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

function draftIn(directory: string): string {
  return join(directory, `.${randomBytes(6).toString("hex")}.new`);
}
