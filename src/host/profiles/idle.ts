/**
 * Ending sessions that have been silent for as long as their profile allows. sshd does not do that for some accounts only: `ChannelTimeout` has no
 * effect in a Match block. It is for people who forget, and no limit for those who do not want to: whoever keeps typing stays.
 */

import type { HostProfile } from "../../protocol/profile.ts";
import { MINUTE, SECOND } from "../../shared/time/clock.ts";
import { formatDuration } from "../../shared/time/duration.ts";
import { readAccounts } from "../account.ts";
import { attempt } from "../executor.ts";
import type { HostContext } from "../host-context.ts";
import {
  connectionsOf,
  type ListedProcess,
  type Process,
  processesOf,
  readProc,
  readProcesses,
} from "../processes/processes.ts";
import { lastInput, terminalOf, writeToTerminal } from "../processes/terminals.ts";
import { groupOf } from "./names.ts";
import { pathsOf, readHeld } from "./profile-files.ts";

/** A little more than from one look to the next. */
const WARNING = 65 * SECOND;

/** A session of an account, and since when nothing was heard of its client. */
interface Session {
  /** Names it as long as it lasts. */
  readonly key: string;
  /** What ends with it. */
  readonly processes: readonly Process[];
  /** Milliseconds since 1970. */
  readonly since: number;
  /** Only a terminal can be told something. */
  readonly terminal?: number;
}

interface Heard {
  readonly bytes: string;
  readonly since: number;
}

interface Look {
  readonly processes: readonly ListedProcess[];
  readonly now: Date;
  /** Filled with what sessions without a terminal have read by now. */
  readonly listening: Map<string, Heard>;
}

interface Owner {
  readonly name: string;
  readonly uid: number;
  readonly profile: HostProfile;
}

/** What sessions without a terminal had read at the last look, and since when. */
let heard: ReadonlyMap<string, Heard> = new Map();
/** The silences of terminals that were told of their end. */
let told: ReadonlySet<string> = new Set();

/** See `Host.endSilent`. */
export async function endSilent({ settings, executor, log }: HostContext, now: Date): Promise<void> {
  if (settings.mode !== "direct") return;
  const profiles = [...readHeld(pathsOf(settings)).values()].map(({ profile }) => profile);
  const limited = profiles.filter(({ idleSeconds }) => idleSeconds !== undefined);
  const processes = limited.length === 0 ? [] : readProcesses();
  const listening = new Map<string, Heard>();
  const warned = new Set<string>();
  for (const owner of ownersNow(limited, processes)) {
    const limit = (owner.profile.idleSeconds ?? Infinity) * SECOND;
    for (const session of sessionsOf(owner, { processes, now, listening })) {
      const silence = now.getTime() - session.since;
      const key = `${session.key} ${session.since}`;
      if (silence >= limit) {
        const problem = await attempt(() => executor.apply({ kind: "kill", processes: session.processes }), log);
        const about = { account: owner.name, profile: owner.profile.name, minutes: Math.floor(silence / MINUTE) };
        if (problem === undefined) log.info("a session that was silent for too long was ended", about);
      } else if (session.terminal !== undefined && silence >= limit - Math.min(WARNING, limit / 2)) {
        if (!told.has(key)) writeToTerminal(session.terminal, owner.uid, warning(limit));
        warned.add(key);
      }
    }
  }
  heard = listening;
  told = warned;
}

/** The accounts with a limit that have anything running. */
function ownersNow(limited: readonly HostProfile[], processes: readonly ListedProcess[]): readonly Owner[] {
  if (processes.length === 0) return [];
  const { groups, passwd } = readAccounts();
  const used = new Set(processes.flatMap(({ uids }) => uids));
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
function sessionsOf({ name, uid, profile }: Owner, { processes, now, listening }: Look): readonly Session[] {
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
      return [{ key: String(number), processes: those, since, terminal: number }];
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

function warning(limit: number): string {
  return `This session ends soon, because nothing was typed here: after ${formatDuration(limit)} it is ended.`;
}
