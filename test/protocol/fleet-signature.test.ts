import { expect, test } from "bun:test";
import { parseAuthorization } from "../../src/protocol/fleet-signature.ts";

test.each([
  ["2147483647", 2147483647],
  ["2147483648", undefined],
  ["9999999999", undefined],
  ["0", undefined],
])("parseAuthorization() takes host=%s as %p: no other number can be a host's", (host, expected) => {
  const header = `UAM-Agent host=${host}, counter=1, nonce=, signature=${"A".repeat(86)}==`;
  expect(parseAuthorization(header)?.host).toBe(expected);
});
