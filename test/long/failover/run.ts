/**
 * `bun run test:long failover [--rounds N] [--writers N] [--replicas N] [--blow NAME]... [--set NAME=JSON]... [--patroni DIRECTORY] [--etcd-apart]`:
 * three PostgreSQL under Patroni, two replicas of the service, and what can happen to a leader, under load. Needs root, and Debian's
 * patroni, etcd-server, postgresql, iproute2 and iptables. `--set` is for Patroni's dynamic configuration; `--patroni` is the source of
 * another Patroni than Debian's, which must be readable for the user postgres; with `--etcd-apart` nothing befalls etcd.
 */

import { parseArgs } from "node:util";
import { startLoad } from "./load.ts";
import { type Member, missingPackages, type PatroniCluster, startPatroni } from "./patroni.ts";
import { startReplicas } from "./replicas.ts";
import { verdict } from "./verdict.ts";

/** What befalls a leader, and how it ends. */
interface Blow {
  readonly name: string;
  strike(cluster: PatroniCluster, leader: Member): void;
  end?(cluster: PatroniCluster, leader: Member): void;
}

const BLOWS: readonly Blow[] = [
  { name: "server killed", strike: (cluster, leader) => cluster.killServer(leader) },
  { name: "switchover", strike: (cluster, leader) => cluster.switchover(leader) },
  {
    name: "machine lost",
    strike: (cluster, leader) => cluster.killMachine(leader),
    end: (cluster, leader) => cluster.startMachine(leader),
  },
  {
    name: "cut off",
    strike: (cluster, leader) => cluster.cutOff(leader),
    end: (cluster, leader) => cluster.heal(leader),
  },
  {
    name: "cut off from its peers",
    strike: (cluster, leader) => cluster.cutFromPeers(leader),
    end: (cluster, leader) => cluster.heal(leader),
  },
];

/** Milliseconds: longer than Patroni's lease, which has to end before another may lead. */
const SERVED_AGAIN = 120_000;
const WHOLE_AGAIN = 180_000;
const CALM = 3000;

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "20" },
    writers: { type: "string", default: "4" },
    replicas: { type: "string", default: "2" },
    blow: { type: "string", multiple: true, default: BLOWS.map(({ name }) => name) },
    set: { type: "string", multiple: true, default: [] },
    patroni: { type: "string" },
    "etcd-apart": { type: "boolean", default: false },
  },
});
const blows = values.blow.map((name) => {
  const found = BLOWS.find((blow) => blow.name === name);
  return found ?? fail(`There is no ${JSON.stringify(name)}: ${BLOWS.map((blow) => blow.name).join(", ")}`);
});
const settings = Object.fromEntries(
  values.set.map((text) => {
    const [, name = "", value = ""] = /^(\w+)=(.+)$/s.exec(text) ?? fail(`--set takes NAME=JSON, not ${text}`);
    return [name, JSON.parse(value) as unknown];
  }),
);
const missing = missingPackages();
if (process.geteuid?.() !== 0) fail("This makes network namespaces: run it as root");
if (missing.length > 0) fail(`Not installed: apt-get install --no-install-recommends ${missing.join(" ")}`);

const began = performance.now();
tell("three PostgreSQL under Patroni are started");
const cluster = await startPatroni({ source: values.patroni, settings, etcdApart: values["etcd-apart"] });
process.once("SIGINT", () => {
  cluster.close();
  process.exit(1);
});
let failed = false;
try {
  const replicas = await startReplicas(cluster.url, Number(values.replicas));
  const load = startLoad(replicas, Number(values.writers));
  const gaps = new Map<string, number[]>();
  await Bun.sleep(CALM);
  for (let round = 0; round < Number(values.rounds); round++) {
    const blow = blows[round % blows.length] as Blow;
    const leader = await cluster.leader();
    const before = load.acknowledged.length;
    const struck = performance.now();
    blow.strike(cluster, leader);
    const next = cluster.leader(leader);
    const served = await servedAgain(load.acknowledged, next);
    // Of the changes none may be lost all the same.
    if (served === undefined)
      tell(`nobody was served again within ${SERVED_AGAIN / 1000} s:\n${cluster.said().join("\n")}`);
    blow.end?.(cluster, leader);
    const broken = await cluster.whole(WHOLE_AGAIN).then(
      () => undefined,
      (error: unknown) => String(error),
    );
    const gap = ((served ?? Number.NaN) - struck) / 1000;
    gaps.set(blow.name, [...(gaps.get(blow.name) ?? []), gap]);
    tell(
      `${round + 1}: ${blow.name} (${leader.name} -> ${served === undefined ? leader.name : (await next).name}), served again after ${gap.toFixed(1)} s, ` +
        `${before} changes acknowledged before`,
    );
    if (broken !== undefined) {
      tell(`${broken}\n${cluster.said().join("\n")}`);
      failed = true;
      break;
    }
    await Bun.sleep(CALM);
  }
  await load.stop();
  const found = await verdict(cluster.ask, replicas, load.acknowledged);
  for (const [name, each] of gaps) {
    const sorted = each.toSorted((a, b) => a - b);
    tell(`${name}: ${each.length} times, served again after ${sorted.map((gap) => gap.toFixed(1)).join(", ")} s`);
  }
  tell(`answers: ${[...load.answers].map(([status, count]) => `${count} x ${status}`).join(", ")}`);
  tell(
    `${load.acknowledged.length} changes acknowledged, lost: ${found.lost.length}; recorded twice: ${found.doubled.length}`,
  );
  tell(found.audit === "" ? "the audit log verifies" : found.audit);
  for (const line of found.lost) tell(`lost: ${line}`);
  failed ||= found.lost.length + found.doubled.length > 0 || found.audit !== "";
  await replicas.stop();
} finally {
  cluster.close();
}
tell(`done in ${((performance.now() - began) / 60_000).toFixed(1)} minutes`);
process.exit(failed ? 1 : 0);

/** When the first change was acknowledged after another member had taken over; undefined if that does not come about. */
async function servedAgain(
  acknowledged: readonly { readonly at: number }[],
  next: Promise<Member>,
): Promise<number | undefined> {
  const late = Bun.sleep(SERVED_AGAIN).then(() => undefined);
  if ((await Promise.race([next, late])) === undefined) return undefined;
  const led = performance.now();
  for (;;) {
    const first = acknowledged.find(({ at }) => at > led);
    if (first !== undefined) return first.at;
    if (performance.now() - led > SERVED_AGAIN) return undefined;
    await Bun.sleep(100);
  }
}

function tell(line: string): void {
  console.log(line);
}

function fail(why: string): never {
  console.error(why);
  process.exit(1);
}
