/** Asks before a dialog is closed that would lose more than a word that is quickly typed again. */

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { common } from "../texts/common.ts";
import { Button } from "./button.tsx";

type TypedField = HTMLInputElement | HTMLTextAreaElement;

/** Fields with short answers; two of them are not typed again gladly. */
const FIELDS_TO_LOSE = 2;

interface UnsavedTyping {
  /** Hears what is typed below an element. */
  readonly onInput: (event: Event) => void;
  /** The question, in place of the buttons, while it is asked. */
  readonly question: ComponentChildren;
  /** Whether closing has to wait: a longer text or several fields hold something typed, and it asks. Closing while it asks is a no. */
  readonly holds: () => boolean;
}

/** `onDiscard` closes, whatever is lost. */
export function useUnsaved(onDiscard: () => void): UnsavedTyping {
  const typed = useRef(new Set<TypedField>());
  const [isAsking, setAsking] = useState(false);
  const isLost = (): boolean => {
    const fields = [...typed.current].filter((field) => field.isConnected && field.value.trim() !== "");
    return fields.length >= FIELDS_TO_LOSE || fields.some((field) => field instanceof HTMLTextAreaElement);
  };
  return {
    onInput: ({ target }) => {
      if (target instanceof HTMLTextAreaElement || (target instanceof HTMLInputElement && isText(target)))
        typed.current.add(target);
    },
    question: isAsking ? <Question onDiscard={onDiscard} onGoOn={() => setAsking(false)} /> : undefined,
    holds: () => {
      const holds = isAsking || isLost();
      setAsking(!isAsking && holds);
      return holds;
    },
  };
}

/** Choices are made again at once, and passwords are nothing to keep. */
function isText({ type }: HTMLInputElement): boolean {
  return !["checkbox", "radio", "file", "password"].includes(type);
}

interface QuestionProps {
  readonly onDiscard: () => void;
  readonly onGoOn: () => void;
}

/** It takes the focus, and gives it back where somebody goes on. */
function Question({ onDiscard, onGoOn }: QuestionProps) {
  const question = useRef<HTMLParagraphElement>(null);
  useLayoutEffect(() => {
    const before = document.activeElement;
    question.current?.querySelector("button")?.focus();
    return () => {
      const target = before?.isConnected
        ? before
        : question.current?.closest("dialog")?.querySelector("input, textarea");
      if (target instanceof HTMLElement) target.focus();
    };
  }, []);
  return (
    <p class="actions" role="alert" ref={question}>
      <strong>{common.unsaved.question}</strong>
      <Button onClick={onGoOn}>{common.unsaved.goOn}</Button>
      <Button kind="danger" onClick={onDiscard}>
        {common.unsaved.discard}
      </Button>
    </p>
  );
}
