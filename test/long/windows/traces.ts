/** What a run leaves on the machine, and how it goes: also of a run that was killed. */

import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { readAccounts } from "../../../src/host/account.ts";
import { processesOf, readProcesses } from "../../../src/host/processes/processes.ts";
import { until } from "../../support/until.ts";
import type { Account } from "./place.ts";

/** Accounts are named so, and a number. */
export const NAMES = { own: "two", agent: "twindow" };
export const GROUP = "uam-ext-windows";
/** With the number of the run's process after it. */
const DIRECTORIES = "/var/lib/uam-windows-";

/** For `mkdtemp`. */
export function directoryPrefix(): string {
  return `${DIRECTORIES}${process.pid}-`;
}

/** Ends what runs in the accounts. */
export async function endProcesses(accounts: readonly Pick<Account, "uid">[]): Promise<void> {
  await until(() => {
    const all = readProcesses();
    const left = accounts.filter(({ uid }) => processesOf(all, uid).length > 0);
    for (const { uid } of left) spawnSync("pkill", ["-KILL", "-U", String(uid)]);
    return left.length === 0;
  });
}

/** Ends what runs in them, and removes them. */
export async function forgetAccounts(accounts: readonly Pick<Account, "name" | "uid">[]): Promise<void> {
  await endProcesses(accounts);
  for (const { name } of accounts) {
    if (readAccounts().passwd.has(name)) await until(() => spawnSync("userdel", ["-f", "--", name]).status === 0);
  }
}

/** Removes what runs have left that are no more, and the one of that process: processes, accounts, their group and directories. */
export async function forgetRuns(over?: number): Promise<void> {
  const directories = directoriesLeft(over);
  for (const path of directories) {
    for (const pid of processesAbout(path)) kill(pid);
  }
  const names = new RegExp(`^ext_(?:${Object.values(NAMES).join("|")})\\d+$`);
  const left = [...readAccounts().passwd].filter(([name]) => names.test(name));
  await forgetAccounts(left.map(([name, { uid }]) => ({ name, uid })));
  if (readAccounts().groups.has(GROUP)) spawnSync("groupdel", [GROUP]);
  // A database that was just killed may still write.
  for (const path of directories) rmSync(path, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
}

function directoriesLeft(over: number | undefined): readonly string[] {
  const paths = readdirSync(dirname(DIRECTORIES)).map((name) => join(dirname(DIRECTORIES), name));
  return paths.filter((path) => {
    const pid = Number.parseInt(path.slice(DIRECTORIES.length), 10);
    return path.startsWith(DIRECTORIES) && (pid === over || !readCommand(pid).includes("test/long/windows"));
  });
}

/** Those that were started in the directory, or with a file of it: sshd, the agent, the service and its database. */
function processesAbout(path: string): readonly number[] {
  const pids = readdirSync("/proc").filter((each) => /^\d+$/.test(each));
  return pids.map(Number).filter((pid) => pid !== process.pid && [readCommand(pid), readDirectory(pid)].some(isAbout));

  function isAbout(text: string): boolean {
    return text.includes(path);
  }
}

function readCommand(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}

function readDirectory(pid: number): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return "";
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended.
  }
}
