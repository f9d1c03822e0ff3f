import { describe, expect, test } from "bun:test";
import { namesIn } from "../../../src/host/execute/sudo-look.ts";

describe("namesIn()", () => {
  test("reads the list that root answers with", () => {
    expect([...namesIn('["ext_a","ext_b"]\n')]).toEqual(["ext_a", "ext_b"]);
    expect([...namesIn("[]")]).toEqual([]);
  });

  test.each(['"ext_a"', "{}", "null", '{"length":0}'])("takes %j for no list", (answer) => {
    expect(() => namesIn(answer)).toThrow("root's answer is no list");
  });

  test.each(["", "[", "stat: oops"])("takes %j for no answer", (answer) => {
    expect(() => namesIn(answer)).toThrow();
  });
});
