/** The service's own key towards agents, and its nonces: derived from the audit log's key, so that all replicas and a restored service have the same. */

import { Buffer } from "node:buffer";
import { createHmac, type KeyObject, sign, timingSafeEqual } from "node:crypto";
import { challengeBytes, keyFingerprint, publicBytes, signingKey } from "../../protocol/fleet-signature.ts";
import type { Seal } from "../operation/context.ts";

/** The key that signs the service's answers to agents; their nonces are made with it, too. */
export interface FleetSecrets {
  readonly key: KeyObject;
  /** 32 bytes. */
  readonly publicKey: Uint8Array;
  /** `SHA256:…`, as in the line that joins a host. */
  readonly fingerprint: string;
  /** The nonce for a host at a moment, in milliseconds since 1970: `MILLISECONDS.MAC`. */
  nonce(host: number, milliseconds: number): string;
  /** The moment of a nonce that was made for that host; undefined for any other text. */
  nonceMoment(host: number, nonce: string): number | undefined;
  /** The signature of a challenge, in base64. */
  answerChallenge(challenge: string): string;
}

const known = new WeakMap<Seal, FleetSecrets>();

/** The secrets that belong to the audit log's key; derived once. */
export function fleetSecrets(seal: Seal): FleetSecrets {
  const made = known.get(seal) ?? derive(seal);
  known.set(seal, made);
  return made;
}

function derive(seal: Seal): FleetSecrets {
  const key = signingKey(seal.keyFor("uam fleet key 1"));
  const publicKey = publicBytes(key);
  const nonceKey = seal.keyFor("uam fleet nonce 1");
  const mac = (host: number, milliseconds: number) =>
    createHmac("sha256", nonceKey).update(`${host}\n${milliseconds}\n`).digest().subarray(0, 16);
  return {
    key,
    publicKey,
    fingerprint: keyFingerprint(publicKey),
    nonce: (host, milliseconds) => `${milliseconds}.${mac(host, milliseconds).toString("base64url")}`,
    nonceMoment: (host, nonce) => {
      const [, digits = "", text = ""] = /^([1-9]\d{0,15})\.([\w-]{22})$/.exec(nonce) ?? [];
      if (digits === "") return undefined;
      const milliseconds = Number(digits);
      return timingSafeEqual(mac(host, milliseconds), Buffer.from(text, "base64url")) ? milliseconds : undefined;
    },
    answerChallenge: (challenge) => sign(null, challengeBytes(challenge), key).toString("base64"),
  };
}
