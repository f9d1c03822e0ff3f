/** What tests of sudo mode need: a system user with the rules, a base for homes, and one account. Needs root. */

import { expect } from "bun:test";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readAccounts } from "../../src/host/account.ts";
import { processesOf, readProcesses } from "../../src/host/processes/processes.ts";
import { mountsWithin, readMounts } from "../../src/host/safe-open.ts";
import { renderSudoers } from "../../src/install/sudoers.ts";
import type { Account } from "../../src/protocol/host.ts";
import { bunRuntime } from "../../src/runtime/bun.ts";
import { HANG } from "./hang.ts";
import { testAccount, testSettings } from "./host-account.ts";
import { type RemoteHost, startHostAs } from "./host-client.ts";
import { forgetJobsOf } from "./kept-jobs.ts";

export const SERVICE = "uam-t";
export const GROUP = "uam-ext-tsudo";
export const NAME = "ext_tsudo";
export const OTHER = "ext_tsudo2";
export const MANY = [0, 1, 2].map((index) => `ext_tsudo-m${index}`);
export const UID = 58_700;
/** The result of a closing that owes nothing. */
export const CLOSED = { refused: true, owed: [] };
const RULES = "/etc/sudoers.d/uam-t";
const RANGE = { first: UID, last: UID + 99 };

export interface Ran {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface SudoLab {
  readonly base: string;
  readonly home: (name?: string) => string;
  readonly ssh: string;
  readonly keys: string;
  readonly rules: () => string;
  /** Undefined removes the rules. */
  readonly install: (rules: string | undefined) => void;
  readonly startHost: () => RemoteHost;
  /** Runs a script as the account, in its home. */
  readonly asAccount: (script: string) => void;
  /** Runs a program as the service's user. */
  readonly asService: (argv: readonly string[], environment?: Readonly<Record<string, string>>) => Ran;
  /** Removes what a test created. */
  readonly cleanUp: () => void;
  readonly remove: () => void;
}

export function createSudoLab(): SudoLab {
  removeService();
  expect(run("useradd", "-r", "-M", "-U", "-s", "/usr/sbin/nologin", SERVICE)).toMatchObject({ status: 0 });
  // Not below /tmp: the path to a home must be root's alone.
  const base = mkdtempSync("/var/lib/uam-tsudo-");
  chmodSync(base, 0o755);
  const home = (name = NAME): string => join(base, name);
  const rules = () =>
    renderSudoers({
      ...testSettings({ homeBase: base, markerGroup: GROUP }),
      user: SERVICE,
      uidRange: RANGE,
      program: bunRuntime.program,
    });
  const lab: SudoLab = {
    base,
    home,
    ssh: join(home(), ".ssh"),
    keys: join(home(), ".ssh/authorized_keys"),
    rules,
    install,
    startHost: () => startHostAs(SERVICE, { mode: "sudo", homeBase: base, markerGroup: GROUP, uidRange: RANGE }),
    asAccount: (script) => {
      const argv = ["--reuid", String(UID), "--regid", String(UID), "--clear-groups", "--", "/bin/sh", "-c", script];
      expect(spawnSync("setpriv", argv, { cwd: home(), encoding: "utf8" })).toMatchObject({ status: 0 });
    },
    asService: (argv, environment = {}) => {
      const as = ["--reuid", SERVICE, "--regid", SERVICE, "--init-groups", "--", ...argv];
      const env = { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", ...environment };
      return spawnSync("setpriv", as, { cwd: "/", encoding: "utf8", env, timeout: HANG });
    },
    cleanUp: () => cleanUp(home),
    remove: () => {
      removeService();
      forgetJobsOf(NAME, OTHER, ...MANY);
      rmSync(base, { recursive: true, force: true });
    },
  };
  lab.cleanUp();
  install(rules());
  return lab;
}

/** The account as stored; without keys by default. */
export function stored(overrides: Partial<Account> = {}): Account {
  return testAccount({ name: NAME, uid: UID, keys: [], ...overrides });
}

export function run(command: string, ...args: readonly string[]): Ran {
  return spawnSync(command, args, { encoding: "utf8" });
}

/** Starts something as the account that outlives its parent. */
export function startAs(uid: number, ...argv: readonly string[]): ChildProcess {
  const args = ["--reuid", String(uid), "--regid", String(uid), "--clear-groups", "--", ...argv];
  const child = spawn("setpriv", args, { stdio: "ignore", detached: true, cwd: "/" });
  child.unref();
  return child;
}

export const shadowOf = (name = NAME): unknown => readAccounts().shadow?.get(name);
export const running = (uid = UID): number => processesOf(readProcesses(), uid).length;

function install(text: string | undefined): void {
  if (text === undefined) {
    rmSync(RULES, { force: true });
    return;
  }
  // sudo ignores names with a dot, and rules that others could write.
  writeFileSync(`${RULES}.new`, text, { mode: 0o440 });
  expect(run("visudo", "-cf", `${RULES}.new`)).toMatchObject({ status: 0 });
  renameSync(`${RULES}.new`, RULES);
}

function cleanUp(home: (name: string) => string): void {
  for (let uid = UID; uid < UID + 10; uid++) {
    // Once is not enough for processes that keep forking, and what was killed is there for a moment still.
    for (const end = performance.now() + HANG; running(uid) > 0; Bun.sleepSync(10)) {
      run("pkill", "-KILL", "-U", String(uid));
      if (performance.now() > end) throw new Error(`processes of uid ${uid} do not end`);
    }
  }
  for (const name of [NAME, OTHER, ...MANY]) {
    for (const mount of mountsWithin(readMounts(), home(name))) run("umount", "-l", mount.path);
    if (existsSync(home(name))) run("chattr", "-R", "-i", home(name));
    if (readAccounts().passwd.has(name)) expect(run("userdel", "-f", "--", name)).toMatchObject({ status: 0 });
    if (readAccounts().groups.has(name)) run("groupdel", name);
    rmSync(home(name), { recursive: true, force: true });
  }
}

/** Including what still runs as it: userdel refuses an account in use, as long as the kernel takes to end its processes. */
function removeService(): void {
  rmSync(RULES, { force: true });
  const deadline = performance.now() + HANG;
  while (readAccounts().passwd.has(SERVICE)) {
    run("pkill", "-KILL", "-u", SERVICE);
    const { status, stderr } = run("userdel", SERVICE);
    if (status !== 0 && performance.now() > deadline) throw new Error(stderr);
    if (status !== 0) Bun.sleepSync(50);
  }
  if (readAccounts().groups.has(GROUP)) run("groupdel", GROUP);
}
