/** The wire format of SSH public keys (RFC 4253 section 6.6, RFC 5656, RFC 8709, OpenSSH PROTOCOL.u2f), read and written. */

import { Buffer } from "node:buffer";
import {
  curveName,
  FIELDS,
  type FieldKind,
  isKeyType,
  type KeyType,
  MAX_INTEGER,
  MLDSA44_ED25519_BYTES,
} from "../shared/product/ssh-key-types.ts";

/** A key as its type and its fields, in the order of the wire; integers hold no leading zero bytes, names no NUL. */
export interface WireKey {
  readonly type: KeyType;
  readonly fields: readonly Buffer[];
}

/** Why a blob is not a key: the end of a sentence that begins with "the key data". */
export interface Malformed {
  readonly malformed: string;
}

const FIELD_NAMES: Readonly<Record<FieldKind, string>> = {
  integer: "RSA numbers",
  ed25519: "Ed25519 key",
  curve: "curve name",
  point: "curve point",
  application: "application name",
  "mldsa44-ed25519": "ML-DSA-44 and Ed25519 key",
};

// OpenSSH's sshkey.c takes these names inside a blob for the same keys; short names in any case.
const ALIASES: Readonly<Record<string, KeyType>> = {
  "rsa-sha2-256": "ssh-rsa",
  "rsa-sha2-512": "ssh-rsa",
  "webauthn-sk-ecdsa-sha2-nistp256@openssh.com": "sk-ecdsa-sha2-nistp256@openssh.com",
};
const SHORT_NAMES: Readonly<Record<string, KeyType>> = {
  rsa: "ssh-rsa",
  ed25519: "ssh-ed25519",
  "ed25519-sk": "sk-ssh-ed25519@openssh.com",
};

/** The type name that stands first in the blob, or undefined if there is none. */
export function innerName(blob: Buffer): string | undefined {
  return takeString(blob, 0)?.toString("latin1");
}

/**
 * The key in `blob`, read exactly as tolerantly as sshd reads it: other names of the type, a NUL after a name and zero
 * bytes in front of integers pass. So two blobs that sshd takes for the same key give equal results; `encodeKey` of the
 * result gives the one canonical blob. Whether the numbers make a usable key is not checked.
 */
export function readKey(blob: Buffer): WireKey | Malformed {
  const inner = takeString(blob, 0);
  if (inner === undefined) return { malformed: "is cut off in the key type" };
  const type = typeOf(withoutFinalNul(inner).toString("latin1"));
  if (type === undefined) return { malformed: "names a key type that is not accepted" };
  const fields: Buffer[] = [];
  let offset = 4 + inner.length;
  for (const kind of FIELDS[type]) {
    const raw = takeString(blob, offset);
    if (raw === undefined) return { malformed: `is cut off in the ${FIELD_NAMES[kind]}` };
    const field = readField(kind, type, raw);
    if (!Buffer.isBuffer(field)) return field;
    fields.push(field);
    offset += 4 + raw.length;
  }
  const rest = blob.length - offset;
  return rest === 0 ? { type, fields } : { malformed: `has ${rest} trailing bytes after the key` };
}

/** The one canonical blob of the key: the bytes that ssh-keygen would write; the fingerprint is their SHA-256. */
export function encodeKey(key: WireKey): Buffer {
  const kinds = FIELDS[key.type];
  const fields = key.fields.map((field, i) => {
    const negative = kinds[i] === "integer" && ((field[0] ?? 0) & 0x80) !== 0;
    return encodeString(negative ? Buffer.concat([Buffer.of(0), field]) : field);
  });
  return Buffer.concat([encodeString(Buffer.from(key.type)), ...fields]);
}

function typeOf(name: string): KeyType | undefined {
  if (isKeyType(name)) return name;
  if (Object.hasOwn(ALIASES, name)) return ALIASES[name];
  const short = name.toLowerCase();
  return Object.hasOwn(SHORT_NAMES, short) ? SHORT_NAMES[short] : undefined;
}

function readField(kind: FieldKind, type: KeyType, raw: Buffer): Buffer | Malformed {
  switch (kind) {
    case "integer":
      if (((raw[0] ?? 0) & 0x80) !== 0) return { malformed: "holds a negative RSA number" };
      if (raw.length > MAX_INTEGER) return { malformed: "holds an RSA number of more than 16384 bits" };
      return withoutLeadingZeros(raw);
    case "ed25519":
      if (raw.length === 32) return raw;
      return { malformed: `holds an Ed25519 key of ${raw.length} bytes, it must have 32` };
    case "mldsa44-ed25519":
      if (raw.length === MLDSA44_ED25519_BYTES) return raw;
      return {
        malformed: `holds an ML-DSA-44 and Ed25519 key of ${raw.length} bytes, it must have ${MLDSA44_ED25519_BYTES}`,
      };
    case "curve": {
      const curve = withoutFinalNul(raw);
      if (curve.toString("latin1") === curveName(type)) return curve;
      return { malformed: `holds a curve name that does not belong to ${type}` };
    }
    case "point":
      return raw[0] === 4 ? raw : { malformed: "holds a curve point that is not in the uncompressed form" };
    case "application": {
      const application = withoutFinalNul(raw);
      return application.includes(0) ? { malformed: "holds an application name with a NUL in it" } : application;
    }
  }
}

/** The length-prefixed string at `offset`, without its length; undefined if the blob ends before it does. */
export function takeString(blob: Buffer, offset: number): Buffer | undefined {
  if (offset + 4 > blob.length) return undefined;
  const end = offset + 4 + blob.readUInt32BE(offset);
  return end > blob.length ? undefined : blob.subarray(offset + 4, end);
}

function encodeString(bytes: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

function withoutFinalNul(bytes: Buffer): Buffer {
  return bytes.at(-1) === 0 ? bytes.subarray(0, -1) : bytes;
}

function withoutLeadingZeros(bytes: Buffer): Buffer {
  const first = bytes.findIndex((byte) => byte !== 0);
  return first === -1 ? bytes.subarray(bytes.length) : bytes.subarray(first);
}
