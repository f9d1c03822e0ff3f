/**
 * An agent's host against the owners of its accounts: what they can prepare, each before one of the ways in which the service, or
 * `uam lock`, takes access away there. What they can prepare is that of the long closings.
 */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openTurn, shutForGood } from "../../src/agent/turn.ts";
import { readAccounts } from "../../src/host/account.ts";
import { createHost } from "../../src/host/create-host.ts";
import { processesOf, readProcesses } from "../../src/host/processes/processes.ts";
import { mountsWithin, readMounts } from "../../src/host/safe-open.ts";
import type { AccountState } from "../../src/protocol/fleet.ts";
import type { HostKey } from "../../src/protocol/host.ts";
import { bunRuntime } from "../../src/runtime/bun.ts";
import { silentLog } from "../../src/shared/log.ts";
import { removeLock, writeLock } from "../../src/shared/system/lock-journal.ts";
import { mountHomes } from "../long/closings/lane.ts";
import { PREPARATIONS, type Target } from "../long/closings/preparations.ts";
import { cleanHome, sweep } from "../long/closings/round.ts";
import type { DriverSettings } from "../support/agent-driver.ts";
import { cursor, type FleetStub, startFleetStub } from "../support/fleet-stub.ts";
import { mountFuseControl } from "../support/holding-fuse.ts";
import { describeOnHost, testSettings } from "../support/host-account.ts";
import { joinHost } from "../support/join-host.ts";
import { startSshd, type TestSshd } from "../support/sshd.ts";

const RUN = process.pid % 400;
const GROUP = `uam-ext-h${RUN}`;
const FIRST_UID = 70_000 + RUN * 50;
/** How often each preparation is met by another closing. */
const ROUNDS = Number(process.env.UAM_TEST_HOSTILE ?? 1);
/** Milliseconds within which the agent has said what became of an order. */
const PATIENCE = 60_000;
/** Milliseconds that a window still lasts when the agent is told of it. */
const WINDOW = 2000;

