/** The outcome of a commit whose answer got lost, or whose wait for a standby was cancelled. */

import { setTimeout as sleep } from "node:timers/promises";
import { isDatabaseLost } from "../../shared/database-lost.ts";
import { unreplicatedCommits } from "../../store/client.ts";
import { hasRecord, type RecordRef } from "./append.ts";
import type { Context } from "./context.ts";

/** Attempts after a lost answer: for about as long as a database server takes to come back. */
const LOOKS = 10;
const BETWEEN_LOOKS = 500;

/** Whether the record is in the log; also false if the database stays unavailable, which is reported as a failure to record. */
export async function isStored(context: Context, record: RecordRef): Promise<boolean> {
  for (let look = 1; look <= LOOKS; look++) {
    try {
      return await hasRecord(context.db, record);
    } catch (error) {
      context.log.warn("the database does not answer whether a commit succeeded", {
        error,
        requestId: context.requestId,
      });
      if (look < LOOKS) await sleep(BETWEEN_LOOKS);
    }
  }
  return false;
}

/**
 * Reads the answer about a committed change. A database that is lost just then must not make the change look as if it had failed: it is
 * asked again, and its failure is thrown only if it stays away.
 */
export async function readCommitted<T>(
  context: Pick<Context, "log"> & Partial<Pick<Context, "requestId">>,
  read: () => Promise<T>,
): Promise<T> {
  for (let look = 1; ; look++) {
    try {
      return await read();
    } catch (error) {
      if (look === LOOKS || !isDatabaseLost(error)) throw error;
      context.log.warn("a change is stored, and the database does not say how it stands", {
        error,
        requestId: context.requestId,
      });
      await sleep(BETWEEN_LOOKS);
    }
  }
}

/**
 * Waits again if somebody has cancelled the wait of a commit for its standby, this one or another, since there were `before` of
 * those: reading the record takes a lock, and so waits for the standby.
 */
export async function waitAgain(context: Context, record: RecordRef, before: number): Promise<void> {
  let known = before;
  for (let look = 1; look <= LOOKS; look++) {
    const now = unreplicatedCommits(context.db);
    if (now === known) return;
    known = now;
    await isStored(context, record);
  }
}
