/** What a page makes of texts that it did not choose. */

import { describe, expect, test } from "bun:test";
import { harmless, harmlessJson } from "../../src/console/harmless.ts";

describe("harmless()", () => {
  test("puts a sign in place of each character that reorders others", () => {
    expect(harmless("a\u202eb\u2069c\u2066")).toBe("a\ufffdb\ufffdc\ufffd");
  });

  test("leaves at most 30 marks on a letter, and what languages write as it is", () => {
    expect(harmless(`a${"\u0301".repeat(500)}b`)).toBe(`a${"\u0301".repeat(30)}b`);
    expect(harmless("مُهَنْدِس ẹ̀kọ́ नमस्ते 👨‍👩‍👧")).toBe("مُهَنْدِس ẹ̀kọ́ नमस्ते 👨‍👩‍👧");
  });
});

describe("harmlessJson()", () => {
  test("reaches every text of an answer, and is undefined for what is no JSON", () => {
    expect(harmlessJson('{"data":{"items":[{"text":"\\u2069x"}]}}')).toEqual({
      data: { items: [{ text: "\ufffdx" }] },
    });
    expect(harmlessJson("<html>")).toBeUndefined();
  });

  test("gives no object another prototype", () => {
    const read = harmlessJson('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}') as object;
    expect(Object.getPrototypeOf(read)).toBe(Object.prototype);
    expect("polluted" in {}).toBe(false);
  });
});
