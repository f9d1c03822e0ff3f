/** The host's processes, read from /proc, and the killing of single ones. */

import { closeSync, openSync, readdirSync, readlinkSync, readSync } from "node:fs";
import { setImmediate as breathe } from "node:timers/promises";
import type { Kernel } from "../../shared/system/kernel.ts";
import { errorCode } from "../safe-open.ts";
import { peersOf } from "./peer.ts";
import { readTitle, type TitleSays } from "./sshd-title.ts";

/** Uids below are the system's own, sshd's unprivileged helpers among them. */
const FIRST_PERSON = 1000;

/** A process as a listing shows it. */
export interface ListedProcess {
  readonly pid: number;
  readonly parent: number;
  /**
   * Real, effective, saved and file system uid, and those of its other threads that differ: each thread has its own. A process belongs to
   * an account if any of them is its.
   */
  readonly uids: readonly number[];
  /** True for the kernel's own threads, and for what is just ending: there is no program, nor a title. */
  readonly hasNoProgram?: boolean;
}

export interface Process extends ListedProcess {
  /** Clock ticks since boot; together with the pid it identifies a process for good. */
  readonly started: number;
}

/** A few milliseconds. */
const PROCESSES_A_TURN = 250;

/** All processes but zombies. One that ends while it is read is left out: some live for less time than the reading takes. */
export function readProcesses(): readonly ListedProcess[] {
  const processes: ListedProcess[] = [];
  for (const pid of readPids()) {
    const found = readListed(pid);
    if (found) processes.push(found);
  }
  return processes;
}

/** The uids that processes have in any way. Others have their turn meanwhile, where there are many. */
export async function usedUids(): Promise<ReadonlySet<number>> {
  const used = new Set<number>();
  for (const [index, pid] of readPids().entries()) {
    if (index % PROCESSES_A_TURN === PROCESSES_A_TURN - 1) await breathe();
    for (const uid of readListed(pid)?.uids ?? []) used.add(uid);
  }
  return used;
}

/** The numbers of all processes. The youngest first: a process that forks and exits all the time is then caught more often than not. */
export function readPids(): readonly number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .reverse()
    .map(Number);
}

/** The process of that number; undefined if there is none or it is a zombie, all of whose threads have ended. */
export function readProcess(pid: number): Process | undefined {
  const listed = readListed(pid);
  const stat = listed === undefined ? undefined : readProc(`/proc/${pid}/stat`);
  if (listed === undefined || stat === undefined) return undefined;
  const [state = "", , ...rest] = fieldsAfterName(stat);
  return isOver(pid, state) ? undefined : { ...listed, started: Number(rest[17]) };
}

/** Those of the processes that run as the uid in any way. */
export function listedOf(processes: readonly ListedProcess[], uid: number): readonly ListedProcess[] {
  return processes.filter((process) => process.uids.includes(uid));
}

/** The same, read once more, without those that have ended since. */
export function processesOf(processes: readonly ListedProcess[], uid: number): readonly Process[] {
  return lookAgain(processes, (process) => process.uids.includes(uid));
}

/**
 * sshd's own root processes for connections of that account, including those that are still logging in: by their title, which is
 * sshd's to set, and, where the account's `uid` is given, by what runs below them, whatever they call themselves. That they
 * are sshd's is proven by root's uid and by the program.
 */
export function connectionsOf(processes: readonly ListedProcess[], name: string, uid?: number): readonly Process[] {
  const parents = new Set(uid === undefined ? [] : listedOf(processes, uid).map(({ parent }) => parent));
  return lookAgain(processes, (process) => {
    if (!isRoots(process)) return false;
    const says = titleOf(process.pid);
    return isOf(says, name) || (parents.has(process.pid) && says?.kind !== "nobody");
  }).filter(({ pid }) => isSshd(pid) === true);
}

/** The same by title alone, for a process that may not read root's programs; enough to end them, but no proof. */
export function titledConnectionsOf(processes: readonly ListedProcess[], name: string): readonly Process[] {
  return lookAgain(processes, (process) => isRoots(process) && isOf(titleOf(process.pid), name));
}

/** A process of sshd's, and what it calls itself. */
export interface UnreadConnection extends Process {
  readonly title: string;
}

/**
 * sshd's root processes whose title is not understood and below which nobody runs whose uid says whose they are: any of them may be a
 * connection of any account. One that serves no client, as its sockets say, is none.
 */
export function unreadConnections(processes: readonly ListedProcess[]): readonly UnreadConnection[] {
  const isUnread = (process: ListedProcess) => isRoots(process) && titleOf(process.pid)?.kind === "unknown";
  const found = lookAgain(processes, isUnread);
  if (found.length === 0) return [];
  const parents = new Set(
    processes.filter(({ uids }) => uids.every((uid) => uid >= FIRST_PERSON)).map(({ parent }) => parent),
  );
  return found
    .filter(({ pid }) => !parents.has(pid) && isSshd(pid) !== false)
    .map((process) => ({ ...process, title: textOf(process.pid) }))
    .filter(({ pid, title }) => !title.startsWith("sshd: ") || isServing(pid));
}

/** A sentence that names those of the processes; undefined if there are none. */
export function sentenceOfUnread(processes: readonly ListedProcess[]): string | undefined {
  const unread = unreadConnections(processes);
  return unread.length === 0 ? undefined : describeUnread(unread);
}

/** A sentence that names such processes. */
export function describeUnread(unread: readonly UnreadConnection[]): string {
  const named = unread.slice(0, 3).map(({ pid, title }) => `${pid} (${JSON.stringify(title.slice(0, 80))})`);
  const more = unread.length > named.length ? ` and ${unread.length - named.length} more` : "";
  const [which, they] = unread.length === 1 ? ["process", "it"] : ["processes", "each"];
  return `sshd's ${which} ${named.join(", ")}${more} cannot be told: ${they} may be a login to any account`;
}

