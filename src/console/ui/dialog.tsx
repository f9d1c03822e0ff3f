/** A question that has to be answered before anything else. */

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { useUniqueId } from "../unique-id.ts";

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  /** Hears what is typed in it. */
  readonly onInput?: (event: Event) => void;
  readonly children: ComponentChildren;
}

/**
 * A modal dialog; it is open as long as it is rendered. Escape closes it, the focus stays inside, and goes back to where it was: the
 * browser's own <dialog> does all of it.
 */
export function Dialog({ title, onClose, onInput, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useUniqueId();
  // At once: what is typed next is meant for the dialog.
  useLayoutEffect(() => {
    const element = dialog.current;
    const before = document.activeElement;
    element?.showModal();
    return () => {
      element?.close();
      // The button that opened it may be gone, or a key did it; then the page's heading is the next best place.
      const isThere = before instanceof HTMLElement && before.isConnected && before !== document.body;
      const target = isThere ? before : document.querySelector("h1");
      if (target instanceof HTMLElement) target.focus();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      aria-labelledby={id}
      onInput={onInput}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      <h2 id={id}>{title}</h2>
      {children}
    </dialog>
  );
}
