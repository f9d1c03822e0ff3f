/** How host accounts are named. */

/** The prefix of every host account that the service creates; clients need not send it. */
export const ACCOUNT_PREFIX = "ext_";

/** A username as a part of a regular expression; with the prefix it fits the 32 characters that useradd(8) allows. */
export const USERNAME_PATTERN = "[a-z0-9]([a-z0-9_-]{0,26}[a-z0-9])?";

/** The shape of a username; see `parseUsername` for the one further rule. */
export const USERNAME = new RegExp(`^${USERNAME_PATTERN}$`);

/** The host account of a username. */
export function hostAccountOf(username: string): string {
  return ACCOUNT_PREFIX + username;
}

/** The username of a name that may be the host account's: no username begins with the prefix. */
export function withoutPrefix(name: string): string {
  return name.startsWith(ACCOUNT_PREFIX) ? name.slice(ACCOUNT_PREFIX.length) : name;
}
