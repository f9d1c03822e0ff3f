/** The make of a key that is uploaded with proof of it. */

import { UamError } from "../../shared/errors.ts";
import type { KeyRow } from "../../store/schema.ts";
import type { Operation } from "../operation/context.ts";
import { verifyAttestation } from "./attestation.ts";
import { useChallenge } from "./challenge.ts";
import type { PublicKey } from "./public-key.ts";

/** Two files in base64: the challenge that the service gave, and what ssh-keygen wrote for it. */
export interface GivenAttestation {
  readonly challenge: string;
  readonly statement: string;
}

/**
 * As the key is stored; nothing is known of one that comes without proof. Throws `invalid` for proof that is not right, or whose challenge cannot be used;
 * one that is right uses it up.
 */
export async function provenMake(
  op: Operation,
  userId: number,
  key: PublicKey,
  given: GivenAttestation | undefined,
): Promise<Pick<KeyRow, "model" | "aaguid">> {
  if (given === undefined) return { model: null, aaguid: null };
  const { clock, attestationIssuers } = op.context;
  const challenge = bytesIn(given.challenge);
  await useChallenge(op, userId, challenge);
  const issuers = attestationIssuers?.() ?? [];
  return verifyAttestation(bytesIn(given.statement), { key, challenge, issuers, now: clock.now() });
}

function bytesIn(base64: string): Buffer {
  const bytes = Buffer.from(base64, "base64");
  if (bytes.toString("base64") === base64) return bytes;
  const sentence = "The challenge and the attestation have to be the files in base64, padded";
  throw new UamError("invalid", sentence, { reason: "key.attestation_wrong" });
}
