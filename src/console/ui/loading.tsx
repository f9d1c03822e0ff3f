/** That something is on its way: shown only if it takes long enough to be noticed, and said once however much there is. */

import { useEffect, useState } from "preact/hooks";
import { common } from "../texts/common.ts";
import { announce } from "./announce.tsx";

const NOTICED = 300;
const LONG = 6000;

/** How many places of the page are seen to wait. */
let seen = 0;

/** Shows nothing at first, then the outline of what is to come, then that it takes longer than usual. */
export function Loading() {
  const [waited, setWaited] = useState(0);
  useEffect(() => {
    const timers = [NOTICED, LONG].map((delay) => setTimeout(() => setWaited(delay), delay));
    return () => timers.forEach(clearTimeout);
  }, []);
  const isSeen = waited > 0;
  useEffect(() => {
    if (!isSeen) return;
    if (seen === 0) announce(common.loading);
    seen++;
    return () => void seen--;
  }, [isSeen]);
  return (
    <div class="loading" aria-busy="true">
      {isSeen ? (
        <div class="skeleton" aria-hidden="true">
          <span />
          <span />
          <span />
        </div>
      ) : null}
      {waited === LONG ? <p role="status">{common.stillLoading}</p> : null}
    </div>
  );
}
