/** What may be a username, an e-mail address and the free texts about a user. */

import { UamError } from "../../shared/errors.ts";

/** What a username looks like; see parseUsername for the one further rule. */
export const USERNAME = /^[a-z0-9]([a-z0-9_-]{0,26}[a-z0-9])?$/;

/** The prefix of every host account that the service makes; clients never send it. */
export const ACCOUNT_PREFIX = "ext_";

/**
 * Returns `text` if it may be a username: at most 28 characters, so that the account's name fits the 32 that useradd(8)
 * allows. Throws `invalid` otherwise. This is the only guard: Debian's useradd takes far stranger names.
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

/** The host account of a username. */
export function hostAccountOf(username: string): string {
  return ACCOUNT_PREFIX + username;
}

const LOCAL = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/;
const DOMAIN = /^[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$/;

/** True for one address, `local@domain` of RFC 5321 without quoting or literals, at most 254 characters. */
export function isEmail(text: string): boolean {
  const at = text.lastIndexOf("@");
  return at > 0 && at <= 64 && text.length <= 254 && LOCAL.test(text.slice(0, at)) && DOMAIN.test(text.slice(at + 1));
}

/** Returns `text` if it is one e-mail address, else throws `invalid`. */
export function parseEmail(text: string): string {
  if (!isEmail(text)) {
    throw new UamError("invalid", "The e-mail must be one address such as name@example.org, of at most 254 characters");
  }
  return text;
}

export const MAX_SUPERVISOR = 128;
export const MAX_PURPOSE = 1000;

/** Returns `text` if it has at most `maximum` characters and no control characters, else throws `invalid`. */
export function parseText(field: string, text: string, maximum: number): string {
  if (/[\p{Cc}\u2028\u2029]/u.test(text) || !text.isWellFormed()) {
    throw new UamError("invalid", `The ${field} must not contain control characters or line breaks`);
  }
  if ([...text].length > maximum) throw new UamError("invalid", `The ${field} is longer than ${maximum} characters`);
  return text;
}
