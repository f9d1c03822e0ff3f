/** Text in a list that is cut where it does not fit, and whole for whoever points at it, goes to it with Tab, or taps on it. */

import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

interface CutProps {
  readonly text: string;
  /** What it is, where there is no room for the row of names. */
  readonly name?: string;
}

/** One line of a text that somebody typed. */
export function Cut(props: CutProps) {
  return <Cuttable kind="cut" {...props} />;
}

/** Ends of the parts of an address. Other letters could run the other way round, and are not taken apart. */
const PARTS = /(?<=^[!-~]*[@._-])(?=[!-~]+$)/;

/** An e-mail address: it breaks after @ . - and _ only. */
export function Address({ text }: { readonly text: string }) {
  return (
    <Cuttable kind="cut address" text={text}>
      {inParts(text)}
    </Cuttable>
  );
}

/** An address or a host's name, which breaks after @ . - and _ rather than elsewhere. */
export function inParts(text: string): ComponentChildren {
  return text.split(PARTS).flatMap((part, index) => (index === 0 ? part : [<wbr key={index} />, part]));
}

interface CuttableProps extends CutProps {
  readonly kind: string;
  /** How the text is shown, if not as it is. */
  readonly children?: ComponentChildren;
}

function Cuttable({ kind, text, name, children = text }: CuttableProps) {
  const place = useRef<HTMLElement>(null);
  const [isCut, setCut] = useState(false);
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const observer = new ResizeObserver(() => {
      // While it is shown whole, it still is one that does not fit.
      if (!element.matches(":hover, :focus")) setCut(element.scrollWidth > element.clientWidth);
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, [text]);
  return (
    // What fits is no stop on the way with Tab.
    <bdi ref={place} class={kind} data-name={name} tabIndex={isCut ? 0 : undefined}>
      <span>{children}</span>
    </bdi>
  );
}
