/** The ending of all processes of an account, whatever its owner does against it. */

import { setTimeout as sleep } from "node:timers/promises";
import type { AccountRef } from "../../protocol/host.ts";
import { UamError } from "../../shared/errors.ts";
import { errorCode } from "../walk.ts";
import { type ListedProcess, listedOf, readProcesses } from "./processes.ts";

/** Milliseconds until processes that keep coming are given up on; reconciliation goes on about them. */
const PATIENCE = 15_000;
/** Milliseconds after which what was killed and still is there must be waiting for something that never comes. */
const STUCK = 1_000;
const PAUSE = 50;

/** How a mode ends processes. */
export interface ProcessEnder {
  /**
   * Kills all there is at one moment, also what no look would find, and of what a look found the rest; false if it cannot be
   * told that it did.
   */
  sweep(account: AccountRef, seen: readonly ListedProcess[]): Promise<boolean>;
  /** Ends sshd's own processes, of those given, for connections of the account. */
  endConnections(processes: readonly ListedProcess[], account: AccountRef): Promise<void>;
  /** Ends what keeps these from ending although they were killed; what that is, as a clause, if it stays. */
  free?(account: AccountRef, stuck: readonly ListedProcess[]): string | undefined;
}

/**
 * Ends every process of the account, and sshd's processes of connections that are logging in as it. Done when the sweep ended
 * well and no process is seen after it: to see none is not enough. Throws `internal` if that does not come to be in `patience` ms.
 */
export async function endProcesses(account: AccountRef, ender: ProcessEnder, patience = PATIENCE): Promise<void> {
  const begin = performance.now();
  let swept = false;
  let why: string | undefined;
  /** What was there at the first look after a sweep, by when. */
  const since = new Map<number, number>();
  for (;;) {
    const processes = readProcesses();
    await step(() => ender.endConnections(processes, account));
    const left = listedOf(processes, account.uid);
    if (swept && left.length === 0) return;
    const now = performance.now();
    if (now - begin > patience) throw new UamError("internal", failure(account, left, why));
    for (const { pid } of left) if (!since.has(pid)) since.set(pid, now);
    const stuck = left.filter(({ pid }) => now - (since.get(pid) ?? now) > STUCK);
    if (stuck.length > 0) why = ender.free?.(account, stuck);
    swept = (await step(() => ender.sweep(account, left))) === true;
    // What was just killed takes a moment to be gone.
    if (!swept || left.length > 0) await sleep(PAUSE);
  }
}

function failure(account: AccountRef, left: readonly ListedProcess[], why: string | undefined): string {
  // To see none is not enough, and a sweep that is done would have been the end.
  if (left.length === 0) return `It is not certain that all processes of ${account.name} ended: no sweep could be made`;
  const named = left.map(({ pid }) => pid).join(", ");
  return `Processes of ${account.name} did not end: ${named}${why === undefined ? "" : ` (${why})`}`;
}

/** A command that the machine has no room for is tried again; it keeps nothing else from being done. */
async function step<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    const cause = error instanceof UamError ? error.cause : error;
    if (!["EAGAIN", "ENOMEM", "EMFILE", "ENFILE"].includes(errorCode(cause))) throw error;
    return undefined;
  }
}
