/** That something is on its way: said only if it takes long enough to be noticed. */

import { useEffect, useState } from "preact/hooks";
import { common } from "../texts/common.ts";

const NOTICED = 300;
const LONG = 6000;

/** Shows nothing at first, then that it is loading, then that it takes longer than usual. */
export function Loading() {
  const [waited, setWaited] = useState(0);
  useEffect(() => {
    const timers = [NOTICED, LONG].map((delay) => setTimeout(() => setWaited(delay), delay));
    return () => timers.forEach(clearTimeout);
  }, []);
  return (
    <p class="loading" role="status" aria-busy="true">
      {waited === 0 ? "" : waited < LONG ? common.loading : common.stillLoading}
    </p>
  );
}
