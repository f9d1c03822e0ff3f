/**
 * An agent in a process of its own, to be killed at any moment: the real one, on a host that is a file, which is read at the start and
 * written after each step, as a real host keeps what was done to it.
 */

import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { momentOf } from "../../../src/agent/lease.ts";
import type { Account, Host } from "../../../src/protocol/host.ts";
import { systemClock } from "../../../src/shared/time/clock.ts";
import { createFakeHost, type FakeAccount } from "../../support/fake-host.ts";
import { errorLog, runTestAgent, untilTerminated } from "../../support/run-test-agent.ts";
import { placesIn } from "./places.ts";

/** Milliseconds that each step takes at most. */
const SLOWNESS = 15;
const CHANGES = ["createAccount", "openAccount", "shutAccount", "takeKey", "narrowKeys", "removeAccount"] as const;

const base = process.argv[2] ?? "";
const { directory, files, host: file } = placesIn(base);
mkdirSync(files.directory, { recursive: true });
const host = openFileHost();
await runTestAgent(
  {
    ...{ directory, files, mode: "direct", sshHost: "test", random: Math.random, log: errorLog({ warnings: false }) },
    openHost: async () => host,
    managed: () => [...host.accounts.keys()],
    now: () => momentOf(systemClock),
    timing: { wait: 20_000, patience: 5000, reconcile: 3000, retry: 300, longest: 2000 },
  },
  untilTerminated(),
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
