/**
 * An agent in a process of its own, on a host that is a directory: the real one, with a wall clock that is off by what a file says. What the
 * host lets in is in its files as on a real host: accounts, open or not, and key files as the program writes them.
 */

import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import process from "node:process";
import { momentOf } from "../../../../src/agent/lease.ts";
import { renderAuthorizedKeys } from "../../../../src/host/key-file/authorized-keys.ts";
import type { Account, Host } from "../../../../src/protocol/host.ts";
import { systemClock } from "../../../../src/shared/time/clock.ts";
import { createFakeHost, type FakeAccount } from "../../../support/fake-host.ts";
import { errorLog, runTestAgent, untilTerminated } from "../../../support/run-test-agent.ts";
import { EARLY, placesIn } from "./places.ts";

/** Milliseconds that each step takes at most. */
const SLOWNESS = 30;
const CHANGES = [
  ...(["createAccount", "writeKeys", "openAccount", "shutAccount"] as const),
  ...(["takeKey", "narrowKeys", "shortenAccount", "removeAccount"] as const),
];

interface Stored extends FakeAccount {
  readonly text: string;
}

const places = placesIn(process.argv[2] ?? "");
mkdirSync(places.files.directory, { recursive: true });
const host = openFileHost();
await runTestAgent(
  {
    ...{ directory: places.directory, files: places.files, mode: "direct", sshHost: "test", random: Math.random },
    ...{ log: errorLog({ warnings: false }), early: EARLY },
    openHost: async () => host,
    managed: () => [...host.accounts.keys()],
    now: () => {
      const moment = momentOf(systemClock);
      return { ...moment, wall: moment.wall + Number(readFileSync(places.skew, "utf8")) / 1000 };
    },
    timing: { wait: 5000, patience: 3000, reconcile: 3000, retry: 300, longest: 2000 },
  },
  untilTerminated(),
);

function openFileHost() {
  const real = createFakeHost(SLOWNESS);
  const texts = new Map<string, string>();
  const stored = existsSync(places.host)
    ? (JSON.parse(readFileSync(places.host, "utf8")) as Record<string, Stored>)
    : {};
  for (const [name, { text, ...account }] of Object.entries(stored)) {
    real.accounts.set(name, { ...account, expireAt: new Date(account.expireAt) });
    texts.set(name, text);
  }
  const changed: Partial<Record<(typeof CHANGES)[number], unknown>> = {};
  for (const name of CHANGES) {
    const change = real[name] as (account: Account, ...more: readonly unknown[]) => Promise<unknown>;
    changed[name] = async (account: Account, ...more: readonly unknown[]) => {
      const done = await change(account, ...more);
      write(account);
      await Bun.sleep(Math.random() * SLOWNESS);
      return done;
    };
  }
  function write({ name, open, keys, expireAt }: Account): void {
    const found = real.accounts.get(name);
    // To some changes an account is named without its keys: they leave none.
    const isWritten = found?.open === true && open === true;
    const inFile = isWritten ? keys.filter(({ fingerprint }) => found.file.includes(fingerprint)) : [];
    texts.set(name, renderAuthorizedKeys(inFile, expireAt, { kind: "utc" }));
    const all = [...real.accounts].map(([each, account]) => [each, { ...account, text: texts.get(each) ?? "" }]);
    writeFileSync(`${places.host}.draft`, JSON.stringify(Object.fromEntries(all)));
    renameSync(`${places.host}.draft`, places.host);
  }
  /** As on a real host: what differs is set right. */
  const reconcile: Host["reconcile"] = async (accounts) => {
    for (const account of accounts) {
      const found = real.accounts.get(account.name);
      if (found === undefined || found.uid !== account.uid || isAs(found, account)) continue;
      await (account.open ? real.openAccount(account) : real.shutAccount(account));
      write(account);
    }
    return [];
  };
  return { ...real, ...(changed as Pick<typeof real, (typeof CHANGES)[number]>), reconcile };
}

function isAs(found: FakeAccount, { open, keys }: Account): boolean {
  if (found.open !== open) return false;
  return !open || JSON.stringify(found.file) === JSON.stringify(keys.map(({ fingerprint }) => fingerprint));
}
