/** The limits on texts about a person: the service checks them, and the console does before it sends a request. */

export const MAX_SUPERVISOR = 128;
export const MAX_PURPOSE = 1000;
/** The hours of the week that an applicant wishes for, in their words. */
export const MAX_HOURS_WISH = 200;
export const MAX_FULL_NAME = 128;
export const MAX_NOTE = 1000;
/** Why somebody is disabled, enabled, extended or deleted. */
export const MAX_REASON = 500;

/** The shape of an administrator's name. */
export const ADMIN_NAME = /^[a-z0-9]([a-z0-9._-]{0,62}[a-z0-9])?$/;

const LOCAL = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/;
const DOMAIN = /^[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$/;

/** True for one address, `local@domain` of RFC 5321 without quoting or literals, at most 254 characters. */
export function isEmail(text: string): boolean {
  const at = text.lastIndexOf("@");
  return at > 0 && at <= 64 && text.length <= 254 && LOCAL.test(text.slice(0, at)) && DOMAIN.test(text.slice(at + 1));
}
