/** Reading what is scheduled for an account, before it is removed. The account's owner made all of it and is taken to be hostile. */

import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readSync,
  type Stats,
} from "node:fs";
import { setImmediate as breathe } from "node:timers/promises";
import type { AccountRef } from "../../protocol/host.ts";
import { splitHome } from "../plan/plan.ts";
import { at, errorCode, openDirectory, openTrusted } from "../safe-open.ts";
import { JOBS_ASIDE } from "../settings.ts";

/** The directories, as planNoJobs() has them. The output of at(1)'s jobs, in atspool, does not count as a job. */
export interface Spools {
  readonly crontabs: readonly string[];
  readonly at: readonly string[];
  readonly linger: string;
}

const SPOOLS: Spools = {
  crontabs: ["/var/spool/cron/crontabs", "/var/spool/cron/tabs", "/var/spool/cron"],
  at: ["/var/spool/cron/atjobs", "/var/spool/at"],
  linger: "/var/lib/systemd/linger",
};

/** How much of an account's jobs is read. */
export const MOST = { files: 64, file: 256 * 1024, all: 1024 * 1024 } as const;

/** A crontab or an at job. */
export interface Job {
  readonly path: string;
  readonly modified: Date;
  /** Its whole length; `content` may be shorter. */
  readonly bytes: number;
  readonly content: Buffer;
  /** Why it could not be read, as a code such as EAGAIN. */
  readonly problem?: string;
}

/** The jobs scheduled for an account. */
export interface Jobs {
  readonly lingering: boolean;
  /** The crontab by its name first. */
  readonly files: readonly Job[];
  /** How many more there are. */
  readonly more: number;
}

const FILES_A_TURN = 500;

/**
 * Reads regular files only that belong to the account, or to root under the crontab's own name; follows no link and waits for
 * no FIFO. Throws what the system says if a directory cannot be read.
 */
export async function readJobs(account: AccountRef, spools: Spools = SPOOLS): Promise<Jobs> {
  const files: Job[] = [];
  let more = 0;
  let room: number = MOST.all;
  for (const path of [...spools.crontabs, ...spools.at]) {
    await inSpool(path, async (directory) => {
      const isCrontab = spools.crontabs.includes(path);
      for (const name of await namesIn(directory, { account, isCrontab })) {
        if (files.length === MOST.files) more++;
        else {
          const job = readJob({ directory, path, name }, { account, isCrontab }, Math.min(MOST.file, room));
          if (job === undefined) continue;
          room -= job.content.length;
          files.push(job);
        }
      }
    });
  }
  const names = [account.name, `${JOBS_ASIDE}${account.name}`];
  return { lingering: names.some((name) => existsSync(`${spools.linger}/${name}`)), files, more };
}

/** The at daemon's directory belongs to the daemon, so it is opened without following a link. */
async function inSpool(path: string, work: (directory: number) => Promise<void>): Promise<void> {
  if (!existsSync(path)) return;
  const { base, name } = splitHome(path);
  const opened: number[] = [];
  try {
    const parent = openTrusted(base);
    opened.push(parent);
    const directory = openDirectory(parent, name);
    opened.push(directory);
    await work(directory);
  } catch (error) {
    if (!["ENOENT", "ENOTDIR"].includes(errorCode(error))) throw error;
  } finally {
    for (const fd of opened) closeSync(fd);
  }
}

interface Whose {
  readonly account: AccountRef;
  readonly isCrontab: boolean;
}

/** Names of what may be the account's; there may be as many files as their owner had time for: others have their turn meanwhile. */
async function namesIn(directory: number, whose: Whose): Promise<readonly string[]> {
  const names: string[] = [];
  for (const [index, name] of readdirSync(at(directory, "")).entries()) {
    if (index % FILES_A_TURN === FILES_A_TURN - 1) await breathe();
    const stat = lstatSync(at(directory, name), { throwIfNoEntry: false });
    if (stat !== undefined && isJob(stat, name, whose)) names.push(name);
  }
  const own = whose.account.name;
  return names.toSorted((one, other) => Number(other === own) - Number(one === own));
}

function isJob(stat: Stats, name: string, { account, isCrontab }: Whose): boolean {
  if (!stat.isFile()) return false;
  // One of root's with another name elsewhere is not a crontab: cron(8) does not read it, either.
  return stat.uid === account.uid || (isCrontab && name === account.name && stat.uid === 0 && stat.nlink === 1);
}

interface Place {
  readonly directory: number;
  readonly path: string;
  readonly name: string;
}

/** Undefined if it is gone, or no longer the account's. */
function readJob({ directory, path, name }: Place, whose: Whose, most: number): Job | undefined {
  const job = { path: `${path}/${name}`, modified: new Date(0), bytes: 0, content: Buffer.alloc(0) };
  let fd: number | undefined;
  try {
    fd = openSync(at(directory, name), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const stat = fstatSync(fd);
    if (!isJob(stat, name, whose)) return undefined;
    const modified = Number.isNaN(stat.mtime.getTime()) ? job.modified : stat.mtime;
    return { ...job, modified, bytes: stat.size, content: readUpTo(fd, Math.min(stat.size, most)) };
  } catch (error) {
    const code = errorCode(error);
    return ["ENOENT", "ELOOP", "ENXIO"].includes(code) ? undefined : { ...job, problem: code || "unexpected error" };
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

function readUpTo(fd: number, most: number): Buffer {
  const buffer = Buffer.alloc(most);
  let length = 0;
  while (length < most) {
    const count = readSync(fd, buffer, length, most - length, null);
    if (count === 0) break;
    length += count;
  }
  return buffer.subarray(0, length);
}
