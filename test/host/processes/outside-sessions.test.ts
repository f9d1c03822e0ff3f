/** Which sessions come from outside the networks of an account's keys. */

import { expect, test } from "bun:test";
import type { Connection, HostSessions } from "../../../src/host/executor.ts";
import { endOutsideSessions, isInside } from "../../../src/host/processes/outside-sessions.ts";
import type { HostKey } from "../../../src/protocol/host.ts";
import { testAccount } from "../../support/host-account.ts";

const key = (fingerprint: string, networks?: readonly string[]): HostKey => ({
  ...{ id: 1, type: "ssh-ed25519", base64: fingerprint, fingerprint },
  networks,
});
const office = key("office", ["192.0.2.0/24"]);
const home = key("home", ["192.0.2.0/24", "198.51.100.0/24"]);
const anywhere = key("anywhere");
const nowhere = key("nowhere", []);

test.each([
  ["192.0.2.7", "office", [office, home], true],
  ["198.51.100.7", "office", [office, home], false],
  ["198.51.100.7", "home", [office, home], true],
  ["203.0.113.7", "anywhere", [office, anywhere], true],
  ["", "anywhere", [office, anywhere], true],
  ["", "office", [office, anywhere], false],
  ["192.0.2.7", "nowhere", [office, nowhere], false],
  // Without proof, or with that of a key that is none of these, each of them may have opened it.
  ["192.0.2.7", undefined, [office, home, anywhere], true],
  ["198.51.100.7", undefined, [office, home], false],
  ["198.51.100.7", "revoked", [office, home], false],
  ["192.0.2.7", undefined, [office, nowhere], false],
  ["", undefined, [anywhere], true],
  ["", undefined, [anywhere, office], false],
] as const)("isInside() of a session from %p by %p", (from, fingerprint, keys, inside) => {
  expect(isInside({ from, fingerprint }, keys)).toBe(inside);
});

/** Sessions that the connections come and go in, as `next` has them at each look. */
function sessionsOf(next: (look: number) => readonly Partial<Connection>[]) {
  const ended: string[] = [];
  let looks = 0;
  const sessions: HostSessions = {
    list: async () =>
      next(looks++)
        .map((it) => ({ id: "1", since: new Date(0), from: "", fingerprint: undefined, isLoggedIn: true, ...it }))
        .filter(({ id }) => !ended.includes(id)),
    end: async (_, id) => {
      ended.push(id);
      return "ended";
    },
    logins: async (place) => ({ logins: [], next: place }),
    refusals: async () => ({ refusals: [] }),
  };
  return { sessions, ended };
}

test("endOutsideSessions() does not wait for strangers who keep knocking, but for logins", async () => {
  const account = testAccount({ keys: [office] });
  const knocking = sessionsOf((look) => [{ id: `k${look}`, from: "203.0.113.7", isLoggedIn: false }]);
  expect(await endOutsideSessions(account, knocking.sessions)).toBe(true);
  expect(knocking.ended).toEqual(["k0"]);
  const coming = sessionsOf((look) => [{ id: `c${look}`, from: "203.0.113.7" }]);
  expect(await endOutsideSessions(account, coming.sessions)).toBe(false);
  const inside = sessionsOf(() => [{ id: "i", from: "192.0.2.7" }]);
  expect(await endOutsideSessions(account, inside.sessions)).toBe(true);
  expect(inside.ended).toEqual([]);
});
