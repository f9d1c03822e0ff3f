/** Takes the place of a form once it is done with. */

import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

/** Takes the focus that went with the form, so that it is read out and tabbing goes on here. */
export function Outcome({ children }: { readonly children: ComponentChildren }) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => place.current?.focus(), []);
  return (
    <div ref={place} tabIndex={-1}>
      {children}
    </div>
  );
}
