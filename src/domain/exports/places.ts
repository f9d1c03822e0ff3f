/** Places for exports that run at the same time. An export that nobody reads gives its place to a new one. */

import { UamError } from "../../shared/errors.ts";
import { SECOND } from "../../shared/time/clock.ts";

/** How long, in milliseconds, an export may wait for its reader before another may take its place. */
const PATIENCE = 30 * SECOND;
/** Seconds that a refused caller is told to wait. */
const RETRY_AFTER = 30;

/** The place of an export that is under way. */
export interface ExportPlace {
  /** From now on it waits for its reader. */
  waits(): void;
  /** Its reader has come. */
  isRead(): void;
  /** Registers how to end the export if it has to give way. */
  onGivingWay(end: () => void): void;
  /** Frees the place, once however often it is called. */
  release(): void;
}

export interface ExportPlaces {
  /**
   * Takes a place for an export of `owner`'s. If none is free, it takes the place of the export that has waited longest for its reader, at least
   * 30 s; otherwise, if `owner` has none, of an owner with several. Else throws `limited`.
   */
  take(owner: string): ExportPlace;
}

interface Taken {
  readonly owner: string;
  waitsSince: number | undefined;
  giveWay: () => void;
}

/** `most` exports at a time. `now` gives milliseconds of a clock that is never set. */
export function createExportPlaces(most: number, now: () => number = () => performance.now()): ExportPlaces {
  const taken = new Set<Taken>();
  return {
    take(owner) {
      if (taken.size >= most) {
        const yields = longestUnread([...taken], now() - PATIENCE) ?? oneOfSeveral([...taken], owner);
        if (yields === undefined) throw full(most);
        taken.delete(yields);
        yields.giveWay();
      }
      const place: Taken = { owner, waitsSince: undefined, giveWay: () => {} };
      taken.add(place);
      return {
        waits: () => {
          place.waitsSince = now();
        },
        isRead: () => {
          place.waitsSince = undefined;
        },
        onGivingWay: (end) => {
          place.giveWay = end;
        },
        release: () => void taken.delete(place),
      };
    },
  };
}

function longestUnread(taken: readonly Taken[], before: number): Taken | undefined {
  return taken
    .filter(({ waitsSince }) => waitsSince !== undefined && waitsSince <= before)
    .sort((one, other) => (one.waitsSince ?? 0) - (other.waitsSince ?? 0))[0];
}

/** The newest of somebody who has several. */
function oneOfSeveral(taken: readonly Taken[], owner: string): Taken | undefined {
  if (taken.some((place) => place.owner === owner)) return undefined;
  return taken.findLast((place) => taken.some((other) => other !== place && other.owner === place.owner));
}

function full(most: number): UamError {
  const sentence = `${most === 1 ? "An export is" : `${most} exports are`} already running; try again when one is done`;
  return new UamError("limited", sentence, { retryAfter: RETRY_AFTER, reason: "service.busy" });
}
