/** The test vectors of the WebAuthn specification, held against what this service accepts of them. */

import { describe, expect, test } from "bun:test";
import { decodeAttestationObject, parseAuthenticatorData } from "@simplewebauthn/server/helpers";
import {
  challengeOf,
  creationOptions,
  relyingParty,
  requestOptions,
  verifyNewPasskey,
  verifyPasskey,
} from "../../../../src/domain/auth/factors/webauthn.ts";
import { silentLog } from "../../../../src/shared/log.ts";
import { passkeyHost } from "../../../../src/shared/net/relying-party.ts";
import { SITE } from "../../../support/letters.ts";
import { vectors } from "../../../testdata/webauthn/vectors.json" with { type: "json" };

const site = { ...SITE, baseUrl: "https://example.org" };
const context = { policy: { site }, log: silentLog };

const base64url = (hex: string) => Buffer.from(hex, "hex").toString("base64url");

/** Whether the authenticator had verified its user, by its flags. */
function isVerified(authenticatorData: Uint8Array): boolean {
  return ((authenticatorData[32] ?? 0) & 4) !== 0;
}

describe.each(vectors.map((vector) => [vector.name, vector] as const))("%s", (name, vector) => {
  const id = base64url(vector.credential_id);
  const credential = { id, rawId: id, type: "public-key" as const };
  const { registration, authentication } = vector;
  const attestation = decodeAttestationObject(Uint8Array.from(Buffer.from(registration.attestationObject, "hex")));
  const { credentialPublicKey = new Uint8Array() } = parseAuthenticatorData(attestation.get("authData"));
  const isFramed = name.includes("Origin");

  test("its registration is accepted if its user was verified, it has no attestation but its own, and no frame", async () => {
    const answer = {
      ...credential,
      response: {
        clientDataJSON: base64url(registration.clientDataJSON),
        attestationObject: base64url(registration.attestationObject),
      },
    };
    const challenge = base64url(registration.challenge);
    expect(challengeOf(answer)).toBe(isFramed ? "" : challenge);
    const made = await verifyNewPasskey(context, answer, challengeOf(answer));
    const isPlain = !/(?:packed|U2F|Apple) attestation/.test(name);
    expect(made?.credentialId).toBe(isPlain && !isFramed && isVerified(attestation.get("authData")) ? id : undefined);
    if (made !== undefined) {
      expect(Buffer.from(made.publicKey).equals(Buffer.from(credentialPublicKey))).toBe(true);
      expect(await verifyNewPasskey(context, answer, base64url("00".repeat(32)))).toBeUndefined();
    }
  });

  test("its authentication is accepted if its user was verified, and in no frame; with one bit changed it is not", async () => {
    const response = {
      clientDataJSON: base64url(authentication.clientDataJSON),
      authenticatorData: base64url(authentication.authenticatorData),
      signature: base64url(authentication.signature),
    };
    const answer = { ...credential, response };
    const key = { credentialId: id, publicKey: credentialPublicKey };
    const said = await verifyPasskey(context, answer, key, challengeOf(answer));
    const isGood = isVerified(Buffer.from(authentication.authenticatorData, "hex")) && !isFramed;
    expect(said !== undefined).toBe(isGood);
    const spoilt = Buffer.from(authentication.signature, "hex");
    spoilt[spoilt.length - 1] = (spoilt.at(-1) ?? 0) ^ 1;
    const changed = { ...answer, response: { ...response, signature: spoilt.toString("base64url") } };
    expect(await verifyPasskey(context, changed, key, challengeOf(answer))).toBeUndefined();
    const elsewhere = { ...context, policy: { site: { ...site, baseUrl: "https://example.com" } } };
    expect(await verifyPasskey(elsewhere, answer, key, challengeOf(answer))).toBeUndefined();
  });
});

describe("what browsers are asked", () => {
  test("is always to verify the user, and to keep the passkey itself", () => {
    const owner = { username: "root", handle: Buffer.alloc(32) };
    expect(creationOptions(site, "AAAA", owner, [])).toMatchObject({
      rp: { id: "example.org" },
      user: { id: Buffer.alloc(32).toString("base64url"), name: "root" },
      attestation: "none",
      authenticatorSelection: { residentKey: "required", userVerification: "required" },
    });
    expect(requestOptions(site, "AAAA")).toMatchObject({ rpId: "example.org", userVerification: "required" });
  });

  test.each([
    ["https://uam.example.org", "uam.example.org"],
    ["https://uam.example.org:8443", "uam.example.org"],
    ["http://localhost:8080", "localhost"],
    ["http://uam.example.org", undefined],
    ["https://192.0.2.7", undefined],
    ["https://[2001:db8::7]", undefined],
    ["http://127.0.0.1:8080", undefined],
  ])("at %s it is for %p", (origin, host) => {
    expect(passkeyHost(origin)).toBe(host);
    if (host === undefined) expect(() => relyingParty({ baseUrl: origin })).toThrow("UAM_BASE_URL");
    else expect(relyingParty({ baseUrl: origin })).toBe(host);
  });

  test.each(["", "!!", Buffer.from("[]").toString("base64url"), Buffer.from('{"challenge":7}').toString("base64url")])(
    "what is no answer (%p) is to no challenge",
    (clientDataJSON) => {
      const response = { clientDataJSON, attestationObject: "" };
      expect(challengeOf({ id: "a", rawId: "a", type: "public-key", response })).toBe("");
    },
  );
});
