import { describe, expect, test } from "bun:test";
import { Buffer } from "node:buffer";
import { generateKeyPairSync } from "node:crypto";
import { ed25519Fault } from "../../src/protocol/ed25519.ts";

const P = 2n ** 255n - 19n;
const SIGN = 1n << 255n;

/** 32 bytes, the least significant first (RFC 8032, section 5.1.2). */
function encoded(y: bigint): Buffer {
  return Buffer.from(y.toString(16).padStart(64, "0"), "hex").reverse();
}

/** y of a point of order 8, with d of the curve: dy⁴ + 2y² - 1 = 0. */
const OF_ORDER_8 = BigInt("0x05fc536d880238b13933c6d305acdfd5f098eff289f4c345b027b2c28f95e826");

describe("ed25519Fault()", () => {
  test("finds none in keys that are made", () => {
    for (let count = 0; count < 20; count++) {
      const { x = "" } = generateKeyPairSync("ed25519").publicKey.export({ format: "jwk" });
      expect(ed25519Fault(Buffer.from(x, "base64url"))).toBeUndefined();
    }
  });

  test.each([
    ["the neutral element", 1n],
    ["order 2", P - 1n],
    ["order 4", 0n],
    ["order 8", OF_ORDER_8],
    ["order 8, of the other y", P - OF_ORDER_8],
  ])("refuses a point of small order, either sign: %s", (_, y) => {
    for (const bytes of [encoded(y), encoded(y | SIGN)]) expect(ed25519Fault(bytes)).toContain("of small order");
  });

  test("refuses what RFC 8032 does not encode: p and above", () => {
    for (const y of [P, P + 1n, SIGN - 1n]) expect(ed25519Fault(encoded(y))).toContain("not encoded as RFC 8032 says");
    expect(ed25519Fault(encoded(P - 2n))).not.toContain("not encoded");
  });

  test("refuses half of all y: they are on no point of the curve", () => {
    const faults = Array.from({ length: 64 }, (_, index) => ed25519Fault(encoded(BigInt(index) + 2n)));
    expect(new Set(faults)).toEqual(new Set([undefined, "is not a point of the curve"]));
    // RFC 8032, section 5.1: the base point has y = 4/5, and 2 is the y of none.
    expect(faults[0]).toBe("is not a point of the curve");
    expect(ed25519Fault(Buffer.from(`58${"66".repeat(31)}`, "hex"))).toBeUndefined();
  });
});
