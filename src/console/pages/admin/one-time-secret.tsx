/** Shows a new secret, or a line to run, once. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { announce } from "../../ui/announce.tsx";

/** It stays by itself until it is put away, so that nothing else that is done takes it away before it is stored. */
export interface OneTimeSecret {
  /** For `Done`. */
  readonly what: { readonly content: ComponentChildren } | undefined;
  show(content: ComponentChildren): void;
  /** Puts it away, says so, and gives the focus to the page. */
  hide(): void;
}

/** `closed` is said once it is put away. */
export function useOneTimeSecret(closed: string): OneTimeSecret {
  const [what, setWhat] = useState<OneTimeSecret["what"]>();
  return {
    what,
    show: (content) => setWhat({ content }),
    hide: () => {
      setWhat(undefined);
      announce(closed);
      document.querySelector("h1")?.focus();
    },
  };
}
