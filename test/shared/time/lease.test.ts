import { describe, expect, test } from "bun:test";
import { DAY, HOUR, MINUTE } from "../../../src/shared/time/clock.ts";
import { DEFAULT_LEASE, formatLease, leaseInForce, parseLease } from "../../../src/shared/time/lease.ts";

describe("parseLease()", () => {
  test.each([
    ["5m", 5 * MINUTE],
    ["4h", 4 * HOUR],
    ["7d", 7 * DAY],
    ["none", 0],
    [null, null],
  ])("%p is %p, and back", (text, lease) => {
    expect(parseLease(text)).toBe(lease);
    expect(formatLease(lease)).toBe(text);
  });

  test.each(["4m59s", "7d1s", "0h", "", "None", "5"])("%p is refused", (text) => {
    expect(() => parseLease(text)).toThrow();
  });
});

describe("leaseInForce()", () => {
  test("is the host's own, else the shortest of its groups', else the default; none is longer than any", () => {
    expect(leaseInForce(null, [])).toBe(DEFAULT_LEASE);
    expect(leaseInForce(null, [null, null])).toBe(DEFAULT_LEASE);
    expect(leaseInForce(null, [DAY, HOUR, null])).toBe(HOUR);
    expect(leaseInForce(null, [0, DAY])).toBe(DAY);
    expect(leaseInForce(null, [0, null])).toBe(0);
    expect(leaseInForce(0, [HOUR])).toBe(0);
    expect(leaseInForce(DAY, [HOUR])).toBe(DAY);
  });
});
