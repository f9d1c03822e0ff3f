import { describe, expect, test } from "bun:test";
import {
  askedKey,
  hostKeyOf,
  nameInQuestion,
  withKeyFile,
} from "../../../../src/console/pages/user/connect/command.ts";
import { platformOf } from "../../../../src/console/pages/user/keys/platform.ts";
import { urgencyOf } from "../../../../src/console/pages/user/overview/urgency.ts";
import { isolated } from "../../../../src/console/ui/isolated.ts";

describe("the connection", () => {
  test("the command with a key file keeps the port", () => {
    expect(withKeyFile("ssh -p 2222 ext_alice@host", "FILE")).toBe("ssh -i FILE -p 2222 ext_alice@host");
    expect(withKeyFile("ssh ext_alice@host", "FILE")).toBe("ssh -i FILE ext_alice@host");
  });

  test("a fingerprint is taken apart", () => {
    expect(hostKeyOf("SHA256:abc (ED25519)")).toEqual({ fingerprint: "SHA256:abc", type: "ED25519" });
    expect(hostKeyOf("SHA256:abc")).toEqual({ fingerprint: "SHA256:abc", type: "" });
    expect(hostKeyOf("")).toEqual({ fingerprint: "", type: "" });
  });

  test("the question names the key that ssh prefers, and the port where it is not 22", () => {
    const [rsa, ecdsa, ed] = ["RSA", "ECDSA", "ED25519"].map((type) => ({ fingerprint: type, type }));
    if (rsa === undefined || ecdsa === undefined || ed === undefined) throw new Error("unreachable");
    expect(askedKey([rsa, ecdsa, ed])).toBe(ed);
    expect(askedKey([rsa, ecdsa])).toBe(ecdsa);
    expect(askedKey([rsa])).toBe(rsa);
    expect(askedKey([])).toBeUndefined();
    expect(nameInQuestion({ host: "h", port: 22 })).toBe("h");
    expect(nameInQuestion({ host: "h", port: 2222 })).toBe("[h]:2222");
  });
});

test("platformOf() tells Windows from the rest", () => {
  expect(platformOf("Mozilla/5.0 (Windows NT 10.0; Win64; x64)")).toBe("windows");
  expect(platformOf("Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7)")).toBe("unix");
  expect(platformOf("Mozilla/5.0 (X11; Linux x86_64)")).toBe("unix");
  expect(platformOf("Darwin")).toBe("unix");
});

test("urgencyOf() marks what ends within seven days", () => {
  const at = "2026-11-22T12:00:00.000Z";
  const ends = (reason: "expiry" | "expired" | "disabled") => ({ ends: { at, reason, removed_at: at } });
  const end = Date.parse(at);
  const day = 24 * 3600 * 1000;
  expect(urgencyOf(ends("expiry"), end - 7 * day)).toBe("far");
  expect(urgencyOf(ends("expiry"), end - 7 * day + 1)).toBe("soon");
  expect(urgencyOf(ends("expiry"), end)).toBe("over");
  expect(urgencyOf(ends("expired"), end + 1)).toBe("over");
  expect(urgencyOf(ends("disabled"), end - 30 * day)).toBe("over");
});

test("isolated() lets no typed text out of its place in a sentence", () => {
  expect(isolated("laptop <b>")).toBe("laptop <b>");
  expect(isolated("")).toBe("");
  expect(isolated("מחשב")).toBe("\u2068מחשב\u2069");
  expect(isolated("\u202Eevil\u2069\u2068")).toBe("\u2068evil\u2069");
  expect(isolated("x".repeat(10_000)).length).toBe(82);
});
