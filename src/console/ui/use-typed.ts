/** The text typed into a filter whose value is in the address. */

import { useEffect, useRef, useState } from "preact/hooks";

/** Milliseconds without a keystroke after which the service is asked. */
const PAUSE = 300;

/**
 * A text that is typed: shown at once, and told when typing pauses. What the address says meanwhile counts if it is another, but not over
 * what somebody typed since it was told.
 */
export function useTyped(told: string, tell: (value: string) => void) {
  const [value, setValue] = useState(told);
  const [known, setKnown] = useState(told);
  const latest = useRef(tell);
  latest.current = tell;
  const unanswered = useRef<string>();
  if (told !== known) {
    setKnown(told);
    // The back button, a link, or what came of what was told last.
    if (unanswered.current === undefined || unanswered.current === value) setValue(told);
    unanswered.current = undefined;
  }
  useEffect(() => {
    if (value === told) return;
    const timer = setTimeout(() => {
      unanswered.current = value;
      latest.current(value);
    }, PAUSE);
    return () => clearTimeout(timer);
  }, [value, told]);
  return { value, type: setValue };
}
