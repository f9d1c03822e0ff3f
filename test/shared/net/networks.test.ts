/** Networks as given, canonical, and compared. */

import { describe, expect, test } from "bun:test";
import {
  allowedBy,
  commonNetworks,
  hasAddress,
  isCanonicalNetwork,
  isWithin,
  MAX_NETWORKS,
  outsideOf,
  parseNetworks,
} from "../../../src/shared/net/networks.ts";

describe("parseNetworks", () => {
  test.each([
    ["10.0.0.0/8", "10.0.0.0/8"],
    [" 192.0.2.7 ", "192.0.2.7/32"],
    ["0.0.0.0/0", "0.0.0.0/0"],
    ["::/0", "::/0"],
    ["2001:DB8::/32", "2001:db8::/32"],
    ["2001:db8:0:0:0:0:0:1", "2001:db8::1/128"],
    ["2001:db8:0:0:1:0:0:0/80", "2001:db8:0:0:1::/80"],
    ["::ffff:192.0.2.7", "192.0.2.7/32"],
    ["::ffff:c000:200/120", "192.0.2.0/24"],
    ["::ffff:0:0/96", "0.0.0.0/0"],
    ["::1.2.3.4", "::102:304/128"],
    ["64:ff9b::192.0.2.1/128", "64:ff9b::c000:201/128"],
  ])("parseNetworks() writes %p as %p", (given, canonical) => {
    expect(parseNetworks([given])).toEqual([canonical]);
    expect(isCanonicalNetwork(canonical)).toBe(true);
    expect(isCanonicalNetwork(given)).toBe(given === canonical);
  });

  test.each([
    ...["", " ", "any", "*", "10.0.0.*", "!10.0.0.0/8", "10.0.0.0/8,10.1.0.0/16", "10.0.0.0/8 ", "example.org"].filter(
      (text) => text.trim() !== "10.0.0.0/8",
    ),
    ...[
      "10.0.0.0/",
      "10.0.0.0/33",
      "10.0.0.0/08",
      "10.0.0.0/-1",
      "10.0.0.0/8/8",
      "10.0.0/8",
      "010.0.0.0/8",
      "0x0a.0.0.0",
    ],
    ...["1", "256.0.0.0/8", "::/129", ":", ":::", "fe80::1%eth0", "[::1]", "::1/", "1:2:3:4:5:6:7:8:9", "12345::/16"],
    ...['10.0.0.0/8"', "10.0.0.0/8\n", "10.0.0.0/8\n\n10.0.0.0/8", "::1]/@[::1", "1.2.3.4::/16"].filter(
      (text) => text.trim() !== "10.0.0.0/8",
    ),
  ])("parseNetworks() refuses %p", (given) => {
    expect(() => parseNetworks([given])).toThrow(/is not a network such as 192\.0\.2\.0\/24/);
    expect(isCanonicalNetwork(given)).toBe(false);
  });

  test.each([
    ["10.0.0.1/8", "10.0.0.0/8"],
    ["192.0.2.255/31", "192.0.2.254/31"],
    ["2001:db8::1/64", "2001:db8::/64"],
    ["1.0.0.0/0", "0.0.0.0/0"],
    ["::ffff:10.0.0.1/104", "10.0.0.0/8"],
    // Wider than what is mapped, so it is IPv6.
    ["::ffff:0:0/80", "::/80"],
  ])("parseNetworks() refuses %p, whose host bits are set, and names %p", (given, meant) => {
    expect(() => parseNetworks([given])).toThrow(`the network itself is ${meant}`);
    expect(isCanonicalNetwork(given)).toBe(false);
  });

  test("parseNetworks() keeps the order, each once, and takes 32 at most", () => {
    expect(parseNetworks(["192.0.2.1/32", "10.0.0.0/8", "192.0.2.1"])).toEqual(["192.0.2.1/32", "10.0.0.0/8"]);
    const many = Array.from({ length: MAX_NETWORKS + 1 }, (_, index) => `10.0.${index}.0/24`);
    expect(parseNetworks(many.slice(1))).toHaveLength(MAX_NETWORKS);
    expect(() => parseNetworks(many)).toThrow("At most 32 networks can be given, not 33");
  });
});

