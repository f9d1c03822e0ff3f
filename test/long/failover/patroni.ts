/**
 * Three PostgreSQL under Patroni with an etcd of three, each on a machine of its own as far as the network can tell: a network
 * namespace, behind a bridge that this machine is on too.
 */

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import postgres from "postgres";

const NET = "10.89.7";
const BRIDGE = "uamlong0";
const HERE = `${NET}.1`;
const COUNT = 3;
const PROGRAMS = "/usr/lib/postgresql";

/** What is not installed, by Debian's names. */
export function missingPackages(): readonly string[] {
  const needed: Readonly<Record<string, boolean>> = {
    patroni: existsSync("/usr/bin/patroni"),
    "python3-etcd": existsSync("/usr/lib/python3/dist-packages/etcd"),
    "etcd-server": existsSync("/usr/bin/etcd"),
    postgresql: existsSync(PROGRAMS) && versions().length > 0,
    iproute2: existsSync("/usr/sbin/ip") || existsSync("/sbin/ip"),
    iptables: existsSync("/usr/sbin/iptables"),
  };
  return Object.keys(needed).filter((name) => !needed[name]);
}

export interface Member {
  readonly name: string;
  readonly address: string;
}

export interface PatroniCluster {
  readonly url: string;
  /** The member that leads, by what it says itself, other than that one; waits for it. */
  leader(other?: Member): Promise<Member>;
  /** The last lines that each member's Patroni said. */
  said(): readonly string[];
  /** Resolves once all standbys follow, and one is synchronous; throws after the patience, in milliseconds. */
  whole(patience: number): Promise<void>;
  ask<Row>(statement: string): Promise<readonly Row[]>;
  /** Ends the server, which Patroni may start again. */
  killServer(member: Member): void;
  /** Ends everything of the machine but its network, at once. */
  killMachine(member: Member): void;
  startMachine(member: Member): void;
  /** Nobody reaches the machine any more. */
  cutOff(member: Member): void;
  /** The other machines do not reach it any more, but its clients do. */
  cutFromPeers(member: Member): void;
  heal(member: Member): void;
  switchover(from: Member): void;
  close(): void;
}

interface Spawned {
  readonly name: string;
  readonly argv: readonly string[];
}

interface Etcd {
  readonly name: string;
  readonly client: string;
  readonly peer: string;
}

function etcdOf({ name, address }: Member, index: number, { etcdApart }: PatroniOptions): Etcd {
  const [host, port] = etcdApart === true ? [HERE, 2379 + 10 * index] : [address, 2379];
  return { name, client: `${host}:${port}`, peer: `${host}:${port + 1}` };
}

function etcdArgv({ name, client, peer }: Etcd, all: readonly Etcd[], data: string): readonly string[] {
  return [
    "/usr/bin/etcd",
    ...["--name", name, "--data-dir", data, "--logger", "zap", "--log-level", "error"],
    ...["--listen-peer-urls", `http://${peer}`, "--initial-advertise-peer-urls", `http://${peer}`],
    ...["--listen-client-urls", `http://${client}`, "--advertise-client-urls", `http://${client}`],
    ...["--initial-cluster", all.map((each) => `${each.name}=http://${each.peer}`).join(",")],
    ...["--initial-cluster-state", "new", "--heartbeat-interval", "300", "--election-timeout", "3000"],
  ];
}

/** What of the cluster is not as by default. */
export interface PatroniOptions {
  /** A directory with Patroni's source; Debian's package by default. */
  readonly source?: string | undefined;
  /** Of Patroni's dynamic configuration, besides or instead of those here. */
  readonly settings?: Readonly<Record<string, unknown>> | undefined;
  /** Whether etcd is on this machine, which nothing befalls, and not on those of PostgreSQL. */
  readonly etcdApart?: boolean | undefined;
}

