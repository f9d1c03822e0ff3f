import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { release } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import postgres from "postgres";
import { silentLog } from "../../../src/shared/log.ts";
import {
  type EmbeddedPostgres,
  type EmbeddedPostgresOptions,
  openEmbeddedPostgres,
  type PostgresConnection,
} from "../../../src/store/postgres/embedded-postgres.ts";
import { reportsOfSyncfs } from "../../../src/store/postgres/postgres-process.ts";
import { databaseDirectory } from "../../support/directory.ts";
import { HANG } from "../../support/hang.ts";
import { testSlow } from "../../support/thorough.ts";

setDefaultTimeout(180_000);

const isRoot = process.getuid?.() === 0;
const top = databaseDirectory("uam-test-embedded-");
const children: ChildProcess[] = [];

afterAll(() => {
  for (const child of children) child.kill("SIGKILL");
  rmSync(top, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
});

function open(dataDir: string, more: Partial<EmbeddedPostgresOptions> = {}): Promise<EmbeddedPostgres> {
  return openEmbeddedPostgres({ dataDir, log: silentLog, fsync: false, ...more });
}

async function query<T>(
  connection: PostgresConnection,
  work: (sql: postgres.Sql) => Promise<T>,
  as: Partial<PostgresConnection> = {},
): Promise<T> {
  const sql = postgres({ ...connection, ...as, max: 1, fetch_types: false, onnotice: () => {} });
  try {
    return await work(sql);
  } finally {
    await sql.end();
  }
}

/** Another process that uses the same data directory; resolves once it is connected. */
async function hold(dataDir: string, lifetime: "service" | "command") {
  const program = join(import.meta.dir, "../../support/hold-postgres.ts");
  const child = spawn(process.execPath, [program, dataDir, lifetime], { stdio: ["pipe", "pipe", "inherit"] });
  children.push(child);
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const { owned, host } = await new Promise<{ owned: boolean; host: string }>((resolve, reject) => {
    child.stdout.once("data", (line: Buffer) => resolve(JSON.parse(line.toString())));
    child.once("exit", () => reject(new Error("The holder ended early.")));
  });
  return {
    owned,
    host,
    async finish() {
      child.stdin.end();
      await exited;
    },
    async crash() {
      child.kill("SIGKILL");
      await exited;
    },
  };
}

/** Processes of the server of this data directory, by their working directory. */
function serverProcesses(dataDir: string): number[] {
  const listing = spawnSync("find", ["/proc", "-maxdepth", "2", "-name", "cwd", "-lname", `${dataDir}/postgres/data*`]);
  const found = listing.stdout.toString().match(/\d+/g) ?? [];
  return found.map(Number);
}

async function eventually(condition: () => boolean, patience = HANG): Promise<boolean> {
  for (const end = performance.now() + patience; performance.now() < end; await sleep(20)) if (condition()) return true;
  return condition();
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

function postmaster(dataDir: string): number {
  return Number(readFileSync(join(dataDir, "postgres/data/postmaster.pid"), "utf8").split("\n")[0]);
}

test("reportsOfSyncfs() knows the kernels that report what could not be written", () => {
  const releases = ["4.19.0", "5.7.19-generic", "5.8.0-63-generic", "5.10.0-28-amd64", "6.1.0-37-amd64", "7.0", "odd"];
  expect(releases.filter(reportsOfSyncfs)).toEqual(releases.slice(2, 6));
});

describe("openEmbeddedPostgres", () => {
  const dataDir = join(top, "one");

  beforeAll(async () => {
    const server = await open(dataDir);
    await query(server.connection, (sql) => sql`create table fruit as select 'pear' as name`);
    await server.stop();
  });

  test("openEmbeddedPostgres() creates the database at the first start and keeps the data for the second", async () => {
    const server = await open(dataDir);
    const rows = await query(server.connection, (sql) => sql`select name from fruit`);
    expect(server.owned).toBe(true);
    await server.stop();
    expect([...rows]).toEqual([{ name: "pear" }]);
  });

  test("stop() leaves no process and no socket behind", async () => {
    const server = await open(dataDir);
    expect(serverProcesses(dataDir).length).toBeGreaterThan(0);
    await Promise.all([server.stop(), server.stop()]);
    expect(serverProcesses(dataDir)).toEqual([]);
    expect(readdirSync(join(dataDir, "postgres/run"))).toEqual([]);
  });

  test("openEmbeddedPostgres() listens on a socket that only its own uid and root can reach", async () => {
    const server = await open(dataDir);
    const names = ["listen_addresses", "fsync", "max_connections", "recovery_init_sync_method"];
    const settings = await query(
      server.connection,
      (sql) => sql`select name, setting from pg_settings where name in ${sql(names)} order by name`,
    );
    const socket = join(server.connection.host, ".s.PGSQL.5432");
    expect(settings.map((row) => row.setting)).toEqual([
      "off",
      "",
      "40",
      reportsOfSyncfs(release()) ? "syncfs" : "fsync",
    ]);
    expect(statSync(server.connection.host).mode & 0o777).toBe(0o700);
    expect(statSync(join(dataDir, "postgres/data")).mode & 0o777).toBe(0o700);
    if (isRoot) {
      expect(statSync(join(dataDir, "postgres/data")).uid).toBeGreaterThanOrEqual(1);
      expect(spawnSync("test", ["-w", socket]).status).toBe(0);
      expect(spawnSync("test", ["-w", socket], { uid: 65_534, gid: 65_534 }).status).toBe(1);
    }
    await server.stop();
  });

  test("openEmbeddedPostgres() lets the program in as uam, which is not a superuser, and as no other role", async () => {
    const server = await open(dataDir);
    const [role] = await query(
      server.connection,
      (sql) => sql`select usesuper from pg_user where usename = current_user`,
    );
    expect(role).toEqual({ usesuper: false });
    await query(server.connection, (sql) => sql`create role stranger login`, { username: "postgres" });
    const refused = query(server.connection, (sql) => sql`select 1`, { username: "stranger" });
    expect(await refused.catch((error: Error) => error.message)).toContain("Peer authentication failed");
    await server.stop();
  });

  test("openEmbeddedPostgres() shares a running server, and the last process that uses it stops it", async () => {
    const other = await hold(dataDir, "command");
    const server = await open(dataDir);
    expect([other.owned, server.owned]).toEqual([true, false]);
    await other.finish();
    const rows = await query(server.connection, (sql) => sql`select name from fruit`);
    expect(rows).toHaveLength(1);
    await server.stop();
    expect(serverProcesses(dataDir)).toEqual([]);
  });

  test("openEmbeddedPostgres() replaces the orphan of a killed command and keeps its data", async () => {
    const other = await hold(dataDir, "command");
    await other.crash();
    expect(serverProcesses(dataDir).length).toBeGreaterThan(0);
    const server = await open(dataDir);
    expect(server.owned).toBe(true);
    expect(await query(server.connection, (sql) => sql`select name from fruit`)).toHaveLength(1);
    await server.stop();
    expect(serverProcesses(dataDir)).toEqual([]);
  });

  test.if(existsSync("/usr/bin/setpriv"))("openEmbeddedPostgres() ends with a service that is killed", async () => {
    const other = await hold(dataDir, "service");
    expect(serverProcesses(dataDir).length).toBeGreaterThan(0);
    // Only the kernel can still act when the parent is gone; waits long enough to rule out an accident.
    await sleep(300);
    expect(serverProcesses(dataDir).length).toBeGreaterThan(0);
    await other.crash();
    expect(await eventually(() => serverProcesses(dataDir).length === 0)).toBe(true);
  });

  test("openEmbeddedPostgres() does not share a server that is shutting down, though others still use it", async () => {
    const dataDir = join(top, "stopping");
    const first = await open(dataDir);
    const going = postmaster(dataDir);
    await query(first.connection, async (sql) => {
      await sql`select 1`;
      // A smart shutdown: it lasts for as long as this session does.
      process.kill(going, "SIGTERM");
      const pidFile = join(dataDir, "postgres/data/postmaster.pid");
      const deadline = performance.now() + HANG;
      while (!/stopping/.test(readFileSync(pidFile, "utf8")) && performance.now() < deadline) await sleep(5);
      const second = await open(dataDir);
      expect(second.owned).toBe(true);
      expect(postmaster(dataDir)).not.toBe(going);
      await query(second.connection, async (again) => expect(await again`select 1 as one`).toHaveLength(1));
      await second.stop();
    });
    await first.stop();
  });

  test("openEmbeddedPostgres() restarts the server of a service when it crashes", async () => {
    const server = await open(dataDir, { lifetime: "service" });
    const crashed = postmaster(dataDir);
    process.kill(crashed, "SIGKILL");
    expect(await eventually(() => existsSync(`/proc/${crashed}`) === false)).toBe(true);
    const pidFile = join(dataDir, "postgres/data/postmaster.pid");
    const back = () => {
      // The new server replaces it: for a moment there is none.
      const [pid, ...rest] = readIfThere(pidFile).split("\n");
      return Number(pid) !== crashed && rest.join().includes("ready");
    };
    expect(await eventually(back)).toBe(true);
    const read = () => query(server.connection, (sql) => sql`select name from fruit`);
    // While the new server takes over, a connection may find no socket, or be cut.
    const end = performance.now() + HANG;
    let rows: readonly unknown[] = [];
    while (rows.length === 0 && performance.now() < end) {
      rows = await read().catch(async () => {
        await sleep(100);
        return [];
      });
    }
    expect(rows).toHaveLength(1);
    await server.stop();
    expect(serverProcesses(dataDir)).toEqual([]);
  });

  test("openEmbeddedPostgres() is not misled by a pid file that names another process of that uid", async () => {
    const { uid, gid } = statSync(join(dataDir, "postgres/data"));
    const stranger = spawn("sleep", ["infinity"], isRoot ? { uid, gid } : {});
    children.push(stranger);
    const left = `${stranger.pid}\n/proc/self/cwd\n1\n5432\n../run\n\n  1 1\nready\n`;
    writeFileSync(join(dataDir, "postgres/data/postmaster.pid"), left);
    writeFileSync(join(dataDir, "postgres/run/.s.PGSQL.5432.lock"), left);
    const server = await open(dataDir);
    await server.stop();
    expect(stranger.exitCode).toBeNull();
    expect(stranger.signalCode).toBeNull();
    stranger.kill();
  });

  test("openEmbeddedPostgres() says what the server wrote when it cannot start", async () => {
    const broken = join(top, "broken");
    await (await open(broken)).stop();
    truncateSync(join(broken, "postgres/data/global/pg_control"), 0);
    const message = await open(broken).catch((error: Error) => error.message);
    expect(message).toMatch(/PostgreSQL did not start \((exit code 1|SIGABRT)\): .*pg_control.*server\.log/);
    expect(serverProcesses(broken)).toEqual([]);
    rmSync(broken, { recursive: true });
  });

  test("openEmbeddedPostgres() refuses the data of another major version and leaves it alone", async () => {
    const versionFile = join(dataDir, "postgres/data/PG_VERSION");
    writeFileSync(versionFile, "17\n");
    const message = await open(dataDir).catch((error: Error) => error.message);
    expect(message).toContain("holds PostgreSQL 17 data; this binary carries 18");
    expect(readFileSync(versionFile, "utf8")).toBe("17\n");
    writeFileSync(versionFile, "18\n");
    const server = await open(dataDir);
    expect(await query(server.connection, (sql) => sql`select name from fruit`)).toHaveLength(1);
    await server.stop();
  });

  test("openEmbeddedPostgres() refuses a directory that holds something else", async () => {
    const other = join(top, "other");
    mkdirSync(join(other, "postgres/data"), { recursive: true });
    writeFileSync(join(other, "postgres/data/thesis.txt"), "precious");
    const message = await open(other).catch((error: Error) => error.message);
    expect(message).toContain("holds no PostgreSQL data");
    expect(readFileSync(join(other, "postgres/data/thesis.txt"), "utf8")).toBe("precious");
  });

  testSlow("openEmbeddedPostgres() recovers from an initdb that was killed", async () => {
    const program = join(import.meta.dir, "../../support/hold-postgres.ts");
    let fresh = "";
    const root = () => join(fresh, "postgres");
    const underWay = () => existsSync(root()) && readdirSync(root()).some((name) => name.startsWith("initdb-"));
    const isMade = () => existsSync(join(root(), "data"));
    // On a busy machine it may be done before it is killed: then another one is.
    for (let attempt = 0; attempt === 0 || (isMade() && attempt < 20); attempt++) {
      fresh = join(top, `killed${attempt}`);
      const child = spawn(process.execPath, [program, fresh], { stdio: ["pipe", "ignore", "ignore"] });
      children.push(child);
      expect(await eventually(() => underWay() || isMade())).toBe(true);
      await sleep(100);
      child.kill("SIGKILL");
    }
    expect(isMade()).toBe(false);
    const server = await open(fresh);
    expect(await query(server.connection, (sql) => sql`select 1`)).toHaveLength(1);
    await server.stop();
    // On a busy machine the killed initdb may have written on after the first clean-up; a later start has another.
    for (let attempt = 0; attempt < 10 && underWay(); attempt++) {
      await sleep(200);
      await (await open(fresh)).stop();
    }
    expect(underWay()).toBe(false);
  });

  testSlow("openEmbeddedPostgres() lets processes that start at once on nothing share one server", async () => {
    // A path longer than sockaddr_un can hold, too.
    const fresh = join(top, "x".repeat(100), "new");
    const holders = await Promise.all([hold(fresh, "command"), hold(fresh, "command"), hold(fresh, "command")]);
    expect(holders.filter((holder) => holder.owned)).toHaveLength(1);
    for (const { host } of holders) expect(host.length).toBeLessThanOrEqual(107 - "/.s.PGSQL.5432".length);
    await Promise.all(holders.map((holder) => holder.finish()));
    expect(serverProcesses(fresh)).toEqual([]);
  });

  // It leaves the programs in /var/cache/uam, so only where the tests may change the host.
  test.if(isRoot && process.env.UAM_TEST_HOST === "1")(
    "openEmbeddedPostgres() works below a directory that only root can enter",
    async () => {
      const locked = join(top, "locked");
      mkdirSync(locked, { mode: 0o700 });
      const server = await open(join(locked, "data"));
      expect(await query(server.connection, (sql) => sql`select 1`)).toHaveLength(1);
      await server.stop();
      expect(serverProcesses(join(locked, "data"))).toEqual([]);
      expect(statSync(locked).mode & 0o777).toBe(0o700);
    },
  );
});
