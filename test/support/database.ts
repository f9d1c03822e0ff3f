/** One PostgreSQL server for a whole run of tests, or for each of its workers, and a migrated database of its own for each caller. */

import { spawn } from "node:child_process";
import { existsSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import postgres from "postgres";
import { silentLog } from "../../src/shared/log.ts";
import { DAY } from "../../src/shared/time/clock.ts";
import { storeAuditFloor } from "../../src/store/audit-floor.ts";
import { type ConnectionOptions, openDatabase } from "../../src/store/client.ts";
import { migrate } from "../../src/store/migrate.ts";
import { openEmbeddedPostgres, type PostgresConnection } from "../../src/store/postgres/embedded-postgres.ts";
import { OWNER_ROLE, protectAudit } from "../../src/store/protect.ts";
import { databaseDirectory, databaseParent } from "./directory.ts";

export interface TestDatabase {
  /** Connects as the role of the program, which owns nothing and is no superuser. */
  readonly connection: ConnectionOptions;
  /** Connects as a superuser, who can do what the program must not. */
  readonly superuser: ConnectionOptions;
  /** Removes the database, open connections or not. */
  drop(): Promise<void>;
}

interface TestServer {
  readonly connection: PostgresConnection;
  readonly admin: postgres.Sql;
  stop(): Promise<void>;
}

const PREFIX = "uam-test-postgres-";
const TEMPLATE = "template_uam";

let server: Promise<TestServer> | undefined;
let created = 0;

/** A fresh database, up to date and empty; the first call in a process starts the server. */
export async function createTestDatabase(): Promise<TestDatabase> {
  server ??= startTestServer();
  const { connection, admin } = await server;
  const database = `test_${++created}`;
  await admin`create database ${admin(database)} template ${admin(TEMPLATE)} owner ${admin(OWNER_ROLE)} strategy file_copy`;
  return {
    connection: { ...connection, database },
    superuser: { ...connection, username: "postgres", database },
    async drop() {
      await admin`drop database if exists ${admin(database)} with (force)`;
    },
  };
}

/** Stops the server, if there is one, and removes its data; `bun test` has no exit event, so setup.ts calls this where it can. */
export async function stopTestServer(): Promise<void> {
  const running = server;
  server = undefined;
  await (await running)?.stop();
}

async function startTestServer(): Promise<TestServer> {
  removeLeftovers();
  const dataDir = databaseDirectory(`${PREFIX}${process.pid}-`);
  removeAfterwards(dataDir);
  // Several services may share it, each with its jobs at the same second.
  const tests = { fsync: false, connections: 150 };
  const embedded = await openEmbeddedPostgres({ dataDir, log: silentLog, lifetime: "service", ...tests });
  const superuser = { ...embedded.connection, username: "postgres", database: "postgres" };
  const admin = postgres({ ...superuser, max: 4, idle_timeout: 1, onnotice: () => {} });
  // Autovacuum comes at moments of its own, as while a test counts what a statement reads.
  await admin`alter system set autovacuum = off`;
  await admin`select pg_reload_conf()`;
  await admin`create database ${admin(TEMPLATE)} owner uam strategy file_copy`;
  const template = openDatabase({ ...superuser, database: TEMPLATE }, 1);
  await migrate(template.db);
  await protectAudit(template.db, embedded.connection.username);
  // Tests have their own clock, which the database does not use: for it, every record is old enough.
  await storeAuditFloor(template.db, -36_500 * DAY);
  await template.close();
  return {
    connection: embedded.connection,
    admin,
    async stop() {
      await admin.end();
      await embedded.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** A worker has no end that it hears of: once it is gone, the kernel tells the server to stop (see commandPrefix), and its data is removed. */
function removeAfterwards(directory: string): void {
  const script = 'while kill -0 "$1"; do sleep 1; done; sleep 3; rm -rf -- "$2"';
  const argv = ["-c", script, "sh", String(process.pid), directory];
  spawn("sh", argv, { detached: true, stdio: "ignore" }).unref();
}

/**
 * Removes what earlier runs of this user left in the directory: where all was killed at once, nobody did; their servers are gone,
 * because the kernel told them. What is another user's stays, dead or not: it cannot be removed, nor always told which it is.
 */
export function removeLeftovers(parent: string = databaseParent, uid = process.getuid?.()): void {
  for (const name of readdirSync(parent)) {
    const pid = name.startsWith(PREFIX) ? name.slice(PREFIX.length).split("-")[0] : undefined;
    if (pid === undefined || existsSync(`/proc/${pid}`)) continue;
    const path = join(parent, name);
    // Another process of this user may be quicker.
    if (statSync(path, { throwIfNoEntry: false })?.uid !== uid) continue;
    rmSync(path, { recursive: true, force: true });
  }
}
