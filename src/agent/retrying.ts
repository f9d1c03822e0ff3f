/** Going on with what the host refused. */

import type { Log } from "../shared/log.ts";
import { SECOND } from "../shared/time/clock.ts";
import type { Orders } from "./orders.ts";

interface Retrying {
  /** The longest pause, in milliseconds. */
  readonly longest: number;
  readonly pause: (milliseconds: number) => Promise<void>;
  readonly stopped: AbortSignal;
}

/** Each call begins again with what the host refused: after a second, then twice as long. */
export function createRetrying(
  { orders, log }: { readonly orders: Orders; readonly log: Log },
  { longest, pause, stopped }: Retrying,
): () => void {
  let delay: number = SECOND;
  let isUnderWay = false;
  async function retryAll(): Promise<void> {
    while (!stopped.aborted) {
      const left = await orders.retry();
      if (left === "done") return;
      if (left === "more") continue;
      await pause(delay);
      delay = Math.min(2 * delay, longest);
    }
  }
  return () => {
    delay = SECOND;
    if (isUnderWay) return;
    isUnderWay = true;
    void retryAll()
      .catch((error: unknown) => log.error("what the host refused could not be tried again", { error }))
      .finally(() => {
        isUnderWay = false;
      });
  };
}
