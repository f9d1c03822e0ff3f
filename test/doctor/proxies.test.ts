import { describe, expect, test } from "bun:test";
import { checkProxies } from "../../src/doctor/proxies.ts";

const OWN = ["127.0.0.1", "::1", "10.1.2.3", "fe80::1"];
const named = (proxies: readonly string[], address = "127.0.0.1:8080") =>
  checkProxies(address, proxies, OWN).map(({ state, finding }) => [state, /\((.*?)\)/.exec(finding)?.[1]]);

describe("checkProxies()", () => {
  test.each([
    [["127.0.0.1"], "127.0.0.1"],
    [["127.0.0.0/8"], "127.0.0.1"],
    [["::1"], "::1"],
    [["192.0.2.7", "10.0.0.0/8"], "10.1.2.3"],
  ])("names what of this host %j trusts", (proxies, believed) => {
    expect(named(proxies)).toEqual([["note", believed]]);
  });

  test("is content with proxies elsewhere, with none, and with a unix socket, which only its group may open", () => {
    expect(named(["192.0.2.7", "10.1.2.4"])).toEqual([]);
    expect(named([])).toEqual([]);
    expect(named(["unix"], "unix:/run/uam/uam.sock")).toEqual([]);
    expect(named(["127.0.0.1", "unix"], "unix:/run/uam/uam.sock")).toEqual([]);
  });

  test("knows this host's own addresses", () => {
    expect(checkProxies("127.0.0.1:8080", ["127.0.0.1"])).toHaveLength(1);
  });
});
