/** A server that lacks only room on its disk is given some, from the reserve. */

import type { Log } from "../../shared/log.ts";
import { isDiskFull, releaseReserve, reserveIn, reserveLeft } from "../../shared/work/reserve.ts";

interface Place {
  readonly dataDir: string;
  readonly log: Log;
}

/** Starts it; again with more room, as long as it fails with a full disk and there is something to give. */
export async function withRoom<T>(place: Place, start: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await start();
    } catch (error) {
      if (!makeRoom(place)) throw error;
    }
  }
}

/** Gives up a piece of the reserve if the disk is full; false if it is not, or nothing is left. */
export function makeRoom({ dataDir, log }: Place): boolean {
  const path = reserveIn(dataDir);
  if (!isDiskFull(path) || !releaseReserve(path)) return false;
  log.error("PostgreSQL has no room on its disk: a part of the reserve was given up", { left: reserveLeft(path) });
  return true;
}