/** Makes the network and starts everything; on return there is a leader with a synchronous standby. */
export async function startPatroni(options: PatroniOptions = {}): Promise<PatroniCluster> {
  const patroni = programOf(options.source, "patroni");
  const patronictl = programOf(options.source, "patronictl");
  // etcd waits for its disk: in memory it does not.
  const top = mkdtempSync("/dev/shm/uam-long-");
  chmodSync(top, 0o755);
  const members = Array.from({ length: COUNT }, (_, index) => ({
    name: `n${index + 1}`,
    address: `${NET}.${index + 11}`,
  }));
  const running = new Map<string, ChildProcess[]>();
  tearDown();
  run("ip", "link", "add", BRIDGE, "type", "bridge");
  run("ip", "addr", "add", `${HERE}/24`, "dev", BRIDGE);
  run("ip", "link", "set", BRIDGE, "up");
  for (const { name, address } of members) {
    const space = spaceOf(name);
    run("ip", "netns", "add", space);
    run("ip", "link", "add", outside(name), "type", "veth", "peer", "name", "eth0", "netns", space);
    run("ip", "link", "set", outside(name), "master", BRIDGE, "up");
    within(name, "ip", "addr", "add", `${address}/24`, "dev", "eth0");
    within(name, "ip", "link", "set", "eth0", "up");
    within(name, "ip", "link", "set", "lo", "up");
    const home = join(top, name);
    mkdirSync(home);
    writeFileSync(join(home, "patroni.json"), JSON.stringify(configuration(home, { name, address }, members, options)));
    run("chown", "-R", "postgres:postgres", home);
  }

  function spawnAs(program: string, before: readonly string[], { name, argv }: Spawned): ChildProcess {
    const user = ["--reuid=postgres", "--regid=postgres", "--clear-groups", "--pdeathsig=KILL"];
    const all = [...before, "setpriv", ...user, ...argv];
    // Where this was started from may be closed to that user.
    const child = spawn(all[0] ?? "", all.slice(1), { cwd: top, stdio: ["ignore", "pipe", "pipe"] });
    const file = join(top, `${name}-${program}.log`);
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (chunk: Buffer) => writeFileSync(file, chunk, { flag: "a" }));
    }
    return child;
  }
  const etcds = members.map((member, index) => etcdOf(member, index, options));
  function start({ name }: Member): void {
    const home = join(top, name);
    const inside = ["ip", "netns", "exec", spaceOf(name)];
    const etcd = etcds.find((each) => each.name === name);
    const children = [
      spawnAs("patroni", inside, { name, argv: [...patroni, join(home, "patroni.json")] }),
      ...(etcd === undefined || options.etcdApart === true
        ? []
        : [spawnAs("etcd", inside, { name, argv: etcdArgv(etcd, etcds, join(home, "etcd")) })]),
    ];
    running.set(name, children);
  }
  const apart = options.etcdApart === true ? etcds : [];
  const etcdsApart = apart.map((etcd) =>
    spawnAs("etcd", [], { name: etcd.name, argv: etcdArgv(etcd, etcds, join(top, etcd.name, "etcd")) }),
  );
  function serverOf({ name }: Member): number | undefined {
    try {
      return Number(readFileSync(join(top, name, "data/postmaster.pid"), "utf8").split("\n")[0]);
    } catch {
      return undefined;
    }
  }
  function killServer(member: Member): void {
    const pid = serverOf(member);
    if (pid === undefined) return;
    const { stdout } = spawnSync("ps", ["-o", "pid=", "--ppid", String(pid)], { encoding: "utf8" });
    for (const each of [pid, ...stdout.split("\n").map(Number)]) {
      try {
        if (each > 1) process.kill(each, "SIGKILL");
      } catch {
        // Ended meanwhile.
      }
    }
  }
  function killMachine(member: Member): void {
    for (const child of running.get(member.name) ?? []) child.kill("SIGKILL");
    killServer(member);
  }
  const states = () => Promise.all(members.map((member) => stateOf(member)));

  for (const member of members) start(member);
  const cluster: PatroniCluster = {
    url: `postgres://postgres@${members.map(({ address }) => `${address}:5432`).join(",")}/postgres?target_session_attrs=read-write`,
    async leader(other) {
      const asked = members.filter((member) => member !== other);
      for (;;) {
        const seen = await Promise.all(asked.map(stateOf));
        const found = asked[seen.findIndex((state) => state?.role === "master" || state?.role === "primary")];
        if (found !== undefined) return found;
        await Bun.sleep(100);
      }
    },
    async whole(patience) {
      const until = performance.now() + patience;
      for (;;) {
        const seen = await states();
        const followers = seen
          .flatMap((state) => state?.replication ?? [])
          .filter(({ state }) => state === "streaming");
        // What PostgreSQL says is not enough: Patroni promotes only whom it has noted itself, one loop later.
        if (followers.length === COUNT - 1 && seen.some(isSynchronous)) return;
        if (performance.now() > until)
          throw new Error(`the cluster is not whole: ${JSON.stringify(seen)}; logs in ${top}`);
        await Bun.sleep(500);
      }
    },
    async ask<Row>(statement: string) {
      const { address } = await cluster.leader();
      const sql = postgres(`postgres://postgres@${address}:5432/postgres`, { max: 1, fetch_types: false });
      try {
        return (await sql.unsafe(statement)) as unknown as readonly Row[];
      } finally {
        await sql.end({ timeout: 1 });
      }
    },
    said: () =>
      members.map(({ name }) => {
        const text = readFileSync(join(top, `${name}-patroni.log`), "utf8");
        return `${name}: ${text.trim().split("\n").slice(-6).join("\n    ")}`;
      }),
    killServer,
    killMachine,
    startMachine: start,
    cutOff: ({ name }) => run("ip", "link", "set", outside(name), "down"),
    cutFromPeers: ({ name, address }) => {
      for (const peer of members.filter((each) => each.address !== address)) {
        within(name, "iptables", "-A", "INPUT", "-s", peer.address, "-j", "DROP");
        within(name, "iptables", "-A", "OUTPUT", "-d", peer.address, "-j", "DROP");
      }
    },
    heal: ({ name }) => {
      run("ip", "link", "set", outside(name), "up");
      within(name, "iptables", "-F");
    },
    switchover: ({ name }) => {
      const file = join(top, members.find((each) => each.name !== name)?.name ?? "", "patroni.json");
      run(...patronictl, "-c", file, "switchover", "--force");
    },
    close() {
      for (const member of members) killMachine(member);
      for (const child of etcdsApart) child.kill("SIGKILL");
      tearDown();
      rmSync(top, { recursive: true, force: true });
    },
  };
  try {
    await cluster.whole(240_000);
  } catch (error) {
    for (const member of members) killMachine(member);
    tearDown();
    throw error;
  }
  return cluster;
}

