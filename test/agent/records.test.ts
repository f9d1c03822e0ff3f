import { describe, expect, test } from "bun:test";
import { mergeAnswer } from "../../src/agent/records.ts";
import type { HostKey } from "../../src/protocol/host.ts";
import { toldAccount } from "../support/fleet-stub.ts";

const told = {
  recorded_locks: [],
  cursor: "1",
  lease_ms: 1000,
  lease_ends: "logins",
  status: "active",
  end_sessions: "key",
} as const;
const ONE = "192.0.2.0/24";
const TWO = "198.51.100.0/24";
const KEY = hostKey(1);

function hostKey(id: number): HostKey {
  return { id, type: "ssh-ed25519", base64: `AAAA${id}`, fingerprint: `SHA256:${id}` };
}

function keyWith(networks: readonly string[] | undefined) {
  return networks === undefined ? KEY : { ...KEY, networks };
}

/** The networks from which the key may be used after a cautious answer that says `now`, where it was `before`. */
function after(before: readonly string[] | undefined, now: readonly string[] | undefined) {
  const answer = (networks: readonly string[] | undefined, cautious: boolean) => ({
    ...{ ...told, cautious, full: true, removed: [] },
    accounts: [toldAccount({ keys: [keyWith(networks)] })],
  });
  const known = mergeAnswer(undefined, answer(before, false));
  return mergeAnswer(known, answer(now, true)).records[0]?.keys[0]?.networks;
}

describe("mergeAnswer() while the history went back", () => {
  test.each([
    ["more networks", [ONE], [ONE, TWO], [ONE]],
    ["others", [ONE], [TWO], []],
    ["any", [ONE], undefined, [ONE]],
    ["fewer", [ONE, TWO], [TWO], [TWO]],
    ["some, where it was any", undefined, [ONE], [ONE]],
    ["any, where it was any", undefined, undefined, undefined],
  ])("a key is never good from more networks than before: %s", (_, before, now, expected) => {
    expect(after(before, now)).toEqual(expected as readonly string[]);
  });

  test("an account is never open for longer, or with further keys", () => {
    const wide = toldAccount({ keys: [KEY, hostKey(2)], expire_at: "2035-01-01T00:00:00.000Z" });
    const answer = { ...told, full: true, removed: [], cautious: false, accounts: [toldAccount({ keys: [KEY] })] };
    const known = mergeAnswer(undefined, answer);
    const [record] = mergeAnswer(known, { ...answer, cautious: true, accounts: [wide] }).records;
    expect(record?.expire_at).toBe(toldAccount().expire_at);
    expect(record?.keys.map(({ fingerprint }) => fingerprint)).toEqual([KEY.fingerprint]);
    const shut = mergeAnswer(undefined, { ...answer, accounts: [toldAccount({ open: false })] });
    expect(mergeAnswer(shut, { ...answer, cautious: true }).records[0]).toMatchObject({ open: false, keys: [] });
  });
});
