/** Texts that somebody types, by the rules of the service: one line, of at most so many characters, all of which can be seen. */

import { blankControlCharacters, changesDirection, lengthOf, parseText } from "../shared/text/text.ts";
import { common } from "./texts/common.ts";

/** The text as it is sent: what is pasted has line breaks, which the service refuses. */
export function oneLine(text: string): string {
  return blankControlCharacters(text).replace(/ {2,}/g, " ").trim().normalize("NFC");
}

/** The number from 1 to `most`, of three digits at most, that the text says; undefined for anything else. */
export function wholeNumber(text: string, most: number): number | undefined {
  const number = /^\d{1,3}$/.test(text.trim()) ? Number(text.trim()) : 0;
  return number >= 1 && number <= most ? number : undefined;
}

/** The text of a field with several lines while it is typed: a line break becomes a space. */
export function withoutBreaks(text: string): string {
  return text.replace(/\s*\n\s*/g, " ");
}

/** What is wrong with a text of at most so many characters, as a sentence; undefined if the service would take it. */
export function textFault(text: string, most: number): string | undefined {
  const { typed } = common;
  if (lengthOf(text) > most) return typed.tooLong(most);
  if (changesDirection(text)) return typed.direction;
  try {
    parseText("text", text, most);
    return undefined;
  } catch {
    return typed.unreadable;
  }
}
