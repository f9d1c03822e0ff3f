/**
 * The text of one SSH public key, as a person pastes it, read before anything is sent. The rules and their order are those of the
 * service; only whether the numbers make a sound key (a point on its curve, a modulus that is hard to factor) is left to it.
 */

import { sha256 } from "@noble/hashes/sha2.js";
import { curveName, isKeyType, KEY_TYPES, type KeyType } from "../../shared/product/ssh-key-types.ts";
import { hasControlCharacters } from "../../shared/text/text.ts";
import { bitLength, decodeBase64, encodeBase64, toInteger } from "./bytes.ts";
import type { Fault } from "./fault.ts";
import { privateFormatOf } from "./private-key.ts";
import { fromRfc4716 } from "./rfc4716.ts";
import { innerName, readFields } from "./wire.ts";

/** A key as the page shows it, and as it is sent. */
export interface PublicKey {
  readonly type: KeyType;
  /** As `ssh-keygen -l` prints it: the modulus of RSA, else the curve. */
  readonly bits: number;
  /** `SHA256:…` exactly as `ssh-keygen -l` prints it. */
  readonly fingerprint: string;
  /** `<type> <base64>`: made anew from what was read, so that nothing else of the text is ever sent. */
  readonly line: string;
  /** As typed; "" if there is none. */
  readonly comment: string;
  /** Whether the text was in the format of RFC 4716. */
  readonly isConverted: boolean;
}

export type Reading = { readonly key: PublicKey } | { readonly fault: Fault };

const MIN_RSA_BITS = 2048;
const MAX_RSA_BITS = 16384;
// OpenSSL's rsa.h: beyond this modulus (bits) it verifies only with exponents of at most 64 bits.
/** As ssh-keygen prints them. */
const MLDSA44_BITS = 512;
const SMALL_MODULUS_BITS = 3072;
const MAX_TEXT = 16 * 1024;

/** The key in the text, or the first rule that it breaks. */
export function readPublicKey(text: string): Reading {
  const format = privateFormatOf(text);
  if (format !== undefined) return { fault: { kind: "private", format } };
  if (text.length > MAX_TEXT) return { fault: { kind: "too-long", maximum: MAX_TEXT } };
  const converted = fromRfc4716(text);
  const read = readLine(converted ?? text);
  if ("fault" in read) return read;
  // Converting may have put together what no mark was in before.
  const hidden = privateFormatOf(`${read.key.line} ${read.key.comment}`);
  if (hidden !== undefined) return { fault: { kind: "private", format: hidden } };
  return { key: { ...read.key, isConverted: converted !== undefined } };
}

function readLine(text: string): Reading {
  const split = splitLine(text);
  if ("kind" in split) return { fault: split };
  const { word, base64, comment } = split;
  if (/-cert-v0\d@openssh\.com$/.test(word)) return { fault: { kind: "certificate", type: word } };
  if (word === "ssh-dss") return { fault: { kind: "dsa" } };
  if (!isKeyType(word)) return { fault: { kind: "type", type: word, accepted: KEY_TYPES } };
  const blob = decodeBase64(base64);
  if (blob === undefined) return { fault: { kind: "base64", type: word } };
  const bits = bitsOf(word, blob);
  if (typeof bits !== "number") return { fault: bits };
  const fingerprint = `SHA256:${encodeBase64(sha256(blob)).replace(/=+$/, "")}`;
  return { key: { type: word, bits, fingerprint, line: `${word} ${base64}`, comment, isConverted: false } };
}

interface Line {
  readonly word: string;
  readonly base64: string;
  readonly comment: string;
}

function splitLine(text: string): Line | Fault {
  if (/BEGIN [A-Z0-9 ]{0,40}PUBLIC KEY/.test(text)) return { kind: "public-pem" };
  if (/-----BEGIN /.test(text)) return { kind: "pem" };
  const line = text.replace(/^[ \t\r\n]+|[ \t\r\n]+$/g, "");
  if (/[\n\v\f\r\x85\u2028\u2029]/.test(line)) {
    const keys = line.split(/[\r\n]+/).filter((part) => looksLikeType(part.split(" ")[0] ?? "")).length;
    return { kind: "several-lines", keys };
  }
  if (hasControlCharacters(line) || !line.isWellFormed()) return { kind: "control-characters" };
  const [word, base64, ...comment] = line.split(" ").filter((part) => part !== "");
  if (word === undefined) return { kind: "empty" };
  if (!looksLikeType(word)) {
    return { kind: line.split(/[ ,"]+/).some((part) => looksLikeType(part)) ? "options" : "not-a-key" };
  }
  if (base64 === undefined) return { kind: "no-data", type: word };
  return { word, base64, comment: comment.join(" ") };
}

function looksLikeType(word: string): boolean {
  return /^(ssh|ecdsa|sk|rsa|webauthn)-[A-Za-z0-9@.-]{1,60}$/.test(word);
}

function bitsOf(type: KeyType, blob: Uint8Array): number | Fault {
  const inner = innerName(blob);
  if (inner !== undefined && inner !== type) {
    return { kind: "types-differ", type, found: looksLikeType(inner) ? inner : undefined };
  }
  const fields = readFields(type, blob);
  if ("kind" in fields) return fields;
  const application = type.startsWith("sk-") ? applicationFault(fields.at(-1) ?? new Uint8Array()) : undefined;
  if (application !== undefined) return application;
  if (type === "ssh-rsa") {
    const [exponent = new Uint8Array(), modulus = new Uint8Array()] = fields;
    return rsaBits(toInteger(exponent), toInteger(modulus));
  }
  if (type === "ssh-mldsa44-ed25519") return MLDSA44_BITS;
  return Number(curveName(type)?.slice("nistp".length) ?? 256);
}

function applicationFault(bytes: Uint8Array): Fault | undefined {
  if (bytes.length === 0) return { kind: "application-empty" };
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
  return hasControlCharacters(text) || text.includes("\ufffd") ? { kind: "application-text" } : undefined;
}

function rsaBits(exponent: bigint, modulus: bigint): number | Fault {
  const bits = bitLength(modulus);
  if (bits < MIN_RSA_BITS) return { kind: "rsa-short", bits, limit: MIN_RSA_BITS };
  if (bits > MAX_RSA_BITS) return { kind: "rsa-long", bits, limit: MAX_RSA_BITS };
  if (modulus % 2n === 0n) return { kind: "rsa-even-modulus" };
  if (exponent < 3n) return { kind: "rsa-small-exponent", exponent };
  if (exponent % 2n === 0n) return { kind: "rsa-even-exponent" };
  if (exponent >= modulus) return { kind: "rsa-large-exponent" };
  const size = bitLength(exponent);
  return bits > SMALL_MODULUS_BITS && size > 64 ? { kind: "rsa-exponent-bits", bits: size } : bits;
}
