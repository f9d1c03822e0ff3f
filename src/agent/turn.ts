/**
 * The turn at the accounts of an agent's host: who opens one has it, and `uam lock` takes it before it says that one stays shut. It is a
 * lock on the agent's directory (flock(2)), which only root and the agent can open; the kernel gives it back when a process ends, however it does.
 */

import { closeSync, constants, openSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { AccountRef, Closing, Host } from "../protocol/host.ts";
import { UamError } from "../shared/errors.ts";
import type { Kernel } from "../shared/system/kernel.ts";
import { MINUTE, SECOND } from "../shared/time/clock.ts";

/** Works while nobody else has the turn. Throws `internal` if somebody has it for longer than the patience, in milliseconds. */
export type Turn = <T>(work: () => Promise<T>, patience?: number) => Promise<T>;

/** Work that takes access away never waits for a turn; work that gives it can be tried again. */
const PATIENCE = 10 * SECOND;
/** The agent compares many accounts in one turn. */
const LOCK_PATIENCE = MINUTE;
const LOOK = 10;

export function openTurn(directory: string, { lockFile }: Pick<Kernel, "lockFile">): Turn {
  return async (work, patience = PATIENCE) => {
    const file = openSync(directory, constants.O_RDONLY | constants.O_DIRECTORY);
    try {
      const end = performance.now() + patience;
      while (!lockFile(file)) {
        if (performance.now() > end)
          throw new UamError("internal", "Another process has been at work on accounts for too long");
        await sleep(LOOK);
      }
      return await work();
    } finally {
      closeSync(file);
    }
  };
}

/**
 * Shuts the account at once, and again when nobody opens one any more: an agent that began before the lock was noted may have opened it in
 * between, and from then on none does. If the second time does not come within the patience, in milliseconds, that is owed.
 */
export async function shutForGood(
  host: Host,
  account: AccountRef,
  { turn, patience = LOCK_PATIENCE }: { readonly turn: Turn; readonly patience?: number },
): Promise<Closing> {
  await host.shutAccount(account);
  let isLast = false;
  const shutAgain = () => {
    isLast = true;
    return host.shutAccount(account);
  };
  try {
    return await turn(shutAgain, patience);
  } catch (error) {
    if (isLast) throw error;
    const sentence =
      "The agent has been at work on accounts for too long, and may open it once more: run uam lock again";
    return { refused: false, owed: [sentence] };
  }
}
