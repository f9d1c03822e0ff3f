/** Nodes of a database as real PostgreSQL servers on the loopback address: a primary, and standbys that are copies of it. */

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import postgres from "postgres";
import { handOver } from "../../src/store/postgres/postgres-owner.ts";
import { installedPackage } from "../../src/store/postgres/postgres-tree.ts";
import { databaseDirectory } from "./directory.ts";
import { freePort } from "./port.ts";

export interface PostgresNode {
  readonly port: number;
  readonly directory: string;
  /** Starts the server, and waits until it answers. */
  start(settings?: Readonly<Record<string, string>>): Promise<void>;
  /** As a lost machine ends: nothing is written or told any more. */
  kill(): Promise<void>;
  /** Becomes a copy of that running primary, called `s1`, and follows it; for one that was killed. */
  follow(primary: PostgresNode, settings?: Readonly<Record<string, string>>): Promise<void>;
  /** Holds every process of the server, so that it says nothing and refuses nothing. */
  freeze(): void;
  thaw(): void;
  /** Runs SQL as a superuser. */
  run<Row = Record<string, unknown>>(statement: string): Promise<readonly Row[]>;
}

export interface PostgresNodes {
  readonly nodes: readonly PostgresNode[];
  /** Of the superuser, and of all nodes unless some are given. */
  url(parameters?: string, nodes?: readonly PostgresNode[]): string;
  close(): Promise<void>;
}

/** An account without rights and with a name, which initdb asks for. */
const ACCOUNT = "nobody";
const asRoot = process.getuid?.() === 0;
/** Before the argv of a program: it runs as that account, and ends with this process. */
export const UNPRIVILEGED = [
  ...["/usr/bin/setpriv", "--pdeathsig=KILL"],
  ...(asRoot ? [`--reuid=${ACCOUNT}`, "--regid=nogroup", "--clear-groups"] : []),
];

/**
 * Starts a primary, and as many standbys that follow it; the first standby is called `s1`. `settings` are those of every node,
 * `ofPrimary` only those with which the first one starts.
 */
export async function startPostgresNodes(
  standbys: number,
  settings: Readonly<Record<string, string>> = {},
  ofPrimary: Readonly<Record<string, string>> = {},
): Promise<PostgresNodes> {
  const top = databaseDirectory(`uam-test-nodes-${process.pid}-`);
  const native = join(installedPackage(process.arch), "native");
  const environment = {
    PATH: "/usr/bin:/bin",
    LC_ALL: "C.UTF-8",
    TZ: "UTC",
    LD_LIBRARY_PATH: linkLibraries(top, native),
  };
  const ports = await Promise.all(Array.from({ length: standbys + 1 }, freePort));
  const nodes = ports.map((port, index) => nodeIn(join(top, `node${index}`), { port, native, environment }));
  const [primary] = nodes as [PostgresNode];
  const data = join(top, "node0");
  mkdirSync(data, { mode: 0o700 });
  if (asRoot) handOver(data, nobody());
  const made = spawnSync(
    UNPRIVILEGED[0] ?? "",
    [
      ...[...UNPRIVILEGED.slice(1), join(native, "bin/initdb")],
      ...["--pgdata", data, "--username=postgres", "--auth=trust", "--no-sync", "--no-instructions"],
      ...["--encoding=UTF8", "--locale=C"],
    ],
    { env: environment, encoding: "utf8" },
  );
  if (made.status !== 0) throw new Error(`initdb: ${made.stderr}`);
  writeFileSync(
    join(data, "pg_hba.conf"),
    "host all all 127.0.0.1/32 trust\nhost replication all 127.0.0.1/32 trust\n",
  );
  const all = { shared_buffers: "16MB", max_wal_size: "256MB", ...settings };
  const text = Object.entries(all)
    .map(([name, value]) => `${name} = '${value}'\n`)
    .join("");
  appendFileSync(join(data, "postgresql.conf"), text);
  for (const [index, node] of nodes.entries()) {
    if (index === 0) continue;
    cpSync(data, node.directory, { recursive: true });
    chmodSync(node.directory, 0o700);
    writeFileSync(join(node.directory, "standby.signal"), "");
    const from = `host=127.0.0.1 port=${primary.port} user=postgres application_name=s${index}`;
    appendFileSync(join(node.directory, "postgresql.conf"), `primary_conninfo = '${from}'\n`);
    if (asRoot) handOver(node.directory, nobody());
  }
  for (const node of nodes) await node.start(node === primary ? ofPrimary : {});
  return {
    nodes,
    url: (parameters = "", some = nodes) =>
      `postgres://postgres@${some.map(({ port }) => `127.0.0.1:${port}`).join(",")}/postgres${parameters}`,
    async close() {
      for (const node of nodes) await node.kill();
      rmSync(top, { recursive: true, force: true });
    },
  };
}

