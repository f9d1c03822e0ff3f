/** A service of several replicas on a database with a standby, hosts, who uses them and what befalls them: one history of it. */

import { rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { type PostgresNode, startPostgresNodes } from "../../../support/postgres-nodes.ts";
import type { Random } from "../../closings/random.ts";
import { startReplicas } from "../../failover/replicas.ts";
import { startFront } from "../../fleet-kills/front.ts";
import { unheard } from "../../fleet-kills/truth.ts";
import { startClients } from "./clients.ts";
import { joinHosts } from "./hosts.ts";
import { createNemesis } from "./nemesis.ts";
import { type Outcome, openRecorder } from "./record.ts";
import { createAsk } from "./service.ts";

export interface SceneOptions {
  readonly file: string;
  readonly random: Random;
  readonly seed: number;
  readonly hosts: number;
  readonly replicas: number;
  readonly makers: number;
  /** Milliseconds. */
  readonly lease: number;
  readonly pace: number;
  /** Whether accesses begin and end meanwhile: then whoever is not in time is found late. */
  readonly hours: boolean;
  readonly say: (line: string) => void;
}

export interface Scene {
  /** Resolves once somebody has got in, so that there is something to lose. */
  begun(): Promise<void>;
  /** One blow. */
  strike(): Promise<void>;
  /** Heals everything, and lets nothing but logins happen for a while. */
  calm(): Promise<void>;
  backUp(): Promise<void>;
  restore(): Promise<void>;
  loseLeader(): Promise<void>;
  summary(): string;
  close(): Promise<void>;
}

const SETTINGS = { synchronous_standby_names: "s1", wal_keep_size: "512MB" };
/** Milliseconds of the history's first line. */
const SETTLE = 4000;
const SLACK = 1500;
/** How long a calm is looked at after that. */
const CALM = 3000;
/** A hang, when hosts have not caught up by then. */
const PATIENCE = 180_000;
const OK: Outcome = { e: "ok" };

export async function openHistory(options: SceneOptions): Promise<Scene> {
  const { random, replicas: count, makers, lease, pace, say, seed, file, hours } = options;
  const cluster = await startPostgresNodes(1, SETTINGS);
  let [primary, standby] = cluster.nodes as [PostgresNode, PostgresNode];
  const ask = <Row>(statement: string) => primary.run<Row>(statement);
  const front = await startFront();
  const variables = { UAM_BASE_URL: front.origin, UAM_FLEET_WAIT: "1s" };
  const replicas = await startReplicas(cluster.url("?target_session_attrs=read-write"), count, { variables });
  const pass = () => {
    front.to = replicas.services.map(({ origin }) => origin);
  };
  pass();
  /** Beside this process, which may have to start what the command waits for. */
  async function cli(...args: readonly string[]): Promise<string> {
    const { status, stdout, stderr } = (await replicas.services[random.below(count)]?.runAside(args)) ?? {};
    if (status !== 0) throw new Error(`uam ${args.join(" ")}: ${stderr}`);
    return stdout ?? "";
  }
  const lines: string[] = [];
  for (let host = 0; host < options.hosts; host++)
    lines.push((await cli("host", "token", "--group", "default")).trim());
  const hosts = await joinHosts(lines, front.origin);
  // Shorter than the service lets anybody set it, so that leases end.
  await ask(`update hosts set lease_ms = ${lease} where name like 'host%'`);
  for (const host of hosts.all) host.start();

  const names = hosts.all.map(({ name }) => name);
  const recorder = openRecorder(file, { seed, hosts: names, lease, settle: SETTLE, slack: SLACK });
  let token = replicas.token;
  const call = createAsk(front.origin, () => token, recorder);
  const codeFor = async (username: string) => {
    const said = await cli("otp", username).catch(() => "");
    return /\b\d{4} ?\d{4}\b/.exec(said)?.[0] ?? "";
  };
  const clients = startClients({ ask: call, recorder, random, hosts: hosts.all, codeFor, pace, hours }, makers);
  const backup = join(tmpdir(), `uam-history-${process.pid}.backup`);
  let backedUp: number | undefined;
  const did = (deed: Parameters<typeof recorder.during>[1], act: (n: number) => Promise<unknown>) =>
    recorder.during("nemesis", deed, async (n) => {
      await act(n);
      return OK;
    });

  async function eventually(what: string, isSo: () => Promise<boolean>): Promise<boolean> {
    const end = performance.now() + PATIENCE;
    while (!(await isSo().catch(() => false))) {
      if (performance.now() > end) {
        say(`not so after ${PATIENCE / 1000} s: ${what}`);
        return false;
      }
      await Bun.sleep(100);
    }
    return true;
  }
  async function killReplica(): Promise<void> {
    await did({ do: "replica" }, () => replicas.restart(random.below(count)));
    pass();
  }
  async function loseLeader(): Promise<void> {
    await did({ do: "failover" }, async () => {
      await primary.kill();
      await standby.run("select pg_promote()");
      [primary, standby] = [standby, primary];
      await standby.follow(primary);
    });
  }
  /** By the database: a restore brings back the locks of its backup, too. */
  const lockedHosts = async () =>
    new Set((await ask<{ name: string }>("select name from hosts where status = 'locked'")).map(({ name }) => name));
  /** Also over a calm: nobody may get in there then. */
  async function lockOrUnlock(): Promise<void> {
    const host = random.pick(names);
    const name = (await lockedHosts()).has(host) ? "unlock" : "lock";
    await did({ do: name, host }, () => cli("host", name, host));
  }
  const nemesis = createNemesis({
    ...{ recorder, random, hosts: hosts.all, longest: 2 * lease },
    service: [
      // Nobody would answer meanwhile if it were the only one.
      { often: count > 1 ? 8 : 0, strike: killReplica },
      { often: 5, strike: lockOrUnlock },
    ],
  });
  /** What keeps it from being true that every host has said that it has done all that is stored of the present users; "" where nothing does. */
  async function unapplied(): Promise<string> {
    const locked = await lockedHosts();
    for (const [user, id] of clients.users()) {
      const { e, why = "", data } = await call({ method: "GET", path: `/users/${id}/hosts` });
      const all: readonly { host: string; state: string; removing?: boolean }[] = data?.items ?? [];
      const items = all.filter(({ host }) => !locked.has(host));
      if (e === "unknown") return `${user}: ${why}`;
      const left = items.find(({ state, removing }) => state !== "applied" || removing === true);
      if (left !== undefined) return `${user}: ${JSON.stringify(left)}`;
    }
    return "";
  }
  async function caughtUp(): Promise<void> {
    let left = "";
    const isSo = await eventually("hosts have caught up", async () => {
      left = await unapplied();
      return left === "";
    });
    if (!isSo) say(`still ${left}`);
  }
  async function accept(): Promise<void> {
    await eventually("hosts have reported after a restore", async () => (await unheard(ask)).length === 0);
    await did({ do: "accept" }, () => cli("fleet", "accept", "--yes", "--json"));
  }

  return {
    async begun() {
      await eventually("somebody gets in", async () => (recorder.counts.get("login ok") ?? 0) >= 10);
    },
    strike: nemesis.strike,
    loseLeader,
    async calm() {
      await clients.pause();
      await nemesis.heal();
      await caughtUp();
      await did({ do: "calm" }, () => Bun.sleep(SETTLE + CALM));
      clients.resume();
    },
    async backUp() {
      await did({ do: "backup" }, async (n) => {
        await cli("backup", "--force", backup);
        backedUp = n;
      });
    },
    async restore() {
      const number = backedUp;
      if (number === undefined) return;
      await clients.pause();
      await nemesis.heal();
      await did({ do: "restore", backup: number }, async () => {
        for (const service of replicas.services) await service.stop("SIGKILL");
        // A command that was under way is still using the database for a moment: until then nothing is changed.
        const isDone = await eventually("the backup is restored", () =>
          cli("restore", "--force", backup).then(() => true),
        );
        for (const index of replicas.services.keys()) await replicas.restart(index);
        if (!isDone) throw new Error("it was not restored");
      });
      pass();
      backedUp = undefined;
      token = replicas.anotherToken();
      clients.startAnew();
      // Twice, as two administrators may: what a host reports late is accepted, too.
      for (const _ of [1, 2]) await accept();
      clients.resume();
    },
    summary() {
      const each = [...recorder.counts].sort().map(([what, times]) => `${times} x ${what}`);
      return each.join(", ");
    },
    async close() {
      clients.stop();
      recorder.close();
      await hosts.close();
      await replicas.stop();
      front.close();
      await cluster.close();
      rmSync(backup, { force: true });
    },
  };
}
