/** The characters allowed in texts that people type. Never used for passwords, which are taken as they are. */

import { UamError } from "../errors.ts";

/** Control characters, and the separators that break a line like one. */
const CONTROL = /[\p{Cc}\p{Zl}\p{Zp}]/u;
const CONTROLS = new RegExp(CONTROL, "gu");
/** Embeddings, overrides and isolates (UAX #9): they show a text in another order than that of its characters. */
const REORDERING = /[\u202A-\u202E\u2066-\u2069]/u;
const REORDERINGS = new RegExp(REORDERING, "gu");
/** Characters that a terminal may obey or not show: control and formatting characters, line breaks, lone surrogates. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;
const UNPRINTABLES = new RegExp(UNPRINTABLE, "gu");
/** Blank: spaces, characters that are not drawn, and the braille pattern without dots. */
const INVISIBLE = /[\p{White_Space}\p{Default_Ignorable_Code_Point}\p{Cf}\u2800]/gu;

/**
 * The text trimmed and in NFC; `""` for white space only. Throws `invalid`, naming the field, for control characters, line
 * breaks, characters that reorder others, texts that show nothing, and more than `maximum` code points.
 */
export function parseText(field: string, text: string, maximum: number): string {
  if (!text.isWellFormed()) throw new UamError("invalid", `The ${field} is not valid Unicode text`);
  const trimmed = text.trim();
  if (isLonger(trimmed, maximum)) throw tooLong(field, maximum);
  const parsed = trimmed.normalize("NFC").trim();
  if (parsed === "") return parsed;
  if (hasControlCharacters(parsed)) {
    throw new UamError("invalid", `The ${field} must not contain control characters or line breaks`);
  }
  if (changesDirection(parsed)) {
    throw new UamError("invalid", `The ${field} must not contain characters that change the direction of writing`);
  }
  if (parsed.replace(INVISIBLE, "") === "") {
    throw new UamError("invalid", `The ${field} must contain at least one visible character`);
  }
  if (lengthOf(parsed) > maximum) throw tooLong(field, maximum);
  return parsed;
}

function tooLong(field: string, maximum: number): UamError {
  return new UamError("invalid", `The ${field} is longer than ${maximum} characters`);
}

/** The same for a text that must be there: throws `invalid` for an empty one too. */
export function requireText(field: string, text: string, maximum: number): string {
  const parsed = parseText(field, text, maximum);
  if (parsed === "") throw new UamError("invalid", `The ${field} must not be empty`);
  return parsed;
}

/** Whether the text holds a control character or breaks its line. */
export function hasControlCharacters(text: string): boolean {
  return CONTROL.test(text);
}

/** Whether the text holds characters that make it appear in another order. */
export function changesDirection(text: string): boolean {
  return REORDERING.test(text);
}

/** The text with a sign, U+FFFD, in place of each character that shows others in another order. */
export function replaceReordering(text: string): string {
  return text.replace(REORDERINGS, "\uFFFD");
}

/** The text with a space for each control character and line break. */
export function blankControlCharacters(text: string): string {
  return text.replace(CONTROLS, " ");
}

/** Whether a terminal shows each character of the text. */
export function isPrintable(text: string): boolean {
  return !UNPRINTABLE.test(text);
}

/** The text with something in place of each character that a terminal may obey or not show. */
export function replaceUnprintable(text: string, replacement: (character: string) => string): string {
  return text.replace(UNPRINTABLES, replacement);
}

/** Characters that a terminal obeys; line ends and tabs only move on. */
const OBEYED = /[^\P{Cc}\t\n]|[\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Lines of text in which each character that a terminal may obey is a visible escape, such as `\x1b`. */
export function harmlessLines(text: string): string {
  return text.replace(OBEYED, visibleEscape);
}

/** The character as an escape that people can read. */
export function visibleEscape(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x100) return `\\x${code.toString(16).padStart(2, "0")}`;
  return code < 0x10000 ? `\\u${code.toString(16).padStart(4, "0")}` : `\\u{${code.toString(16)}}`;
}

/**
 * The value as JSON. Escapes every character that a terminal may obey or not show, or that some programs take for a line's end.
 */
export function printableJson(value: unknown, space?: number): string {
  return replaceUnprintable(JSON.stringify(value, undefined, space), (character) =>
    character === "\n" ? character : jsonEscape(character),
  );
}

function jsonEscape(character: string): string {
  return character
    .split("")
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .join("");
}

/** A character of two units of UTF-16 in NFC was up to four of them before (Unicode Standard Annex #15, section 9). */
const MOST_UNITS = 8;

/**
 * Whether the text is certainly longer than that many code points in NFC. Check it before normalising: marks that are out of order take time in the
 * square of their number.
 */
export function isLonger(text: string, maximum: number): boolean {
  return text.length > MOST_UNITS * maximum;
}

/** Roughly how many characters a person would count: Unicode code points. */
export function lengthOf(text: string): number {
  return [...text].length;
}