/** The parent of the process of that name in /proc, if it is one and still there. */
function parentOf(name: string): number | undefined {
  try {
    return Number(/\) \S (\d+) /.exec(readFileSync(`/proc/${name}/stat`, "utf8"))?.[1]);
  } catch {
    return undefined;
  }
}

interface How {
  readonly port: number;
  readonly native: string;
  readonly environment: Readonly<Record<string, string>>;
}

function nodeIn(directory: string, { port, native, environment }: How): PostgresNode {
  let child: ChildProcess | undefined;
  let said = "";
  const processes = (): readonly number[] => {
    const own = child?.pid;
    if (own === undefined) return [];
    return [
      own,
      ...readdirSync("/proc")
        .filter((name) => parentOf(name) === own)
        .map(Number),
    ];
  };
  const signal = (name: NodeJS.Signals) => {
    for (const pid of processes()) {
      try {
        process.kill(pid, name);
      } catch {
        // Ended meanwhile.
      }
    }
  };
  const node: PostgresNode = {
    port,
    directory,
    async start(settings = {}) {
      const given = Object.entries({
        port: String(port),
        listen_addresses: "127.0.0.1",
        unix_socket_directories: "",
        ...settings,
      }).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
      const argv = [...UNPRIVILEGED, join(native, "bin/postgres"), "-D", directory, ...given];
      child = spawn(argv[0] ?? "", argv.slice(1), { env: environment, stdio: ["ignore", "ignore", "pipe"] });
      child.stderr?.on("data", (chunk) => {
        said += chunk;
      });
      for (let attempt = 0; attempt < 3000; attempt++) {
        if (child.exitCode !== null) break;
        if (
          await node.run("select 1").then(
            () => true,
            () => false,
          )
        )
          return;
        await Bun.sleep(50);
      }
      throw new Error(`the node does not start: ${said.slice(-2000)}`);
    },
    async kill() {
      if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
      const ended = new Promise((resolve) => child?.once("exit", resolve));
      signal("SIGKILL");
      await ended;
    },
    async follow(primary, settings = {}) {
      await copyRunning(primary, directory);
      const from = `host=127.0.0.1 port=${primary.port} user=postgres application_name=s1`;
      appendFileSync(join(directory, "postgresql.conf"), `primary_conninfo = '${from}'\n`);
      writeFileSync(join(directory, "standby.signal"), "");
      chmodSync(directory, 0o700);
      if (asRoot) handOver(directory, nobody());
      await node.start(settings);
    },
    freeze: () => signal("SIGSTOP"),
    thaw: () => signal("SIGCONT"),
    async run<Row>(statement: string) {
      const sql = postgres(`postgres://postgres@127.0.0.1:${port}/postgres`, {
        max: 1,
        fetch_types: false,
        onnotice: () => {},
      });
      try {
        return (await sql.unsafe(statement)) as unknown as readonly Row[];
      } finally {
        await sql.end({ timeout: 1 });
      }
    },
  };
  return node;
}

/** A base backup as PostgreSQL's documentation has it (26.3.3), without the log, which the copy then asks for. */
async function copyRunning({ port, directory: source }: PostgresNode, target: string): Promise<void> {
  const sql = postgres(`postgres://postgres@127.0.0.1:${port}/postgres`, { max: 1, fetch_types: false });
  try {
    await sql`select pg_backup_start('copy', true)`;
    rmSync(target, { recursive: true, force: true });
    // What vanishes meanwhile is replayed.
    spawnSync("cp", ["-a", source, target]);
    const [row] = await sql`select labelfile from pg_backup_stop(false)`;
    for (const name of ["postmaster.pid", "postmaster.opts", "pg_wal"]) {
      rmSync(join(target, name), { recursive: true, force: true });
    }
    mkdirSync(join(target, "pg_wal/archive_status"), { recursive: true, mode: 0o700 });
    writeFileSync(join(target, "backup_label"), String(row?.labelfile));
  } finally {
    await sql.end({ timeout: 1 });
  }
}

/** The package has the libraries under longer names than the loader asks for. */
function linkLibraries(top: string, native: string): string {
  const directory = join(top, "libraries");
  mkdirSync(directory);
  chmodSync(directory, 0o755);
  for (const name of readdirSync(join(native, "lib"))) {
    const wanted = /^lib.+?\.so\.[\d.]*?\d+(?=\.\d+$)/.exec(name)?.[0] ?? name;
    const short = /^(lib.+?\.so\.\d+)/.exec(name)?.[1] ?? wanted;
    if (!name.includes(".so")) continue;
    for (const link of new Set([short, name])) symlinkSync(join(native, "lib", name), join(directory, link));
  }
  return directory;
}

function nobody(): { readonly uid: number; readonly gid: number } {
  const [uid = 65_534, gid = 65_534] = spawnSync("getent", ["passwd", ACCOUNT], { encoding: "utf8" })
    .stdout.split(":")
    .slice(2, 4)
    .map(Number);
  return { uid, gid };
}
