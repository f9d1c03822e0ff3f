/** Moments as people read them. */

import { moment, relative, useNow, zone } from "./clock.ts";

/** "in 3 days", with the date, time and zone on demand; `both` shows the date beside it, on a phone alone. */
export function Time({ at, both = false }: { readonly at: string; readonly both?: boolean }) {
  const present = useNow();
  const words = relative(new Date(at).getTime(), present);
  return (
    <time dateTime={at} title={`${moment(at)} (${zone()})`}>
      {both ? (
        <>
          {moment(at)} <span class="relative">({words})</span>
        </>
      ) : (
        words
      )}
    </time>
  );
}
