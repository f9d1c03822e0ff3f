/** Which dialog of a page is open, or what it is open about. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";

/** The props of a dialog that runs an action. */
export interface DialogProps {
  readonly onClose: () => void;
  /** Told what was done, in a sentence, and what to show below it. */
  readonly onDone: (sentence: string, below?: ComponentChildren) => void;
}

/** Nothing is open at first. Once something was done, the dialog closes, and `onDone` is told. */
export function useDialog<T>(onDone: DialogProps["onDone"]) {
  const [open, start] = useState<T>();
  const onClose = () => start(undefined);
  const props: DialogProps = {
    onClose,
    onDone: (sentence, below) => {
      onClose();
      onDone(sentence, below);
    },
  };
  return { open, start, props };
}
