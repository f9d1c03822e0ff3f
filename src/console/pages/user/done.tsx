/** That something was done, where what did it is gone from the page. */

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { Notice } from "../../ui/notice.tsx";

/** A good notice that takes the focus, which would be lost otherwise. */
export function Done({ children }: { readonly children: ComponentChildren }) {
  const place = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => place.current?.focus(), []);
  return (
    <div ref={place} tabIndex={-1}>
      <Notice kind="good">
        <p>{children}</p>
      </Notice>
    </div>
  );
}
