/** How fast deliveries go: at full speed while nothing else happens, and slowly enough not to be felt while the log is being written. */

import { setTimeout as sleep } from "node:timers/promises";
import { SECOND } from "../../shared/time/clock.ts";

/** Records within a second that count as a busy time. */
const BUSY = 5;
/** A reader of many records waits at least this long then, in milliseconds. */
const LEAST_REST = 500;
/** Pending writes wait this long for more when it is quiet: each transaction waits for the disk. */
const GATHERING = 20;
/** And reads this part of what it reads at once when it is quiet. */
const PORTION = 0.3;

export interface Pace {
  /** Call it whenever there may be a new record. */
  heard(): void;
  /** Resolves when the next delivery may begin, or the signal says stop. */
  turn(signal: AbortSignal): Promise<void>;
  /** Milliseconds for which what is to be written down waits for more. */
  gathering(): number;
  /** Of how many records at once a reader reads as many as it should now. */
  portion(most: number): number;
  /** Milliseconds that a reader of many records should wait until it reads again, after it worked for so long. */
  restAfter(milliseconds: number): number;
}

/** At most so many deliveries a second in busy times, and of a reader's time at most so large a part. */
export function createPace({ perSecond, share }: { readonly perSecond: number; readonly share: number }): Pace {
  const times: number[] = [];
  let next = 0;
  const isBusy = (): boolean => times.length === BUSY && performance.now() - (times[0] ?? 0) < SECOND;
  return {
    heard() {
      times.push(performance.now());
      if (times.length > BUSY) times.shift();
    },
    async turn(signal) {
      if (!isBusy()) return;
      const now = performance.now();
      const mine = Math.max(now, next);
      next = mine + SECOND / perSecond;
      if (mine > now) await pause(mine - now, signal);
    },
    gathering: () => (isBusy() ? LEAST_REST : GATHERING),
    portion: (most) => (isBusy() ? Math.ceil(most * PORTION) : most),
    restAfter: (milliseconds) => (isBusy() ? Math.max(LEAST_REST, milliseconds * (1 / share - 1)) : 0),
  };
}

/** Waits, and at most until the signal says stop. */
export async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await sleep(milliseconds, undefined, { signal }).catch(() => {});
}
