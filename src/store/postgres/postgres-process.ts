/** The server process: found, started, awaited and stopped. */

import { type ChildProcess, spawn } from "node:child_process";
import {
  closeSync,
  constants,
  fstatSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { connect } from "node:net";
import { release } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { UamError } from "../../shared/errors.ts";
import { HERE, type Layout, openOwn, serverEnvironment } from "./postgres-cluster.ts";
import { explainOutput } from "./postgres-output.ts";
import { commandPrefix, type Owner, ownerOf } from "./postgres-owner.ts";

/** The port is only a part of the socket's name: the server never listens on the network. */
export const PORT = 5432;

const LOG_LIMIT = 4 * 1024 * 1024;
const START_PATIENCE = 180_000;
const STOP_PATIENCE = 60_000;

export interface ServerOptions {
  readonly home: string;
  readonly owner: Owner;
  /** Let the kernel stop the server when this process dies, where setpriv of util-linux is there. */
  readonly dieWithParent: boolean;
  readonly fsync: boolean;
  readonly connections: number;
}

export interface Server {
  readonly pid: number;
  /** Settles when the server has ended, however. */
  readonly ended: Promise<void>;
}

const settings: readonly string[] = [
  "listen_addresses=",
  "unix_socket_directories=../run",
  "unix_socket_permissions=0700",
  "shared_buffers=32MB",
  "io_method=sync",
  "max_wal_size=256MB",
  // Nobody replicates it, and rows that a restore loads into new tables are then written once: to the tables.
  "wal_level=minimal",
  "max_wal_senders=0",
  "max_logical_replication_workers=0",
  "logging_collector=off",
  "log_checkpoints=off",
  // Values of rows and statements are personal data: they stay out of the log.
  "log_error_verbosity=terse",
  "log_min_error_statement=panic",
  "log_min_messages=warning",
  "timezone=UTC",
  "log_timezone=UTC",
];

/**
 * After a crash the server has the disk keep every file that it finds: the file system at once, if the kernel then reports errors (since
 * 5.8), and not each of a thousand files, which is most of the time of a start after a crash.
 */
const syncAtOnce: readonly string[] = ["recovery_init_sync_method=syncfs"];

/** For a kernel's release as uname(2) gives it. Pure. */
export function reportsOfSyncfs(kernel: string): boolean {
  const [major = 0, minor = 0] = kernel.split(".").map(Number.parseFloat);
  return major > 5 || (major === 5 && minor >= 8);
}

const noSync: readonly string[] = ["fsync=off", "full_page_writes=off", "synchronous_commit=off"];

/** Starts the server and returns when it accepts connections; `internal` with the end of its log when it does not. */
export async function startServer(layout: Layout, options: ServerOptions): Promise<Server> {
  rotateLog(layout.logFile);
  const { O_WRONLY, O_APPEND } = constants;
  const logFd = openOwn(layout.logFile, O_WRONLY | O_APPEND, ownerOf(layout.root));
  const before = fstatSync(logFd).size;
  const crash = reportsOfSyncfs(release()) ? syncAtOnce : [];
  const most = `max_connections=${options.connections}`;
  const flags = [...settings, most, ...crash, ...(options.fsync ? [] : noSync)].flatMap((setting) => ["-c", setting]);
  const prefix = commandPrefix(options.owner, options.dieWithParent ? "INT" : undefined);
  const argv = [...prefix.argv, join(options.home, "bin/postgres"), "-D", HERE, ...flags];
  const child = spawn(argv[0] ?? "", argv.slice(1), {
    ...prefix.identity,
    cwd: layout.data,
    env: serverEnvironment,
    // Its own session: Ctrl-C on a terminal must not reach it before the service has drained.
    detached: true,
    stdio: ["ignore", logFd, logFd],
  });
  closeSync(logFd);
  const ended = new Promise<string>((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("exit", (code, signal) => resolve(signal ?? `exit code ${code}`));
  });
  child.unref();
  const outcome = await Promise.race([ended, becomesReady(layout, child)]);
  if (outcome === "ready") return { pid: child.pid ?? 0, ended: ended.then(() => undefined) };
  if (outcome === "late") child.kill("SIGQUIT");
  const said = explainOutput(readFrom(layout.logFile, before));
  throw new UamError("internal", `PostgreSQL did not start (${outcome}): ${said} Its log is ${layout.logFile}.`);
}

/** The pid of the live server of this data directory, or undefined; a pid that now names another program does not count. */
export function findServer(layout: Layout): number | undefined {
  const pid = Number(readState(layout)[0]);
  return Number.isInteger(pid) && pid > 1 && isServerOf(layout, pid) ? pid : undefined;
}

/** Whether the server of this data directory says that it is on its way down. */
export function isStopping(layout: Layout): boolean {
  return readState(layout)[7]?.trim() === "stopping";
}

/** Every process of this data directory's server: backends can outlive a killed postmaster for a moment. */
export function findServerProcesses(layout: Layout): readonly number[] {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids.map(Number).filter((pid) => isServerOf(layout, pid));
}

/** Whether a server answers on the socket in `directory`. */
export function answers(directory: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(join(directory, `.s.PGSQL.${PORT}`));
    socket.once("connect", () => resolve(true));
    socket.once("error", () => resolve(false));
    socket.once("close", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });
}

