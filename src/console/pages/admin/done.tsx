/** Says what was done, and takes the focus: the button that was pressed may be gone. */

import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Notice } from "../../ui/notice.tsx";

interface DoneProps {
  /** Nothing is shown while it is undefined; another value takes the focus again. */
  readonly what: { readonly content: ComponentChildren; readonly kind?: "good" | "warn" } | undefined;
}

/** For `Done`: what was done on a page, once it is told. */
export function useDone() {
  const [what, setWhat] = useState<DoneProps["what"]>();
  return {
    what,
    /** With `below` under the sentence, such as the way back. */
    tell: (sentence: string, below?: ComponentChildren, kind: "good" | "warn" = "good") =>
      setWhat({
        content: (
          <>
            <p>{sentence}</p>
            {below}
          </>
        ),
        kind,
      }),
    show: (content: ComponentChildren) => setWhat({ content }),
    clear: () => setWhat(undefined),
  };
}

export function Done({ what }: DoneProps) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (what !== undefined) place.current?.focus();
  }, [what]);
  if (what === undefined) return null;
  return (
    <div ref={place} tabIndex={-1}>
      <Notice kind={what.kind ?? "good"}>{what.content}</Notice>
    </div>
  );
}
