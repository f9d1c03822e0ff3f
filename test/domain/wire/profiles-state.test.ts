/** What binds an account on a host with an agent: nobody may do more there than any of the profiles that bind them. */

import { describe, expect, test } from "bun:test";
import { boundBy } from "../../../src/domain/wire/profiles-state.ts";
import type { HostProfile } from "../../../src/protocol/profile.ts";

const SHELL: HostProfile = { name: "dev", kind: "shell", forwarding: true, secondFactor: "none" };
const DROP: HostProfile = { name: "drop", kind: "sftp", directory: "/data", secondFactor: "none" };
const TUNNEL: HostProfile = { name: "tunnel", kind: "forward", targets: ["db1:5432"], secondFactor: "none" };
const KEY = { id: 1, type: "ssh-ed25519", base64: "AAAA", fingerprint: "SHA256:x" };
const OPEN = { name: "ext_alice", uid: 60_001, expire_at: "2027-01-01T00:00:00.000Z", open: true, keys: [KEY] };
const SHUT = { ...OPEN, open: false, keys: [] };

const known = {
  all: [SHELL, DROP, TUNNEL],
  groups: [
    { id: 1, profile: "drop" },
    { id: 2, profile: "tunnel" },
  ],
};
const told = (account: object, holds = true) => boundBy(known)({ ...OPEN, ...account }, holds);

describe("boundBy()", () => {
  test("tells of the narrowest that binds the account there", () => {
    expect(told({})).toEqual(OPEN);
    expect(told({ profile: "dev" })).toEqual({ ...OPEN, profile: "dev" });
    expect(told({ profile: "dev", groups: [1] })).toEqual({ ...OPEN, profile: "drop" });
    expect(told({ groups: [1, 7] })).toEqual({ ...OPEN, profile: "drop" });
  });

  test("leaves out keys without proof where what counts there asks for it, whatever the agent knows of that", () => {
    const strong: HostProfile = { ...SHELL, name: "strong", secondFactor: "verified", attestation: "required" };
    const bind = boundBy({ all: [SHELL, strong], groups: [{ id: 1, profile: "strong" }] });
    const two = { ...OPEN, keys: [KEY, { ...KEY, id: 2 }], unproven: [1] };
    expect(bind({ ...two, profile: "dev" }, true).keys.map(({ id }) => id)).toEqual([1, 2]);
    for (const bound of [{ profile: "strong" }, { profile: "dev", groups: [1] }, { groups: [1] }]) {
      const { keys, open, ...rest } = bind({ ...two, ...bound }, true);
      expect([keys.map(({ id }) => id), open, "unproven" in rest]).toEqual([[2], true, false]);
    }
    expect(bind({ ...two, unproven: [1, 2], profile: "strong" }, true)).toMatchObject({ open: true, keys: [] });
    expect(bind(two, true)).toEqual({ ...OPEN, keys: two.keys });
  });

  test("shuts whose profiles cannot be compared, or are not known", () => {
    for (const account of [{ profile: "drop", groups: [2] }, { groups: [1, 2] }, { profile: "gone" }]) {
      expect(told(account)).toEqual(SHUT);
    }
    expect(boundBy(undefined)({ ...OPEN, profile: "drop" }, true)).toEqual(SHUT);
  });

  test("shuts all that have one on a host whose agent holds none, with their hours gone", () => {
    const hours = { until: "2026-12-05T08:00:00.000Z", windows: [] };
    expect(told({ profile: "dev", hours }, false)).toEqual(SHUT);
    expect(told({ hours }, false)).toEqual({ ...OPEN, hours });
  });
});
