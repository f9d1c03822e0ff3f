/** The text of one SSH public key, as a person pastes it, checked against every rule for uploads. */

import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { parseKey } from "sshpk";
import { curveBits, isPublicPoint, toInteger } from "../../protocol/curves.ts";
import { ed25519Fault } from "../../protocol/ed25519.ts";
import { encodeKey, innerName, readKey, type WireKey } from "../../protocol/ssh-wire.ts";
import { UamError } from "../../shared/errors.ts";
import type { Reason } from "../../shared/product/reasons.ts";
import { curveName, isKeyType, type KeyType, NEWER_KEY_TYPES } from "../../shared/product/ssh-key-types.ts";
import { hasControlCharacters } from "../../shared/text/text.ts";
import { weaknessOf } from "./rsa-modulus.ts";

/** A key that passed all checks; only the key itself is kept of the typed text. */
export interface PublicKey {
  readonly type: KeyType;
  /** As `ssh-keygen -l` prints it: the modulus of RSA, else the curve. */
  readonly bits: number;
  /** `SHA256:…` exactly as `ssh-keygen -l` prints it. */
  readonly fingerprint: string;
  /** The canonical encoding of the key data, padded. */
  readonly base64: string;
  /** `<type> <base64>`, without a comment. */
  readonly publicKey: string;
}

const MIN_RSA_BITS = 2048;
const MAX_RSA_BITS = 16384;
/** As ssh-keygen prints them. */
const MLDSA44_BITS = 512;
// OpenSSL's rsa.h: beyond this modulus (bits) it verifies only with exponents of at most 64 bits.
const SMALL_MODULUS_BITS = 3072;
// The largest key, RSA of 16384 bits, takes 2772 characters; the rest is room for a comment.
const MAX_TEXT = 16 * 1024;

const CONVERT = "convert it with `ssh-keygen -i`, or upload the .pub file that ssh-keygen made";

/**
 * The key in `text`: one line `<type> <base64> [comment]`, with nothing but white space and line ends around it, of a type in `accepted`, that OpenSSH accepts
 * and that re-encodes to the very bytes that came in. Anything else throws `invalid` with the rule that failed. A key that `ssh-keygen -l -f` refuses is
 * refused here. The time it takes is bounded: longer texts are refused unread.
 */
export function parsePublicKey(text: string, accepted: readonly KeyType[]): PublicKey {
  const { word, base64 } = splitLine(text);
  const type = requireType(word, accepted);
  const blob = decodeBase64(type, base64);
  const key = decodeKey(type, blob);
  const bits = checkedBits(key);
  checkWithSshpk(type, blob);
  return {
    type,
    bits,
    fingerprint: `SHA256:${createHash("sha256").update(blob).digest("base64").replace(/=+$/, "")}`,
    base64,
    publicKey: `${type} ${base64}`,
  };
}

function splitLine(text: string): { readonly word: string; readonly base64: string } {
  if (text.length > MAX_TEXT) throw refusal(`The public key text is longer than ${MAX_TEXT} characters`);
  refuseOtherFormats(text);
  const line = text.replace(/^[ \t\r\n]+|[ \t\r\n]+$/g, "");
  if (/[\n\v\f\r\x85\u2028\u2029]/.test(line)) throw refusal("The public key must be a single line");
  if (hasControlCharacters(line) || !line.isWellFormed())
    throw refusal("The public key text contains control characters");
  const [word, base64] = line.split(" ").filter((part) => part !== "");
  if (word === undefined) throw refusal("The public key text is empty");
  if (!isKeyType(word)) refuseFirstWord(word, line);
  if (base64 === undefined) throw refusal(`The key data is missing after ${word}`);
  return { word, base64 };
}

function refuseOtherFormats(text: string): void {
  // "b3BlbnNzaC1r…" is the magic "openssh-key-v1" in base64: a private key pasted without its first line.
  if (/BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY|PuTTY-User-Key-File|SSH PRIVATE KEY FILE|b3BlbnNzaC1rZXktdjE/.test(text)) {
    throw refusal(
      "This is a private key, which must never leave its owner's machine: upload the public key, the one line of the .pub file",
      "key.private",
    );
  }
  if (/BEGIN [A-Z0-9 ]{0,40}PUBLIC KEY/.test(text))
    throw refusal(`The public key is in PEM or RFC 4716 format: ${CONVERT}`);
  if (/-----BEGIN /.test(text)) throw refusal(`This is a PEM file, not an OpenSSH public key: ${CONVERT}`);
}