/** Ends the server of this data directory: fast shutdown, and an immediate one if that takes over a minute. */
export async function stopServer(layout: Layout): Promise<void> {
  const pid = findServer(layout);
  if (pid !== undefined) process.kill(pid, "SIGINT");
  if (await allGone(layout, STOP_PATIENCE)) return;
  const stuck = findServer(layout);
  if (stuck !== undefined) process.kill(stuck, "SIGQUIT");
  if (await allGone(layout, STOP_PATIENCE / 6)) return;
  throw new UamError("internal", `PostgreSQL (processes ${findServerProcesses(layout).join(", ")}) does not stop.`);
}

/** Removes the pid file a crash left behind, which PostgreSQL itself would obey if the pid now names another process. */
export function clearStalePid(layout: Layout): void {
  const left = findServerProcesses(layout);
  if (left.length > 0)
    throw new UamError("conflict", `PostgreSQL processes ${left.join(", ")} still use ${layout.data}.`);
  rmSync(join(layout.data, "postmaster.pid"), { force: true });
}

async function allGone(layout: Layout, patience: number): Promise<boolean> {
  const deadline = performance.now() + patience;
  while (findServerProcesses(layout).length > 0) {
    if (performance.now() > deadline) return false;
    await sleep(10);
  }
  return true;
}

async function becomesReady(layout: Layout, child: ChildProcess): Promise<"ready" | "late"> {
  const deadline = performance.now() + START_PATIENCE;
  while (performance.now() < deadline && child.exitCode === null && child.signalCode === null) {
    const state = readState(layout);
    if (Number(state[0]) === child.pid && state[7]?.trim() === "ready") return "ready";
    await sleep(5);
  }
  return "late";
}

// postmaster.pid: pid, data directory, start time, port, socket directory, address, shared memory, status.
function readState(layout: Layout): readonly string[] {
  try {
    return readFileSync(join(layout.data, "postmaster.pid"), "utf8").split("\n");
  } catch (error) {
    // A server that ends removes it, at any moment; what is said of a directory that is not ours is said by prepareOwner().
    if (error instanceof Error && "code" in error && /^(ENOENT|ENOTDIR|EACCES)$/.test(String(error.code))) return [];
    throw error;
  }
}

function isServerOf(layout: Layout, pid: number): boolean {
  try {
    if (readFileSync(`/proc/${pid}/comm`, "utf8").trim() !== "postgres") return false;
    const data = statSync(layout.data);
    const cwd = statSync(`/proc/${pid}/cwd`);
    return cwd.dev === data.dev && cwd.ino === data.ino;
  } catch (error) {
    // Gone while we looked, or another user's process: not ours either way.
    if (error instanceof Error && "code" in error && typeof error.code === "string") return false;
    throw error;
  }
}

function rotateLog(path: string): void {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats !== undefined && stats.size > LOG_LIMIT) renameSync(path, `${path}.1`);
}

// 64 KiB of its end at most.
function readFrom(path: string, offset: number): string {
  const fd = openOwn(path, constants.O_RDONLY, ownerOf(path));
  try {
    const size = fstatSync(fd).size;
    const start = Math.max(offset, size - 65_536);
    const buffer = Buffer.alloc(Math.max(0, size - start));
    readSync(fd, buffer, 0, buffer.length, start);
    return buffer.toString("utf8");
  } finally {
    closeSync(fd);
  }
}
