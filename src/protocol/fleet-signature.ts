/**
 * Ed25519 signatures inside the requests of agents and the answers of the service, so that they hold through any proxy and need no clock. A
 * request says `Authorization: UAM-Agent host=7, counter=…, nonce=…, signature=…`. The counter rises with each request that the service did
 * not refuse as stale. The nonce is from the header `Uam-Nonce` of the service's last answer ("" at the beginning); a stale one is answered
 * by 401 with a fresh one, and the agent tries again with the same counter. An answer says `Uam-Fleet-Signature: …`, over the request's own
 * signature, the status and the body: it answers this request and no other.
 */

import { Buffer } from "node:buffer";
import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign, verify } from "node:crypto";
import { HIGHEST_HOST } from "./fleet.ts";

export const NONCE_HEADER = "uam-nonce";
export const ANSWER_HEADER = "uam-fleet-signature";

/** Most requests have no body. */
const HASH_OF_NOTHING = hexHash(new Uint8Array());

/** The signed parts of a request. */
export interface SignedRequest {
  /** Upper case. */
  readonly method: string;
  /** Path and query as they are sent, below the API's root: a prefix that a proxy adds is not signed. */
  readonly target: string;
  readonly body: Uint8Array;
  readonly host: number;
  readonly counter: number;
  readonly nonce: string;
}

/** The content of the header. */
export interface AgentCredentials {
  readonly host: number;
  readonly counter: number;
  readonly nonce: string;
  /** 64 bytes. */
  readonly signature: Uint8Array;
}

/** A key to sign with, from its 32 bytes. */
export function signingKey(seed: Uint8Array): KeyObject {
  // PKCS #8 of RFC 8410: this prefix and the 32 bytes.
  const der = Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), seed]);
  return createPrivateKey({ key: der, format: "der", type: "pkcs8" });
}

/** Its public half, 32 bytes. */
export function publicBytes(key: KeyObject): Uint8Array {
  return new Uint8Array(createPublicKey(key).export({ format: "der", type: "spki" }).subarray(-32));
}

/** The key to check with, from its 32 bytes; check them with `ed25519Fault` when they are first seen. */
export function checkingKey(bytes: Uint8Array): KeyObject {
  const der = Buffer.concat([Buffer.from("302a300506032b6570032100", "hex"), bytes]);
  return createPublicKey({ key: der, format: "der", type: "spki" });
}

/** `SHA256:…` of a public key's 32 bytes, as in the line that joins a host. */
export function keyFingerprint(bytes: Uint8Array): string {
  return `SHA256:${createHash("sha256").update(bytes).digest("base64").replace(/=+$/, "")}`;
}

/** The header's value. */
export function authorize(
  request: SignedRequest,
  key: KeyObject,
): { readonly header: string; readonly signature: Uint8Array } {
  const signature = sign(null, requestBytes(request), key);
  const { host, counter, nonce } = request;
  const header = `UAM-Agent host=${host}, counter=${counter}, nonce=${nonce}, signature=${signature.toString("base64")}`;
  return { header, signature };
}

const HEADER =
  /^UAM-Agent host=([1-9]\d{0,9}), counter=(\d{1,16}), nonce=([\w.~+/=-]{0,200}), signature=([A-Za-z0-9+/]{86}==)$/;

/** The content of the header; undefined for any other header. */
export function parseAuthorization(header: string): AgentCredentials | undefined {
  const [, host, counter, nonce, signature] = HEADER.exec(header) ?? [];
  if (host === undefined || counter === undefined || nonce === undefined || signature === undefined) return undefined;
  const number = Number(counter);
  // No host has a number that the database could not hold; one such would fail the requests that are looked up with it.
  if (!Number.isSafeInteger(number) || Number(host) > HIGHEST_HOST) return undefined;
  return { host: Number(host), counter: number, nonce, signature: Buffer.from(signature, "base64") };
}

/** Whether the key's owner signed this very request. */
export function isSignedBy(key: KeyObject, request: SignedRequest, signature: Uint8Array): boolean {
  return verify(null, requestBytes(request), key, signature);
}

/** The same on another thread: thousands of requests at once keep nobody else waiting. */
export function isSignedByInBackground(
  key: KeyObject,
  request: SignedRequest,
  signature: Uint8Array,
): Promise<boolean> {
  return new Promise((resolve, reject) => {
    verify(null, requestBytes(request), key, signature, (error, holds) =>
      error === null ? resolve(holds) : reject(error),
    );
  });
}

/** The value of ANSWER_HEADER: 11 µs, and to have another thread do it costs as much. `request` is the signature of the request that is answered, or the hash of an enrolment's body. */
export function signAnswer(key: KeyObject, request: Uint8Array, status: number, body: Uint8Array): string {
  return sign(null, answerBytes(request, status, body), key).toString("base64");
}

/** Whether the service gave this answer to that request. */
export function isAnswerOf(
  key: KeyObject,
  answer: {
    readonly request: Uint8Array;
    readonly status: number;
    readonly body: Uint8Array;
    readonly signature: string;
  },
): boolean {
  const { request, status, body, signature } = answer;
  if (!/^[A-Za-z0-9+/]{86}==$/.test(signature)) return false;
  return verify(null, answerBytes(request, status, body), key, Buffer.from(signature, "base64"));
}

/** Stands for a request without a signature: the SHA-256 of an enrolment's body. */
export function hashOf(body: Uint8Array): Uint8Array {
  return createHash("sha256").update(body).digest();
}

/** The bytes that the fleet key signs for a challenge; no request or answer can look the same. */
export function challengeBytes(challenge: string): Uint8Array {
  return Buffer.from(`uam-fleet-challenge-1\n${challenge}\n`);
}

/** The bytes that a new key signs, with the old one's 32 bytes. */
export function rotationBytes(host: number, old: Uint8Array): Uint8Array {
  return Buffer.from(`uam-agent-rotation-1\n${host}\n${Buffer.from(old).toString("hex")}\n`);
}

function requestBytes({ method, target, body, host, counter, nonce }: SignedRequest): Uint8Array {
  const lines = [
    "uam-agent-request-1",
    method,
    target,
    body.length === 0 ? HASH_OF_NOTHING : hexHash(body),
    host,
    counter,
    nonce,
  ];
  return Buffer.from(`${lines.join("\n")}\n`);
}

function answerBytes(request: Uint8Array, status: number, body: Uint8Array): Uint8Array {
  const lines = ["uam-fleet-answer-1", Buffer.from(request).toString("hex"), status, hexHash(body)];
  return Buffer.from(`${lines.join("\n")}\n`);
}

function hexHash(body: Uint8Array): string {
  return createHash("sha256").update(body).digest("hex");
}
