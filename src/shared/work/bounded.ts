/** A bounded number of costly things at a time, a bounded queue behind them, and a refusal beyond that. */

import pLimit from "p-limit";
import { UamError } from "../errors.ts";

export interface Bounds {
  /** Tasks that run at the same time; at least 1. */
  readonly concurrency: number;
  /** Tasks that may wait; 0 or more. */
  readonly maxQueue: number;
  /** Seconds that a refused caller is told to wait. */
  readonly retryAfter: number;
  /** The sentence that a refused caller is told, instead of a general one. */
  readonly refusal?: string;
}

/** Runs a task when its turn comes and settles as the task does; throws `limited` at once if the queue is full. */
export type Gate = <T>(task: () => Promise<T>) => Promise<T>;

/** Places for things that last longer than one call. */
export interface Slots {
  /**
   * Takes a slot and returns the function that frees it, once however often it is called; throws `limited` when none is
   * free.
   */
  take(): () => void;
}

/** A gate that lets tasks through in the order in which they came. */
export function createGate(bounds: Bounds): Gate {
  const enter = createEntrance(bounds);
  return async (task) => await enter(task);
}

/** As many slots as `concurrency` says; nobody waits for one. */
export function createSlots(bounds: Omit<Bounds, "maxQueue">): Slots {
  const enter = createEntrance({ ...bounds, maxQueue: 0 });
  return {
    take() {
      const { promise, resolve } = Promise.withResolvers<void>();
      void enter(() => promise);
      return resolve;
    },
  };
}

/** Throws, and does not reject, when there is no room. */
function createEntrance({ concurrency, maxQueue, retryAfter, refusal }: Bounds): Gate {
  const limit = pLimit(concurrency);
  return (task) => {
    if (limit.activeCount + limit.pendingCount >= concurrency + maxQueue) {
      const message = refusal ?? `The service is busy; try again in ${retryAfter} seconds`;
      throw new UamError("limited", message, { retryAfter, reason: "service.busy" });
    }
    return limit(task);
  };
}
