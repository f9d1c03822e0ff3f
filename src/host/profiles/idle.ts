/**
 * Ending sessions that have been silent for as long as their profile allows. sshd does not do that for some accounts only: `ChannelTimeout` has no
 * effect in a Match block. It is for people who forget, and no limit for those who do not want to: whoever keeps typing stays.
 */

import { closeSync, constants, fstatSync, openSync, statSync, writeSync } from "node:fs";
import type { HostProfile } from "../../protocol/profile.ts";
import { MINUTE, SECOND } from "../../shared/time/clock.ts";
import { formatDuration } from "../../shared/time/duration.ts";
import { readAccounts } from "../account.ts";
import { attempt } from "../executor.ts";
import type { HostContext } from "../host-context.ts";
import { connectionsOf, type Process, processesOf, readProc, readProcesses } from "../processes/processes.ts";
import { errorCode } from "../safe-open.ts";
import { pathsOf, readHeld } from "./held.ts";
import { groupOf } from "./names.ts";

/** The kernel's number for a terminal that a program made (Linux, devices.txt). */
const PTY_MAJOR = 136;
/** A little more than from one look to the next. */
const WARNING = 65 * SECOND;
/** Fields of /proc/PID/stat after the name: state, parent, group, session, terminal. */
const TERMINAL = 4;

/** A session of an account, and since when nothing was heard of its client. */
interface Session {
  /** Names it as long as it lasts. */
  readonly key: string;
  /** What ends with it. */
  readonly processes: readonly Process[];
  /** Milliseconds since 1970. */
  readonly since: number;
  /** Only a terminal can be told something. */
  readonly terminal?: string;
}

interface Owner {
  readonly name: string;
  readonly uid: number;
  readonly profile: HostProfile;
}

/** What sessions without a terminal had read at the last look, and since when. */
let heard: ReadonlyMap<string, { readonly bytes: string; readonly since: number }> = new Map();
/** The silences of terminals that were told of their end. */
let told: ReadonlySet<string> = new Set();

/** See `Host.endSilent`. */
export async function endSilent({ settings, executor, log }: HostContext, now: Date): Promise<void> {
  if (settings.mode !== "direct") return;
  const owners = ownersNow([...readHeld(pathsOf(settings)).values()].map(({ profile }) => profile));
  const listening = new Map<string, { readonly bytes: string; readonly since: number }>();
  const warned = new Set<string>();
  for (const owner of owners) {
    const limit = (owner.profile.idleSeconds ?? Infinity) * SECOND;
    for (const session of sessionsOf(owner, now, listening)) {
      const silence = now.getTime() - session.since;
      const key = `${session.key} ${session.since}`;
      if (silence >= limit) {
        const problem = await attempt(() => executor.apply({ kind: "kill", processes: session.processes }), log);
        const about = { account: owner.name, profile: owner.profile.name, minutes: Math.floor(silence / MINUTE) };
        if (problem === undefined) log.info("a session that was silent for too long was ended", about);
      } else if (session.terminal !== undefined && silence >= limit - Math.min(WARNING, limit / 2)) {
        if (!told.has(key)) tell(session.terminal, owner.uid, limit);
        warned.add(key);
      }
    }
  }
  heard = listening;
  told = warned;
}

/** The accounts with a limit that have anything running. */
function ownersNow(profiles: readonly HostProfile[]): readonly Owner[] {
  const limited = profiles.filter(({ idleSeconds }) => idleSeconds !== undefined);
  if (limited.length === 0) return [];
  const { groups, passwd } = readAccounts();
  const used = new Set(readProcesses().flatMap(({ uids }) => uids));
  return limited.flatMap((profile) =>
    [...(groups.get(groupOf(profile.name))?.members ?? [])].flatMap((name) => {
      const uid = passwd.get(name)?.uid;
      return uid === undefined || uid === 0 || !used.has(uid) ? [] : [{ name, uid, profile }];
    }),
  );
}

/**
 * The terminals that sshd made for an account with a shell; the sessions of one that copies files, by what they have read; and the connections
 * of one that only forwards. Programs without a terminal may be silent while they work.
 */
function sessionsOf(
  { name, uid, profile }: Owner,
  now: Date,
  listening: Map<string, { readonly bytes: string; readonly since: number }>,
): readonly Session[] {
  const processes = readProcesses();
  const own = processesOf(processes, uid);
  const roots = new Set(connectionsOf(processes, name, uid).map(({ pid }) => pid));
  // sshd's own process for the connection, which runs as the account, and below it one for each session.
  const served = own.filter(({ parent }) => roots.has(parent));
  const begun = new Set(served.map(({ pid }) => pid));
  const first = own.filter(({ parent }) => begun.has(parent));
  if (profile.kind === "shell") {
    const terminals = new Set(first.flatMap(({ pid }) => terminalOf(pid) ?? []));
    return [...terminals].flatMap((number) => {
      const since = lastInput(number, uid);
      if (since === undefined) return [];
      const those = own.filter(({ pid }) => terminalOf(pid) === number);
      return [{ key: String(number), processes: those, since, terminal: pathOf(number) }];
    });
  }
  const measured = profile.kind === "sftp" ? first : profile.kind === "forward" ? served : [];
  return measured.flatMap((process) => {
    const bytes = /^rchar: (\d+)$/m.exec(readProc(`/proc/${process.pid}/io`) ?? "")?.[1];
    if (bytes === undefined) return [];
    const key = `${process.pid} ${process.started}`;
    const known = heard.get(key);
    const since = known?.bytes === bytes ? known.since : now.getTime();
    listening.set(key, { bytes, since });
    return [{ key, processes: [process], since }];
  });
}

/** The number of the terminal by which the process is controlled, if a program made that. */
function terminalOf(pid: number): number | undefined {
  const stat = readProc(`/proc/${pid}/stat`) ?? "";
  const device = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[TERMINAL]);
  // Twenty bits of a minor number around twelve of a major one.
  if (((device >> 8) & 0xfff) !== PTY_MAJOR) return undefined;
  return (device & 0xff) | ((device >>> 12) & 0xfff00);
}

function pathOf(terminal: number): string {
  return `/dev/pts/${terminal}`;
}

/** When somebody typed there last, to eight seconds, as the kernel notes it; undefined if it is not the account's. */
function lastInput(terminal: number, uid: number): number | undefined {
  const stat = statSync(pathOf(terminal), { throwIfNoEntry: false });
  return stat?.uid === uid && stat.isCharacterDevice() ? stat.atimeMs : undefined;
}

/** A line on the terminal, unless its owner has stopped the output; never waits. */
function tell(path: string, uid: number, limit: number): void {
  const { O_WRONLY, O_NOCTTY, O_NONBLOCK, O_NOFOLLOW } = constants;
  try {
    const fd = openSync(path, O_WRONLY | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW);
    try {
      const stat = fstatSync(fd);
      const text = `\r\nThis session ends soon, because nothing was typed here: after ${formatDuration(limit)} it is ended.\r\n`;
      if (stat.uid === uid && stat.isCharacterDevice()) writeSync(fd, text);
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    if (errorCode(error) === "") throw error;
  }
}
