/** A bounded number of costly tasks at a time, a bounded queue behind them, and a refusal beyond that. */

import { UamError } from "./errors.ts";

export interface Bounds {
  /** Tasks that run at the same time; at least 1. */
  readonly concurrency: number;
  /** Tasks that may wait; 0 or more. */
  readonly maxQueue: number;
  /** Seconds that a refused caller is told to wait. */
  readonly retryAfter: number;
}

/** Runs a task when its turn comes and settles as the task does; throws `limited` at once if the queue is full. */
export type Gate = <T>(task: () => Promise<T>) => Promise<T>;

/** A gate that lets tasks through in the order in which they came. */
export function createGate({ concurrency, maxQueue, retryAfter }: Bounds): Gate {
  const waiting: (() => void)[] = [];
  let running = 0;

  return async (task) => {
    if (running >= concurrency) {
      if (waiting.length >= maxQueue) {
        throw new UamError("limited", `The service is busy; try again in ${retryAfter} seconds`, { retryAfter });
      }
      // Whoever finishes hands its place over, so `running` stays as it is.
      await new Promise<void>((resolve) => waiting.push(resolve));
    } else {
      running += 1;
    }
    try {
      return await task();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  };
}
