/** Which keys the host's sshd accepts from users, by its settings. Pure. */

import { type SshdSettings, valuesOf } from "./sshd-settings.ts";

/** The properties of a key that sshd's settings are about. */
export interface KeyKind {
  readonly type: string;
  /** As `ssh-keygen -l` prints it. */
  readonly bits: number;
}

/** The signatures that a key of that type can make, where they are not called as the type (ssh_config(5), PubkeyAcceptedAlgorithms). */
const ALGORITHMS: Readonly<Record<string, readonly string[]>> = {
  "ssh-rsa": ["rsa-sha2-512", "rsa-sha2-256", "ssh-rsa"],
  "sk-ecdsa-sha2-nistp256@openssh.com": [
    "sk-ecdsa-sha2-nistp256@openssh.com",
    "webauthn-sk-ecdsa-sha2-nistp256@openssh.com",
  ],
};

/** Whether sshd takes signatures of keys of that type; undefined if it does not say which it takes. */
export function acceptsType(settings: SshdSettings, type: string): boolean | undefined {
  // The setting's name until OpenSSH 8.4.
  const [said] = [...valuesOf(settings, "PubkeyAcceptedAlgorithms"), ...valuesOf(settings, "PubkeyAcceptedKeyTypes")];
  if (said === undefined) return undefined;
  const accepted = new Set(said.split(","));
  return (ALGORITHMS[type] ?? [type]).some((algorithm) => accepted.has(algorithm));
}

/** Why sshd refuses such a key, as a clause; undefined if it takes it, or does not say. */
export function refusalOf(settings: SshdSettings, { type, bits }: KeyKind): string | undefined {
  if (acceptsType(settings, type) === false) return `its sshd does not accept keys of the type ${type}`;
  const least = Number(valuesOf(settings, "RequiredRSASize")[0] ?? 0);
  if (type === "ssh-rsa" && bits < least)
    return `its sshd requires RSA keys of at least ${least} bits, this one has ${bits}`;
  return undefined;
}
