/** What of a new password's rules the page can check itself. The name and the most common ones are the service's to know. */

import { PASSWORD_MAX, PASSWORD_MIN } from "../../../shared/product/password-length.ts";
import { lengthOf } from "../../../shared/text/text.ts";
import { publicTexts } from "../../texts/public.ts";

/** What is wrong with a new password, as a sentence; undefined if nothing is that the page can see. */
export function passwordFault(typed: string): string | undefined {
  const { reset } = publicTexts;
  const length = lengthOf(typed.normalize("NFC"));
  if (length === 0) return reset.missing;
  if (length < PASSWORD_MIN) return reset.short(length, PASSWORD_MIN);
  return length > PASSWORD_MAX ? reset.long(length, PASSWORD_MAX) : undefined;
}
