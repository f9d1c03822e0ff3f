import { describe, expect, test } from "bun:test";
import {
  type AccountRecord,
  type AgentState,
  cleared,
  mayAdmit,
  mergeAnswer as merge,
  NOTHING,
  sameOrders,
  type Todo,
  unknownOf,
} from "../../src/agent/records.ts";
import type { AccountState, HostState } from "../../src/protocol/fleet.ts";
import type { AccountRef, HostKey } from "../../src/protocol/host.ts";
import { timesAt, toldAccount } from "../support/fleet-stub.ts";

const told = {
  recorded_locks: [],
  cursor: "1",
  lease_ms: 1000,
  lease_ends: "logins",
  status: "active",
  end_sessions: "key",
} as const;
const NOW = "2026-11-27T10:00:00.000Z";

function mergeAnswer(before: AgentState | undefined, answer: HostState, found: readonly AccountRef[] = []): AgentState {
  return merge(before, answer, { found, times: timesAt(new Date(NOW)) });
}

const ONE = "192.0.2.0/24";
/** Within ONE. */
const PART = "192.0.2.16/28";
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
    ["a part of one", [ONE, TWO], [PART], [PART]],
    ["one around it", [PART], [ONE], [PART]],
    ["not in canonical form", [ONE], ["192.0.2.0/024"], []],
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

describe("mergeAnswer() of a full answer that names an account again", () => {
  const plain = hostKey(2);
  const known = toldAccount({ keys: [keyWith([ONE, TWO]), plain] });
  const record = { ...known, made: true, todo: NOTHING, problem: undefined };
  const before: AgentState = { version: 1, ...told, records: [record] };
  const after = (account: Partial<AccountState>) => {
    const answer = { ...told, full: true, removed: [], cautious: false };
    return mergeAnswer(before, { ...answer, accounts: [{ ...known, ...account }] }).records[0];
  };

  test("has nothing to do where all is as it was", () => {
    expect(after({ keys: structuredClone(known.keys) })).toBe(record);
  });

  test.each([
    ["other networks", [keyWith([ONE]), plain], { take: [], narrow: true }],
    [
      "networks where there were none",
      [keyWith([ONE, TWO]), { ...plain, networks: [ONE] }],
      { take: [], narrow: true },
    ],
    ["any network where there were some", [KEY, plain], { take: [], narrow: true }],
    ["another id", [keyWith([ONE, TWO]), { ...plain, id: 3 }], { take: [], narrow: false }],
    ["another type", [keyWith([ONE, TWO]), { ...plain, type: "ssh-rsa" }], { take: [], narrow: false }],
    ["another text", [keyWith([ONE, TWO]), { ...plain, base64: "BBBB" }], { take: [], narrow: false }],
    ["a key less", [plain], { take: [KEY.fingerprint], narrow: false }],
    ["a key more", [keyWith([ONE, TWO]), plain, hostKey(3)], { take: [], narrow: false }],
  ])("follows a key with %s", (_, keys, todo) => {
    expect(after({ keys })).toMatchObject({ keys, todo: { ...NOTHING, ...todo, open: true } });
  });

  test("follows another expiry, and that it is shut", () => {
    const expire_at = "2031-03-05T12:00:00.000Z";
    expect(after({ expire_at })).toMatchObject({ expire_at, todo: { ...NOTHING, open: true } });
    // What is earlier is taken away before anything is given, on this host and on those with other accounts to open.
    const earlier = "2031-03-04T11:59:59.999Z";
    expect(after({ expire_at: earlier })).toMatchObject({
      expire_at: earlier,
      todo: { ...NOTHING, narrow: true, open: true },
    });
    expect(after({ open: false })).toMatchObject({ open: false, todo: { ...NOTHING, shut: true } });
  });
});

