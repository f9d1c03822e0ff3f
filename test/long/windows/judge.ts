/** One window of many accounts, by a real sshd: who is let in when, and what is left of it. */

import type { ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import { processesOf, readProcesses } from "../../../src/host/processes/processes.ts";
import { SECOND } from "../../../src/shared/time/clock.ts";
import { severalAtOnce } from "../../../src/shared/work/several.ts";
import type { Account, Place, Way, Window } from "./place.ts";
import { endProcesses } from "./traces.ts";

/** What was seen of one window of one account; milliseconds. */
export interface Seen {
  /** After the beginning its key lay in its file; undefined where it never did. */
  readonly opened: number | undefined;
  /** A session was there inside the window. */
  readonly wasIn: boolean;
  /** Logins that were begun outside and let in. */
  readonly wrong: readonly string[];
  /** Logins that were begun after the end. */
  readonly refused: number;
  /** Something of it still ran that long after the end. */
  readonly isAlive: boolean;
}

/** How many clients try at the same moment. */
const CLIENTS = 12;
/** Before the end, something befalls at the latest. */
const BEFORE_END = 3 * SECOND;
/** After the end, sessions must be gone. */
export const SESSIONS_END = 5 * SECOND;
const LOOK_EVERY = 50;
/** Reading all processes takes its time where there are thousands. */
const COUNT_EVERY = 200;

/** Follows the next window of the place. */
export async function follow(place: Place, way: Way): Promise<readonly Seen[]> {
  const window = await place.tell();
  way.before?.();
  const { accounts } = place;
  const early = await tried(place, () => Date.now() < window.from - SECOND, 1);
  const opened = await openings(accounts, window);
  const { sessions, inside } = await entered(place, window.to - BEFORE_END);
  way.inside?.();
  const done = triedAroundEnd(place, window);
  await Bun.sleep(window.to + SESSIONS_END - Date.now());
  const left = readProcesses();
  const tries = [...early, ...(await done)];
  for (const session of sessions) session.kill("SIGKILL");
  await way.after?.();
  // Where nobody was there to end them, they would count as sessions of the next window.
  await endProcesses(accounts);
  return accounts.map(({ name, uid }) => {
    const own = tries.filter((each) => each.name === name);
    const isWrong = ({ begun, ended, admitted }: Try) => admitted && (begun >= window.to || ended < window.from);
    return {
      opened: opened.get(name),
      wasIn: inside.has(name) || own.some(({ admitted }) => admitted),
      wrong: own.filter(isWrong).map(({ begun }) => `${name} ${begun - window.to} ms after the end`),
      refused: own.filter(({ begun, admitted }) => begun >= window.to && !admitted).length,
      isAlive: processesOf(left, uid).length > 0,
    };
  });
}

/** Opens a session in each account, some at once, as sshd takes only so many; until all are in or the time has come. */
async function entered({ accounts, sshd }: Place, end: number) {
  const clients = new Map<string, ChildProcess>();
  const inside = new Set<string>();
  const isOnTheWay = ({ name }: Account) => clients.get(name)?.exitCode === null;
  while (inside.size < accounts.length && Date.now() < end) {
    const missing = accounts.filter(({ name }) => !inside.has(name));
    const free = CLIENTS - missing.filter(isOnTheWay).length;
    for (const { name, key } of missing.filter((each) => !isOnTheWay(each)).slice(0, free))
      clients.set(name, sshd.open(name, key, "sleep 3600"));
    await Bun.sleep(COUNT_EVERY);
    const all = readProcesses();
    for (const { name, uid } of missing) if (processesOf(all, uid).length > 0) inside.add(name);
  }
  return { sessions: [...clients.values()], inside };
}

interface Try {
  readonly name: string;
  readonly begun: number;
  readonly ended: number;
  readonly admitted: boolean;
}

/** Tries the accounts until sessions must have ended, and each of them once after the end however long that takes. */
async function triedAroundEnd(place: Place, { to }: Window): Promise<readonly Try[]> {
  const before = await tried(place, () => Date.now() < to, Number.POSITIVE_INFINITY);
  const once = await tried(place, () => true, 1);
  return [...before, ...once, ...(await tried(place, () => Date.now() < to + SESSIONS_END, Number.POSITIVE_INFINITY))];
}

/** Tries each account in turns, several at once, while there is time; never after that. */
async function tried({ accounts, sshd }: Place, isTime: () => boolean, turns: number): Promise<readonly Try[]> {
  const tries: Try[] = [];
  for (let turn = 0; turn < turns && isTime(); turn++) {
    await severalAtOnce(accounts.values(), { atOnce: CLIENTS }, async ({ name, key }) => {
      if (!isTime()) return;
      const begun = Date.now();
      const admitted = await sshd.admits(name, key);
      tries.push({ name, begun, ended: Date.now(), admitted });
    });
  }
  return tries;
}

/** When each key came to lie in its file, until all do or the window is half over. */
async function openings(accounts: readonly Account[], { from, to }: Window): Promise<ReadonlyMap<string, number>> {
  const opened = new Map<string, number>();
  while (opened.size < accounts.length && Date.now() < (from + to) / 2) {
    for (const { name, file } of accounts) {
      if (!opened.has(name) && hasKey(file)) opened.set(name, Math.max(0, Date.now() - from));
    }
    await Bun.sleep(LOOK_EVERY);
  }
  return opened;
}

function hasKey(file: string): boolean {
  try {
    return readFileSync(file, "utf8").includes("expiry-time=");
  } catch {
    return false;
  }
}
