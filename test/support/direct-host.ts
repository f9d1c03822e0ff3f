/** Real direct mode: accounts that a test may make and break, under names of this run's own. */

import { afterAll, afterEach, beforeAll, beforeEach, setDefaultTimeout } from "bun:test";
import { spawn, spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { readAccounts } from "../../src/host/account.ts";
import { createHost } from "../../src/host/create-host.ts";
import { connectionsOf, processesOf, readProcesses } from "../../src/host/processes/processes.ts";
import type { HostSettings } from "../../src/host/settings.ts";
import type { Account, Host } from "../../src/protocol/host.ts";
import { bunRuntime } from "../../src/runtime/bun.ts";
import type { Machine } from "../../src/shared/system/kernel.ts";
import { EXPIRE_AT, recordingLog, testAccount, testSettings } from "./host-account.ts";
import { forgetJobsOf } from "./kept-jobs.ts";
import { startSshd, type TestSshd } from "./sshd.ts";
import { until } from "./until.ts";

/** Names and uids of this run's own, so that it can share the host with another. */
export const RUN = process.pid % 1000;
export const GROUP = `uam-ext-t${RUN}`;
export const NAME = `ext_tdirect${RUN}`;
export const MANY = [0, 1, 2, 3].map((index) => `ext_tmany${RUN}-${index}`);
export const UID = 40_000 + RUN * 10;
const OWN_UIDS = Array.from({ length: 10 }, (_, index) => UID + index);
/** The result of a closing that owes nothing. */
export const CLOSED = { refused: true, owed: [] };
export const EXPIRY_DAY = Math.floor(EXPIRE_AT.getTime() / 86_400_000) + 1;

export let base: string;
export let sshd: TestSshd;
export let recorded: ReturnType<typeof recordingLog>;

/** The account as stored; without keys by default. */
export function stored(overrides: Partial<Account> = {}): Account {
  return testAccount({ name: NAME, uid: UID, keys: [], ...overrides });
}

export function directHost(overrides: Partial<HostSettings> = {}, machine: Machine = bunRuntime): Promise<Host> {
  return createHost(
    testSettings({
      mode: "direct",
      homeBase: base,
      markerGroup: GROUP,
      tools: { sshdConfig: sshd.config },
      ...overrides,
    }),
    recorded.log,
    machine,
  );
}

export function run(
  command: string,
  ...args: readonly string[]
): { readonly status: number | null; readonly stderr: string } {
  const { status, stderr } = spawnSync(command, args, { encoding: "utf8" });
  return { status, stderr };
}

export function shadow(name = NAME): unknown {
  return readAccounts().shadow?.get(name);
}

/** Starts something as the account that outlives its parent. */
export function startAs(uid: number, ...argv: readonly string[]): void {
  const args = ["--reuid", String(uid), "--regid", String(uid), "--clear-groups", "--", ...argv];
  spawn("setpriv", args, { stdio: "ignore", detached: true, cwd: "/" }).unref();
}

export const running = (uid = UID): number => processesOf(readProcesses(), uid).length;
export const keysPath = (): string => join(base, NAME, ".ssh/authorized_keys");

async function cleanUp(): Promise<void> {
  // What was killed is there for a moment still: userdel would refuse, and the next test would count it.
  await until(() => {
    const processes = readProcesses();
    const left = OWN_UIDS.filter((uid) => processesOf(processes, uid).length > 0);
    for (const uid of left) run("pkill", "-KILL", "-U", String(uid));
    return left.length === 0;
  });
  for (const name of [NAME, ...MANY]) {
    // sshd's own processes are root's, and outlive the account's for a moment: the next test would take them for its own.
    await until(() => {
      const left = connectionsOf(readProcesses(), name);
      for (const { pid } of left) run("kill", "-KILL", String(pid));
      return left.length === 0;
    });
    await until(() => {
      if (readAccounts().passwd.has(name)) run("userdel", "-f", "--", name);
      return !readAccounts().passwd.has(name);
    });
    if (readAccounts().groups.has(name)) run("groupdel", name);
    rmSync(join(base, name), { recursive: true, force: true });
  }
}

/**
 * The host of a test file: a home base, an sshd and a log of its own, and no account left after any test. `configured` makes what else sshd reads,
 * and says the lines that come first in its configuration.
 */
export function prepareHost(configured: (base: string) => readonly string[] = () => []): void {
  // Real commands and logins, on machines that may be busy with other tests.
  setDefaultTimeout(180_000);
  beforeAll(async () => {
    // Not below /tmp: the path to a home must be root's alone.
    base = mkdtempSync("/var/lib/uam-test-");
    chmodSync(base, 0o755);
    sshd = await startSshd(base, configured(base));
  });
  beforeEach(() => {
    recorded = recordingLog();
  });
  afterEach(cleanUp);
  afterAll(() => {
    sshd.stop();
    forgetJobsOf(NAME, ...MANY);
    run("groupdel", GROUP);
    rmSync(base, { recursive: true, force: true });
  });
}
