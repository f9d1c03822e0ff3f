/** A token as it was typed, and what is wrong with it. */

import { MAX_TOKEN_DAYS, MAX_TOKEN_NAME } from "../../../../shared/product/token-limits.ts";
import { wholeNumber } from "../../../typed-text.ts";

/** The days that the text says; undefined for what a token cannot have. */
export function tokenDays(text: string): number | undefined {
  return wholeNumber(text, MAX_TOKEN_DAYS);
}

/** Whether the text can be a token's name, as far as it can be told here. */
export function isTokenName(text: string): boolean {
  const { length } = [...text.trim()];
  return length >= 1 && length <= MAX_TOKEN_NAME;
}

/** The networks of a text that has one a line, or with commas or spaces between them; the service checks them. */
export function networksIn(text: string): string[] {
  return text.split(/[\s,;]+/).filter((part) => part !== "");
}
