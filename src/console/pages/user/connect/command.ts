/** Variants of the ssh command that the service gives, and what the host keys' fingerprints are made of. */

/** The command with a certain private key file. */
export function withKeyFile(command: string, file: string): string {
  return command.replace(/^s\S+ /, (program) => `${program}-i ${file} `);
}

export interface HostKey {
  /** `SHA256:…` */
  readonly fingerprint: string;
  /** Such as "ED25519"; "" if it is not known. */
  readonly type: string;
}

/** "SHA256:… (ED25519)" in its two parts. */
export function hostKeyOf(shown: string): HostKey {
  const [fingerprint = shown, type = ""] = /^(\S+)(?: \((.*)\))?$/.exec(shown)?.slice(1) ?? [];
  return { fingerprint, type };
}

/** How ssh names the host in its question: with the port where that is not 22 (sshd(8), the format of known_hosts). */
export function nameInQuestion({ host, port }: { readonly host: string; readonly port: number }): string {
  return port === 22 ? host : `[${host}]:${port}`;
}

/** The key that ssh asks about: it prefers Ed25519, then ECDSA (ssh_config(5), HostKeyAlgorithms). */
export function askedKey(keys: readonly HostKey[]): HostKey | undefined {
  return ["ED25519", "ECDSA"].map((type) => keys.find((key) => key.type === type)).find(Boolean) ?? keys[0];
}
