/** What sshd is told about the accounts of this service. */

import { ACCOUNT_PREFIX, hostAccountOf } from "../shared/account-name.ts";
import { type PlaceFile, ROOT_FILE } from "./plan.ts";
import { REVOKED_KEYS_FILE, SSHD_DROP_IN } from "./settings.ts";

const PROBE = `user=${hostAccountOf("probe")},host=localhost,addr=127.0.0.1`;

/** Asks sshd what is in force for an account of this service; it need not exist. */
export const ASK_SSHD = ["/usr/sbin/sshd", "-T", "-C", PROBE] as const;

/** What the file of revoked keys begins as: it lists none. */
export const REVOKED_KEYS = `# Public keys that sshd refuses for accounts of external users, one a line, as ssh-keygen prints them.
# For an administrator; uam itself never changes this file. Do not remove it: sshd would refuse every key.
`;

/** Makes that file, before anything refers to it; one that is there is the administrator's. */
export function revokedKeysStep(): PlaceFile {
  return { ...ROOT_FILE, kind: "file", path: REVOKED_KEYS_FILE, content: REVOKED_KEYS, keep: true };
}

/** The text of the drop-in for the given `UAM_AUTHORIZED_KEYS_FILE`. Without the file of revoked keys sshd refuses every key. */
export function renderSshdDropIn(authorizedKeysFile: string, revokedKeysFile = REVOKED_KEYS_FILE): string {
  return `# Written by "uam install": accounts of external users. Nobody else is affected.
Match User ${ACCOUNT_PREFIX}*
    # One file only: by default sshd reads .ssh/authorized_keys2 too, where a user can keep a revoked key.
    AuthorizedKeysFile ${authorizedKeysFile}
    # And nothing else that could let a key in.
    AuthorizedKeysCommand none
    TrustedUserCAKeys none
    PubkeyAuthentication yes
    AuthenticationMethods publickey
    # ~/.ssh/rc would be run before anything that could refuse.
    PermitUserRC no
    # Whoever is root on another host could use a forwarded agent.
    AllowAgentForwarding no
    PermitTunnel no
    # A second switch, independent of uam: public keys listed there, one a line, are refused wherever else they are.
    # Never remove the file, and replace it by renaming another over it: without it sshd refuses every key.
    RevokedKeys ${revokedKeysFile}
`;
}

/** Places the drop-in; it is taken back unless sshd accepts it and, asked about an account, has it in force. */
export function sshdDropInStep(authorizedKeysFile: string): PlaceFile {
  return {
    ...ROOT_FILE,
    kind: "file",
    path: SSHD_DROP_IN,
    content: renderSshdDropIn(authorizedKeysFile),
    keep: false,
    check: {
      kind: "placed",
      argv: ASK_SSHD,
      expect: {
        line: `authorizedkeysfile ${authorizedKeysFile}`,
        remedy: `sshd does not follow ${SSHD_DROP_IN}: put "Include /etc/ssh/sshd_config.d/*.conf" first in /etc/ssh/sshd_config`,
      },
    },
  };
}
