/** The PostgreSQL that the program carries: started, shared between processes, and stopped by the last one that uses it. */

import { chmodSync, closeSync, constants, existsSync, mkdirSync, openSync, realpathSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import postgres from "postgres";
import { UamError } from "../../shared/errors.ts";
import type { Log } from "../../shared/log.ts";
import { openDataLock, withExclusive } from "./data-lock.ts";
import { carriedPostgres, type PostgresArchive } from "./postgres-archive.ts";
import { broughtPostgres } from "./postgres-brought.ts";
import {
  initialiseCluster,
  type Layout,
  prepareOwner,
  ROLE,
  removeUnfinished,
  SUPERUSER,
  writeAccessRules,
} from "./postgres-cluster.ts";
import { installPostgres, removeOtherVersions } from "./postgres-files.ts";
import { explainOutput } from "./postgres-output.ts";
import { canEnter, isRoot, type Owner } from "./postgres-owner.ts";
import {
  answers,
  clearStalePid,
  findServer,
  isStopping,
  PORT,
  type Server,
  startServer,
  stopServer,
} from "./postgres-process.ts";
import { makeRoom, withRoom } from "./postgres-room.ts";

export interface EmbeddedPostgresOptions {
  readonly dataDir: string;
  readonly log: Log;
  /** The archive to unpack the programs from; by default the one in the binary, or node_modules when run from source. */
  readonly archive?: PostgresArchive;
  /**
   * A "service" keeps the server alive: it restarts it when it dies, and the kernel stops it should the service be killed.
   * A "command" (the default) leaves a server it started to any process that still uses it.
   */
  readonly lifetime?: "service" | "command";
  /** Off only where the data may be lost, that is in tests. */
  readonly fsync?: boolean;
  /** The most at the same time: 40 by default, which is enough for one service and some commands. */
  readonly connections?: number;
}

/** For the `postgres` driver: `host` is the directory of the unix socket. */
export interface PostgresConnection {
  readonly host: string;
  readonly port: number;
  readonly username: string;
  readonly database: string;
}

export interface EmbeddedPostgres {
  readonly connection: PostgresConnection;
  /** Whether this process started the server; otherwise it shares one that was already there. */
  readonly owned: boolean;
  /** Releases the server, and stops it unless another process uses it; close your connections first. Idempotent. */
  stop(): Promise<void>;
}

const GATE_PATIENCE = 200_000;
const MAX_SOCKET_PATH = 107;
const RECOVERY_PATIENCE = 60_000;
const RESTART_DELAYS = [0, 500, 2000, 5000, 15_000, 30_000];

/**
 * Returns once the server answers and has the database. The first call in a data directory unpacks and initialises it.
 * Throws `conflict` when the directory holds data that this version must not touch, `internal` when the server cannot
 * run.
 */
export async function openEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  try {
    return await openOrShare(options);
  } catch (cause) {
    if (cause instanceof UamError) throw cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    const message = `The embedded PostgreSQL in ${options.dataDir} could not be started: ${explainOutput(reason)}`;
    throw new UamError("internal", message, { cause });
  }
}

/** Whether there is a database from an earlier start; throws where this process may not look. */
export function hasEmbeddedData(dataDir: string): boolean {
  return statSync(layoutIn(dataDir).data, { throwIfNoEntry: false }) !== undefined;
}

async function openOrShare(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const layout = prepareLayout(options.dataDir);
  const service = options.lifetime === "service";
  const gate = openDataLock(join(layout.root, "gate.lock"));
  const users = openDataLock(join(layout.root, "users.lock"));
  let server: Server | undefined;
  let stopped: Promise<void> | undefined;

  async function joinOrStart(): Promise<void> {
    server = undefined;
    const alone = users.tryExclusive();
    users.release();
    if (!(await sharedServer(layout, alone))) server = await withRoom(options, () => start(layout, options));
    while (!users.tryShared()) await sleep(5);
    if (service) void watch(server);
  }

  // A service outlives a server: its own that crashed, or one that another process had started and stopped.
  async function watch(watched: Server | undefined): Promise<void> {
    await (watched?.ended ?? untilGone(layout, () => stopped !== undefined));
    for (let attempt = 0; stopped === undefined; attempt++) {
      const delay = RESTART_DELAYS[Math.min(attempt, RESTART_DELAYS.length - 1)] ?? 0;
      options.log.error("PostgreSQL has ended and is being restarted", { attempt, delay, log: layout.logFile });
      await sleep(delay, undefined, { ref: false });
      // Without room for its write-ahead log it may start, and end at the next change.
      makeRoom(options);
      try {
        if (stopped === undefined) await withExclusive(gate, GATE_PATIENCE, joinOrStart);
        return;
      } catch (error) {
        options.log.error("PostgreSQL could not be restarted", { error: String(error) });
      }
    }
  }

  async function leave(): Promise<void> {
    try {
      await withExclusive(gate, GATE_PATIENCE, async () => {
        users.release();
        const last = users.tryExclusive();
        // The kernel would stop a service's own server at its exit anyway; here it gets the time it needs.
        if (last || (service && server !== undefined)) await stopServer(layout);
      });
    } finally {
      users.close();
      gate.close();
      socket.close();
    }
  }

  try {
    await withExclusive(gate, GATE_PATIENCE, joinOrStart);
  } catch (error) {
    users.close();
    gate.close();
    throw error;
  }
  const socket = socketDirectory(layout.run);
  return {
    connection: { host: socket.path, port: PORT, username: ROLE, database: ROLE },
    owned: server !== undefined,
    stop() {
      stopped ??= leave();
      return stopped;
    },
  };
}

