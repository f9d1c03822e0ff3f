/** How much waits for an administrator, as the header has it: a page that knows says so here. */

import { useEffect, useState } from "preact/hooks";

/** By the address of the page where it is shown. */
export type Waiting = Readonly<Record<string, { readonly total: number; readonly what: string }>>;

let known: Waiting = {};
const CHANGED = new EventTarget();

/** Has the header say it. */
export function tellWaiting(waiting: Waiting): void {
  known = waiting;
  CHANGED.dispatchEvent(new Event("change"));
}

/** What was told last. */
export function useWaiting(): Waiting {
  const [waiting, setWaiting] = useState(known);
  useEffect(() => {
    const hear = () => setWaiting(known);
    hear();
    CHANGED.addEventListener("change", hear);
    return () => CHANGED.removeEventListener("change", hear);
  }, []);
  return waiting;
}
