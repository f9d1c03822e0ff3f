/** Ends that were typed as a date: access goes on until that day is over, in UTC. */

import { DAY, SECOND } from "./clock.ts";

/** How far before midnight a day may end: as commands and imports read a date, and as people write its last second. */
const BEFORE_MIDNIGHT: readonly number[] = [0, 1, SECOND];

/** The day that ends then, as its first moment in UTC; undefined for an end within a day. A moment is milliseconds since 1970. */
export function dayThatEnds(time: number): number | undefined {
  const midnight = Math.ceil(time / DAY) * DAY;
  return BEFORE_MIDNIGHT.includes(midnight - time) ? midnight - DAY : undefined;
}
