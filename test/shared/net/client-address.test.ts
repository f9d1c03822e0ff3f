import { describe, expect, test } from "bun:test";
import { isIP } from "node:net";
import fc from "fast-check";
import { clientAddress, parseTrustedProxies } from "../../../src/shared/net/client-address.ts";

const NONE = parseTrustedProxies([]);
const LAN = parseTrustedProxies(["10.0.0.0/8", "::1", "fd00::/8", "unix"]);

describe("clientAddress", () => {
  test.each([
    ["a peer alone", "192.0.2.1", null, "192.0.2.1"],
    ["an untrusted peer's header is ignored", "192.0.2.1", "203.0.113.9", "192.0.2.1"],
    ["a trusted peer's header is believed", "10.0.0.1", "203.0.113.9", "203.0.113.9"],
    ["the last untrusted entry wins over what the client wrote", "10.0.0.1", "1.1.1.1, 203.0.113.9", "203.0.113.9"],
    ["trusted hops are skipped", "10.0.0.1", "1.1.1.1,203.0.113.9, 10.9.9.9 ,fd00::5", "203.0.113.9"],
    ["only trusted hops: the first of them", "10.0.0.1", "10.0.0.3, 10.0.0.2", "10.0.0.3"],
    ["junk ends the walk", "10.0.0.1", "203.0.113.9, junk, 10.0.0.2", "10.0.0.2"],
    ["an empty entry ends the walk", "10.0.0.1", "203.0.113.9, ", "10.0.0.1"],
    ["an empty header", "10.0.0.1", "", "10.0.0.1"],
    ["a short form is junk", "10.0.0.1", "127.1", "10.0.0.1"],
    ["an octal form is junk", "10.0.0.1", "0177.0.0.1", "10.0.0.1"],
    ["IPv4 inside IPv6 as peer", "::ffff:10.0.0.1", "::ffff:203.0.113.9", "203.0.113.9"],
    ["IPv6 in its canonical form", "::1", "2001:DB8:0:0:0:0:0:1", "2001:db8::1"],
    ["a zone is dropped", "fe80::1%eth0", null, "fe80::1"],
    ["a port after IPv4", "10.0.0.1", "203.0.113.9:4711", "203.0.113.9"],
    ["a port after IPv6", "10.0.0.1", "[2001:db8::1]:4711", "2001:db8::1"],
    ["brackets without a port", "10.0.0.1", "[2001:db8::1]", "2001:db8::1"],
    ["a trusted hop with a port", "10.0.0.1", "203.0.113.9:4711, 10.0.0.2:80", "203.0.113.9"],
    ["a port that is none is junk", "10.0.0.1", "203.0.113.9:http", "10.0.0.1"],
    ["two addresses in one entry are junk", "10.0.0.1", "[2001:db8::1]:1:2", "10.0.0.1"],
    ["a unix peer that is trusted", undefined, "203.0.113.9", "203.0.113.9"],
    ["a unix peer without a header", undefined, null, "unix"],
  ])("clientAddress(): %s", (_case, peer, header, expected) => {
    expect(clientAddress(peer, header, LAN)).toBe(expected);
  });

  test("clientAddress() does not believe a unix peer unless told to", () => {
    expect(clientAddress(undefined, "203.0.113.9", NONE)).toBe("unix");
    expect(clientAddress(undefined, "203.0.113.9", parseTrustedProxies(["10.0.0.0/8"]))).toBe("unix");
  });

  test("clientAddress() never throws and always gives an address, whatever the header", () => {
    const entry = fc.oneof(
      fc.ipV4(),
      fc.ipV6(),
      fc.ipV4Extended(),
      fc.string({ unit: "binary" }),
      fc.constant("10.0.0.1"),
    );
    const header = fc.array(entry, { maxLength: 8 }).map((entries) => entries.join(","));
    fc.assert(
      fc.property(fc.constantFrom("10.0.0.1", "::1", "192.0.2.1"), header, (peer, forwarded) => {
        expect(isIP(clientAddress(peer, forwarded, LAN))).toBeGreaterThan(0);
      }),
      { numRuns: 1000 },
    );
  });

  test("clientAddress() gives an untrusted client's address whatever that client puts in front of it", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (forged) => {
        expect(clientAddress("10.0.0.1", `${forged},203.0.113.9`, LAN)).toBe("203.0.113.9");
      }),
    );
  });
});

describe("parseTrustedProxies", () => {
  test("parseTrustedProxies() reads IPv4 ranges that are written as IPv6", () => {
    const mapped = parseTrustedProxies(["::ffff:10.0.0.0/104"]);
    expect(clientAddress("10.200.0.1", "203.0.113.9", mapped)).toBe("203.0.113.9");
    expect(clientAddress("11.0.0.1", "203.0.113.9", mapped)).toBe("11.0.0.1");
  });

  test("parseTrustedProxies() reads all of IPv4 as IPv6 writes it, and nothing wider", () => {
    const all = parseTrustedProxies(["::ffff:0:0/96"]);
    expect(clientAddress("11.0.0.1", "203.0.113.9", all)).toBe("203.0.113.9");
    expect(clientAddress("2001:db8::1", "203.0.113.9", all)).toBe("2001:db8::1");
    const wider = parseTrustedProxies(["::ffff:0:0/95"]);
    expect(clientAddress("11.0.0.1", "203.0.113.9", wider)).toBe("11.0.0.1");
  });

  test.each(["nonsense", "10.0.0.0/33", "fd00::/129", "10.0.0.0/", "10.0.0.0/8/8", "10.0/8", "10.0.0.0/-1", "*"])(
    "parseTrustedProxies() refuses %s by name",
    (entry) => {
      expect(() => parseTrustedProxies(["10.0.0.1", entry])).toThrow(`"${entry}" is not an address`);
    },
  );
});
