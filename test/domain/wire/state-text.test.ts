import { expect, test } from "bun:test";
import { stateText } from "../../../src/domain/wire/state-text.ts";
import type { HostState } from "../../../src/protocol/fleet.ts";

const host = {
  id: 2,
  name: "web",
  status: "active",
  lease: 1000,
  leaseEnds: "logins",
  diverged: false,
  appliedId: 0,
  hasProblems: false,
  recordedLocks: [],
} as const;
const key = (id: number, type: string) => ({ id, type, base64: "AAAA", fingerprint: `SHA256:${"A".repeat(43)}` });
const account = {
  ...{ name: "ext_a", uid: 65_600, expire_at: "2030-01-01T00:00:00.000Z", open: true },
  keys: [key(1, "ssh-ed25519"), key(2, "ssh-mldsa44-ed25519")],
};
const told = { cursor: "", full: true, accounts: [account], removed: [] };
const typesTold = (reads?: readonly string[]) => {
  const state: HostState = JSON.parse(stateText({ ...host, reads }, told, { endSessions: "key", now: new Date(0) }));
  return state.accounts.flatMap(({ keys }) => keys.map(({ type }) => type));
};

test("an agent is told of keys of newer types only if it says that it can read them", () => {
  expect(typesTold()).toEqual(["ssh-ed25519"]);
  expect(typesTold(["ssh-something-else"])).toEqual(["ssh-ed25519"]);
  expect(typesTold(["ssh-something-else", "ssh-mldsa44-ed25519"])).toEqual(["ssh-ed25519", "ssh-mldsa44-ed25519"]);
});
