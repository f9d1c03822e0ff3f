import { describe, expect, test } from "bun:test";
import {
  blankControlCharacters,
  changesDirection,
  isPrintable,
  parseText,
  replaceUnprintable,
  requireText,
} from "../../../src/shared/text/text.ts";

describe("parseText()", () => {
  test.each([
    ["  Bo Lindqvist\t\n", "Bo Lindqvist"],
    ["Zoe\u0308", "Zo\u00eb"],
    ["", ""],
    [" \t\u00a0\u3000\n", ""],
    ["\u05d0\u200f: 5", "\u05d0\u200f: 5"],
    ["👩‍👩‍👧", "👩‍👩‍👧"],
    ["नमस्ते", "नमस्ते"],
  ])("parseText() reads %j as %j", (typed, expected) => {
    expect(parseText("reason", typed, 20)).toBe(expected);
  });

  test("parseText() refuses control characters and line breaks inside", () => {
    const codes = [...Array(32).keys(), ...Array.from({ length: 33 }, (_, i) => 0x7f + i), 0x2028, 0x2029];
    for (const code of codes) {
      expect(() => parseText("reason", `a${String.fromCharCode(code)}b`, 20)).toThrow(
        "The reason must not contain control characters or line breaks",
      );
    }
  });

  test("parseText() refuses every bidirectional embedding, override and isolate", () => {
    for (const code of [0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x2066, 0x2067, 0x2068, 0x2069]) {
      expect(() => parseText("reason", `a${String.fromCharCode(code)}b`, 20)).toThrow(
        "The reason must not contain characters that change the direction of writing",
      );
    }
  });

  test.each(["\u200b", "\u200d\u200c", "\u3164", "\u2800 \u2800", "\ufe0f", "\u00ad", "\u{e0041}", "\u115f \u1160"])(
    "parseText() refuses %j, which shows nothing",
    (typed) => {
      expect(() => parseText("reason", typed, 20)).toThrow("The reason must contain at least one visible character");
    },
  );

  test("parseText() refuses lone surrogates", () => {
    expect(() => parseText("reason", "a\ud800", 20)).toThrow("The reason is not valid Unicode text");
  });

  test("parseText() counts code points, after trimming and composing", () => {
    expect(parseText("reason", ` ${"😀".repeat(5)} `, 5)).toBe("😀".repeat(5));
    expect(parseText("reason", "e\u0301".repeat(5), 5)).toBe("é".repeat(5));
    expect(() => parseText("reason", "😀".repeat(6), 5)).toThrow("The reason is longer than 5 characters");
  });
});

describe("requireText()", () => {
  test.each(["", "  ", "\n"])("requireText() refuses %j", (typed) => {
    expect(() => requireText("key's name", typed, 64)).toThrow("The key's name must not be empty");
  });
});

describe("what a reader or a terminal may take for something else", () => {
  const hostile = ["a\nb", "a\u001b[2Jb", "a\u009bb", "a\u2028b", "a\u202eb", "a\u200bb", "a\ud800b", "a\u{e0001}b"];

  test.each(hostile)("isPrintable() is false of %j", (text) => {
    expect(isPrintable(text)).toBe(false);
    expect(isPrintable(replaceUnprintable(text, () => "?"))).toBe(true);
  });

  test("isPrintable() is true of letters, signs and spaces of any script", () => {
    expect(isPrintable("Zoë Ångström, नमस्ते, 名前 \u00a0!")).toBe(true);
  });

  test("blankControlCharacters() leaves a space for each control character and line break, and nothing else", () => {
    expect(blankControlCharacters("a\r\nb\u0000c\u0085d\u2029e\u200ff")).toBe("a  b c d e\u200ff");
  });

  test("changesDirection() is true of overrides and isolates, not of marks", () => {
    expect(changesDirection("a\u202eb")).toBe(true);
    expect(changesDirection("a\u2067b")).toBe(true);
    expect(changesDirection("\u05d0\u200f: 5")).toBe(false);
  });
});