function refuseFirstWord(word: string, line: string): void {
  if (looksLikeType(word)) return;
  if (line.split(/[ ,"]+/).some((part) => looksLikeType(part))) {
    throw refusal("Options in front of the key are not accepted: the line must begin with the key type");
  }
  throw refusal("This is not an SSH public key: the line must begin with a key type such as ssh-ed25519");
}

function looksLikeType(word: string): boolean {
  return /^(ssh|ecdsa|sk|rsa|webauthn)-[A-Za-z0-9@.-]{1,60}$/.test(word);
}

function requireType(word: string, accepted: readonly KeyType[]): KeyType {
  if (/-cert-v0\d@openssh\.com$/.test(word)) {
    throw refusal(`Certificates are not accepted (${word}): upload the plain public key`, "key.type");
  }
  if (word === "ssh-dss") {
    throw refusal(
      "ssh-dss keys are not accepted, DSA is broken: make a new key with `ssh-keygen -t ed25519`",
      "key.type",
    );
  }
  if (isKeyType(word) && accepted.includes(word)) return word;
  throw refusal(`Key type ${word} is not accepted; accepted are ${accepted.join(", ") || "none"}`, "key.type");
}

function decodeBase64(type: KeyType, base64: string): Buffer {
  const blob = Buffer.from(base64, "base64");
  // Node's decoder skips what is not base64; only the canonical text comes back unchanged.
  if (blob.toString("base64") !== base64) throw refusal(`The key data after ${type} is not valid base64`);
  return blob;
}

function decodeKey(type: KeyType, blob: Buffer): WireKey {
  const inner = innerName(blob);
  if (inner !== undefined && inner !== type) {
    const found = looksLikeType(inner) ? inner : "something else";
    throw refusal(`The line says ${type}, but the key data says ${found}`);
  }
  const key = readKey(blob);
  if ("malformed" in key) throw refusal(`The key data ${key.malformed}`);
  if (!encodeKey(key).equals(blob)) {
    throw refusal("The key data is not encoded as ssh-keygen does: it has padded numbers or names");
  }
  return key;
}

function checkedBits(key: WireKey): number {
  const [first = Buffer.alloc(0), second = Buffer.alloc(0)] = key.fields;
  if (key.type.startsWith("sk-")) checkApplication(key.fields.at(-1) ?? Buffer.alloc(0));
  if (key.type === "ssh-mldsa44-ed25519") return checkedMldsaBits(first);
  if (key.type === "ssh-rsa") return checkedRsaBits(toInteger(first), toInteger(second));
  const curve = curveName(key.type);
  if (curve === undefined) return checkedEd25519Bits(first);
  if (!isPublicPoint(curve, second))
    throw refusal(`The ${key.type} key is not a valid point of the curve ${curve}`, "key.weak");
  return curveBits(curve);
}

/** OpenSSH stores any exponent; the ones refused here are those with which its RSA verification fails or proves nothing. */
function checkedRsaBits(exponent: bigint, modulus: bigint): number {
  const bits = bitLength(modulus);
  if (bits < MIN_RSA_BITS) throw refusal(`RSA key has ${bits} bits, the minimum is ${MIN_RSA_BITS}`, "key.weak");
  if (bits > MAX_RSA_BITS) throw refusal(`RSA key has ${bits} bits, the maximum is ${MAX_RSA_BITS}`, "key.weak");
  if (modulus % 2n === 0n) throw refusal("RSA key has an even modulus, which no real key has", "key.weak");
  if (exponent < 3n) throw refusal(`RSA key has the public exponent ${exponent}, the minimum is 3`, "key.weak");
  if (exponent % 2n === 0n) throw refusal("RSA key has an even public exponent, which no real key has", "key.weak");
  if (exponent >= modulus)
    throw refusal("RSA key has a public exponent that is not smaller than its modulus", "key.weak");
  if (bits > SMALL_MODULUS_BITS && bitLength(exponent) > 64) {
    throw refusal(`RSA key has a public exponent of ${bitLength(exponent)} bits, the maximum is 64`, "key.weak");
  }
  const weakness = weaknessOf(modulus);
  if (weakness !== undefined)
    throw refusal(`RSA key has ${weakness}: anybody can work out its private key`, "key.weak");
  return bits;
}

/** ssh-keygen and sshd accept any 32 bytes; for some of them anybody can sign, for others nobody. */
function checkedEd25519Bits(bytes: Buffer): number {
  const fault = ed25519Fault(bytes);
  if (fault !== undefined) throw refusal(`The Ed25519 key ${fault}`, "key.weak");
  return 256;
}

/** Both halves sign. Any bytes are a public key of ML-DSA; a half that anybody can sign for is of no real key. */
function checkedMldsaBits(bytes: Buffer): number {
  const fault = ed25519Fault(bytes.subarray(-32));
  if (fault !== undefined) throw refusal(`The Ed25519 half of the ML-DSA-44 key ${fault}`, "key.weak");
  return MLDSA44_BITS;
}

function checkApplication(application: Buffer): void {
  const text = application.toString("utf8");
  if (text === "") throw refusal("The security key has an empty application name");
  if (hasControlCharacters(text) || text.includes("\ufffd")) {
    throw refusal("The security key's application name contains control characters or is not UTF-8");
  }
}

/** A second, independent reading of the classic types; sshpk supports neither security keys nor ML-DSA. */
function checkWithSshpk(type: KeyType, blob: Buffer): void {
  if (type.startsWith("sk-") || NEWER_KEY_TYPES.includes(type)) return;
  if (!reencodeWithSshpk(blob).equals(blob)) throw refusal("The key data does not re-encode to the same bytes");
}

function reencodeWithSshpk(blob: Buffer): Buffer {
  try {
    return parseKey(blob, "rfc4253").toBuffer("rfc4253");
  } catch (cause) {
    throw new UamError("invalid", "The key data does not parse as an SSH public key", { cause, reason: "key.format" });
  }
}

function bitLength(value: bigint): number {
  return value === 0n ? 0 : value.toString(2).length;
}

function refusal(message: string, reason: Reason = "key.format"): UamError {
  return new UamError("invalid", message, { reason });
}