describe("sets of networks", () => {
  test("allowedBy() takes an empty list for every address", () => {
    expect(allowedBy([])).toBeUndefined();
    expect(allowedBy(["10.0.0.0/8"])).toEqual(["10.0.0.0/8"]);
  });

  test.each([
    [undefined, undefined, undefined],
    [["10.0.0.0/8"], undefined, ["10.0.0.0/8"]],
    [undefined, [], []],
    [["10.0.0.0/8"], ["192.0.2.0/24"], []],
    [["10.0.0.0/8"], ["::/0"], []],
    [
      ["10.0.0.0/8", "2001:db8::/32"],
      ["10.1.0.0/16", "2001:db8:1::/48"],
      ["10.1.0.0/16", "2001:db8:1::/48"],
    ],
    [["10.1.0.0/16"], ["10.0.0.0/8", "10.1.0.0/16"], ["10.1.0.0/16"]],
    [["10.128.0.0/9", "10.0.0.0/9", "10.7.0.0/16"], undefined, ["10.0.0.0/8"]],
    [["0.0.0.0/1", "128.0.0.0/1"], ["192.0.2.0/25", "192.0.2.128/25"], ["192.0.2.0/24"]],
    [["10.0.0.0/10", "10.64.0.0/10", "10.128.0.0/9"], undefined, ["10.0.0.0/8"]],
    // Neighbours that are not halves of one network.
    [["10.0.1.0/24", "10.0.2.0/24"], undefined, ["10.0.1.0/24", "10.0.2.0/24"]],
  ])("commonNetworks() of %p and %p is %p", (one, other, common) => {
    expect(commonNetworks(one, other)).toEqual(common);
    expect(commonNetworks(other, one)).toEqual(common);
  });

  test.each([
    [undefined, undefined, true],
    [["10.0.0.0/8"], undefined, true],
    [undefined, ["10.0.0.0/8"], false],
    [undefined, ["0.0.0.0/0"], false],
    [undefined, ["0.0.0.0/0", "::/0"], true],
    [[], [], true],
    [[], ["10.0.0.0/8"], true],
    [["10.0.0.0/8"], [], false],
    [["10.0.0.0/8"], ["10.0.0.0/9", "10.128.0.0/9"], true],
    [["10.0.0.0/8"], ["10.0.0.0/9", "10.128.0.0/10"], false],
    [["10.0.0.0/8", "::1/128"], ["10.0.0.0/8"], false],
  ])("isWithin() of %p and %p is %p", (inner, outer, within) => {
    expect(isWithin(inner, outer)).toBe(within);
  });

  test("outsideOf() names what is not within", () => {
    expect(outsideOf(["10.1.0.0/16", "192.0.2.0/24"], ["10.0.0.0/8"])).toEqual(["192.0.2.0/24"]);
    expect(outsideOf(undefined, ["0.0.0.0/0"])).toEqual(["::/0"]);
  });

  test.each([
    [undefined, "", true],
    [[], "127.0.0.1", false],
    [["127.0.0.0/8"], "127.0.0.2", true],
    [["127.0.0.1/32"], "127.0.0.2", false],
    [["127.0.0.0/8"], "", false],
    [["127.0.0.0/8"], "127.0.0.0/8", false],
    [["0.0.0.0/0"], "::1", false],
    [["::1/128"], "::1", true],
    [["127.0.0.0/8"], "::ffff:127.0.0.2", true],
    [["fe80::/10"], "fe80::1%eth0", false],
  ])("hasAddress() of %p and %p is %p", (networks, address, has) => {
    expect(hasAddress(networks, address)).toBe(has);
  });

  test("commonNetworks() and isWithin() agree with each address, whatever the networks are", () => {
    let seed = 7;
    const random = (below: number) => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      return Math.floor((seed / 2_147_483_648) * below);
    };
    // Within 192.0.2.0/28, so that all addresses can be tried.
    const networks = () =>
      Array.from({ length: 1 + random(4) }, () => {
        const prefix = 28 + random(5);
        const size = 2 ** (32 - prefix);
        return `192.0.2.${Math.floor(random(16) / size) * size}/${prefix}`;
      });
    const addresses = Array.from({ length: 16 }, (_, index) => `192.0.2.${index}`);
    for (let round = 0; round < 500; round++) {
      const [one, other] = [networks(), networks()];
      const common = commonNetworks(one, other);
      for (const address of addresses) {
        expect(hasAddress(common, address)).toBe(hasAddress(one, address) && hasAddress(other, address));
      }
      const all = addresses.every((address) => !hasAddress(one, address) || hasAddress(other, address));
      expect(isWithin(one, other)).toBe(all);
    }
  });
});
