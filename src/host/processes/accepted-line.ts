/** The line that sshd writes when it lets somebody in. */

import { isIP } from "node:net";
import { hostAccountOf, USERNAME_PATTERN } from "../../shared/text/account-name.ts";

/** The content of such a line. */
export interface Accepted {
  readonly account: string;
  /** The client's address; "" where the line has something else in its place. */
  readonly from: string;
  /** `SHA256:…`. */
  readonly fingerprint: string;
}

/** The whole line, so that none which only quotes one passes for it (auth.c, `auth_log`). Other accounts are not ours. */
const ACCEPTED = new RegExp(
  `^Accepted publickey for (?<account>${hostAccountOf(USERNAME_PATTERN)}) from (?<address>\\S+) port \\d+ ssh2: [A-Z0-9-]+ (?<fingerprint>SHA256:[A-Za-z0-9+/]{43})$`,
);

/** Parses the line; undefined for any other line. Pure. */
export function parseAccepted(message: string): Accepted | undefined {
  const { account, address = "", fingerprint } = ACCEPTED.exec(message)?.groups ?? {};
  if (account === undefined || fingerprint === undefined) return undefined;
  return { account, from: isIP(address) === 0 ? "" : address, fingerprint };
}
