/** A key's display name: the service's rules for it, and a proposal. */

import { UamError } from "../../shared/errors.ts";
import { changesDirection, hasControlCharacters, requireText } from "../../shared/text/text.ts";

/** The longest name, in characters. */
export const MAX_NAME = 64;

/** The fault of a key's name, in the service's words; undefined if there is none. */
export function nameFaultOf(name: string): string | undefined {
  try {
    requireText("key's name", name, MAX_NAME);
    return undefined;
  } catch (error) {
    if (error instanceof UamError) return `${error.message}.`;
    throw error;
  }
}

/** A name for the key, from its comment: what of it the service takes as a name; "" if nothing. */
export function nameFromComment(comment: string): string {
  const plain = [...comment.normalize("NFC")].filter(
    (letter) => !hasControlCharacters(letter) && !changesDirection(letter) && letter.isWellFormed(),
  );
  const name = plain.slice(0, MAX_NAME).join("").trim();
  return nameFaultOf(name) === undefined ? name : "";
}