describe("mergeAnswer() of a full answer, on a host with accounts under our name", () => {
  const known = toldAccount();
  const record: AccountRecord = { ...known, made: true, todo: NOTHING, problem: undefined };
  const answer = { ...told, full: true, removed: [], cautious: false, accounts: [known] };
  const after = (...found: readonly { readonly name: string; readonly uid: number }[]) =>
    mergeAnswer({ version: 1, ...told, records: [record] }, answer, found).records;

  test("shuts those that it never heard of", () => {
    const { name, uid } = { name: "ext_trudy", uid: 41_007 };
    const [, stranger] = after({ name: known.name, uid: known.uid }, { name, uid });
    expect(stranger).toMatchObject({ name, uid, open: false, keys: [], todo: { ...NOTHING, shut: true } });
  });

  test("leaves alone those that it knows, and another that has the name of one", () => {
    expect(after({ name: known.name, uid: known.uid })).toEqual([record]);
    expect(after({ name: known.name, uid: 1000 })).toEqual([record]);
  });
});

describe("mergeAnswer() of an account whose keys on the host are not known", () => {
  const alice = toldAccount({ keys: [KEY] });
  const answer = { ...told, full: true, removed: [], cautious: false, accounts: [alice] };
  const known = merge(undefined, answer, { times: timesAt(new Date(NOW)) });
  const done = { ...known, records: known.records.map((record) => ({ ...record, made: true, todo: NOTHING })) };

  test.each<[string, boolean, AgentState | undefined, readonly AccountRef[], boolean]>([
    ["it was found, and nothing is known of it", true, undefined, [alice], true],
    ["what is stored of it is not believed", true, done, [], false],
    ["nobody has it yet", false, undefined, [], true],
    ["it is not made yet, and told again", false, known, [], true],
    ["it was made and is believed", false, done, [alice], true],
  ])("where %s, it may admit what was taken away: %p", (_, may, before, found, isBelieved) => {
    const again = { ...answer, full: before === undefined, accounts: [{ ...alice, keys: [KEY, hostKey(2)] }] };
    const merged = merge(before, again, { found, isBelieved, times: timesAt(new Date(NOW)) });
    expect(mayAdmit(merged)).toBe(may);
    // Until it was tried: whatever is told in between.
    expect(mayAdmit(merge(merged, again, { times: timesAt(new Date(NOW)) }))).toBe(may);
  });
});

describe("mergeAnswer() when the host is locked, opened again or retired", () => {
  type Part = Partial<Omit<AccountRecord, "todo">> & { readonly todo?: Partial<Todo> };
  const status = { active: "active", locked: "locked", retiring: "retiring" } as const;
  function after(from: keyof typeof status, to: keyof typeof status, { todo, ...part }: Part = {}) {
    const record: AccountRecord = {
      ...{ ...toldAccount({ keys: [KEY] }), made: true, problem: undefined },
      ...part,
      todo: { ...NOTHING, ...todo },
    };
    const before: AgentState = { version: 1, ...told, status: status[from], records: [record] };
    const answer = { ...told, status: status[to], full: false, removed: [], cautious: false, accounts: [] };
    const [merged] = mergeAnswer(before, answer).records;
    return { record, merged };
  }

  test.each<[keyof typeof status, keyof typeof status, Part, Partial<Todo>]>([
    ["active", "locked", {}, { shut: true, open: true }],
    ["active", "locked", { open: false }, {}],
    ["active", "locked", { open: false, todo: { shut: true } }, { shut: true }],
    ["active", "locked", { todo: { take: ["SHA256:9"] } }, { shut: true, take: ["SHA256:9"], open: true }],
    ["locked", "active", {}, { open: true }],
    ["locked", "active", { open: false }, {}],
    ["locked", "active", { open: false, todo: { shut: true } }, { shut: true }],
  ])("from %s to %s: %j", (from, to, part, todo) => {
    expect(after(from, to, part).merged?.todo).toEqual({ ...NOTHING, ...todo });
  });

  test.each(["active", "locked"] as const)("has nothing to do where it is %s as before", (same) => {
    const { record, merged } = after(same, same);
    expect(merged).toBe(record);
  });

  test("still removes what was to be removed", () => {
    const { record, merged } = after("locked", "active", { open: false, todo: { remove: true } });
    expect(merged).toBe(record);
  });

  test.each(["active", "locked"] as const)("removes every account where it retires, having been %s", (from) => {
    const { merged } = after(from, "retiring", { todo: { open: true } });
    expect(merged).toMatchObject({ open: false, keys: [], todo: { ...NOTHING, remove: true } });
  });
});

