/** A primary with a synchronous standby, replicas, agents, and who changes something; and what can befall them. */

import { rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { percentile } from "../../bench/bench.ts";
import { type PostgresNode, startPostgresNodes } from "../../support/postgres-nodes.ts";
import type { Random } from "../closings/random.ts";
import { startReplicas } from "../failover/replicas.ts";
import { startAgents } from "./agents.ts";
import { startChanges } from "./changes.ts";
import { startFront } from "./front.ts";
import { differences, diverged, noted, unheard, unrecorded } from "./truth.ts";
import { startWatch } from "./watch.ts";

export interface Scene {
  /** What was found that must not be. */
  readonly faults: string[];
  /** How often each thing befell, and hosts that were said to have diverged. */
  readonly counts: Record<string, number>;
  killAgents(): Promise<void>;
  killReplica(): Promise<void>;
  losePrimary(): Promise<void>;
  backUp(): void;
  /** Nothing where there is no backup yet. */
  restore(): Promise<void>;
  /** Waits until every host is as stored, and everything that was told is recorded. */
  check(): Promise<void>;
  summary(): string;
  close(): Promise<void>;
}

export interface SceneOptions {
  readonly replicas: number;
  readonly agents: number;
  readonly random: Random;
  /** Directories with another version's source; this one's by default. */
  readonly serviceFrom?: string | undefined;
  readonly agentsFrom?: string | undefined;
  readonly say: (line: string) => void;
}

/** Commits wait for a standby, whichever node leads. */
const SETTINGS = { synchronous_standby_names: "s1", wal_keep_size: "512MB" };
const PATIENCE = 180_000;
const MAKERS = { users: 3, keys: 2, windows: 2 };

export async function openScene(options: SceneOptions): Promise<Scene> {
  const { replicas: count, agents: hosts, random, say, serviceFrom, agentsFrom } = options;
  const cluster = await startPostgresNodes(1, SETTINGS);
  let [primary, standby] = cluster.nodes as [PostgresNode, PostgresNode];
  const front = await startFront();
  const variables = { UAM_BASE_URL: front.origin, UAM_FLEET_WAIT: "1s" };
  const main = serviceFrom === undefined ? undefined : join(serviceFrom, "src/main.ts");
  const replicas = await startReplicas(cluster.url("?target_session_attrs=read-write"), count, { variables, main });
  front.to = replicas.services.map(({ origin }) => origin);
  const cli = (...args: readonly string[]) => {
    const { status, stdout, stderr } = replicas.services[random.below(count)]?.run(args) ?? {};
    if (status !== 0) throw new Error(`uam ${args.join(" ")}: ${stderr}`);
    return stdout ?? "";
  };
  const lines = Array.from({ length: hosts }, () => cli("host", "token", "--group", "default").trim());
  const program = agentsFrom === undefined ? undefined : join(agentsFrom, "test/long/fleet-kills/agent.ts");
  const agents = await startAgents(lines, program);
  /** Not `cli()`: its commit waits for the standby, which this process may be about to start. */
  const codeFor = async (username: string) => {
    // At the end its directory goes while this asks.
    const outcome = await replicas.services[random.below(count)]?.runAside(["otp", username]).catch(() => undefined);
    return /\b\d{4} ?\d{4}\b/.exec(outcome?.stdout ?? "")?.[0] ?? "";
  };
  const changes = startChanges({ origin: front.origin, token: replicas.token, codeFor }, MAKERS);
  const watch = startWatch(agents.all, changes, say);
  const faults: string[] = [];
  const counts: Record<string, number> = {};
  const file = join(tmpdir(), `uam-fleet-kills-${process.pid}.backup`);
  let backedUpAt: number | undefined;
  let forgotten = 0;

  const ask = <Row>(statement: string) => primary.run<Row>(statement);
  function counted(what: string, times = 1): void {
    counts[what] = (counts[what] ?? 0) + times;
  }
  function fault(line: string): void {
    faults.push(line);
    say(`FAULT: ${line}`);
  }
  async function eventually(what: string, wrong: () => Promise<readonly string[]>): Promise<void> {
    const end = performance.now() + PATIENCE;
    for (;;) {
      const left = await wrong().catch((error: unknown) => [String(error)]);
      if (left.length === 0) return;
      if (performance.now() > end) return fault(`${what}: ${left.slice(0, 5).join("; ")}`);
      await Bun.sleep(200);
    }
  }
  const cursors = () => new Map(agents.all.map((agent) => [agent.name, agent.cursor()]));
  /** Every host that knows a lost record is noted, and no other. */
  async function checkDivergence(before: ReadonlyMap<string, string>): Promise<boolean> {
    const lost = await diverged(ask, before);
    counted("divergences", lost.size);
    await eventually("divergence", async () => {
      const seen = await noted(ask);
      return [...lost.symmetricDifference(seen)].map(
        (name) => `${name} ${lost.has(name) ? "is not noted" : "has not diverged"}`,
      );
    });
    return lost.size > 0;
  }
  async function insist(method: string, path: string): Promise<void> {
    const { status } = await changes.insist(method, path);
    if (status !== 200) fault(`${method} ${path} is ${status}`);
  }
  /** As an administrator does who looks through users and keys first: what was closed is closed again. */
  async function closeAgain(): Promise<void> {
    const users = await ask<{ id: number; name: string }>(
      "select id, 'ext_' || username as name from users where disabled_at is null",
    );
    for (const { id, name } of users) {
      if (watch.closed.has(name)) await insist("POST", `/users/${id}/disable`);
    }
    const keys = await ask<{ id: number; user: number; fingerprint: string }>(
      `select id, user_id as "user", fingerprint from ssh_keys where status = 'active'`,
    );
    for (const { id, user, fingerprint } of keys) {
      if (watch.closed.has(fingerprint)) await insist("DELETE", `/users/${user}/keys/${id}`);
    }
  }
  /** Twice, as two administrators may. */
  async function accept(): Promise<void> {
    await eventually("reports", () => unheard(ask));
    const both = [0, 1].map(
      () => JSON.parse(cli("fleet", "accept", "--yes", "--json")) as { removed: readonly unknown[] },
    );
    counted(
      "accounts removed as unknown",
      both.reduce((sum, { removed }) => sum + removed.length, 0),
    );
  }
  async function check(): Promise<void> {
    await changes.pause();
    await eventually("hosts", () => differences(ask, agents.all, changes.windows));
    for (const each of await unrecorded(ask, changes.told)) fault(`told, but not recorded: ${each}`);
    changes.resume();
  }

  return {
    faults,
    counts,
    async killAgents() {
      const struck = agents.all.filter(() => random.onceIn(2));
      for (const agent of struck) {
        await Bun.sleep(random.below(150));
        await agent.kill();
        if (random.onceIn(8)) agent.emptyRun();
        agent.start();
        counted("agent");
      }
    },
    async killReplica() {
      counted("replica");
      await replicas.restart(random.below(count));
      front.to = replicas.services.map(({ origin }) => origin);
    },
    async losePrimary() {
      counted("primary");
      await primary.kill();
      const before = cursors();
      await standby.run("select pg_promote()");
      [primary, standby] = [standby, primary];
      await standby.follow(primary);
      if (await checkDivergence(before)) {
        await changes.pause();
        await closeAgain();
        await accept();
        changes.resume();
      }
      await check();
    },
    backUp() {
      const at = performance.now();
      cli("backup", "--force", file);
      backedUpAt = at;
      counted("backup");
    },
    async restore() {
      if (backedUpAt === undefined) return;
      counted("restore");
      await changes.pause();
      for (const service of replicas.services) await service.stop("SIGKILL");
      const before = cursors();
      cli("restore", "--force", file);
      forgotten += changes.told.length;
      changes.forgetAfter(backedUpAt, replicas.anotherToken());
      forgotten -= changes.told.length;
      backedUpAt = undefined;
      for (const index of replicas.services.keys()) await replicas.restart(index);
      await checkDivergence(before);
      await closeAgain();
      await accept();
      changes.resume();
      await check();
    },
    check,
    summary() {
      const each = Object.entries(counts).map(([what, times]) => `${times} x ${what}`);
      const answers = [...changes.answers].map(([status, times]) => `${times} x ${status}`);
      return [
        `befell: ${each.join(", ")}`,
        `${changes.told.length} changes acknowledged, and ${forgotten} more that a restore took back; ${watch.closed.size} things closed; ${watch.looks()} looks at a host`,
        `${watch.delays.opened.length} windows seen to begin on a host, ${spreadOf(watch.delays.opened)}; ${watch.delays.shut.length} to end, shut ${spreadOf(watch.delays.shut)}`,
        `answers: ${answers.join(", ")}`,
      ].join("\n");
    },
    async close() {
      watch.stop();
      faults.push(...watch.faults);
      await agents.close();
      await replicas.stop();
      front.close();
      await cluster.close();
      rmSync(file, { force: true });
    },
  };
}

/** Milliseconds, in words. */
function spreadOf(times: readonly number[]): string {
  if (times.length === 0) return "none";
  const [half, most] = [percentile(times, 0.5), Math.max(...times)];
  return `half within ${(half / 1000).toFixed(1)} s, the last after ${(most / 1000).toFixed(1)} s`;
}
