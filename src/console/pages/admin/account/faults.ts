/** Faults of a change of one's own password, as far as the page can see them. Only the service knows the most common passwords. */

import { PASSWORD_MAX, PASSWORD_MIN } from "../../../../shared/product/password-length.ts";
import { lengthOf } from "../../../../shared/text/text.ts";
import type { accountTexts } from "../../../texts/admin/account.ts";

export interface PasswordFaults {
  readonly present?: string;
  readonly next?: string;
}

interface Typed {
  readonly username: string;
  readonly present: string;
  readonly next: string;
}

/** The faults in sentences; none if the service may be asked. */
export function passwordFaults(typed: Typed, texts: typeof accountTexts.password): PasswordFaults {
  const next = nextFault(typed, texts);
  return {
    ...(typed.present === "" ? { present: texts.missingPresent } : {}),
    ...(next === undefined ? {} : { next }),
  };
}

function nextFault({ username, present, next }: Typed, texts: typeof accountTexts.password): string | undefined {
  const password = next.normalize("NFC");
  const length = lengthOf(password);
  if (length === 0) return texts.missing;
  if (length < PASSWORD_MIN) return texts.short(length, PASSWORD_MIN);
  if (length > PASSWORD_MAX) return texts.long(length, PASSWORD_MAX);
  if (password.toLowerCase().includes(username.toLowerCase())) return texts.withName;
  return password === present.normalize("NFC") ? texts.same : undefined;
}
