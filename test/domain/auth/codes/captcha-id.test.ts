import { describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { CAPTCHA_TTL, openCaptcha, sameAnswer, sealCaptcha } from "../../../../src/domain/auth/codes/captcha-id.ts";
import { shift } from "../../../../src/shared/time/clock.ts";

const KEY = randomBytes(32);
const NOW = new Date("2026-11-20T08:00:00.000Z");

describe("sealCaptcha and openCaptcha", () => {
  test("openCaptcha() gives back what sealCaptcha() was given", () => {
    fc.assert(
      fc.property(
        fc.string({ maxLength: 16, unit: "grapheme-ascii" }),
        fc.date({ min: NOW, noInvalidDate: true, max: new Date("2100-01-01") }),
        (answer, now) => {
          const challenge = openCaptcha(sealCaptcha(answer, KEY, now), KEY, now);
          expect(challenge?.payload).toBe(answer);
          expect(challenge?.expiresAt).toEqual(shift(now, CAPTCHA_TTL));
          expect(challenge?.id).toMatch(/^[0-9a-f]{32}$/);
        },
      ),
    );
  });

  test("openCaptcha() opens for five minutes and not a millisecond longer", () => {
    const token = sealCaptcha("ABCDE", KEY, NOW);
    expect(openCaptcha(token, KEY, shift(NOW, 299_999))?.payload).toBe("ABCDE");
    expect(openCaptcha(token, KEY, shift(NOW, 300_000))).toBeUndefined();
  });

  test("sealCaptcha() gives each challenge its own id and text, and shows no answer", () => {
    const tokens = Array.from({ length: 100 }, () => sealCaptcha("ABCDE", KEY, NOW));
    expect(new Set(tokens).size).toBe(100);
    expect(new Set(tokens.map((token) => openCaptcha(token, KEY, NOW)?.id)).size).toBe(100);
    for (const token of tokens) expect(Buffer.from(token, "base64url").toString("latin1")).not.toContain("ABCDE");
  });

  test("openCaptcha() refuses a token with any bit changed, cut short or extended", () => {
    const token = sealCaptcha("ABCDE", KEY, NOW);
    const bytes = Buffer.from(token, "base64url");
    fc.assert(
      fc.property(fc.nat(bytes.length * 8 - 1), (bit) => {
        const changed = Buffer.from(bytes);
        changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
        expect(openCaptcha(changed.toString("base64url"), KEY, NOW)).toBeUndefined();
      }),
      { numRuns: 500 },
    );
    for (let length = 0; length < bytes.length; length++) {
      expect(openCaptcha(bytes.subarray(0, length).toString("base64url"), KEY, NOW)).toBeUndefined();
    }
    for (const more of ["A", "=", " ", "\n", "AAAA", "."]) expect(openCaptcha(token + more, KEY, NOW)).toBeUndefined();
  });

  test("openCaptcha() refuses a token that was sealed with another key", () => {
    expect(openCaptcha(sealCaptcha("ABCDE", randomBytes(32), NOW), KEY, NOW)).toBeUndefined();
  });

  test("openCaptcha() never throws, whatever it is given", () => {
    const junk = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.base64String({ maxLength: 400 }),
      fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes).toString("base64url")),
    );
    fc.assert(
      fc.property(junk, (text) => {
        expect(openCaptcha(text, KEY, NOW)).toBeUndefined();
      }),
      { numRuns: 1000 },
    );
    expect(openCaptcha("A".repeat(10_000_000), KEY, NOW)).toBeUndefined();
  });
});

describe("sameAnswer", () => {
  test("sameAnswer() ignores only case and surrounding space", () => {
    expect(sameAnswer(" acHm3\n", "ACHM3")).toBe(true);
    for (const wrong of ["", "ACHM", "ACHM33", "AC HM3", "3MHCA", "ÁCHM3"])
      expect(sameAnswer(wrong, "ACHM3")).toBe(false);
  });

  test("sameAnswer() never throws", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "binary" }),
        fc.string(),
        (given, expected) => typeof sameAnswer(given, expected) === "boolean",
      ),
    );
  });
});
