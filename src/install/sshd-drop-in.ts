/** sshd's configuration for the accounts of this service. */

import { PROFILE_PATHS, sshdFileIn } from "../host/profiles/names.ts";
import { renderUnprofiled } from "../host/profiles/sshd-blocks.ts";
import { ACCOUNT_PREFIX, hostAccountOf } from "../shared/text/account-name.ts";
import { type Expectation, type PlaceFile, ROOT_FILE } from "./plan.ts";
import { REVOKED_KEYS_FILE, SSHD_DROP_IN } from "./settings.ts";

const PROBE = `user=${hostAccountOf("probe")},host=localhost,addr=127.0.0.1,laddr=127.0.0.1,lport=22`;

/** Asks sshd for the settings of an account of this service; it need not exist. */
export const ASK_SSHD = ["/usr/sbin/sshd", "-T", "-C", PROBE] as const;

/** The remedy where sshd does not apply the drop-in. */
export const INCLUDE = `put "Include /etc/ssh/sshd_config.d/*.conf" first in /etc/ssh/sshd_config: what stands before it wins`;

/** The initial file of revoked keys, which lists none. */
export const REVOKED_KEYS = `# Public keys that sshd refuses for accounts of external users, one per line, as ssh-keygen prints them.
# For administrators; uam itself never changes this file. Do not remove it: sshd would refuse every key.
`;

/** Creates that file before anything refers to it; an existing one is the administrator's and stays. */
export function revokedKeysStep(): PlaceFile {
  return { ...ROOT_FILE, kind: "file", path: REVOKED_KEYS_FILE, content: REVOKED_KEYS, keep: true };
}

/**
 * The text of the drop-in for the given `UAM_AUTHORIZED_KEYS_FILE`. Without the file of revoked keys sshd refuses every key. What profiles allow
 * stands in a file that the service itself replaces: whose profile is in none of it is let in nowhere.
 */
export function renderSshdDropIn(authorizedKeysFile: string, revokedKeysFile = REVOKED_KEYS_FILE): string {
  return `# Written by "uam install": accounts of external users. Nobody else is affected.
# What the accounts of each profile may do; the first value of a setting counts. For nobody else sshd looks through groups.
Match User ${ACCOUNT_PREFIX}*
    Include ${sshdFileIn(PROFILE_PATHS.directory)}
# Who has a profile that is not in there is let in nowhere.
${renderUnprofiled()}Match User ${ACCOUNT_PREFIX}*
    # One file only: by default sshd reads .ssh/authorized_keys2 too, where a user can keep a revoked key.
    AuthorizedKeysFile ${authorizedKeysFile}
    # No other way to let a key in.
    AuthorizedKeysCommand none
    TrustedUserCAKeys none
    PubkeyAuthentication yes
    AuthenticationMethods publickey
    # ~/.ssh/rc would run before anything that could refuse.
    PermitUserRC no
    # Root on another host could use a forwarded agent.
    AllowAgentForwarding no
    PermitTunnel no
    # A second safeguard, independent of uam: public keys listed there, one per line, are refused wherever else they are.
    # Never remove the file, and replace it by renaming another over it: without it sshd refuses every key.
    RevokedKeys ${revokedKeysFile}
`;
}

/** Places the drop-in; it is taken back unless sshd accepts it and, asked about an account, applies it. */
export function sshdDropInStep(authorizedKeysFile: string, revokedKeysFile = REVOKED_KEYS_FILE): PlaceFile {
  return {
    ...ROOT_FILE,
    kind: "file",
    path: SSHD_DROP_IN,
    content: renderSshdDropIn(authorizedKeysFile, revokedKeysFile),
    keep: false,
    check: {
      kind: "placed",
      argv: ASK_SSHD,
      expect: [
        {
          setting: "AuthorizedKeysFile",
          value: authorizedKeysFile,
          remedy: `sshd does not read ${SSHD_DROP_IN}: ${INCLUDE}`,
        },
        ...(revokedKeysFile === REVOKED_KEYS_FILE ? [] : [leaseExpectation(revokedKeysFile)]),
      ],
    },
  };
}

/** On an agent's host the lease depends on it. */
function leaseExpectation(link: string): Expectation {
  return {
    setting: "RevokedKeys",
    value: link,
    remedy: `sshd does not read ${link} as the revoked keys of ${ACCOUNT_PREFIX}*: remove the RevokedKeys for them that comes before ${SSHD_DROP_IN}`,
  };
}
