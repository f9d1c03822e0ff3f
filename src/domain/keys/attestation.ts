/**
 * Proof of the make of a security key: what `ssh-keygen -O write-attestation` wrote when it made the key for a challenge (OpenSSH's PROTOCOL.u2f),
 * checked as WebAuthn does an attestation that is "packed" (section 8.2). Its older form "fido-u2f" is of keys without a PIN, which a profile
 * that asks for proof does not take.
 */

import { createHash, type KeyObject, verify, type X509Certificate } from "node:crypto";
import { readKey, takeString } from "../../protocol/ssh-wire.ts";
import { readCertificate, wrong } from "./attestation-certificate.ts";
import type { PublicKey } from "./public-key.ts";

/** What a key is made by. */
export interface Make {
  /** The subject of the attestation's certificate, in one line. */
  readonly model: string;
  /** The model's identifier, as the security key says it: a UUID. */
  readonly aaguid: string;
}

/** What the attestation is compared with. */
export interface Attested {
  readonly key: Pick<PublicKey, "type" | "base64">;
  /** The bytes of the file that ssh-keygen was given. */
  readonly challenge: Buffer;
  /** The certificates whose owners are believed. */
  readonly issuers: readonly X509Certificate[];
  readonly now: Date;
}

/** A real one has about 1100 bytes, of which the certificate is most. */
export const MAX_ATTESTATION = 8 * 1024;
const FORMAT = "ssh-sk-attest-v01";
/** The reserved flags, and the reserved string, which is empty. */
const RESERVED = Buffer.alloc(8);
const NONE = Buffer.alloc(0);

/** Of authenticator data, WebAuthn section 6.1. */
const PRESENT = 0x01;
const CAN_BE_COPIED = 0x08 | 0x10;
const HAS_KEY = 0x40;
const HAS_EXTENSIONS = 0x80;

/** The make of the key. Throws `invalid` with the first rule that is broken; it takes no longer than the bytes are long, and changes nothing. */
export function verifyAttestation(bytes: Buffer, { key, challenge, issuers, now }: Attested): Make {
  if (!key.type.startsWith("sk-")) throw wrong("only security keys have one");
  const { certificate, signature, data } = readStatement(bytes);
  const { publicKey, model, aaguid } = readCertificate(certificate, issuers, now);
  // Before what is signed is looked at.
  if (!isSigned(Buffer.concat([data, sha256(challenge)]), signature, publicKey)) {
    throw wrong("its signature is not right for this challenge");
  }
  const found = checkedData(data, key);
  if (aaguid !== undefined && !aaguid.equals(found)) throw wrong("its certificate is that of another model");
  return { model, aaguid: asUuid(found) };
}

interface Statement {
  readonly certificate: Buffer;
  readonly signature: Buffer;
  /** What is signed, together with the challenge. */
  readonly data: Buffer;
}

function readStatement(bytes: Buffer): Statement {
  if (bytes.length > MAX_ATTESTATION) throw wrong(`it is longer than ${MAX_ATTESTATION} bytes`);
  const fields: Buffer[] = [];
  let offset = 0;
  for (let field = 0; field < 4; field++) {
    const found = takeString(bytes, offset);
    if (found === undefined) throw wrong("it is cut off, or not a file that ssh-keygen wrote");
    if (field === 0) requireFormat(found.toString("latin1"));
    fields.push(found);
    offset += 4 + found.length;
  }
  if (!bytes.subarray(offset).equals(RESERVED)) throw wrong("it does not end as a file that ssh-keygen wrote");
  const [, certificate = NONE, signature = NONE, encoded = NONE] = fields;
  if (certificate.length === 0) throw wrong("it has no certificate: this security key does not say who made it");
  return { certificate, signature, data: withoutHead(encoded) };
}

function requireFormat(format: string): void {
  if (format === FORMAT) return;
  const isOld = format === "ssh-sk-attest-v00";
  throw wrong(
    isOld ? "an OpenSSH older than 8.4 wrote it, which leaves out what is signed" : "ssh-keygen did not write it",
  );
}

/** The one byte string that the CBOR is. */
function withoutHead(encoded: Buffer): Buffer {
  const [kind, length = 0, rest = 0] = encoded;
  if (kind === 0x58 && encoded.length === 2 + length) return encoded.subarray(2);
  if (kind === 0x59 && encoded.length === 3 + length * 256 + rest) return encoded.subarray(3);
  throw wrong("its authenticator data is damaged");
}

function isSigned(bytes: Buffer, signature: Buffer, publicKey: KeyObject): boolean {
  try {
    return verify("sha256", bytes, publicKey, signature);
  } catch {
    // Some runtimes throw for a signature of another form.
    return false;
  }
}

/** The identifier of the model in the authenticator's data about this key. */
function checkedData(data: Buffer, { type, base64 }: Attested["key"]): Buffer {
  const read = readKey(Buffer.from(base64, "base64"));
  const fields = "fields" in read ? read.fields : [];
  const flags = data[32] ?? 0;
  if (data.length < 55 || (flags & HAS_KEY) === 0) throw wrong("its authenticator data names no key");
  if (!data.subarray(0, 32).equals(sha256(fields.at(-1) ?? NONE))) {
    throw wrong("it is for another application than the key says");
  }
  if ((flags & PRESENT) === 0) throw wrong("nobody touched the security key");
  if ((flags & CAN_BE_COPIED) !== 0) throw wrong("the key can be copied to other devices");
  const cose = coseOf(type, fields);
  const keyAt = 55 + data.readUInt16BE(53);
  const end = keyAt + cose.length;
  if (!data.subarray(keyAt, end).equals(cose)) throw wrong("it is for another key");
  if (data.length > end !== ((flags & HAS_EXTENSIONS) !== 0)) throw wrong("its authenticator data is damaged");
  return data.subarray(37, 53);
}

/** The key as authenticators write it: CTAP2 leaves no choice of the order or the length of anything. */
function coseOf(type: PublicKey["type"], [first = NONE, second = NONE]: readonly Buffer[]): Buffer {
  if (type === "sk-ssh-ed25519@openssh.com") return Buffer.concat([Buffer.from("a4010103272006215820", "hex"), first]);
  const [x, y] = [second.subarray(1, 33), second.subarray(33)];
  return Buffer.concat([Buffer.from("a5010203262001215820", "hex"), x, Buffer.from("225820", "hex"), y]);
}

function asUuid(bytes: Buffer): string {
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

function sha256(bytes: Buffer): Buffer {
  return createHash("sha256").update(bytes).digest();
}
