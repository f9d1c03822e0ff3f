/** Moments as people read them. */

import { endMoment, moment, relative, useNow, zone } from "./clock.ts";

interface TimeProps {
  readonly at: string;
  /** Shows the date beside it, on a phone alone. */
  readonly both?: boolean;
  /** Of an end of access the same: see `endMoment`. */
  readonly isEnd?: boolean;
}

/** "in 3 days", with the date, time and zone on demand. */
export function Time({ at, both = false, isEnd = false }: TimeProps) {
  const present = useNow();
  const words = relative(new Date(at).getTime(), present);
  return (
    <time dateTime={at} title={`${moment(at)} (${zone()})`}>
      {both || isEnd ? (
        <>
          {(isEnd ? endMoment : moment)(at)} <span class="relative">({words})</span>
        </>
      ) : (
        words
      )}
    </time>
  );
}
