/** One window of many accounts, by a real sshd: who is let in when, and what is left of it. */

import { readFileSync } from "node:fs";
import { processesOf, readProcesses } from "../../../src/host/processes/processes.ts";
import { SECOND } from "../../../src/shared/time/clock.ts";
import { severalAtOnce } from "../../../src/shared/work/several.ts";
import type { Account, Place, Way, Window } from "./place.ts";

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

/** Follows the next window of the place. */
export async function follow(place: Place, way: Way): Promise<readonly Seen[]> {
  const window = await place.tell();
  way.before?.();
  const { accounts, sshd } = place;
  const early = await tried(place, () => Date.now() < window.from - SECOND, 1);
  const opened = await openings(accounts, window);
  const sessions = accounts.map(({ name, key }) => sshd.open(name, key, "sleep 600"));
  const runs = () => readProcesses();
  let inside = new Set<string>();
  while (inside.size < accounts.length && Date.now() < window.to - BEFORE_END) {
    const all = runs();
    inside = new Set(accounts.filter(({ uid }) => processesOf(all, uid).length > 0).map(({ name }) => name));
    await Bun.sleep(LOOK_EVERY);
  }
  way.inside?.();
  const done = tried(place, () => Date.now() < window.to + SESSIONS_END, Number.POSITIVE_INFINITY);
  await Bun.sleep(window.to + SESSIONS_END - Date.now());
  const left = runs();
  const tries = [...early, ...(await done)];
  for (const session of sessions) session.kill("SIGKILL");
  await way.after?.();
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

interface Try {
  readonly name: string;
  readonly begun: number;
  readonly ended: number;
  readonly admitted: boolean;
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
