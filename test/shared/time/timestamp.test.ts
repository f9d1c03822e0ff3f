import { describe, expect, test } from "bun:test";
import { parseRangeStart, parseTimestamp } from "../../../src/shared/time/timestamp.ts";

describe("parseTimestamp()", () => {
  test.each([
    ["2026-11-20T08:00:04.904999Z", "2026-11-20T08:00:04.904Z"],
    ["2026-11-20T08:00:04.9Z", "2026-11-20T08:00:04.900Z"],
    ["2026-11-20T08:00:04.999999999999999999999Z", "2026-11-20T08:00:04.999Z"],
    ["2026-11-20T08:00:04.129Z", "2026-11-20T08:00:04.129Z"],
  ])("%p begins in the millisecond %p", (text, millisecond) => {
    expect(parseTimestamp(text).toISOString()).toBe(millisecond);
  });
});

describe("parseRangeStart()", () => {
  test.each([
    ["2026-11-20T08:00:04.904999Z", "2026-11-20T08:00:04.905Z"],
    ["2026-11-20T08:00:04.904000001+01:00", "2026-11-20T07:00:04.905Z"],
    ["2026-11-20T08:00:59.9990010Z", "2026-11-20T08:01:00.000Z"],
    ["2026-11-20T08:00:04.904000Z", "2026-11-20T08:00:04.904Z"],
    ["2026-11-20T08:00:04.904Z", "2026-11-20T08:00:04.904Z"],
    ["2026-11-20T08:00:04Z", "2026-11-20T08:00:04.000Z"],
  ])("of %p is %p", (text, millisecond) => {
    expect(parseRangeStart(text).toISOString()).toBe(millisecond);
  });

  test("throws as parseTimestamp() does", () => {
    expect(() => parseRangeStart("2026-02-30T00:00:00Z", "since")).toThrow("since is not an RFC 3339 timestamp");
  });
});
