/** The heading of a list that is chosen by its address: how much was found. */

import { useEffect, useRef } from "preact/hooks";
import { announce } from "../../../ui/announce.tsx";
import { ListHead } from "../list-head.tsx";

interface FoundHeadProps {
  /** What was asked for. */
  readonly address: string;
  /** Whether the text is not yet about that address. */
  readonly isOlder: boolean;
  readonly children: string;
}

/** The text as a heading, which has the focus once another address is asked for, and is said when it is about that one. */
export function FoundHead({ address, isOlder, children: text }: FoundHeadProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  const shown = useRef(address);
  useEffect(() => {
    // Another part of the list begins at its top, for the eye and for the keyboard.
    if (shown.current !== address) heading.current?.focus();
    shown.current = address;
  }, [address]);
  const said = useRef(address);
  useEffect(() => {
    if (isOlder || said.current === address) return;
    said.current = address;
    announce(text);
  }, [text, isOlder, address]);
  return (
    <ListHead>
      <h2 ref={heading} tabIndex={-1}>
        {text}
      </h2>
    </ListHead>
  );
}
