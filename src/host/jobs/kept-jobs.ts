/** Root's copies of the jobs that were removed from accounts, so that somebody can say what was in them. */

import { chmodSync, closeSync, fstatSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import type { AccountRef } from "../../protocol/host.ts";
import { UamError } from "../../shared/errors.ts";
import { writeDurably } from "../../shared/system/durable-file.ts";
import { isPrintable } from "../../shared/text/text.ts";
import { DAY, systemClock } from "../../shared/time/clock.ts";
import { clampTimestamp, formatTimestamp } from "../../shared/time/timestamp.ts";
import { splitHome } from "../plan/plan.ts";
import { at, errorCode, openDirectory, openTrusted, ownUid } from "../safe-open.ts";
import { KEPT_JOBS_DIRECTORY } from "../settings.ts";
import { type Job, type Jobs, readJobs } from "./spool.ts";

/** For how long a copy is there. */
export const JOBS_KEPT = 30 * DAY;
/** Of an account: an owner who makes and revokes keys all day cannot fill the disk. The oldest are dropped. */
const MOST_COPIES = 16;

/** The jobs removed at one time, as stored and as `--json` shows them. */
export interface KeptJobs {
  readonly account: string;
  readonly uid: number;
  readonly removed_at: string;
  readonly lingering: boolean;
  readonly files: readonly KeptJob[];
  /** How many more files there were. */
  readonly more: number;
}

/** A crontab or an at job. */
export interface KeptJob {
  readonly path: string;
  readonly modified_at: string;
  /** The length of the file that was removed. */
  readonly bytes: number;
  /** Whether that is more than is kept. */
  readonly cut: boolean;
  /** Why nothing of it is kept, where it could not be read. */
  readonly problem: string | null;
  /** "base64" for what is not text, or would drive a terminal. */
  readonly encoding: "utf-8" | "base64";
  readonly content: string;
}

const NAME = /^(ext_[a-z0-9_-]+)~(\d{1,15})\.json(\.draft)?$/;

/** A copy's name in the directory says whose it is and when it was taken, whatever is done to the file's own times. */
interface CopyName {
  readonly name: string;
  readonly account: string;
  readonly at: number;
  /** A crash left it. */
  readonly isDraft: boolean;
}

/**
 * Copies what is scheduled for the account, unless that is nothing, and removes what is older than JOBS_KEPT. Throws `internal` if
 * the copy cannot be made; nothing of the account is changed either way.
 */
export async function keepJobs(
  account: AccountRef,
  {
    directory = KEPT_JOBS_DIRECTORY,
    now = systemClock.now(),
    read = readJobs,
  }: { readonly directory?: string; readonly now?: Date; readonly read?: (account: AccountRef) => Promise<Jobs> } = {},
): Promise<"none" | "kept"> {
  try {
    const jobs = await read(account);
    if (!jobs.lingering && jobs.files.length === 0) return "none";
    const kept: KeptJobs = {
      ...{ account: account.name, uid: account.uid, removed_at: formatTimestamp(now) },
      ...{ lingering: jobs.lingering, files: jobs.files.map(keptJob), more: jobs.more },
    };
    inDirectory(directory, "make", (fd) => {
      const known = namesIn(fd);
      const own = known.filter((copy) => copy.account === account.name && !copy.isDraft);
      remove(fd, [...outdated(known, now), ...own.slice(0, Math.max(0, own.length - MOST_COPIES + 1))]);
      // Twice within a millisecond, or by a clock that was set back: no copy replaces another.
      const taken = new Set(own.map((copy) => copy.at));
      let moment = now.getTime();
      while (taken.has(moment)) moment++;
      writeDurably(at(fd, `${account.name}~${moment}.json`), `${JSON.stringify(kept, undefined, 2)}\n`, 0o600);
    });
    return "kept";
  } catch (error) {
    if (error instanceof UamError) throw error;
    const why = errorCode(error) || "unexpected error";
    throw new UamError("internal", `The jobs of ${account.name} cannot be copied to ${directory}: ${why}`, {
      cause: error,
    });
  }
}

/** The copies of an account's jobs that are not older than JOBS_KEPT, the newest last. Other files are left out. */
export function readKeptJobs(
  account: string,
  { directory = KEPT_JOBS_DIRECTORY, now = systemClock.now() } = {},
): readonly KeptJobs[] {
  return (
    inDirectory(directory, "look", (fd) => {
      const names = namesIn(fd);
      const old = new Set(outdated(names, now));
      const own = names.filter((copy) => copy.account === account && !copy.isDraft && !old.has(copy));
      return own.flatMap(({ name }) => {
        try {
          return [JSON.parse(readFileSync(at(fd, name), "utf8")) as KeptJobs];
        } catch (error) {
          if (error instanceof SyntaxError || errorCode(error) === "ENOENT") return [];
          throw error;
        }
      });
    }) ?? []
  );
}

/** Removes every copy that is older than JOBS_KEPT. */
export function forgetJobs({ directory = KEPT_JOBS_DIRECTORY, now = systemClock.now() } = {}): void {
  inDirectory(directory, "look", (fd) => remove(fd, outdated(namesIn(fd), now)));
}

function keptJob({ path, modified, bytes, content, problem }: Job): KeptJob {
  const text = content.toString("utf8");
  const isText = Buffer.from(text).equals(content) && isPrintable(text.replace(/[\n\t]/g, ""));
  return {
    ...{
      path,
      modified_at: formatTimestamp(clampTimestamp(modified)),
      bytes,
      cut: content.length < bytes,
      problem: problem ?? null,
    },
    ...(isText ? { encoding: "utf-8", content: text } : { encoding: "base64", content: content.toString("base64") }),
  };
}

/** Works in the directory, which is root's alone. Undefined where there is none and none is to be made. */
function inDirectory<T>(path: string, how: "make" | "look", work: (fd: number) => T): T | undefined {
  const { base, name } = splitHome(path);
  const opened: number[] = [];
  try {
    const parent = openTrusted(base);
    opened.push(parent);
    if (how === "make") makeDirectory(at(parent, name));
    const fd = openDirectory(parent, name);
    opened.push(fd);
    const { uid, mode } = fstatSync(fd);
    if (uid !== ownUid()) throw new UamError("internal", `${path} belongs to uid ${uid}: remove it`);
    if ((mode & 0o077) !== 0) chmodSync(at(fd, "."), 0o700);
    return work(fd);
  } catch (error) {
    if (how === "look" && errorCode(error) === "ENOENT") return undefined;
    throw error;
  } finally {
    for (const fd of opened) closeSync(fd);
  }
}

function makeDirectory(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if (errorCode(error) !== "EEXIST") throw error;
  }
}

/** The oldest first. */
function namesIn(fd: number): readonly CopyName[] {
  const copies = readdirSync(at(fd, "")).flatMap((name): readonly CopyName[] => {
    const [, account, time, draft] = NAME.exec(name) ?? [];
    return account === undefined ? [] : [{ name, account, at: Number(time), isDraft: draft !== undefined }];
  });
  return copies.toSorted((one, other) => one.at - other.at);
}

function outdated(copies: readonly CopyName[], now: Date): readonly CopyName[] {
  return copies.filter((copy) => now.getTime() - copy.at > JOBS_KEPT);
}

function remove(fd: number, copies: readonly CopyName[]): void {
  for (const { name } of copies) rmSync(at(fd, name), { force: true });
}
