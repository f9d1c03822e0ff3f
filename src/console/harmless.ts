/** Text from the service, some of which others wrote: agents, receivers, providers of single sign-on, whose words it does not choose. */

import { replaceReordering } from "../shared/text/text.ts";

/** More marks on one letter than any language writes (UAX #15, stream-safe text): they are one shape, which nothing can break. */
const STACKED = /(\p{M}{30})\p{M}+/gu;

/**
 * The text with a sign in place of each character that reorders others, and no more than 30 marks on a letter. The end of an isolate
 * would also end the one that an element or a style makes around the text, and what follows it would be reordered.
 */
export function harmless(text: string): string {
  return replaceReordering(text).replace(STACKED, "$1");
}

/** The same for every text of an answer in JSON; undefined if it is none. */
export function harmlessJson(text: string): unknown {
  try {
    return JSON.parse(text, (_, value: unknown) => (typeof value === "string" ? harmless(value) : value));
  } catch {
    return undefined;
  }
}