describeOnHost("an agent's host against the owners of its accounts", () => {
  let place: string;
  let base: string;
  let directory: string;
  let sshd: TestSshd;
  let stub: FleetStub;
  let agent: ChildProcess;
  let unmountControl: () => void;
  let told = 2;
  const keys: { readonly path: string; readonly key: HostKey }[] = [];
  const settings = () =>
    testSettings({ mode: "direct", homeBase: base, markerGroup: GROUP, tools: { sshdConfig: sshd.config } });

  setDefaultTimeout(5 * 60_000);
  beforeAll(async () => {
    place = mkdtempSync("/var/lib/uam-test-");
    chmodSync(place, 0o755);
    [base, directory] = [join(place, "home"), join(place, "lib")];
    const files = { directory: join(place, "run"), target: join(place, "revoked") };
    mkdirSync(base, { mode: 0o755 });
    mkdirSync(directory, { mode: 0o700 });
    mountHomes(place, base, { homes: "ext4" });
    writeFileSync(files.target, "# none\n");
    writeFileSync(join(place, "skew"), "0");
    unmountControl = mountFuseControl();
    sshd = await startSshd(place, [`RevokedKeys ${files.directory}/revoked-keys`]);
    for (const id of [1, 2]) keys.push(sshd.makeKey(id));
    stub = startFleetStub();
    await joinHost({ directory, line: stub.line, name: "web1" });
    const timing = { wait: 1000, patience: 3000, reconcile: 2000, retry: 200, longest: 500 };
    const driver: DriverSettings = { directory, files, host: settings(), skew: join(place, "skew"), timing };
    const program = join(import.meta.dir, "../support/agent-driver.ts");
    stub.tell({ full: true, accounts: [account(0)] });
    agent = spawn(process.execPath, [program, JSON.stringify(driver)], { stdio: "ignore" });
    await confirmed();
  });
  afterAll(async () => {
    agent.kill("SIGKILL");
    await stub.stop();
    sshd.stop();
    unmountControl();
    for (const [name, { uid }] of readAccounts().passwd) {
      if (!name.startsWith(`ext_th${RUN}x`)) continue;
      sweep({ uid, account: name });
      spawnSync("userdel", ["-f", "--", name]);
    }
    for (const { path } of mountsWithin(readMounts(), place)) spawnSync("umount", ["-l", path]);
    spawnSync("groupdel", [GROUP]);
    rmSync(place, { recursive: true, force: true });
  });

  const nameOf = (index: number) => `ext_th${RUN}x${index}`;
  const account = (index: number, overrides: Partial<AccountState> = {}): AccountState => ({
    ...{ name: nameOf(index), uid: FIRST_UID + index, expire_at: "2031-03-04T12:00:00.000Z", open: true },
    ...{ keys: keys.map(({ key }) => key), ...overrides },
  });
  const problemOf = (index: number) =>
    stub.reports.at(-1)?.problems.find(({ account: name, kind }) => name === nameOf(index) && kind === "refused");
  const running = (index: number) => processesOf(readProcesses(), FIRST_UID + index).length;
  const admitted = async (index: number) => await Promise.all(keys.map(({ path }) => sshd.admits(nameOf(index), path)));

  async function until(what: string, condition: () => boolean): Promise<void> {
    const end = performance.now() + PATIENCE;
    while (!condition()) {
      if (performance.now() > end) throw new Error(`${what}: never; ${JSON.stringify(stub.reports.at(-1)?.problems)}`);
      await Bun.sleep(20);
    }
  }
  const confirmed = () => until("an order is confirmed", () => stub.reports.at(-1)?.cursor === cursor(told));
  async function tell(state: Parameters<FleetStub["tell"]>[0]): Promise<void> {
    stub.tell({ full: false, accounts: [], removed: [], ...state });
    told++;
    await confirmed();
  }

  /** Each way to take access away: which keys are dead once it was answered, and what is left of the account. */
  const closings: Record<string, { readonly dead: 1 | 2; readonly ask: (index: number) => Promise<void> }> = {
    shut: { dead: 2, ask: (index) => tell({ accounts: [account(index, { open: false, keys: [] })] }) },
    "take one key": {
      dead: 1,
      ask: (index) => tell({ accounts: [account(index, { keys: keys.slice(1).map(({ key }) => key) })] }),
    },
    remove: { dead: 2, ask: (index) => tell({ removed: [{ name: nameOf(index), uid: FIRST_UID + index }] }) },
    "the end of its window": {
      dead: 2,
      ask: async (index) => {
        const end = Date.now() + WINDOW;
        const moment = (time: number) => new Date(time).toISOString();
        const windows = [{ from: moment(end - 60_000), to: moment(end) }];
        await tell({ accounts: [account(index, { hours: { until: moment(end + 8 * 86_400_000), windows } })] });
        await until("its window is over", () => Date.now() > end);
        await until("that is followed", () => problemOf(index) !== undefined || running(index) === 0);
      },
    },
    "uam lock": {
      dead: 2,
      ask: async (index) => {
        const id = crypto.randomUUID();
        const ref = { name: nameOf(index), uid: FIRST_UID + index };
        writeLock(directory, { id, at: new Date(), username: ref.name.slice(4), uid: ref.uid, operator: "root" });
        const host = await createHost(settings(), silentLog, bunRuntime);
        const { refused } = await shutForGood(host, ref, { turn: openTurn(directory, bunRuntime.openKernel()) });
        expect(refused).toBe(true);
        await until("the lock is reported", () => stub.reports.at(-1)?.locks.some((lock) => lock.id === id) === true);
        // As the service does once it has recorded it.
        await tell({ accounts: [account(index, { open: false, keys: [] })] });
        removeLock(directory, id);
      },
    },
  };
  const ways = Object.keys(closings);

  const tries = Object.keys(PREPARATIONS).flatMap((prepared, row) =>
    Array.from({ length: Math.min(ROUNDS, ways.length) }, (_, column) => {
      const way = ways[(row + column) % ways.length] ?? "shut";
      return { prepared, way, index: 1 + ((row * ROUNDS + column) % 49) };
    }),
  );
  test.each(tries)("$way with $prepared", async ({ prepared, way, index }) => {
    await tell({ accounts: [account(index)] });
    await until(
      "the account is there",
      () => readAccounts().passwd.has(nameOf(index)) && problemOf(index) === undefined,
    );
    expect(await admitted(index)).toEqual([true, true]);
    const target: Target = {
      ...{ account: nameOf(index), uid: FIRST_UID + index, home: join(base, nameOf(index)), sshd },
      ...{ neighbour: FIRST_UID, keyPaths: keys.map(({ path }) => path) },
      lines: keys.map(({ key }) => `${key.type} ${key.base64}`),
    };
    const undo = await PREPARATIONS[prepared]?.(target);
    const dead = closings[way]?.dead ?? 2;
    try {
      await closings[way]?.ask(index);
      expect((await admitted(index)).slice(0, dead)).not.toContain(true);
      if (dead === 2 && problemOf(index) === undefined) expect(running(index)).toBe(0);
    } finally {
      await undo?.();
      await cleanHome({ base }, target);
    }
    // What is owed is done by itself once nothing is in the way, and no key that was taken away is back.
    await until("nothing is owed", () => problemOf(index) === undefined);
    expect((await admitted(index)).slice(0, dead)).not.toContain(true);
    if (dead === 2) expect(running(index)).toBe(0);
    if (way === "remove")
      expect([readAccounts().passwd.has(nameOf(index)), existsSync(target.home)]).toEqual([false, false]);
    await tell({ removed: [{ name: nameOf(index), uid: FIRST_UID + index }] });
    await until("it is removed", () => !readAccounts().passwd.has(nameOf(index)));
    sweep(target);
  });

  test("nobody else's access was taken by it", async () => {
    expect(await admitted(0)).toEqual([true, true]);
    expect(agent.exitCode).toBeNull();
  });
});
