/** The types of SSH public keys that the service accepts, and the fields of their wire format; for the service and the console. */

/** The key types that the service accepts. */
export const KEY_TYPES = [
  "ssh-ed25519",
  "ecdsa-sha2-nistp256",
  "ecdsa-sha2-nistp384",
  "ecdsa-sha2-nistp521",
  "ssh-rsa",
  "sk-ssh-ed25519@openssh.com",
  "sk-ecdsa-sha2-nistp256@openssh.com",
  "ssh-mldsa44-ed25519",
] as const;

export type KeyType = (typeof KEY_TYPES)[number];

/** The kind of a key's field. */
export type FieldKind = "integer" | "ed25519" | "curve" | "point" | "application" | "mldsa44-ed25519";

/** The fields of each type, in the order of the wire. */
export const FIELDS: Readonly<Record<KeyType, readonly FieldKind[]>> = {
  "ssh-ed25519": ["ed25519"],
  "ecdsa-sha2-nistp256": ["curve", "point"],
  "ecdsa-sha2-nistp384": ["curve", "point"],
  "ecdsa-sha2-nistp521": ["curve", "point"],
  "ssh-rsa": ["integer", "integer"],
  "sk-ssh-ed25519@openssh.com": ["ed25519", "application"],
  "sk-ecdsa-sha2-nistp256@openssh.com": ["curve", "point", "application"],
  "ssh-mldsa44-ed25519": ["mldsa44-ed25519"],
};

/** Bytes of a field of that kind, which has always as many: ML-DSA-44's public key, and Ed25519's behind it (ssh-mldsa-eddsa.c). */
export const MLDSA44_ED25519_BYTES = 1312 + 32;

/** Key types that OpenSSH supports only from 10.6 on: an older one cannot read such a line. */
export const NEWER_KEY_TYPES: readonly KeyType[] = ["ssh-mldsa44-ed25519"];

/** The most bytes of a number: sshbuf.h, SSHBUF_MAX_BIGNUM (16384 bits), and the zero byte that keeps it positive. */
export const MAX_INTEGER = 16384 / 8 + 1;

/** True if `name` is one of KEY_TYPES, letter for letter. */
export function isKeyType(name: string): name is KeyType {
  return (KEY_TYPES as readonly string[]).includes(name);
}

/** `nistp256`, `nistp384` or `nistp521` for the types that are on a curve, else undefined. */
export function curveName(type: KeyType): string | undefined {
  return /nistp\d+/.exec(type)?.[0];
}
