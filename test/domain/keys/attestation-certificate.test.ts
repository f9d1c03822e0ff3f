/** Whose word counts for the make of a security key: that of the makers whose certificates the host's owner put there. */

import { describe, expect, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import { readCertificate } from "../../../src/domain/keys/attestation-certificate.ts";
import {
  AAGUID,
  type Authority,
  type CertificateWish,
  certificateOf,
  makeAuthority,
} from "../../support/attestation.ts";

const root = makeAuthority("Soft Keys Root CA");
const branch = makeAuthority("Soft Keys Branch", root);
const now = new Date("2026-11-28T04:00:00Z");

function leafOf(
  by: Pick<Authority, "name" | "privateKey">,
  wish: CertificateWish & { readonly unit?: string } = {},
): Buffer {
  const { publicKey } = generateKeyPairSync("ec", { namedCurve: wish.curve ?? "P-256" });
  const subject = [
    ["55040b", wish.unit ?? "Authenticator Attestation"],
    ["550403", "Soft\u202e Key"],
  ] as const;
  return certificateOf({ subject, publicKey }, by, wish);
}

function read(der: Buffer, issuers: readonly Authority[] = [root], at = now) {
  const certificates = issuers.map(({ certificate }) => certificate);
  return readCertificate(der, certificates, at);
}

describe("readCertificate()", () => {
  test("reads what an issuer made, whichever of them, with nothing in the name that would not be seen", () => {
    const { model, aaguid } = read(leafOf(root, { aaguid: AAGUID }), [branch, root]);
    expect([model, aaguid]).toEqual(["CN=Soft? Key, OU=Authenticator Attestation", AAGUID]);
    expect(read(leafOf(root)).aaguid).toBeUndefined();
  });

  test("believes the maker of a maker only if its certificate is there too: the file has none of it", () => {
    expect(() => read(leafOf(branch), [root])).toThrow(
      "nobody who is trusted on this service's host made its certificate",
    );
    expect(read(leafOf(branch), [root, branch]).model).toContain("Key");
    expect(read(leafOf(branch), [branch]).model).toContain("Key");
  });

  test("believes nobody who only has the name, or who may make no certificates", () => {
    const impostor = makeAuthority("Soft Keys Root CA");
    const clerk = makeAuthority("Clerk", root, { isCa: false });
    for (const [der, issuers] of [
      [leafOf(impostor), [root]],
      [leafOf(root), []],
      [leafOf(root), [branch, impostor]],
      [leafOf(clerk), [root, clerk]],
    ] as const) {
      expect(() => read(der, issuers)).toThrow("nobody who is trusted");
    }
  });

  test("takes none that is not valid yet, or any more, nor one whose maker's is not", () => {
    const early = leafOf(root, { to: "20261128000000Z" });
    const late = leafOf(root, { from: "20261129000000Z" });
    const former = makeAuthority("Former", undefined, { to: "20261128000000Z" });
    for (const [der, issuers] of [
      [early, [root]],
      [late, [root]],
      [leafOf(former), [former]],
    ] as const) {
      expect(() => read(der, issuers)).toThrow("its certificate, or that of its maker, is not valid now");
    }
    expect(read(early, [root], new Date("2026-11-27T00:00:00Z")).model).toContain("Key");
  });

  test("takes only what section 8.2.1 of WebAuthn lets authenticators attest with", () => {
    const other = "its certificate is not one that security keys attest with";
    expect(() => read(leafOf(root, { isCa: true }))).toThrow(other);
    expect(() => read(leafOf(root, { unit: "Sales" }))).toThrow(other);
    expect(() => read(leafOf(root, { unit: "Authenticator Attestation\nOU=Authenticator Attestation" }))).toThrow(
      other,
    );
    expect(() => read(leafOf(root, { curve: "P-384" }))).toThrow("its certificate has no key of the curve P-256");
    expect(() => read(leafOf(root, { version: 0 }))).toThrow("its certificate is not of version 3");
  });

  test("reads no certificate that is cut off, or followed by anything", () => {
    const der = leafOf(root, { aaguid: AAGUID });
    for (let length = 0; length < der.length; length++)
      expect(() => read(der.subarray(0, length))).toThrow("certificate");
    expect(() => read(Buffer.concat([der, Buffer.from([0])]))).toThrow("certificate");
  });
});
