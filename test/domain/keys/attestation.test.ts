/** What proves the make of a security key: taken as OpenSSH writes it, and nothing else. */

import { describe, expect, test } from "bun:test";
import { generateKeyPairSync, randomBytes, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { MAX_ATTESTATION, verifyAttestation } from "../../../src/domain/keys/attestation.ts";
import type { KeyType } from "../../../src/shared/product/ssh-key-types.ts";
import { AAGUID, type Amiss, CRED_PROTECT, makeAttestedKey, makeAuthority } from "../../support/attestation.ts";

interface Recording {
  readonly publicKey: string;
  readonly statement: string;
  readonly issuer: string;
}

const recordings: { "ssh-keygen": readonly (Recording & { readonly challenge: string })[]; yubikey: Recording } =
  JSON.parse(readFileSync(join(import.meta.dir, "../../testdata/attestation/recordings.json"), "utf8"));
const maker = makeAuthority("Soft Keys Root CA");
const challenge = randomBytes(96);
const now = new Date("2026-11-28T04:00:00Z");
const MAKE = {
  model: "CN=Soft Key 5, OU=Authenticator Attestation, O=Soft Keys AB, C=SE",
  aaguid: "73bb0cd4-e502-49b8-9c6f-b59445bf720b",
};

function keyOf(publicKey: string) {
  const [type = "", base64 = ""] = publicKey.split(" ");
  return { type: type as KeyType, base64 };
}

/** What is found of a key that was made for `challenge`. */
function found(
  { publicKey, statement }: { readonly publicKey: string; readonly statement: Buffer },
  about: { readonly challenge?: Buffer; readonly issuers?: readonly X509Certificate[]; readonly now?: Date } = {},
) {
  const attested = { challenge, issuers: [maker.certificate], now, ...about };
  return verifyAttestation(statement, { key: keyOf(publicKey), ...attested });
}

function refusalOf(work: () => unknown): string {
  try {
    work();
    return "taken";
  } catch (error) {
    expect(error).toMatchObject({ code: "invalid", reason: "key.attestation_wrong" });
    return (error as Error).message.replace("The attestation is not accepted: ", "");
  }
}

const made = (amiss: Amiss & { readonly algorithm?: "ecdsa" } = {}) => makeAttestedKey(maker, challenge, amiss);

describe("verifyAttestation()", () => {
  test("says the make of keys of both types, of another application, and without extensions", () => {
    for (const amiss of [
      {},
      { algorithm: "ecdsa" },
      { application: "ssh:acme" },
      { extensions: Buffer.alloc(0) },
    ] as const) {
      expect(found(made(amiss))).toEqual(MAKE);
    }
    expect(found(made({ aaguid: undefined }))).toEqual(MAKE);
  });

  test("takes the files that ssh-keygen wrote, for their challenge alone", () => {
    expect(recordings["ssh-keygen"]).toHaveLength(2);
    for (const { publicKey, statement, issuer, challenge: signed } of recordings["ssh-keygen"]) {
      const file = { publicKey, statement: Buffer.from(statement, "base64") };
      const issuers = [new X509Certificate(issuer)];
      expect(found(file, { issuers, challenge: Buffer.from(signed, "base64") })).toEqual(MAKE);
      expect(refusalOf(() => found(file, { issuers }))).toBe("its signature is not right for this challenge");
    }
  });

  test("reads the file of a real security key as far as its challenge, which nobody knows", () => {
    const { publicKey, statement, issuer } = recordings.yubikey;
    const file = Buffer.from(statement, "base64");
    const issuers = [new X509Certificate(issuer)];
    const wrong = "its signature is not right for this challenge";
    expect(refusalOf(() => found({ publicKey, statement: file }, { issuers }))).toBe(wrong);
    // What it said of its key, under a signature that can be made here.
    const length = file.readUInt32BE(21);
    const data = file.subarray(21 + 4 + length + 4 + file.readUInt32BE(21 + 4 + length) + 4, -8);
    expect(data.subarray(0, 2).toString("hex")).toBe("58d2");
    const resigned = makeAttestedKey(maker, challenge, { data: data.subarray(2) });
    expect(found({ publicKey, statement: resigned.statement })).toEqual(MAKE);
  });

  const other = generateKeyPairSync("ed25519").publicKey;
  const flags = (value: number) => ({ flags: value | 0x80 });
  const wrongs: Readonly<Record<string, readonly [Amiss, string]>> = {
    "another challenge": [{ signedChallenge: randomBytes(96) }, "its signature is not right for this challenge"],
    "another signer": [{ signedBy: maker.privateKey }, "its signature is not right for this challenge"],
    "another key": [{ saidKey: other }, "it is for another key"],
    "another application": [{ saidApplication: "ssh:other" }, "it is for another application than the key says"],
    "another model": [{ saidAaguid: Buffer.alloc(16) }, "its certificate is that of another model"],
    "another model in the certificate": [{ aaguid: Buffer.alloc(16) }, "its certificate is that of another model"],
    "no touch": [flags(0x44), "nobody touched the security key"],
    "no key": [flags(0x05), "its authenticator data names no key"],
    "a key that can be copied": [flags(0x4d), "the key can be copied to other devices"],
    "a key that was copied": [flags(0x55), "the key can be copied to other devices"],
    "extensions that are not said": [{ flags: 0x45 }, "its authenticator data is damaged"],
    "said extensions that are not there": [
      { extensions: Buffer.alloc(0), flags: 0xc5 },
      "its authenticator data is damaged",
    ],
    "data that end early": [{ data: Buffer.alloc(54, 0x41) }, "its authenticator data names no key"],
    "the older format": [
      { format: "ssh-sk-attest-v00" },
      "an OpenSSH older than 8.4 wrote it, which leaves out what is signed",
    ],
    "a format to come": [{ format: "ssh-sk-attest-v02" }, "ssh-keygen did not write it"],
    "reserved flags": [
      { reserved: Buffer.from("0000000100000000", "hex") },
      "it does not end as a file that ssh-keygen wrote",
    ],
    "no certificate": [
      { certificate: Buffer.alloc(0) },
      "it has no certificate: this security key does not say who made it",
    ],
  };
  for (const [what, [amiss, said]] of Object.entries(wrongs)) {
    test(`refuses ${what}`, () => expect(refusalOf(() => found(made(amiss)))).toBe(said));
  }

  test("refuses the file of another key, and of a key that is no security key", () => {
    expect(refusalOf(() => found({ ...made(), publicKey: made().publicKey }))).toBe("it is for another key");
    const { publicKey } = made({ algorithm: "ecdsa" });
    expect(refusalOf(() => found({ ...made(), publicKey }))).toBe("it is for another key");
    const plain = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAILaNJJBGzPmkiX3Z160Q00v6FSEYUOHcfhr2QsREXeNz";
    expect(refusalOf(() => found({ ...made(), publicKey: plain }))).toBe("only security keys have one");
  });

  test("refuses a file that is cut off anywhere, or longer, or changed in any byte", () => {
    const { publicKey, statement } = made();
    for (let length = 0; length < statement.length; length++) {
      expect(refusalOf(() => found({ publicKey, statement: statement.subarray(0, length) }))).not.toBe("taken");
      const changed = Buffer.from(statement);
      changed[length] = (changed[length] ?? 0) ^ (1 + (length % 255));
      expect(refusalOf(() => found({ publicKey, statement: changed }))).not.toBe("taken");
    }
    for (const more of [Buffer.from([0]), Buffer.alloc(100), CRED_PROTECT]) {
      expect(refusalOf(() => found({ publicKey, statement: Buffer.concat([statement, more]) }))).toBe(
        "it does not end as a file that ssh-keygen wrote",
      );
    }
  });

  test("reads no huge file, and no length that is not there", () => {
    const { publicKey } = made();
    const huge = Buffer.alloc(MAX_ATTESTATION + 1);
    expect(refusalOf(() => found({ publicKey, statement: huge }))).toBe(`it is longer than ${MAX_ATTESTATION} bytes`);
    const endless = Buffer.concat([Buffer.from("ffffffff", "hex"), Buffer.from("ssh-sk-attest-v01")]);
    expect(refusalOf(() => found({ publicKey, statement: endless }))).toContain("it is cut off");
    expect(AAGUID).toHaveLength(16);
  });
});