async function untilGone(layout: Layout, cancelled: () => boolean): Promise<void> {
  while (!cancelled() && findServer(layout) !== undefined) await sleep(500, undefined, { ref: false });
}

function prepareLayout(dataDir: string): Layout {
  // Others may pass through, but not look: the server's uid has to reach its own directory below.
  mkdirSync(dataDir, { recursive: true, mode: isRoot() ? 0o711 : 0o700 });
  const layout = layoutIn(realpathSync(dataDir));
  mkdirSync(layout.root, { recursive: true, mode: 0o711 });
  if (isRoot()) chmodSync(layout.root, 0o711);
  return layout;
}

function layoutIn(dataDir: string): Layout {
  const root = join(dataDir, "postgres");
  return { root, data: join(root, "data"), run: join(root, "run"), logFile: join(root, "server.log") };
}

/** Whether a running server may be used; one that nobody uses, or that is on its way down, is gone on return. */
async function sharedServer(layout: Layout, alone: boolean): Promise<boolean> {
  const socket = socketDirectory(layout.run);
  try {
    const running = findServer(layout) !== undefined;
    if (!alone && (await letsIn(layout, socket.path))) return true;
    if (running) await stopServer(layout);
    // A server that answers although we see no process of it runs in another process namespace.
    return !running && (await answers(socket.path));
  } finally {
    socket.close();
  }
}

/**
 * Whether a session can be had; waits for a server that recovers from a crash, but not for one that stops: that of a service
 * which was just killed still accepts connections.
 */
async function letsIn(layout: Layout, directory: string): Promise<boolean> {
  const deadline = performance.now() + RECOVERY_PATIENCE;
  while (!isStopping(layout) && (await answers(directory))) {
    try {
      await asSuperuser(directory, (sql) => sql`select 1`);
      return true;
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await sleep(20);
    }
  }
  return false;
}

async function start(layout: Layout, options: EmbeddedPostgresOptions): Promise<Server> {
  const began = performance.now();
  const { fsync = true, connections = 40 } = options;
  const owner = prepareOwner(layout);
  const home = await installPostgres(programDirectory(layout, owner, options.log), options.archive ?? carriedPostgres);
  removeUnfinished(layout);
  if (!existsSync(layout.data)) await initialiseCluster(layout, owner, { home, fsync });
  if (home.startsWith(`${layout.root}/`)) removeOtherVersions(home);
  clearStalePid(layout);
  writeAccessRules(layout, owner);
  const dieWithParent = options.lifetime === "service";
  const server = await startServer(layout, { home, owner, dieWithParent, fsync, connections });
  try {
    await ensureDatabase(layout);
  } catch (error) {
    await stopServer(layout);
    throw error;
  }
  const milliseconds = Math.round(performance.now() - began);
  const { version, origin } = broughtPostgres(options.archive);
  options.log.info("PostgreSQL started", { version, origin, pid: server.pid, uid: owner.uid, milliseconds });
  return server;
}

/** The programs need a path the server's uid can walk; the data does not, it is reached through the working directory. */
function programDirectory(layout: Layout, owner: Owner, log: Log): string {
  if (canEnter(owner, layout.root)) return layout.root;
  for (const candidate of ["/var/cache/uam/postgres", "/run/uam/postgres"]) {
    try {
      mkdirSync(candidate, { recursive: true, mode: 0o755 });
    } catch (error) {
      log.debug("Not a place for PostgreSQL's programs", { candidate, error: String(error) });
      continue;
    }
    if (!canEnter(owner, candidate)) continue;
    log.info("PostgreSQL's uid cannot enter the data directory's parents: its programs (not the data) go elsewhere", {
      uid: owner.uid,
      dataDir: layout.root,
      programs: candidate,
    });
    return candidate;
  }
  const message = `PostgreSQL runs as uid ${owner.uid}, which cannot enter ${layout.root}; set UAM_DATA_DIR to a directory such as /var/lib/uam.`;
  throw new UamError("internal", message);
}

async function ensureDatabase(layout: Layout): Promise<void> {
  const socket = socketDirectory(layout.run);
  try {
    await asSuperuser(socket.path, async (sql) => {
      const roles = await sql`select 1 from pg_roles where rolname = ${ROLE}`;
      if (roles.length === 0) await sql`create role ${sql(ROLE)} login`;
      const databases = await sql`select 1 from pg_database where datname = ${ROLE}`;
      if (databases.length === 0) await sql`create database ${sql(ROLE)} owner ${sql(ROLE)}`;
    });
  } finally {
    socket.close();
  }
}

async function asSuperuser(directory: string, work: (sql: postgres.Sql) => Promise<unknown>): Promise<void> {
  const address = { host: directory, port: PORT, username: SUPERUSER, database: "postgres" };
  const sql = postgres({ ...address, max: 1, fetch_types: false, onnotice: () => {} });
  try {
    await work(sql);
  } finally {
    // The server may be gone or hang, and restarting it waits here.
    await sql.end({ timeout: 5 });
  }
}

/** A path to the socket's directory that fits into sockaddr_un (unix(7)): an open descriptor stands for one that is too long. */
function socketDirectory(run: string): { readonly path: string; close(): void } {
  if (Buffer.byteLength(join(run, `.s.PGSQL.${PORT}`)) <= MAX_SOCKET_PATH) return { path: run, close() {} };
  mkdirSync(run, { recursive: true, mode: 0o700 });
  const fd = openSync(run, constants.O_RDONLY | constants.O_DIRECTORY);
  return { path: `/proc/self/fd/${fd}`, close: () => closeSync(fd) };
}
