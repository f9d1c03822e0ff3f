/** The text typed into a filter whose value is in the address. */

import { useEffect, useRef, useState } from "preact/hooks";

/** Milliseconds without a keystroke after which the service is asked. */
const PAUSE = 300;

/**
 * A text that is typed: shown at once, and told when typing pauses. What the address says meanwhile counts if it is another, but what came
 * of a text that was told is not put over what somebody typed since.
 */
export function useTyped(told: string, tell: (value: string) => void) {
  const [value, setValue] = useState(told);
  const [known, setKnown] = useState(told);
  const latest = useRef(tell);
  latest.current = tell;
  /** What was told and may still come back, in any case: a name comes back as it is written. */
  const unanswered = useRef(new Set<string>());
  if (told !== known) {
    setKnown(told);
    const isLate = unanswered.current.delete(told.toLowerCase()) && told.toLowerCase() !== value.toLowerCase();
    // The back button, a link, or what came of what was told last.
    if (!isLate) {
      setValue(told);
      unanswered.current.clear();
    }
  }
  useEffect(() => {
    if (value === told) {
      unanswered.current.clear();
      return;
    }
    const timer = setTimeout(() => {
      unanswered.current.add(value.toLowerCase());
      latest.current(value);
    }, PAUSE);
    return () => clearTimeout(timer);
  }, [value, told]);
  return { value, type: setValue };
}