describe("cleared()", () => {
  const record: AccountRecord = { ...toldAccount(), made: true, todo: NOTHING, problem: undefined };
  const problem = { kind: "missing", text: "It is missing" } as const;

  test("leaves a record without a problem as it is", () => {
    expect(cleared(record)).toBe(record);
  });

  test("opens, or shuts, an account again that somebody brought back", () => {
    expect(cleared({ ...record, problem })).toEqual({ ...record, todo: { ...NOTHING, open: true } });
    const shut = { ...record, open: false };
    expect(cleared({ ...shut, problem })).toEqual({ ...shut, todo: { ...NOTHING, shut: true } });
  });
});

describe("sameOrders()", () => {
  const record: AccountRecord = { ...toldAccount(), made: true, todo: NOTHING, problem: undefined };
  const state: AgentState = { version: 1, ...told, records: [record] };

  test("is true of an answer that only moves on, and of no first one", () => {
    expect(sameOrders(state, { ...state, cursor: "2", records: [record] })).toBe(true);
    expect(sameOrders(undefined, state)).toBe(false);
    expect(sameOrders(undefined, { ...state, records: [] })).toBe(false);
  });

  test.each<[Partial<AgentState>]>([
    [{ status: "locked" }],
    [{ lease_ms: null }],
    [{ lease_ends: "sessions" }],
    [{ end_sessions: "all" }],
    [{ records: [] }],
    [{ records: [{ ...record }] }],
    [{ records: [record, { ...record, uid: 41_002 }] }],
  ])("is false where the host is to be otherwise: %j", (change) => {
    expect(sameOrders(state, { ...state, ...change })).toBe(false);
  });
});

describe("what a full answer no longer names", () => {
  const record = (part: Partial<AccountRecord>): AccountRecord => ({
    ...{ ...toldAccount({ keys: [KEY] }), made: true, todo: NOTHING, problem: undefined },
    ...part,
  });
  const after = (...records: readonly AccountRecord[]) => {
    const answer = { ...told, full: true, removed: [], cautious: false, accounts: [] };
    return mergeAnswer({ version: 1, ...told, records }, answer, [{ name: "ext_trudy", uid: 41_099 }]);
  };

  test("is shut, unless it is shut or being removed", () => {
    const shut = record({ name: "ext_b", uid: 41_002, open: false });
    const removed = record({ name: "ext_c", uid: 41_003, todo: { ...NOTHING, remove: true } });
    const shutting = record({ name: "ext_d", uid: 41_004, open: false, todo: { ...NOTHING, shut: true, open: true } });
    const [open, ...others] = after(record({}), shut, removed, shutting).records;
    expect(open).toEqual(record({ open: false, keys: [], todo: { ...NOTHING, shut: true }, unknown: true }));
    expect(others.slice(0, 3)).toEqual([
      { ...shut, unknown: true },
      { ...removed, unknown: true },
      { ...shutting, keys: [], todo: { ...NOTHING, shut: true }, unknown: true },
    ]);
  });

  test("is said to be unknown in a lasting order, without what is being removed and what was never told", () => {
    const state = after(
      record({ name: "ext_z", uid: 41_001 }),
      record({ name: "ext_c", uid: 41_003, todo: { ...NOTHING, remove: true } }),
      record({ name: "ext_b", uid: 41_000 }),
      record({ name: "ext_a", uid: 41_001 }),
    );
    const known = [
      { name: "ext_b", uid: 41_000 },
      { name: "ext_a", uid: 41_001 },
      { name: "ext_z", uid: 41_001 },
    ];
    expect(unknownOf(state)).toEqual(known);
    expect(unknownOf(after(...state.records))).toEqual(known);
    const named = record({ name: "ext_y", uid: 41_005 });
    expect(unknownOf({ records: [named, ...state.records] })).toEqual(known);
  });
});
