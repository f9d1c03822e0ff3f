/** A token as it was typed, and what is wrong with it. */

import { MAX_TOKEN_DAYS, MAX_TOKEN_NAME } from "../../../../shared/product/token-limits.ts";

/** The days that the text says; undefined for what a token cannot have. */
export function tokenDays(text: string): number | undefined {
  const days = /^\d{1,3}$/.test(text.trim()) ? Number(text.trim()) : 0;
  return days >= 1 && days <= MAX_TOKEN_DAYS ? days : undefined;
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
