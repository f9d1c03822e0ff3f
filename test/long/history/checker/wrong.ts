/** Wrong histories, one for each way that came to mind, and beside each a right one that differs as little as possible. */

import type { Deed } from "../format.ts";
import type { Rule } from "./judge.ts";
import { ALICE, create, cutShort, type Entry, fail, LATE, login, ok, revoke, unknown, upload } from "./written.ts";

export interface Case {
  readonly about: string;
  readonly rule: Rule;
  readonly wrong: readonly Entry[];
  readonly right: readonly Entry[];
  /** How many deeds the shortest part has that shows it. */
  readonly shortest: number;
}

const alice = <Name extends "disable" | "enable" | "delete">(name: Name): Deed => ({ do: name, user: "alice" });
const hosts = (...named: readonly string[]): Deed => ({ do: "hosts", user: "alice", hosts: named });
const hours = (...windows: readonly (readonly [number, number])[]): Deed => ({ do: "hours", user: "alice", windows });
const cut: Deed = { do: "cut", host: "h1" };
const heal: Deed = { do: "heal", host: "h1" };
const calm: Deed = { do: "calm" };
/** h2 has not confirmed, and holds by then. */
const pending = (by: number | null) => ({ pending: ["h2"], by });
/** A backup with the number 3, and the database set back to it from 2000 to 3000. */
const backup = ok(200, 300, { do: "backup" });
const restore = ok(2000, 3000, { do: "restore", backup: 3 });

