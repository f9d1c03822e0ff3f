/** Lists an account's SSH connections: by the kernel's own records, and by sshd's log; nothing that the owner can write counts. */

import { readFileSync } from "node:fs";
import type { AccountRef } from "../../protocol/host.ts";
import { UamError } from "../../shared/errors.ts";
import { SECOND } from "../../shared/time/clock.ts";
import type { Connection } from "../executor.ts";
import type { Journal } from "./journal.ts";
import { peersOf } from "./peer.ts";
import {
  connectionsOf,
  describeUnread,
  listedOf,
  type Process,
  readProcess,
  readProcesses,
  titledConnectionsOf,
  unreadConnections,
} from "./processes.ts";
import { hasAccepted, openedWith } from "./proven-sessions.ts";

/** The number of the first process, which belongs to root. */
const INIT = 1;
/** Digits of the largest process number (proc(5), pid_max: 4194304). */
const PID_DIGITS = 7;
const ID = /^([1-9]\d{0,14})(\d{7})$/;
/** See proven-sessions.ts. */
const MILLISECONDS_PER_TICK = 10;

/** When the process started, and its number: no other process of this boot has both. */
export function sessionIdOf({ started, pid }: Pick<Process, "started" | "pid">): string {
  return `${started}${String(pid).padStart(PID_DIGITS, "0")}`;
}

/** sshd's own process for the connection with that id; undefined if it is not open, or is not one of this account. */
export function findConnection({ name, uid }: AccountRef, id: string): Process | undefined {
  const match = ID.exec(id);
  if (match === null || readProcess(Number(match[2])) === undefined) return undefined;
  return connectionsOf(readProcesses(), name, uid).find((connection) => sessionIdOf(connection) === id);
}

/**
 * The connections to the account, oldest first, each with the key that the journal proves. Throws `internal`, naming them, if there are
 * processes of sshd's that neither their titles nor what runs below them nor the journal explain: they may be others.
 */
export async function listConnections(account: AccountRef, journal: Journal): Promise<readonly Connection[]> {
  const processes = readProcesses();
  // Once sshd let somebody in, its own process has a child that runs as the account; before, anybody may have come that far.
  const inside = new Set(processes.filter(({ uids }) => uids.includes(account.uid)).map(({ parent }) => parent));
  const titled = connectionsOf(processes, account.name, account.uid);
  const unread = unreadConnections(processes);
  const entries = await journal.entriesOf([...titled, ...unread]);
  const unexplained = unread.filter((process) => !hasAccepted(process, entries));
  if (unexplained.length > 0) throw new UamError("internal", describeUnread(unexplained));
  const connections = [...titled, ...unread.filter((it) => openedWith(account.name, it, entries) !== undefined)];
  const boot = bootTime();
  const peers = peersOf(connections.map(({ pid }) => pid));
  return connections
    .filter((connection) => readProcess(connection.pid)?.started === connection.started)
    .sort((one, other) => one.started - other.started)
    .map((connection) => ({
      id: sessionIdOf(connection),
      since: new Date(boot + connection.started * MILLISECONDS_PER_TICK),
      from: peers.get(connection.pid) ?? "",
      fingerprint: openedWith(account.name, connection, entries),
      isLoggedIn: inside.has(connection.pid),
    }));
}

/**
 * How many logins each of the accounts has open, by its name: as sshd's own processes are titled, which costs no look at its log. Undefined
 * where the processes of others are hidden: then nothing is known.
 */
export function countLogins(accounts: readonly AccountRef[]): ReadonlyMap<string, number> | undefined {
  const processes = readProcesses();
  if (!processes.some(({ pid }) => pid === INIT)) return undefined;
  return new Map(
    accounts.map(({ name, uid }) => {
      const inside = new Set(listedOf(processes, uid).map(({ parent }) => parent));
      // Most accounts have no process at all: then no title has to be read.
      const logins = inside.size === 0 ? [] : titledConnectionsOf(processes, name).filter(({ pid }) => inside.has(pid));
      return [name, logins.length];
    }),
  );
}

/** When the machine was booted, in milliseconds since 1970: the kernel's own figure, which stays the same unless the clock is set. */
function bootTime(): number {
  const [, seconds = "0"] = /^btime (\d+)$/m.exec(readFileSync("/proc/stat", "utf8")) ?? [];
  return Number(seconds) * SECOND;
}
