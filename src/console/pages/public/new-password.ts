/** The rules of a new password that the page can check itself. Only the service knows the name and the most common ones. */

import { PASSWORD_MAX, PASSWORD_MIN } from "../../../shared/product/password-length.ts";
import { lengthOf } from "../../../shared/text/text.ts";
import { reset } from "../../texts/password-reset.ts";

/** The fault of a new password, as a sentence; undefined if the page sees none. */
export function passwordFault(typed: string): string | undefined {
  const length = lengthOf(typed.normalize("NFC"));
  if (length === 0) return reset.missing;
  if (length < PASSWORD_MIN) return reset.short(length, PASSWORD_MIN);
  return length > PASSWORD_MAX ? reset.long(length, PASSWORD_MAX) : undefined;
}
