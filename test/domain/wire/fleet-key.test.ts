import { describe, expect, test } from "bun:test";
import { verify } from "node:crypto";
import { createSeal } from "../../../src/domain/audit/seal.ts";
import { fleetSecrets } from "../../../src/domain/wire/fleet-key.ts";
import { challengeBytes, checkingKey, keyFingerprint } from "../../../src/protocol/fleet-signature.ts";

const seal = createSeal(new Uint8Array(32).fill(7));

describe("fleetSecrets()", () => {
  test("fleetSecrets() are the same wherever the audit key is, and others for another key", () => {
    const one = fleetSecrets(seal);
    const same = fleetSecrets(createSeal(new Uint8Array(32).fill(7)));
    const other = fleetSecrets(createSeal(new Uint8Array(32).fill(8)));
    // Fixed: agents keep this fingerprint for as long as they live.
    expect(one.fingerprint).toBe("SHA256:FMfSRudtes/v2+M53SrSoyZ8Jtmf1Aj/qMF51qiCKgM");
    expect(same.publicKey).toEqual(one.publicKey);
    expect(same.nonce(7, 1000)).toBe(one.nonce(7, 1000));
    expect(other.publicKey).not.toEqual(one.publicKey);
    expect(keyFingerprint(one.publicKey)).toBe(one.fingerprint);
  });

  test("nonceMoment() takes only what was made for that host at that moment", () => {
    const { nonce, nonceMoment } = fleetSecrets(seal);
    const made = nonce(7, 1_700_000_000_000);
    expect(nonceMoment(7, made)).toBe(1_700_000_000_000);
    expect(nonceMoment(8, made)).toBeUndefined();
    expect(nonceMoment(7, made.replace("17", "18"))).toBeUndefined();
    for (const text of ["", "1", "0.x", ".", `${made}x`, made.slice(0, -1), ` ${made}`, "1e3.aaaaaaaaaaaaaaaaaaaaaa"]) {
      expect(nonceMoment(7, text)).toBeUndefined();
    }
  });

  test("answerChallenge() signs the challenge, and nothing that a request or an answer could be", () => {
    const { answerChallenge, publicKey } = fleetSecrets(seal);
    const signature = Buffer.from(answerChallenge("abc"), "base64");
    expect(verify(null, challengeBytes("abc"), checkingKey(publicKey), signature)).toBe(true);
    expect(verify(null, Buffer.from("abc"), checkingKey(publicKey), signature)).toBe(false);
  });
});