/**
 * Whether the process, whosever it is, calls itself what sshd's for a connection of that account does, or something of sshd's that is not
 * understood, or, where a `uid` is given, has that in any way. Processes without a title are skipped: they are the kernel's own, or have ended.
 */
export function isAbout(pid: number, name: string, uid?: number): boolean {
  const title = readProc(`/proc/${pid}/cmdline`);
  if (title === undefined || title === "") return false;
  const says = readTitle(title);
  if (says?.kind === "unknown" || isOf(says, name)) return true;
  return uid !== undefined && readListed(pid)?.uids.includes(uid) === true;
}

function isRoots({ hasNoProgram, uids }: ListedProcess): boolean {
  return !hasNoProgram && uids.every((uid) => uid === 0);
}

function isOf(says: TitleSays | undefined, name: string): boolean {
  return says?.kind === "connection" && says.account === name;
}

function titleOf(pid: number): TitleSays | undefined {
  return readTitle(readProc(`/proc/${pid}/cmdline`) ?? "");
}

function textOf(pid: number): string {
  return (readProc(`/proc/${pid}/cmdline`) ?? "").replace(/\0+/g, " ").trim();
}

/** Whether the process runs a program of sshd's; undefined if it may not be read. */
function isSshd(pid: number): boolean | undefined {
  const program = programOf(pid);
  return program === undefined ? undefined : /\/sshd(?:-[a-z]+)?(?: \(deleted\))?$/.test(program);
}

/** Whether it has a client on the network. From OpenSSH 9.8 on, the process called `sshd` only listens. */
function isServing(pid: number): boolean {
  return (peersOf([pid]).get(pid) ?? "") !== "";
}

/** Kills those of the processes that are still the same ones, without a command. */
export function killProcesses(processes: readonly Process[], kernel: Kernel): void {
  for (const { pid, started } of processes) kernel.killProcess(pid, () => readProcess(pid)?.started === started);
}

/** The program a process runs, as the kernel knows it; undefined if it ended or may not be read. */
export function programOf(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/exe`);
  } catch (error) {
    if (errorCode(error) === "") throw error;
    return undefined;
  }
}

/** Those that `isMeant` selects, as they are now; most of a host's processes need no second check. */
function lookAgain(
  processes: readonly ListedProcess[],
  isMeant: (process: ListedProcess) => boolean,
): readonly Process[] {
  return processes.filter(isMeant).flatMap(({ pid }) => {
    const found = readProcess(pid);
    return found !== undefined && isMeant(found) ? [found] : [];
  });
}

function readListed(pid: number): ListedProcess | undefined {
  const status = readProc(`/proc/${pid}/status`);
  if (status === undefined) return undefined;
  const uids = fieldOf(status, "Uid").split("\t").map(Number);
  if (uids.length !== 4 || isOver(pid, fieldOf(status, "State").charAt(0))) return undefined;
  const parent = Number(fieldOf(status, "PPid"));
  // The memory's fields come before the number of threads, and only what has a program has memory.
  const hasNoProgram = status.includes("\nThreads:") && !status.includes("\nVmSize:");
  if (hasNoProgram) return { pid, parent, uids, hasNoProgram };
  return { pid, parent, uids: mayDisguise(status, uids) ? [...new Set([...uids, ...uidsOfThreads(pid)])] : uids };
}

/** Whether threads may be somebody else's than the first one, as an account's program can arrange. A process whose uids are all root's is trusted. */
function mayDisguise(status: string, uids: readonly number[]): boolean {
  return fieldOf(status, "Threads") !== "1" && uids.some((uid) => uid !== 0);
}

function uidsOfThreads(pid: number): readonly number[] {
  return threadsOf(pid).flatMap((thread) => {
    const status = readProc(`/proc/${pid}/task/${thread}/status`);
    return status === undefined ? [] : fieldOf(status, "Uid").split("\t").map(Number);
  });
}

function threadsOf(pid: number): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch (error) {
    if (errorCode(error) === "") throw error;
    return [];
  }
}

/** A field of /proc/PID/status; "" without it. No name of a process looks like one: the kernel escapes line breaks in it. */
function fieldOf(status: string, name: string): string {
  const key = `\n${name}:\t`;
  const start = status.indexOf(key);
  return start < 0 ? "" : status.slice(start + key.length, status.indexOf("\n", start + 1));
}

/** A process whose first thread has ended also reads as a zombie, and runs on in the others (pthread_exit(3)). */
function isOver(pid: number, state: string): boolean {
  if (state !== "Z") return state === "X";
  const stat = readProc(`/proc/${pid}/stat`);
  return stat === undefined || Number(fieldsAfterName(stat)[17]) <= 1;
}

/** From the third field of /proc/PID/stat on. The owner chooses the name in parentheses; the fields that follow come from the kernel. */
export function fieldsAfterName(stat: string): readonly string[] {
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
}

/** Long enough for what is needed: the numbers come first in a status, and a longer command line is no title of sshd's. */
const buffer = Buffer.alloc(4096);

/** The beginning of a file in /proc; undefined if it is gone or may not be read. One buffer for all: readFileSync takes a new one of 256 KiB for each. */
export function readProc(path: string): string | undefined {
  try {
    const fd = openSync(path, "r");
    try {
      return buffer.toString("utf8", 0, readSync(fd, buffer, 0, buffer.length, null));
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    // ENOENT and ESRCH: it ended meanwhile; EACCES: hidden from an unprivileged reader.
    if (errorCode(error) === "") throw error;
    return undefined;
  }
}
