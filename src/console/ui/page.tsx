/** A page: its title, where the focus goes when it opens, and its content. */

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { common } from "../texts/common.ts";

interface PageProps {
  readonly title: string;
  /** Beside the heading: what can be done here. */
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** False until the first page is shown: there the browser itself puts the focus. */
let opened = false;

/** Shows a page. When it opens after another one, its heading gets the focus, so that it is read out and tabbing starts there. */
export function Page({ title, actions, children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  // Before anybody can press a key: later, the focus would be taken from where they went meanwhile.
  useLayoutEffect(() => {
    document.title = `${title} · ${common.product}`;
  }, [title]);
  useLayoutEffect(() => {
    if (opened) {
      scrollTo(0, 0);
      heading.current?.focus({ preventScroll: true });
    }
    opened = true;
  }, []);
  return (
    <>
      <header class="page-head">
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {actions === undefined ? null : <div class="actions">{actions}</div>}
      </header>
      {children}
    </>
  );
}

/** A part of a page with a heading of its own. */
export function Section({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  return (
    <section class="card">
      <h2>{title}</h2>
      {children}
    </section>
  );
}
