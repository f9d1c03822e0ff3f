/** The rules for usernames, e-mail addresses and the free texts about a user. */

import { UamError } from "../../shared/errors.ts";
import { ACCOUNT_PREFIX, USERNAME, withoutPrefix } from "../../shared/text/account-name.ts";
import { isEmail } from "../../shared/text/person.ts";
import { requireText } from "../../shared/text/text.ts";

export { isEmail, MAX_FULL_NAME, MAX_NOTE, MAX_PURPOSE, MAX_REASON, MAX_SUPERVISOR } from "../../shared/text/person.ts";
export { parseText } from "../../shared/text/text.ts";

/** Longest name that can be typed to log in; no existing name is longer. */
const MAX_TYPED_NAME = 128;

/**
 * Returns `text` if it may be a username: at most 28 characters, so that the account's name fits the 32 that useradd(8)
 * allows. Throws `invalid` otherwise. This is the only guard: Debian's useradd accepts far stranger names.
 */
export function parseUsername(text: string): string {
  if (text.startsWith(ACCOUNT_PREFIX)) {
    throw new UamError("invalid", `The username must be given without the prefix ${ACCOUNT_PREFIX}`);
  }
  if (!USERNAME.test(text)) {
    throw new UamError(
      "invalid",
      "The username must be 1 to 28 characters of a-z, 0-9, _ and -, and must begin and end with a letter or digit",
    );
  }
  return text;
}

/**
 * The name that a user typed to log in, trimmed, in NFC and without the prefix (`alice` for `ext_alice`). Does not check
 * that a user of that name exists. Throws `invalid` for a text that cannot be a name.
 */
export function parseTypedName(typed: string): string {
  return requireText("username", withoutPrefix(parseTypedAdminName(typed)), MAX_TYPED_NAME);
}

/** The same for an administrator, whose name has no prefix. */
export function parseTypedAdminName(typed: string): string {
  return requireText("username", typed, MAX_TYPED_NAME);
}

/** Returns the trimmed text if it is one e-mail address, else throws `invalid`. */
export function parseEmail(typed: string): string {
  const text = typed.trim();
  if (!isEmail(text)) {
    throw new UamError("invalid", "The e-mail must be one address such as name@example.org, of at most 254 characters");
  }
  return text;
}