interface State {
  readonly state: string;
  readonly role: string;
  readonly replication?: readonly { readonly state: string }[];
  /** Whether Patroni would promote it. */
  readonly sync_standby?: boolean;
  /** The same, where the mode is "quorum". */
  readonly quorum_standby?: boolean;
}

function isSynchronous(state: State | undefined): boolean {
  return state?.sync_standby === true || state?.quorum_standby === true;
}

/** The argv that begins one of Patroni's programs. */
function programOf(source: string | undefined, name: string): readonly string[] {
  if (source === undefined) return [`/usr/bin/${name}`];
  return ["env", `PYTHONPATH=${source}`, "/usr/bin/python3", join(source, `${name}.py`)];
}

async function stateOf({ address }: Member): Promise<State | undefined> {
  try {
    const response = await fetch(`http://${address}:8008/patroni`, { signal: AbortSignal.timeout(3000) });
    return (await response.json()) as State;
  } catch {
    return undefined;
  }
}

/** The settings that matter are the first ones; docs/high-availability.md says why. */
function configuration(home: string, { name, address }: Member, members: readonly Member[], options: PatroniOptions) {
  const programs = join(PROGRAMS, versions().at(-1) ?? "", "bin");
  return {
    scope: "uam",
    name,
    restapi: { listen: `${address}:8008`, connect_address: `${address}:8008` },
    etcd3: { hosts: members.map((each, index) => etcdOf(each, index, options).client) },
    bootstrap: {
      dcs: {
        synchronous_mode: true,
        synchronous_mode_strict: true,
        maximum_lag_on_failover: 1_048_576,
        // By its older and its newer name.
        ...{ master_start_timeout: 0, primary_start_timeout: 0 },
        ...{ ttl: 30, loop_wait: 5, retry_timeout: 10 },
        ...options.settings,
        postgresql: {
          use_pg_rewind: true,
          use_slots: true,
          parameters: { synchronous_commit: "on", wal_log_hints: "on", max_connections: 100, wal_keep_size: "256MB" },
        },
      },
      initdb: [{ encoding: "UTF8" }, { locale: "C" }, "data-checksums"],
    },
    postgresql: {
      listen: `${address}:5432`,
      connect_address: `${address}:5432`,
      data_dir: join(home, "data"),
      bin_dir: programs,
      pgpass: join(home, "pgpass"),
      authentication: { superuser: { username: "postgres" }, replication: { username: "postgres" } },
      parameters: { unix_socket_directories: home, shared_buffers: "32MB" },
      pg_hba: [`host all all ${NET}.0/24 trust`, `host replication all ${NET}.0/24 trust`, "local all all trust"],
    },
  };
}

function versions(): readonly string[] {
  return readdirSync(PROGRAMS).sort((a, b) => Number(a) - Number(b));
}

const spaceOf = (name: string): string => `uamlong-${name}`;
const outside = (name: string): string => `uamlong-${name}`;

function within(name: string, ...argv: readonly string[]): void {
  run("ip", "netns", "exec", spaceOf(name), ...argv);
}

function run(...[program = "", ...args]: readonly string[]): void {
  const { status, stderr } = spawnSync(program, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`${program} ${args.join(" ")}: ${stderr}`);
}

/** Also what an earlier run left that was killed. */
function tearDown(): void {
  const { stdout } = spawnSync("ip", ["netns", "list"], { encoding: "utf8" });
  for (const space of stdout.match(/^uamlong-\S+/gm) ?? []) {
    // Servers outlive the Patroni that started them.
    const pids = spawnSync("ip", ["netns", "pids", space], { encoding: "utf8" }).stdout.split("\n");
    for (const pid of pids.map(Number).filter(Boolean)) {
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // Ended meanwhile.
      }
    }
    spawnSync("ip", ["link", "del", space]);
    spawnSync("ip", ["netns", "del", space]);
  }
  spawnSync("ip", ["link", "del", BRIDGE]);
}
