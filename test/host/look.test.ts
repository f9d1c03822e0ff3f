import { describe, expect, test } from "bun:test";
import { rootLook } from "../../src/host/look.ts";

const WHERE = { markerGroup: "uam-ext-tlook", homeBase: "/home", authorizedKeysFile: "%h/.ssh/authorized_keys" };
const account = { name: "ext_tlook", uid: 58_990, open: true, expireAt: "2031-03-04T12:00:00.000Z", keys: [] };
const look = (value: unknown) => rootLook(WHERE, JSON.stringify(value));

describe("rootLook", () => {
  test.each([
    ["no JSON", "{"],
    ["no list", "{}"],
    ["a list of nothing", "[null]"],
    ["an account without a name", JSON.stringify([{ ...account, name: 7 }])],
    ["an account without a uid", JSON.stringify([{ ...account, uid: "0" }])],
    ["an account that ends at no time", JSON.stringify([{ ...account, expireAt: "tomorrow" }])],
    ["an account without a list of keys", JSON.stringify([{ ...account, keys: "none" }])],
  ])("rootLook() refuses %s", async (_, text) => {
    await expect(rootLook(WHERE, text)).rejects.toThrow("Not a list of accounts");
  });

  test("rootLook() refuses a layout that no host could have", async () => {
    await expect(rootLook({ ...WHERE, homeBase: "/home/../etc" }, "[]")).rejects.toThrow("UAM_HOME_BASE");
    await expect(rootLook({ ...WHERE, authorizedKeysFile: "/etc/keys" }, "[]")).rejects.toThrow("one file for all");
  });

  test("rootLook() names what it cannot look at, an account that is not of the service and damaged keys among it, and nothing else", async () => {
    expect(await look([])).toEqual([]);
    expect(await look([account, { ...account, name: "root", uid: 0 }])).toEqual(["ext_tlook", "root"]);
    expect(await look([{ ...account, keys: [null] }])).toEqual(["ext_tlook"]);
  });
});
