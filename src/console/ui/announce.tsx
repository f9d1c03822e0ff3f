/** Says what happened to readers who cannot see it happen. */

import { useEffect, useState } from "preact/hooks";

const CHANNEL = new EventTarget();

/** Has a screen reader say the text when it is next silent. */
export function announce(text: string): void {
  CHANNEL.dispatchEvent(new CustomEvent("announce", { detail: text }));
}

/** The live region; once in the document, there before anything is said. */
export function Announcer() {
  const [text, setText] = useState("");
  useEffect(() => {
    const hear = (event: Event) => {
      // The same text twice is said twice only if the region changes.
      setText("");
      requestAnimationFrame(() => setText((event as CustomEvent<string>).detail));
    };
    CHANNEL.addEventListener("announce", hear);
    return () => CHANNEL.removeEventListener("announce", hear);
  }, []);
  return (
    <p class="hidden" role="status" aria-live="polite">
      {text}
    </p>
  );
}
