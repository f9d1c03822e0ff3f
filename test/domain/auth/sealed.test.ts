/** What is sealed once, and that what earlier versions sealed can still be opened. */

import { describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { seal, sealTicket, unseal, unsealTicket } from "../../../src/domain/auth/sealed.ts";

const KEY = new Uint8Array(32).map((_, index) => index);
const ISSUED = new Date("2026-11-20T08:00:00.000Z");
const EXPIRES = new Date("2026-11-20T08:05:00.000Z");

describe("unseal", () => {
  test("unseal() gives back what seal() was given, for the same key and purpose alone", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), fc.string(), fc.string(), (content, purpose, other) => {
        const sealed = seal({ key: KEY, purpose }, content);
        expect(unseal({ key: KEY, purpose }, sealed)).toEqual(Buffer.from(content));
        expect(unseal({ key: randomBytes(32), purpose }, sealed)).toBeUndefined();
        if (other !== purpose) expect(unseal({ key: KEY, purpose: other }, sealed)).toBeUndefined();
      }),
    );
  });

  test("unseal() refuses what is changed, cut short or extended", () => {
    const sealing = { key: KEY, purpose: "7" };
    const sealed = seal(sealing, Buffer.from("12345678901234567890"));
    for (let bit = 0; bit < sealed.length * 8; bit++) {
      const changed = Buffer.from(sealed);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(unseal(sealing, changed)).toBeUndefined();
    }
    for (let length = 0; length < sealed.length; length++) {
      expect(unseal(sealing, sealed.subarray(0, length))).toBeUndefined();
    }
    expect(unseal(sealing, Buffer.concat([sealed, Buffer.alloc(1)]))).toBeUndefined();
  });

  test("unseal() reads the secret of an authenticator app that 0.3.0 stored", () => {
    const stored = Buffer.from(
      "ecb960aa84506f0e45d72262a9bf97cb474ffde4182cf942cc66a0c70faecf6b48d76ee3144abc43cbef1f034c48fa69",
      "hex",
    );
    expect(unseal({ key: KEY, purpose: "7" }, stored)?.toString()).toBe("12345678901234567890");
    expect(unseal({ key: KEY, purpose: "8" }, stored)).toBeUndefined();
  });
});

describe("unsealTicket", () => {
  const sealed = {
    captcha: "c2FzqJtx9ULR_2ITttPX8nuCV4WS1MJbSXa_XLfORRFDPyJ-3TpIHC2tgFsbBlsRoiblcVnbEjIHHQ",
    "ticket of add-totp": "VCebq1ETo6BkzDvmSP4YJ8VXoSSwrKu1cBRcCN4frWK6O3AAqi2o7JQPecb5ECuoqwPvsul29ZpiZs0Nb4OxmUjKb_g",
  };

  test.each([
    ["captcha", "", "ACHM3/"],
    ["ticket of add-totp", "add-totp\n7 session", "JBSWY3DPEHPK3PXP"],
  ] as const)("unsealTicket() opens a %s that 0.3.0 sealed, until it expires", (kind, purpose, payload) => {
    const sealing = { key: KEY, purpose };
    expect(unsealTicket(sealing, sealed[kind], ISSUED)).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{32}$/),
      payload,
      expiresAt: EXPIRES,
    });
    expect(unsealTicket(sealing, sealed[kind], EXPIRES)).toBeUndefined();
    expect(unsealTicket({ ...sealing, purpose: "login\n" }, sealed[kind], ISSUED)).toBeUndefined();
  });

  test("unsealTicket() opens the longest payload that is issued, and nothing that is longer", () => {
    const sealing = { key: KEY, purpose: "" };
    const ticketOf = (length: number) => sealTicket(sealing, { payload: "a".repeat(length), expiresAt: EXPIRES });
    expect(unsealTicket(sealing, ticketOf(256), ISSUED)?.payload).toHaveLength(256);
    expect(unsealTicket(sealing, ticketOf(257), ISSUED)).toBeUndefined();
  });
});
