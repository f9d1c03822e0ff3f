import { describe, expect, test } from "bun:test";
import {
  CAPTCHA_ALPHABET,
  CAPTCHA_HEIGHT,
  CAPTCHA_LENGTH,
  CAPTCHA_WIDTH,
  drawCaptcha,
} from "../../../../src/domain/auth/codes/captcha-image.ts";
import { testSlow } from "../../../support/thorough.ts";

const PNG_SIGNATURE = Buffer.from("89504e470d0a1a0a", "hex");

describe("drawCaptcha", () => {
  test("drawCaptcha() answers with characters of the alphabet only", async () => {
    const images = await Promise.all(Array.from({ length: 20 }, () => drawCaptcha()));
    for (const { answer } of images) expect(answer).toMatch(new RegExp(`^[${CAPTCHA_ALPHABET}]{${CAPTCHA_LENGTH}}$`));
    expect(new Set(images.map(({ answer }) => answer)).size).toBeGreaterThan(15);
  });

  test("drawCaptcha() draws a PNG of the size it states, with nothing but pixels in it", async () => {
    const { png, answer } = await drawCaptcha();
    const bytes = Buffer.from(png);
    expect(bytes.subarray(0, 8)).toEqual(PNG_SIGNATURE);
    expect(bytes.toString("latin1", 12, 16)).toBe("IHDR");
    expect(bytes.readUInt32BE(16)).toBe(CAPTCHA_WIDTH);
    expect(bytes.readUInt32BE(20)).toBe(CAPTCHA_HEIGHT);
    expect(bytes.toString("latin1", bytes.length - 8, bytes.length - 4)).toBe("IEND");
    expect(bytes.toString("latin1")).not.toContain("<svg");
    expect(bytes.toString("latin1")).not.toContain(answer);
    expect(chunkTypes(bytes)).toEqual(new Set(["IHDR", "IDAT", "IEND"]));
  });

  test("drawCaptcha() never draws the same picture twice", async () => {
    const images = await Promise.all(Array.from({ length: 20 }, () => drawCaptcha()));
    expect(new Set(images.map(({ png }) => Buffer.from(png).toString("base64"))).size).toBe(20);
  });

  test("CAPTCHA_ALPHABET holds no two characters that look alike", () => {
    expect(new Set(CAPTCHA_ALPHABET).size).toBe(CAPTCHA_ALPHABET.length);
    for (const pair of [
      "0O",
      "0Q",
      "0D",
      "1I",
      "1L",
      "IL",
      "2Z",
      "5S",
      "8B",
      "6G",
      "UV",
      "A4",
      "KX",
      "EF",
      "CG",
      ...["T7", "TY", "XY", "VW", "PR", "MN", "HN"],
    ]) {
      expect([...pair].every((character) => CAPTCHA_ALPHABET.includes(character))).toBe(false);
    }
  });

  testSlow("drawCaptcha() refuses with limited when too many wait, and serves again afterwards", async () => {
    const results = await Promise.allSettled(Array.from({ length: 230 }, () => drawCaptcha()));
    const refused = results.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
    expect(refused.length).toBe(29);
    expect(refused[0]).toMatchObject({ name: "UamError", code: "limited", retryAfter: 2 });
    expect((await drawCaptcha()).answer).toHaveLength(CAPTCHA_LENGTH);
  });
});

function chunkTypes(png: Buffer): Set<string> {
  const types = new Set<string>();
  for (let at = 8; at < png.length; at += 12 + png.readUInt32BE(at)) types.add(png.toString("latin1", at + 4, at + 8));
  return types;
}
