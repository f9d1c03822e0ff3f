/** The text typed into a filter whose value is in the address. */

import { useEffect, useRef, useState } from "preact/hooks";

/** Milliseconds without a keystroke after which the service is asked. */
const PAUSE = 300;

/** A text that is typed: shown at once, and told when typing pauses. What the address says meanwhile counts if it is another. */
export function useTyped(told: string, tell: (value: string) => void) {
  const [value, setValue] = useState(told);
  const [known, setKnown] = useState(told);
  const latest = useRef(tell);
  latest.current = tell;
  if (told !== known) {
    setKnown(told);
    // The back button, or a link: not what was just typed and told.
    if (told !== value) setValue(told);
  }
  useEffect(() => {
    if (value === told) return;
    const timer = setTimeout(() => latest.current(value), PAUSE);
    return () => clearTimeout(timer);
  }, [value, told]);
  return { value, type: setValue };
}
