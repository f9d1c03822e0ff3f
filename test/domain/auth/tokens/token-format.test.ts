import { describe, expect, test } from "bun:test";
import { crc32 } from "node:zlib";
import { isTokenShaped, makeToken, shownPartOf } from "../../../../src/domain/auth/tokens/token-format.ts";

const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const numberOf = (digits: string) => [...digits].reduce((sum, digit) => sum * 62n + BigInt(DIGITS.indexOf(digit)), 0n);

describe("makeToken()", () => {
  test("is uam_, 256 random bits in base 62, and their CRC-32", () => {
    const tokens = Array.from({ length: 500 }, makeToken);
    expect(new Set(tokens).size).toBe(tokens.length);
    for (const token of tokens) {
      const [, random = "", checksum = ""] = /^uam_([0-9A-Za-z]{43})([0-9A-Za-z]{6})$/.exec(token) ?? [];
      expect(numberOf(random) < 2n ** 256n).toBe(true);
      expect(numberOf(checksum)).toBe(BigInt(crc32(random)));
      expect(isTokenShaped(token)).toBe(true);
    }
    const top = tokens.filter((token) => numberOf(token.slice(4, 47)) >= 2n ** 255n).length;
    expect(top).toBeGreaterThan(170);
    expect(top).toBeLessThan(330);
  });

  test("the CRC-32 is the one that everybody else computes", () => {
    // The check value of CRC-32/ISO-HDLC.
    expect(crc32("123456789")).toBe(0xcbf43926);
  });
});

describe("isTokenShaped()", () => {
  test("is false for any one character changed, added or left out", () => {
    const token = makeToken();
    for (let at = 0; at < token.length; at++) {
      const other = token[at] === "a" ? "b" : "a";
      expect(isTokenShaped(token.slice(0, at) + other + token.slice(at + 1))).toBe(false);
      expect(isTokenShaped(token.slice(0, at) + token.slice(at + 1))).toBe(false);
      expect(isTokenShaped(token.slice(0, at) + other + token.slice(at))).toBe(false);
    }
    for (const text of ["", "uam_", ` ${token}`, `${token}\n`, token.toUpperCase()])
      expect(isTokenShaped(text)).toBe(false);
  });

  test("what is shown of a token leaves 208 bits to guess", () => {
    expect(shownPartOf("uam_0123456789abc")).toBe("uam_01234567");
  });
});
