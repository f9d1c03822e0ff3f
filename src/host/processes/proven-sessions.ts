/** Which of an account's processes belong to a connection that sshd's own log proves another key opened. */

import { setTimeout as sleep } from "node:timers/promises";
import type { Account } from "../../protocol/host.ts";
import type { Executor } from "../executor.ts";
import { usableKeys } from "../key-file/authorized-keys.ts";
import { parseAccepted } from "./accepted-line.ts";
import type { Journal, JournalEntry } from "./journal.ts";
import {
  connectionsOf,
  isAbout,
  type ListedProcess,
  listedOf,
  type Process,
  processesOf,
  readPids,
  readProcess,
  readProcesses,
  unreadConnections,
} from "./processes.ts";

const ROUNDS = 20;
const PAUSE = 50;
/** Each of which sees a chain of forks only with some luck. */
const LOOKS = 20;
/** Ticks of /proc/<pid>/stat; the kernel reports 100 a second to programs on every architecture Linux has now. */
const MICROSECONDS_PER_TICK = 10_000;

/**
 * Ends what a revoked key may have opened: all processes of the account except those below a connection that another active
 * key is proven to have opened. Returns false, and stops, if there is none to spare, or if new ones keep appearing: then
 * everything has to end, by a sweep, which misses nothing, as a listing may.
 *
 * Only the journal is evidence: its `_UID` and `_PID` come from the kernel. A line in /var/log/auth.log proves nothing,
 * since any user can write one with `logger -t sshd --id=…`; on a host without a journal everything ends.
 */
export async function endUnprovenSessions(
  account: Account,
  fingerprint: string,
  how: { readonly executor: Executor; readonly journal: Journal },
): Promise<boolean> {
  const keys = new Set(
    usableKeys(account.keys)
      .map((key) => key.fingerprint)
      .filter((key) => key !== fingerprint),
  );
  // Mostly nobody is connected, which titles alone tell: there is no need to read whose each process is.
  if (keys.size === 0 || !readPids().some((pid) => isAbout(pid, account.name))) return false;
  for (let round = 0; round < ROUNDS; round++) {
    const processes = readProcesses();
    const connections = connectionsOf(processes, account.name, account.uid);
    // Any of them may be a login with the key.
    if (unreadConnections(processes).length > 0) return false;
    const own = processesOf(processes, account.uid);
    const journal = await how.journal.entriesOf(connections);
    // A pid that was reused by another connection while the journal was read would get that one's evidence.
    const same = connections.filter((connection) => readProcess(connection.pid)?.started === connection.started);
    const proven = provenConnections(account.name, same, journal, keys);
    if (proven.length === 0) return false;
    const spared = descendantsOf(processes, new Set(proven.map((process) => process.pid)));
    const unproven = own.filter((process) => !spared.has(process.pid));
    const pending = connections.filter((process) => !spared.has(process.pid));
    if (unproven.length === 0 && pending.length === 0) {
      if (await staysQuiet(account, proven)) return true;
      continue;
    }
    await how.executor.apply({ kind: "kill", processes: [...pending, ...unproven] });
    await sleep(PAUSE);
  }
  return false;
}

/** False if, besides those connections, something is seen that forks all the time, under another pid at each check. */
async function staysQuiet({ uid }: Account, proven: readonly Process[]): Promise<boolean> {
  const roots = new Set(proven.map((process) => process.pid));
  for (let look = 0; look < LOOKS; look++) {
    const processes = readProcesses();
    const spared = descendantsOf(processes, roots);
    // Without a second check, which would find it gone.
    if (listedOf(processes, uid).some((process) => !spared.has(process.pid))) return false;
    await sleep(1);
  }
  return true;
}

/** The connections that one of the keys opened, as `openedWith` proves it. Pure. */
export function provenConnections(
  name: string,
  connections: readonly Process[],
  journal: readonly JournalEntry[],
  keys: ReadonlySet<string>,
): readonly Process[] {
  return connections.filter((connection) => keys.has(openedWith(name, connection, journal) ?? ""));
}

/**
 * The fingerprint that the journal has for the connection, if it has exactly one, an accepted one, in a line that this very
 * process wrote: root's, with its pid, and not before it started (an earlier process may have had the same pid). Pure.
 */
export function openedWith(name: string, connection: Process, journal: readonly JournalEntry[]): string | undefined {
  const own = acceptedOf(connection, journal);
  const found = own.map((entry) => parseAccepted(entry.message)).map((it) => (it?.account === name ? it : undefined));
  const [first] = found;
  return found.every((other) => other?.fingerprint === first?.fingerprint) ? first?.fingerprint : undefined;
}

/** Whether the journal shows that this very process let anybody in. Pure. */
export function hasAccepted(connection: Process, journal: readonly JournalEntry[]): boolean {
  return acceptedOf(connection, journal).length > 0;
}

function acceptedOf({ pid, started }: Process, journal: readonly JournalEntry[]): readonly JournalEntry[] {
  return journal.filter(
    (entry) =>
      entry.pid === pid &&
      entry.uid === 0 &&
      entry.monotonic >= started * MICROSECONDS_PER_TICK &&
      entry.message.startsWith("Accepted "),
  );
}

/** The roots and everything below them, by pid. Processes that left the tree (daemons, cron, at, systemd --user) are not in it. Pure. */
export function descendantsOf(processes: readonly ListedProcess[], roots: ReadonlySet<number>): ReadonlySet<number> {
  const children = new Map<number, number[]>();
  for (const process of processes) children.set(process.parent, [...(children.get(process.parent) ?? []), process.pid]);
  const found = new Set<number>();
  const waiting = [...roots];
  for (let pid = waiting.pop(); pid !== undefined; pid = waiting.pop()) {
    if (found.has(pid)) continue;
    found.add(pid);
    waiting.push(...(children.get(pid) ?? []));
  }
  return found;
}
