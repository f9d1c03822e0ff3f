/** Ending all processes of an account, whatever its owner does against it. */

import { setTimeout as sleep } from "node:timers/promises";
import type { AccountRef } from "../../protocol/host.ts";
import { UamError } from "../../shared/errors.ts";
import { errorCode } from "../safe-open.ts";
import { type ListedProcess, listedOf, readProcesses } from "./processes.ts";

/** Milliseconds until we give up on processes that keep coming; reconciliation then continues. */
const PATIENCE = 5_000;
/** Milliseconds after which a killed process that is still there must be waiting for something that never comes. */
const STUCK = 1_000;
/** Milliseconds for what was killed to disappear: first the shortest, then twice as long each time. */
const PAUSES = { shortest: 5, longest: 50 } as const;
/** How often connections that appear meanwhile are a reason to look again: strangers may keep knocking. */
const KNOCKS = 3;

/** How a mode ends processes. */
export interface ProcessEnder {
  /**
   * Kills everything at one moment, including what no listing would show, and then the rest of what a listing showed; false if it
   * is not certain that it did.
   */
  sweep(account: AccountRef, seen: readonly ListedProcess[]): Promise<boolean>;
  /** Ends those of the given processes that are sshd's own for connections of the account; true if there are any. */
  endConnections(processes: readonly ListedProcess[], account: AccountRef): Promise<boolean>;
  /** A sentence if some of the processes are sshd's and cannot be told, so that any may be a login to the account. */
  unread?(processes: readonly ListedProcess[]): string | undefined;
  /**
   * True only if no process has the account's uid as its real or saved one, nor the title of a connection; nor, `closely`, is a program of
   * root's that works as the account at that moment. A listing says as much, and takes several times as long.
   */
  isClear?(account: AccountRef, closely: boolean): boolean;
  /** Ends what prevents these killed processes from ending; returns what that is, as a clause, if it stays. */
  free?(account: AccountRef, stuck: readonly ListedProcess[]): string | undefined;
}

/** How an ending goes about it. */
interface EndingOptions {
  /** Milliseconds. */
  readonly patience?: number;
  /** Whether this is done once more later, so that a look at less is enough now. */
  readonly isFirst?: boolean | undefined;
}

/**
 * Ends every process of the account, and sshd's processes of connections that are logging in to it. Done when the sweep
 * succeeded and no process is seen after it, nor a connection that could have started one since: to see none is not enough, and
 * what of sshd's cannot be told may be one.
 * Throws `internal` if that takes longer than `patience` ms.
 */
export async function endProcesses(
  account: AccountRef,
  ender: ProcessEnder,
  { patience = PATIENCE, isFirst = false }: EndingOptions = {},
): Promise<void> {
  const begin = performance.now();
  let why: string | undefined;
  let left: readonly ListedProcess[] = [];
  let knocks = 0;
  let pause: number = PAUSES.shortest;
  /** The processes found at the first check after a sweep, and the time of that check. */
  const since = new Map<number, number>();
  for (;;) {
    const swept = (await step(() => ender.sweep(account, left))) === true;
    if (swept && ender.isClear?.(account, !isFirst) === true) return;
    const processes = readProcesses();
    const isConnected = (await step(() => ender.endConnections(processes, account))) !== false;
    left = listedOf(processes, account.uid);
    const unread = ender.unread?.(processes);
    if (swept && left.length === 0 && unread === undefined && (!isConnected || ++knocks > KNOCKS)) return;
    const now = performance.now();
    if (now - begin > patience) throw new UamError("internal", failure(account, left, why ?? unread));
    for (const { pid } of left) if (!since.has(pid)) since.set(pid, now);
    const stuck = left.filter(({ pid }) => now - (since.get(pid) ?? now) > STUCK);
    if (stuck.length > 0) why = ender.free?.(account, stuck);
    // A process that was just killed takes a moment to disappear.
    await sleep(pause);
    pause = Math.min(2 * pause, PAUSES.longest);
  }
}

function failure(account: AccountRef, left: readonly ListedProcess[], why: string | undefined): string {
  // To see none is not enough, and a successful sweep would have ended the loop.
  if (left.length === 0)
    return `It is not certain that all processes of ${account.name} ended: ${why ?? "no sweep could be made"}`;
  const named = left.map(({ pid }) => pid).join(", ");
  return `Processes of ${account.name} did not end: ${named}${why === undefined ? "" : ` (${why})`}`;
}

/** A command that cannot be started for lack of resources is tried again; it does not prevent anything else. */
async function step<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    const cause = error instanceof UamError ? error.cause : error;
    if (!["EAGAIN", "ENOMEM", "EMFILE", "ENFILE"].includes(errorCode(cause))) throw error;
    return undefined;
  }
}
