/**
 * An agent in a process of its own, to be killed at any moment: the real one, on a host that is a file, which is read at the start and
 * written after each step, as a real host keeps what was done to it.
 */

import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { runAgent } from "../../../src/agent/agent.ts";
import { createClient } from "../../../src/agent/client.ts";
import { momentOf } from "../../../src/agent/lease.ts";
import { createLeaseKeeper } from "../../../src/agent/lease-keeper.ts";
import { openOrders } from "../../../src/agent/orders.ts";
import { findIdentity, nextEpoch, readKeys } from "../../../src/agent/store.ts";
import { openTurn } from "../../../src/agent/turn.ts";
import type { Account, Host } from "../../../src/protocol/host.ts";
import { bunRuntime } from "../../../src/runtime/bun.ts";
import { systemClock } from "../../../src/shared/clock.ts";
import { silentLog } from "../../../src/shared/log.ts";
import { createFakeHost, type FakeAccount } from "../../support/fake-host.ts";
import { placesIn } from "./places.ts";

/** Milliseconds that each step takes at most. */
const SLOWNESS = 15;
const CHANGES = ["createAccount", "openAccount", "shutAccount", "takeKey", "narrowKeys", "removeAccount"] as const;

const base = process.argv[2] ?? "";
const { directory, files, host: file } = placesIn(base);
const identity = findIdentity(directory);
const { present: seed } = readKeys(directory);
if (identity === undefined || seed === undefined) throw new Error("not joined");
mkdirSync(files.directory, { recursive: true });
const host = openFileHost();
const openHost = async () => host;
const log = { ...silentLog, error: say };
const now = () => momentOf(systemClock);
const stop = new AbortController();
process.on("SIGTERM", () => stop.abort());
await runAgent(
  {
    ...{ directory, runDirectory: files.directory, identity, mode: "direct", clock: systemClock, log },
    client: createClient({
      ...{ service: identity.service, host: identity.host_id, seed, epoch: nextEpoch(directory) },
      fleetKey: Buffer.from(identity.fleet_key, "base64"),
      send: (url, init) => fetch(url, init),
    }),
    orders: openOrders({
      ...{ directory, runDirectory: files.directory, log, openHost },
      managed: () => [...host.accounts.keys()],
      turn: openTurn(directory, bunRuntime.openKernel()),
    }),
    lease: createLeaseKeeper({ files, now, early: 0, log, openHost }),
    ssh: async () => ({ host: "test", port: 22, host_keys: [] }),
    random: Math.random,
    announce: () => {},
    timing: { wait: 20_000, patience: 5000, reconcile: 3000, retry: 300, longest: 2000 },
  },
  stop.signal,
);

function openFileHost() {
  const real = createFakeHost(SLOWNESS);
  const stored = existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Record<string, FakeAccount>) : {};
  for (const [name, account] of Object.entries(stored)) {
    real.accounts.set(name, { ...account, expireAt: new Date(account.expireAt) });
  }
  const changed: Partial<Record<(typeof CHANGES)[number], unknown>> = {};
  for (const name of CHANGES) {
    const change = real[name] as (...given: readonly unknown[]) => Promise<unknown>;
    changed[name] = async (...given: readonly unknown[]) => {
      const done = await change(...given);
      write();
      await Bun.sleep(Math.random() * SLOWNESS);
      return done;
    };
  }
  function write(): void {
    writeFileSync(join(base, "host.draft"), JSON.stringify(Object.fromEntries(real.accounts)));
    renameSync(join(base, "host.draft"), file);
  }
  /** As on a real host: what differs is set right. */
  const reconcile: Host["reconcile"] = async (accounts) => {
    for (const account of accounts) {
      const found = real.accounts.get(account.name);
      if (found === undefined || found.uid !== account.uid || isAs(found, account)) continue;
      await (account.open ? real.openAccount(account) : real.shutAccount(account));
      write();
    }
    return [];
  };
  return { ...real, ...(changed as Pick<typeof real, (typeof CHANGES)[number]>), reconcile };
}

function isAs(found: FakeAccount, { open, keys }: Account): boolean {
  if (found.open !== open) return false;
  return !open || JSON.stringify(found.file) === JSON.stringify(keys.map(({ fingerprint }) => fingerprint));
}

function say(message: string, fields: unknown = {}): void {
  console.error(message, JSON.stringify(fields));
}
