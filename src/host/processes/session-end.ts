/** Ending one SSH session and all that runs in it, and nothing of another one. */

import { readdirSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { AccountRef } from "../../protocol/host.ts";
import { UamError } from "../../shared/errors.ts";
import type { Kernel } from "../../shared/system/kernel.ts";
import { killGroup } from "./cgroup.ts";
import {
  killProcesses,
  type ListedProcess,
  type Process,
  processesOf,
  readProc,
  readProcess,
  readProcesses,
} from "./processes.ts";
import { descendantsOf } from "./proven-sessions.ts";
import { findConnection } from "./ssh-sessions.ts";

/** Milliseconds until we give up on processes that keep coming. */
const PATIENCE = 5_000;
const PAUSE = 10;
/** How often in a row nothing must be seen: a chain of forks is seen only with some luck. */
const LOOKS = 20;
/** The login uid of processes for which no login was recorded: (uint32_t) -1. */
const UNSET = "4294967295";
/**
 * Ends the connection and all that runs as the account and belongs to it: what is below sshd's process, and, where the kernel
 * says so, what left the tree: the same scope of logind's, or the same audited login (pam_loginuid(8)), neither of which a
 * process can leave. Work handed to others (cron, at, the account's own systemd) is not part of the session.
 */
export async function endSession(
  account: AccountRef,
  id: string,
  { kernel, patience = PATIENCE }: { readonly kernel: Kernel; readonly patience?: number },
): Promise<"ended" | "gone"> {
  const connection = findConnection(account, id);
  if (connection === undefined) return "gone";
  const ties = tiesOf(connection.pid, account.uid);
  const begin = performance.now();
  /** The session's processes by number, with their starts: their children belong to the session, even when orphaned. */
  const known = new Map<number, number>();
  for (let quiet = 0; quiet < LOOKS; ) {
    const isOpen = readProcess(connection.pid)?.started === connection.started;
    const members = membersOf(account, { connection: isOpen ? connection : undefined, known, ties });
    for (const { pid, started } of members) known.set(pid, started);
    const isSeen = isOpen || members.length > 0 || isGoingOn(connection.pid, ties);
    quiet = isSeen ? 0 : quiet + 1;
    if (performance.now() - begin > patience && isSeen) {
      throw new UamError("internal", failure(account, { isOpen, members }));
    }
    if (isOpen || members.length > 0) {
      // The listings must suffice where it cannot be killed at once.
      if (ties.scope !== undefined) killGroup(ties.scope);
      killProcesses([...members, ...(isOpen ? [connection] : [])], kernel);
    }
    if (quiet < LOOKS) await sleep(PAUSE);
  }
  return "ended";
}

/** The kernel's records that tie a process to a login. */
interface Ties {
  /** logind's control group for the login. */
  readonly scope: string | undefined;
  /** The number of the login in the audit subsystem. */
  readonly login: string | undefined;
}

/** Only what is of a login of this account: without PAM, sshd passes on what it was started with, to all connections alike. */
function tiesOf(pid: number, uid: number): Ties {
  const scope = groupsOf(pid).find((path) => new RegExp(`/user-${uid}\\.slice/session-\\w+\\.scope$`).test(path));
  const isOwn = readProc(`/proc/${pid}/loginuid`)?.trim() === String(uid);
  return { scope, login: isOwn ? loginOf(pid) : undefined };
}

interface Session {
  readonly connection: Process | undefined;
  readonly known: ReadonlyMap<number, number>;
  readonly ties: Ties;
}

function membersOf({ uid }: AccountRef, { connection, known, ties }: Session): readonly Process[] {
  const processes = readProcesses();
  const own = processesOf(processes, uid);
  const alive = own.filter(({ pid, started }) => known.get(pid) === started);
  const below = descendantsOf(processes, pidsOf(connection === undefined ? alive : [connection, ...alive]));
  return own.filter(({ pid }) => below.has(pid) || isTied(pid, ties));
}

function pidsOf(processes: readonly ListedProcess[]): ReadonlySet<number> {
  return new Set(processes.map(({ pid }) => pid));
}

function isTied(pid: number, { scope, login }: Ties): boolean {
  if (login !== undefined && loginOf(pid) === login) return true;
  return scope !== undefined && groupsOf(pid).some((path) => path === scope || path.startsWith(`${scope}/`));
}

/**
 * Whether anything but the connection itself is of the login, looked at as fast as can be: a process that has forked and gone by the
 * time its other files are read is seen here. The newest are looked at first; they are those that are about to go.
 */
function isGoingOn(connection: number, { login }: Ties): boolean {
  if (login === undefined) return false;
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids.reverse().some((pid) => Number(pid) !== connection && loginOf(Number(pid)) === login);
}

function loginOf(pid: number): string | undefined {
  const login = readProc(`/proc/${pid}/sessionid`)?.trim();
  return login === UNSET ? undefined : login;
}

/** The control groups of the process, in whatever hierarchies there are (cgroups(7)). */
function groupsOf(pid: number): readonly string[] {
  const lines = (readProc(`/proc/${pid}/cgroup`) ?? "").split("\n");
  return lines.flatMap((line) => /^\d+:[^:]*:(.+)$/.exec(line)?.[1] ?? []);
}

interface Left {
  readonly isOpen: boolean;
  readonly members: readonly Process[];
}

function failure({ name }: AccountRef, { isOpen, members }: Left): string {
  const pids = members.map(({ pid }) => pid).join(", ");
  const what = pids === "" && isOpen ? `The connection of ${name}` : `Processes of this session of ${name}`;
  return `${what} did not end${pids === "" ? "" : `: ${pids}`}. Disable the user: that ends everything of the account`;
}
