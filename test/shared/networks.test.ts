import { describe, expect, test } from "bun:test";
import { covers, isWithin, MAX_NETWORKS, parseNetworks } from "../../src/shared/networks.ts";

describe("parseNetworks()", () => {
  test.each([
    [["192.0.2.0/24"], ["192.0.2.0/24"]],
    [[" 10.0.0.0/8 ", "10.0.0.0/8"], ["10.0.0.0/8"]],
    [
      ["192.0.2.7/32", "0.0.0.0/0"],
      ["192.0.2.7/32", "0.0.0.0/0"],
    ],
    [
      ["2001:DB8:0:0::/32", "::/0"],
      ["2001:db8::/32", "::/0"],
    ],
    [["2001:db8::1/128"], ["2001:db8::1/128"]],
    [["::ffff:10.0.0.0/104"], ["10.0.0.0/8"]],
    [[], []],
  ])("%j is %j", (given, parsed) => {
    expect([...parseNetworks(given)]).toEqual(parsed);
  });

  test.each([
    ...[
      "192.0.2.1",
      "192.0.2.0/33",
      "192.0.2.0/-1",
      "192.0.2.0/08",
      "192.0.2.0/",
      "/24",
      "",
      "a/24",
      "1/8",
      "0x7f.1/8",
    ],
    ...[
      "192.0.2/24",
      "192.0.02.0/24",
      "2001:db8::/129",
      "fe80::%eth0/64",
      "192.0.2.0/24/24",
      "192.0.2.0/24,",
      "192.0.2.0 /24",
    ],
  ])("%j is refused", (text) => {
    expect(() => parseNetworks([text])).toThrow("is not a network");
  });

  test.each([
    ["192.0.2.1/24", "the network is 192.0.2.0/24, the one address 192.0.2.1/32"],
    ["2001:db8::1/32", "the network is 2001:db8::/32, the one address 2001:db8::1/128"],
    ["128.0.0.0/0", "the network is 0.0.0.0/0"],
  ])("%s has host bits set, which is refused with what may be meant", (text, sentence) => {
    expect(() => parseNetworks([text])).toThrow(sentence);
  });

  test("more than anybody can oversee are refused", () => {
    const many = Array.from({ length: MAX_NETWORKS + 1 }, (_, index) => `10.0.${index}.0/24`);
    expect(parseNetworks(many.slice(1))).toHaveLength(MAX_NETWORKS);
    expect(() => parseNetworks(many)).toThrow("At most 50");
  });

  test("does not repeat all of a long text", () => {
    expect(() => parseNetworks(["x".repeat(10_000)])).toThrow(/^.{60,140}$/);
  });
});

describe("isWithin()", () => {
  test.each([
    ["192.0.2.7", ["192.0.2.0/24"], true],
    ["192.0.3.7", ["192.0.2.0/24"], false],
    ["::ffff:192.0.2.7", ["192.0.2.0/24"], true],
    ["2001:db8::7", ["192.0.2.0/24", "2001:db8::/32"], true],
    ["2001:db9::7", ["192.0.2.0/24", "2001:db8::/32"], false],
    ["192.0.2.7", ["::/0"], false],
    ["unix", ["0.0.0.0/0", "::/0"], false],
    ["", ["0.0.0.0/0"], false],
    ["unix", [], true],
  ])("%s in %j: %p", (address, networks, within) => {
    expect(isWithin(address, networks)).toBe(within);
  });
});

describe("covers()", () => {
  test.each([
    [[], [], true],
    [[], ["10.0.0.0/8"], true],
    [["10.0.0.0/8"], [], false],
    [["10.0.0.0/8"], ["10.1.0.0/16"], true],
    [["10.0.0.0/8"], ["10.0.0.0/8"], true],
    [["10.1.0.0/16"], ["10.0.0.0/8"], false],
    [["10.0.0.0/8"], ["10.1.0.0/16", "192.0.2.0/24"], false],
    [["10.0.0.0/8", "192.0.2.0/24"], ["192.0.2.7/32", "10.0.0.1/32"], true],
    [["0.0.0.0/0"], ["2001:db8::/32"], false],
  ])("%j covers %j: %p", (outer, inner, expected) => {
    expect(covers(outer, inner)).toBe(expected);
  });
});
