/** Whether closing a dialog would lose more than a word that is quickly typed again. */

import { useRef } from "preact/hooks";

type TypedField = HTMLInputElement | HTMLTextAreaElement;

/** Fields with short answers; two of them are not typed again gladly. */
const FIELDS_TO_LOSE = 2;

/** `onInput` hears what is typed below an element; `isLost` says whether a longer text or several fields hold something typed. */
export function useUnsaved() {
  const typed = useRef(new Set<TypedField>());
  return {
    onInput: ({ target }: Event): void => {
      if (target instanceof HTMLTextAreaElement || (target instanceof HTMLInputElement && isText(target)))
        typed.current.add(target);
    },
    isLost: (): boolean => {
      const fields = [...typed.current].filter((field) => field.isConnected && field.value.trim() !== "");
      return fields.length >= FIELDS_TO_LOSE || fields.some((field) => field instanceof HTMLTextAreaElement);
    },
  };
}

/** Choices are made again at once, and passwords are nothing to keep. */
function isText({ type }: HTMLInputElement): boolean {
  return !["checkbox", "radio", "file", "password"].includes(type);
}
