/** Writes down what was delivered, for all webhooks in one transaction at a time. */

import { type Attempt, type Progress, storeProgress } from "../../domain/events/progress.ts";
import type { Log } from "../../shared/log.ts";
import type { Database } from "../../store/client.ts";
import { type Pace, pause } from "./pace.ts";

/** After the database refused. */
const AGAIN = 1000;

export interface Ledger {
  /** Resolves when it is stored; what is noted at the same time is stored with it. False if the signal said stop before that. */
  store(attempts: readonly Attempt[], progress: Progress): Promise<boolean>;
}

interface LedgerParts {
  readonly db: Database;
  readonly log: Log;
  readonly pace: Pace;
}

/** A ledger; what it cannot write it tries again until `signal` says stop. */
export function createLedger({ db, log, pace }: LedgerParts, signal: AbortSignal): Ledger {
  let attempts: Attempt[] = [];
  let progress = new Map<number, Progress>();
  let writing: Promise<boolean> | undefined;

  async function write(): Promise<boolean> {
    await pause(pace.gathering(), signal);
    const batch = [attempts, [...progress.values()]] as const;
    [attempts, progress, writing] = [[], new Map(), undefined];
    for (;;) {
      try {
        await storeProgress(db, ...batch);
        return true;
      } catch (error) {
        log.error("what was delivered to webhooks could not be stored; it is tried again", { error });
        if (signal.aborted) return false;
        await pause(AGAIN, signal);
      }
    }
  }
  return {
    store(noted, left) {
      attempts.push(...noted);
      progress.set(left.id, left);
      writing ??= write();
      return writing;
    },
  };
}