export const CASES: readonly Case[] = [
  {
    about: "a revoked key still opens a host that has confirmed",
    rule: "closed",
    wrong: [...ALICE, ok(200, 300, revoke(), pending(9000)), ok(301, 302, login("h1"))],
    right: [...ALICE, ok(200, 300, revoke(), pending(9000)), ok(300, 302, login("h1"))],
    shortest: 4,
  },
  {
    about: "a revoked key opens a host after the moment that was promised for it",
    rule: "closed",
    wrong: [...ALICE, ok(200, 300, revoke(), pending(9000)), ok(9001, 9002, login("h2"))],
    right: [...ALICE, ok(200, 300, revoke(), pending(9000)), ok(9000, 9002, login("h2"))],
    shortest: 4,
  },
  {
    about: "a disabled user gets in, with a key uploaded at the same time",
    rule: "closed",
    wrong: [ok(0, 50, create()), ok(60, 290, upload()), ok(200, 300, alice("disable")), ok(400, 401, login("h1"))],
    right: [ok(0, 50, create()), ok(60, 290, upload()), unknown(200, 300, alice("disable")), ok(400, 401, login("h1"))],
    shortest: 4,
  },
  {
    about: "a user who was enabled before they were disabled gets in",
    rule: "closed",
    wrong: [...ALICE, ok(200, 250, alice("enable")), ok(260, 300, alice("disable")), ok(400, 401, login("h1"))],
    right: [...ALICE, ok(200, 270, alice("enable")), ok(260, 300, alice("disable")), ok(400, 401, login("h1"))],
    shortest: 4,
  },
  {
    about: "enabling was refused, and opens all the same",
    rule: "closed",
    wrong: [...ALICE, ok(200, 250, alice("disable")), fail(260, 300, alice("enable")), ok(400, 401, login("h1"))],
    right: [...ALICE, ok(200, 250, alice("disable")), cutShort(260, alice("enable")), ok(400, 401, login("h1"))],
    shortest: 4,
  },
  {
    about: "a deleted user gets in",
    rule: "closed",
    wrong: [...ALICE, ok(200, 300, alice("delete")), ok(301, 302, login("h1"))],
    right: [...ALICE, fail(200, 300, alice("delete")), ok(301, 302, login("h1"))],
    shortest: 4,
  },
  {
    about: "the name of a deleted user is given again, and the old key opens the new account",
    rule: "closed",
    wrong: [...ALICE, ok(200, 300, alice("delete")), ok(400, 450, create()), ok(500, 501, login("h1"))],
    right: [
      ...[...ALICE, ok(200, 300, alice("delete")), ok(400, 450, create())],
      ...[ok(460, 470, upload()), ok(500, 501, login("h1"))],
    ],
    shortest: 4,
  },
  {
    about: "a host that was taken from a user lets them in",
    rule: "closed",
    wrong: [...ALICE, ok(200, 300, hosts("h2")), ok(301, 302, login("h1"))],
    right: [...ALICE, ok(200, 300, hosts("h2")), ok(301, 302, login("h2"))],
    shortest: 4,
  },
  {
    about: "a host is given to a user, and lets them in before anybody asked for that",
    rule: "never-given",
    wrong: [
      ok(0, 50, create("alice", ["h1"])),
      ok(60, 100, upload()),
      ok(200, 299, login("h2")),
      ok(300, 400, hosts("h1", "h2")),
    ],
    right: [
      ok(0, 50, create("alice", ["h1"])),
      ok(60, 100, upload()),
      ok(200, 300, login("h2")),
      ok(300, 400, hosts("h1", "h2")),
    ],
    shortest: 1,
  },
  {
    about: "somebody gets in with a key that was refused",
    rule: "never-given",
    wrong: [ok(0, 50, create()), fail(60, 100, upload()), ok(200, 201, login("h1"))],
    right: [ok(0, 50, create()), unknown(60, 100, upload()), ok(200, 201, login("h1"))],
    shortest: 1,
  },
  {
    about: "the key of one user opens the account of another",
    rule: "never-given",
    wrong: [...ALICE, ok(0, 50, create("bob")), ok(200, 201, login("h1", "k", "bob"))],
    right: [...ALICE, ok(0, 50, create("bob")), ok(60, 90, upload("k", "bob")), ok(200, 201, login("h1", "k", "bob"))],
    shortest: 1,
  },
  {
    about: "somebody gets in after the end of their access",
    rule: "out-of-time",
    wrong: [ok(0, 50, create("alice", ["h1"], 0, 5000)), ok(60, 100, upload()), ok(5501, 5502, login("h1"))],
    right: [ok(0, 50, create("alice", ["h1"], 0, 5000)), ok(60, 100, upload()), ok(5500, 5502, login("h1"))],
    shortest: 3,
  },
  {
    about: "somebody gets in before their access begins",
    rule: "out-of-time",
    wrong: [ok(0, 50, create("alice", ["h1"], 5000, LATE)), ok(60, 100, upload()), ok(4000, 4999, login("h1"))],
    right: [ok(0, 50, create("alice", ["h1"], 5000, LATE)), ok(60, 100, upload()), ok(4000, 5000, login("h1"))],
    shortest: 3,
  },
  {
    about: "somebody gets in between two windows of their hours",
    rule: "out-of-time",
    wrong: [...ALICE, ok(200, 300, hours([0, 1000], [3000, 4000])), ok(2000, 2001, login("h1"))],
    right: [...ALICE, ok(200, 300, hours([0, 1000], [3000, 4000])), ok(2000, 3000, login("h1"))],
    shortest: 4,
  },
  {
    about: "hours were narrowed, and a host that has confirmed keeps the older ones",
    rule: "out-of-time",
    wrong: [
      ...[...ALICE, ok(110, 150, hours([0, 9000])), ok(200, 300, hours([0, 1000], [8000, 9000]), pending(9000))],
      ok(2000, 2001, login("h1")),
    ],
    right: [
      ...[...ALICE, ok(110, 150, hours([0, 9000])), ok(200, 300, hours([0, 1000], [8000, 9000]), pending(9000))],
      ok(2000, 2001, login("h2")),
    ],
    shortest: 4,
  },
  {
    about: "the agent of a host with a slow clock leaves a window open",
    rule: "out-of-time",
    wrong: [
      ...[...ALICE, ok(110, 150, hours([0, 9000])), ok(200, 201, { do: "clock", host: "h1", off: -30_000 })],
      ok(20_000, 20_001, login("h1")),
    ],
    // sshd knows only the host's own clock, and nobody else was there at the end.
    right: [
      ...[...ALICE, ok(110, 150, hours([0, 9000])), ok(200, 201, { do: "clock", host: "h1", off: -30_000 })],
      ...[ok(8000, 15_000, { do: "kill", host: "h1" }), ok(20_000, 20_001, login("h1"))],
    ],
    shortest: 4,
  },
  {
    about: "a host whose clock is minutes off opens a window",
    rule: "clock",
    wrong: [
      ...[...ALICE, ok(110, 150, hours([9000, 90_000])), ok(200, 201, { do: "clock", host: "h1", off: 120_000 })],
      ok(20_000, 20_001, login("h1")),
    ],
    right: [
      ...[...ALICE, ok(110, 150, hours([9000, 90_000])), ok(200, 201, { do: "clock", host: "h1", off: 20_000 })],
      ok(20_000, 20_001, login("h1")),
    ],
    shortest: 5,
  },
  {
    about: "a host that is cut off lets people in after its lease",
    rule: "lease",
    wrong: [...ALICE, ok(200, 300, cut), ok(10_801, 10_802, login("h1"))],
    right: [...ALICE, ok(200, 300, cut), ok(10_801, 10_802, login("h2"))],
    shortest: 4,
  },
  {
    about: "the agent of a host is stopped, and nobody else ends the lease",
    rule: "lease",
    wrong: [...ALICE, ok(200, 300, { do: "stop", host: "h1" }), ok(20_000, 20_001, login("h1"))],
    right: [
      ...[...ALICE, ok(200, 300, { do: "stop", host: "h1" }), ok(19_000, 20_001, { do: "go", host: "h1" })],
      ok(20_000, 20_001, login("h1")),
    ],
    shortest: 4,
  },
  {
    about: "a host keeps a longer lease than the one that was in force when it was cut off",
    rule: "lease",
    wrong: [
      ...ALICE,
      ok(110, 120, { do: "lease", host: "h1", lease: 2000 }, { pending: ["h1"], by: 10_000 }),
      ...[ok(11_000, 11_001, cut), ok(15_000, 15_001, login("h1"))],
    ],
    right: [
      ...ALICE,
      ok(110, 120, { do: "lease", host: "h1", lease: 2000 }, { pending: ["h1"], by: 10_000 }),
      ...[ok(9000, 9001, cut), ok(15_000, 15_001, login("h1"))],
    ],
    shortest: 5,
  },
  {
    about: "a host was booted while it was cut off, and lets people in",
    rule: "boot",
    wrong: [...ALICE, ok(200, 300, cut), ok(400, 500, { do: "boot", host: "h1" }), ok(600, 601, login("h1"))],
    right: [
      ...[...ALICE, ok(200, 300, cut), ok(400, 500, { do: "boot", host: "h1" })],
      ...[ok(550, 700, heal), ok(600, 601, login("h1"))],
    ],
    shortest: 5,
  },
  {
    about: "a locked host lets people in after its lease",
    rule: "closed",
    wrong: [...ALICE, ok(200, 300, { do: "lock", host: "h2" }, pending(9000)), ok(9001, 9002, login("h2"))],
    right: [
      ...[
        ...ALICE,
        ok(200, 300, { do: "lock", host: "h2" }, pending(9000)),
        ok(8000, 9500, { do: "unlock", host: "h2" }),
      ],
      ok(9001, 9002, login("h2")),
    ],
    shortest: 4,
  },
  {
    about: "a host that has not confirmed has shown a later grant, and keeps what was taken away before that",
    rule: "went-back",
    wrong: [
      ...[
        ...ALICE,
        ok(200, 300, revoke(), pending(9000)),
        ok(310, 350, create("bob")),
        ok(360, 400, upload("b", "bob")),
      ],
      ...[ok(500, 501, login("h2", "b", "bob")), ok(510, 511, login("h2"))],
    ],
    right: [
      ...[
        ...ALICE,
        ok(200, 300, revoke(), pending(9000)),
        ok(250, 350, create("bob")),
        ok(260, 400, upload("b", "bob")),
      ],
      ...[ok(500, 501, login("h2", "b", "bob")), ok(510, 511, login("h2"))],
    ],
    shortest: 7,
  },
  {
    about: "a host has shown that it knows who was enabled again, and keeps what was taken away before that",
    rule: "went-back",
    wrong: [
      ...[...ALICE, ok(0, 50, create("bob")), ok(60, 90, upload("b", "bob"))],
      ...[ok(200, 300, { do: "disable", user: "bob" }), ok(310, 350, revoke(), pending(9000))],
      ...[
        ok(360, 400, { do: "enable", user: "bob" }),
        ok(500, 501, login("h2", "b", "bob")),
        ok(510, 511, login("h2")),
      ],
    ],
    // Nobody had to hear of the other list to let bob in.
    right: [
      ...[...ALICE, ok(0, 50, create("bob")), ok(60, 90, upload("b", "bob")), ok(310, 350, revoke(), pending(9000))],
      ok(360, 400, { do: "hosts", user: "bob", hosts: ["h2"] }),
      ...[ok(500, 501, login("h2", "b", "bob")), ok(510, 511, login("h2"))],
    ],
    shortest: 9,
  },
  {
    about: "once all is calm, somebody gets in by a host that never confirmed",
    rule: "still-open",
    wrong: [...ALICE, ok(200, 300, revoke(), pending(10_000)), ok(400, 9000, calm), ok(3500, 3501, login("h2"))],
    right: [...ALICE, ok(200, 300, revoke(), pending(10_000)), ok(400, 9000, calm), ok(3399, 3400, login("h2"))],
    shortest: 5,
  },
  {
    about: "once all is calm, somebody who may get in does not",
    rule: "not-open",
    wrong: [...ALICE, ok(400, 9000, calm), fail(3500, 3501, login("h2"))],
    right: [...ALICE, unknown(300, 350, alice("disable")), ok(400, 9000, calm), fail(3500, 3501, login("h2"))],
    shortest: 4,
  },
  {
    about: "once all is calm, a key is refused that certainly is there",
    rule: "not-open",
    wrong: [ok(0, 50, create()), ok(60, 100, upload()), ok(400, 9000, calm), fail(3500, 3501, login("h2"))],
    right: [ok(0, 50, create()), unknown(60, 100, upload()), ok(400, 9000, calm), fail(3500, 3501, login("h2"))],
    shortest: 4,
  },
  {
    about: "once all is calm, a key is refused that was given before the login, and not in the same millisecond",
    rule: "not-open",
    wrong: [ok(0, 50, create()), ok(60, 3499, upload()), ok(400, 9000, calm), fail(3500, 3500, login("h2"))],
    right: [ok(0, 50, create()), ok(3500, 3600, upload()), ok(400, 9000, calm), fail(3500, 3500, login("h2"))],
    shortest: 4,
  },
  {
    about: "a window that begins while all is calm is not opened",
    rule: "not-open",
    wrong: [...ALICE, ok(110, 150, hours([4000, 9000])), ok(400, 9000, calm), fail(7100, 7101, login("h2"))],
    right: [...ALICE, ok(110, 150, hours([4000, 9000])), ok(400, 9000, calm), fail(3900, 6900, login("h2"))],
    shortest: 4,
  },
  {
    about: "an acknowledged grant is lost without a restore",
    rule: "not-open",
    wrong: [...ALICE, ok(200, 300, { do: "failover" }), ok(400, 9000, calm), fail(3500, 3501, login("h1"))],
    right: [
      ...[
        ok(0, 1, { do: "failover" }),
        ok(2, 3, { do: "failover" }),
        ok(10, 20, { do: "backup" }),
        ...ALICE.map(later(30)),
      ],
      ...[restore, ok(3100, 3200, { do: "accept" }), ok(3300, 9000, calm), fail(6500, 6501, login("h1"))],
    ],
    shortest: 4,
  },
  {
    about: "a restore lost a closing, and a host that had confirmed it opens before that is accepted",
    rule: "closed",
    wrong: [...ALICE, backup, ok(400, 500, revoke()), restore, ok(3100, 3101, login("h1"))],
    right: [
      ...ALICE,
      backup,
      ok(400, 500, revoke()),
      restore,
      ok(3050, 3200, { do: "accept" }),
      ok(3100, 3101, login("h1")),
    ],
    shortest: 4,
  },
  {
    about: "a restore is no excuse for a closing from before the backup",
    rule: "closed",
    wrong: [...ALICE, ok(200, 300, { do: "backup" }), ok(110, 150, revoke()), restore, ok(3100, 3101, login("h1"))],
    right: [
      ...[...ALICE, ok(200, 300, { do: "backup" }), ok(210, 350, revoke()), restore],
      ...[ok(3150, 3200, { do: "accept" }), ok(3300, 3301, login("h1"))],
    ],
    shortest: 4,
  },
  {
    about: "what a restore took back is open when all is calm again",
    rule: "still-open",
    wrong: [
      ...[ok(0, 50, create()), ok(51, 52, create("bob")), backup, ok(400, 450, upload()), restore],
      ...[ok(3100, 3200, { do: "accept" }), ok(3300, 9000, calm), ok(6500, 6501, login("h1"))],
    ],
    right: [
      ...[ok(0, 50, create()), ok(51, 52, create("bob")), backup, ok(250, 450, upload()), restore],
      ...[ok(3100, 3200, { do: "accept" }), ok(3300, 9000, calm), ok(6500, 6501, login("h1"))],
    ],
    shortest: 6,
  },
  {
    about: "an answer names no moment for a host that has a lease",
    rule: "promise",
    wrong: [...ALICE, ok(200, 300, revoke(), pending(null))],
    right: [...ALICE, ok(110, 120, { do: "lease", host: "h2", lease: null }), ok(200, 300, revoke(), pending(null))],
    shortest: 1,
  },
  {
    about: "an answer that takes access away says nothing of hosts",
    rule: "promise",
    wrong: [...ALICE, ok(200, 300, revoke(), {})],
    right: [...ALICE, ok(200, 300, upload("another"), {})],
    shortest: 1,
  },
  {
    about: "an answer names a moment that is later than any lease",
    rule: "promise",
    wrong: [...ALICE, ok(200, 300, revoke(), pending(11_000))],
    right: [...ALICE, ok(200, 300, revoke(), pending(10_400))],
    shortest: 1,
  },
];

function later(by: number): (entry: Entry) => Entry {
  return (entry) => ({ ...entry, from: entry.from + by, to: entry.to + by });
}
