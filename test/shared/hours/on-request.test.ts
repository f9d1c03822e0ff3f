import { describe, expect, test } from "bun:test";
import { formatOnRequest, parseOnRequest } from "../../../src/shared/hours/on-request.ts";

describe("parseOnRequest()", () => {
  test.each([
    ["self:4h", { rule: "self", maxHours: 4 }],
    ["sponsor:1h", { rule: "sponsor", maxHours: 1 }],
    ["review:168h", { rule: "review", maxHours: 168 }],
  ] as const)("reads %s, and formatOnRequest() writes it", (text, wanted) => {
    expect(parseOnRequest(text)).toEqual(wanted);
    expect(formatOnRequest(wanted)).toBe(text);
  });

  test.each([
    "",
    "self",
    "self:",
    "self:0h",
    "self:4",
    "self:4.5h",
    "self:169h",
    "anybody:4h",
    "self:4h\nreview:4h",
    "SELF:4h",
  ])("refuses %j with a sentence", (text) => {
    expect(() => parseOnRequest(text)).toThrow(/^Not a rule such as|max_hours must be/);
  });
});
