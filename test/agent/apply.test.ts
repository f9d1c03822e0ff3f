/** What an agent does in which order, where an account's owner has made it take long. */

import { beforeEach, describe, expect, test } from "bun:test";
import { applyState, type Work } from "../../src/agent/apply.ts";
import { createHolding } from "../../src/agent/profiles.ts";
import { type AccountRecord, type AgentState, mayAdmit, NOTHING, type Todo } from "../../src/agent/records.ts";
import { UamError } from "../../src/shared/errors.ts";
import { createFakeHost, type FakeHost } from "../support/fake-host.ts";
import { timesAt, toldAccount } from "../support/fleet-stub.ts";

let host: FakeHost;
let work: Work;
let state: AgentState;
/** Those whose processes do not end: each attempt takes longer than there is time. */
let stuck: string[];

beforeEach(() => {
  stuck = ["ext_mallory", "ext_trudy"];
  host = createFakeHost(0);
  const { shutAccount } = host;
  Object.assign(host, {
    shutAccount: async (account: Parameters<typeof shutAccount>[0]) => {
      const closing = await shutAccount(account);
      return stuck.includes(account.name) ? { refused: true, owed: ["Processes did not end"] } : closing;
    },
  });
  work = {
    host,
    status: "active",
    mayOpen: true,
    locked: () => new Set(),
    refused: new WeakMap(),
    turn: (step) => step(),
    holding: createHolding(),
    times: () => timesAt(Date.now()),
  };
});

function records(...wanted: readonly (readonly [name: string, todo: Partial<Todo>])[]): AgentState {
  const list = wanted.map(([name, todo], index): AccountRecord => {
    const uid = 41_000 + index;
    const { open = false } = todo;
    host.accounts.set(name, { uid, open: !open, expireAt: new Date(0), file: [] });
    return { ...toldAccount({ name, uid, open }), made: true, todo: { ...NOTHING, ...todo }, problem: undefined };
  });
  const told = { status: "active", lease_ms: 1000, lease_ends: "logins", end_sessions: "key" } as const;
  return { version: 1, cursor: "", ...told, records: list };
}

/** What is done in one turn, whose time is over once a stuck account was tried. */
async function turn(): Promise<readonly string[]> {
  host.calls.length = 0;
  const isOver = () => host.calls.some((call) => stuck.some((name) => call === `shutAccount ${name}`));
  state = await applyState(work, state, isOver);
  return host.calls;
}

describe("applyState()", () => {
  test("an account whose processes do not end delays the opening of others once, and not for ever", async () => {
    state = records(["ext_mallory", { shut: true }], ["ext_carol", { open: true }]);
    expect(await turn()).toEqual(["shutAccount ext_mallory"]);
    expect(await turn()).toEqual(["openAccount ext_carol", "shutAccount ext_mallory"]);
    expect(host.accounts.get("ext_carol")?.open).toBe(true);
    expect(state.records.map(({ problem }) => problem?.kind)).toEqual(["refused", undefined]);
  });

  test("what is new to be taken away does not wait for what the host refused", async () => {
    state = records(["ext_mallory", { shut: true }], ["ext_trudy", { shut: true }], ["ext_carol", {}]);
    await turn();
    const [one, other, carol] = state.records as [AccountRecord, AccountRecord, AccountRecord];
    state = { ...state, records: [one, other, { ...carol, todo: { ...NOTHING, shut: true } }] };
    expect((await turn())[0]).toBe("shutAccount ext_carol");
  });

  test("each that the host refused has its turn, and one that was told anew counts as new", async () => {
    state = records(["ext_mallory", { shut: true }], ["ext_trudy", { shut: true }]);
    expect(await turn()).toHaveLength(2);
    const turns: string[] = [];
    for (let count = 0; count < 4; count++) turns.push(...(await turn()));
    const [mallory, trudy] = stuck.map((name) => `shutAccount ${name}`) as [string, string];
    expect(turns).toEqual([mallory, trudy, mallory, trudy]);
    const [one, other] = state.records as [AccountRecord, AccountRecord];
    state = { ...state, records: [{ ...one }, other] };
    expect((await turn())[0]).toBe("shutAccount ext_mallory");
  });

  test("tries all that it has time for", async () => {
    state = records(["ext_mallory", { shut: true }], ["ext_trudy", { shut: true }]);
    state = await applyState(work, state);
    host.calls.length = 0;
    state = await applyState(work, state);
    expect(host.calls).toEqual(["shutAccount ext_mallory", "shutAccount ext_trudy"]);
    host.calls.length = 0;
    stuck = [];
    state = await applyState(work, state);
    expect(state.records.map(({ problem, todo }) => [problem, todo.shut])).toEqual([
      [undefined, false],
      [undefined, false],
    ]);
  });

  test("a key that cannot be taken leaves the account shut, and nothing that comes after it hides that", async () => {
    state = records(["ext_carol", { take: ["SHA256:1"], narrow: true, open: true }]);
    host.failing.add("takeKey");
    expect(await turn()).toEqual(["takeKey ext_carol", "shutAccount ext_carol"]);
    const owed = {
      todo: { take: ["SHA256:1"], narrow: true, open: true },
      problem: { kind: "refused", text: expect.stringContaining("ext_carol is shut until that is done") },
    };
    expect(state.records[0]).toMatchObject(owed);
    expect(await turn()).toEqual(["takeKey ext_carol", "shutAccount ext_carol"]);
    expect(state.records[0]).toMatchObject(owed);
    host.failing.clear();
    expect(await turn()).toEqual(["takeKey ext_carol", "narrowKeys ext_carol", "openAccount ext_carol"]);
    expect(state.records[0]).toMatchObject({ todo: NOTHING, problem: undefined });
  });

  test("networks that cannot be narrowed leave the account shut until they are", async () => {
    state = records(["ext_carol", { narrow: true, open: true }]);
    host.failing.add("narrowKeys");
    expect(await turn()).toEqual(["narrowKeys ext_carol", "shutAccount ext_carol"]);
    expect(state.records[0]).toMatchObject({
      todo: { ...NOTHING, narrow: true, open: true },
      problem: {
        kind: "refused",
        text: "The host refused: narrowKeys of ext_carol. ext_carol is shut until that is done",
      },
    });
    host.failing.clear();
    expect(await turn()).toEqual(["narrowKeys ext_carol", "openAccount ext_carol"]);
    expect(state.records[0]).toMatchObject({ todo: NOTHING, problem: undefined });
  });

  test("only taking a key ends nobody's session for its networks", async () => {
    state = records(["ext_carol", { take: ["SHA256:1"], open: true }]);
    expect(await turn()).toEqual(["takeKey ext_carol", "openAccount ext_carol"]);
  });

  test("one that the host refused is tried even without time, unless there was something new to take away", async () => {
    state = records(["ext_mallory", { shut: true }], ["ext_trudy", { shut: true }], ["ext_carol", {}]);
    await turn();
    host.calls.length = 0;
    state = await applyState(work, state, () => true);
    expect(host.calls).toEqual(["shutAccount ext_mallory"]);
    host.calls.length = 0;
    const [one, other, carol] = state.records as [AccountRecord, AccountRecord, AccountRecord];
    state = { ...state, records: [one, other, { ...carol, todo: { ...NOTHING, shut: true } }] };
    state = await applyState(work, state, () => true);
    expect(host.calls).toEqual(["shutAccount ext_carol"]);
  });

  test.each([
    ["a conflict", new UamError("conflict", "Not uam's"), { kind: "conflict", text: "Not uam's" }],
    ["another refusal", new UamError("internal", "The disk is full"), { kind: "refused", text: "The disk is full" }],
    ["an error of the system", new Error("EIO"), { kind: "refused", text: "EIO" }],
  ])("says of %s what it is, and leaves it to be done", async (_, error, problem) => {
    state = records(["ext_carol", { shut: true }]);
    Object.assign(host, { shutAccount: () => Promise.reject(error) });
    await turn();
    expect(state.records[0]).toMatchObject({ todo: { ...NOTHING, shut: true }, problem });
  });
});

describe("applyState() of what is taken away", () => {
  /** Another than ours has the name of the record. */
  function makeForeign(keys: readonly string[]): void {
    host.accounts.set("ext_carol", { uid: 1000, open: true, expireAt: new Date(0), file: keys });
  }

  test.each<Partial<Todo>>([{ shut: true }, { remove: true }])(
    "leaves the account of another alone, and reports it while sshd reads a key for it: %j",
    async (todo) => {
      state = records(["ext_carol", todo]);
      makeForeign(["SHA256:1"]);
      expect(await turn()).toEqual([]);
      expect(state.records[0]).toMatchObject({
        todo: { ...NOTHING, ...todo },
        problem: { kind: "refused", text: expect.stringContaining("it is left alone. sshd reads keys of ext_carol") },
      });
    },
  );

  test("is done with the account of another that nobody logs in to: nothing is left to shut, or to remove", async () => {
    state = records(["ext_carol", { shut: true }]);
    makeForeign([]);
    expect(await turn()).toEqual([]);
    expect(state.records[0]).toMatchObject({ todo: NOTHING, problem: { kind: "conflict" } });
    state = records(["ext_carol", { remove: true }]);
    makeForeign([]);
    expect(await turn()).toEqual([]);
    expect(state.records).toEqual([]);
  });

  test("forgets an account only once it is removed whole", async () => {
    state = records(["ext_carol", { remove: true }]);
    host.failing.add("removeAccount");
    await turn();
    expect(state.records[0]).toMatchObject({
      todo: { ...NOTHING, remove: true },
      problem: { kind: "refused", text: "The host refused: removeAccount of ext_carol" },
    });
    host.failing.clear();
    expect(await turn()).toEqual(["removeAccount ext_carol"]);
    expect(state.records).toEqual([]);
  });

  test("says that sshd may still let in what the host failed to take, until it is taken", async () => {
    state = records(["ext_carol", { shut: true }]);
    host.failing.add("shutAccount");
    await turn();
    expect(mayAdmit(state)).toBe(true);
    host.failing.clear();
    await turn();
    expect([mayAdmit(state), host.accounts.get("ext_carol")?.open]).toEqual([false, false]);
  });

  test("processes that do not end are no reason to say so: sshd refuses the account", async () => {
    state = records(["ext_mallory", { shut: true }]);
    await turn();
    expect([state.records[0]?.problem?.kind, mayAdmit(state)]).toEqual(["refused", false]);
  });

  test("an account whose name a later one of ours has is gone, and nothing is left to remove", async () => {
    state = records(["ext_carol", {}]);
    const [later] = state.records;
    if (later === undefined) throw new Error("no record");
    const earlier = { ...later, uid: later.uid + 100, open: false, todo: { ...NOTHING, remove: true } };
    host.accounts.set("ext_carol", { uid: later.uid, open: true, expireAt: new Date(0), file: ["SHA256:1"] });
    state = { ...state, records: [{ ...later, open: true, todo: NOTHING }, earlier] };
    await turn();
    expect(state.records.map(({ uid }) => uid)).toEqual([later.uid]);
    expect(host.accounts.get("ext_carol")?.open).toBe(true);
  });

  test("an account that is missing is shut once nothing runs under its uid", async () => {
    state = records(["ext_carol", { shut: true }]);
    host.accounts.clear();
    const stray = { uid: 41_000, problem: "A process of the uid 41000 does not end", ended: false };
    host.strays.push(stray);
    expect(await turn()).toEqual(["endStrays 41000"]);
    expect(state.records[0]).toMatchObject({
      todo: { ...NOTHING, shut: true },
      problem: { kind: "refused", text: stray.problem },
    });
    host.strays.length = 0;
    expect(await turn()).toEqual([]);
    expect(state.records[0]).toMatchObject({ todo: NOTHING, problem: undefined });
  });
});

describe("applyState() of what is given", () => {
  test("only takes away while what is stored may be older than what was said", async () => {
    state = records(["ext_carol", { open: true }], ["ext_dave", { shut: true }]);
    work = { ...work, mayOpen: false };
    expect(await turn()).toEqual(["shutAccount ext_dave"]);
    expect(state.records.map(({ todo }) => todo)).toEqual([{ ...NOTHING, open: true }, NOTHING]);
  });

  test.each<[string, Partial<Work>]>([
    ["the host is locked", { status: "locked" }],
    ["uam lock shut the account", { locked: () => new Set(["ext_carol"]) }],
  ])("waits while %s", async (_, shut) => {
    state = records(["ext_carol", { open: true }]);
    const open = work;
    work = { ...work, ...shut };
    expect(await turn()).toEqual([]);
    expect(state.records[0]).toMatchObject({ todo: { ...NOTHING, open: true }, problem: undefined });
    work = open;
    expect(await turn()).toEqual(["openAccount ext_carol"]);
    expect(state.records[0]?.todo).toEqual(NOTHING);
  });

  test("leaves the account of another alone", async () => {
    state = records(["ext_carol", { open: true }]);
    host.accounts.set("ext_carol", { uid: 1000, open: false, expireAt: new Date(0), file: [] });
    expect(await turn()).toEqual([]);
    expect(state.records[0]).toMatchObject({ todo: { ...NOTHING, open: true }, problem: { kind: "conflict" } });
  });

  test("makes an account that never was, and reports one that somebody removed", async () => {
    state = records(["ext_carol", { open: true }], ["ext_dave", { open: true }]);
    host.accounts.clear();
    const [carol, dave] = state.records as [AccountRecord, AccountRecord];
    state = { ...state, records: [{ ...carol, made: false }, dave] };
    expect(await turn()).toEqual(["createAccount ext_carol", "openAccount ext_carol"]);
    expect(state.records).toMatchObject([
      { made: true, todo: NOTHING, problem: undefined },
      { todo: NOTHING, problem: { kind: "missing" } },
    ]);
  });

  test.each<[string, { made: boolean; lacking: "group" | "rest" | undefined }, readonly string[]]>([
    ["one of its own, which is whole", { made: true, lacking: undefined }, []],
    ["one that is out of our group", { made: true, lacking: "group" }, ["reconcile ext_carol"]],
    ["one that it did not make", { made: false, lacking: undefined }, ["reconcile ext_carol"]],
    ["one that a crash left half made", { made: false, lacking: "rest" }, ["createAccount ext_carol"]],
  ])("before it opens %s", async (_, { made, lacking }, before) => {
    state = records(["ext_carol", { open: true }]);
    state = { ...state, records: state.records.map((record) => ({ ...record, made })) };
    Object.assign(host, {
      lacking: async () => lacking,
      reconcile: async ([account]: readonly [{ name: string }]) => {
        host.calls.push(`reconcile ${account.name}`);
        return [];
      },
    });
    expect(await turn()).toEqual([...before, "openAccount ext_carol"]);
    expect(state.records[0]).toMatchObject({ made: true, todo: NOTHING, problem: undefined });
  });

  describe("an account of before, which may let in what was taken away since", () => {
    const opened = () => host.accounts.get("ext_carol")?.open;

    /** What a merge knows of one that it found, or whose state is not believed. */
    function makeUnsure(): void {
      state = records(["ext_carol", { open: true }]);
      state = { ...state, records: state.records.map((record) => ({ ...record, made: false, mayAdmit: true })) };
      host.accounts.set("ext_carol", { uid: 41_000, open: true, expireAt: new Date(0), file: ["SHA256:9"] });
    }

    test("is shut while it cannot be put right, and no lease goes on before it is one of both", async () => {
      makeUnsure();
      expect(mayAdmit(await applyState(work, state, () => true))).toBe(true);
      host.failing.add("openAccount").add("shutAccount");
      await turn();
      expect([mayAdmit(state), opened()]).toEqual([true, true]);
      host.failing.delete("shutAccount");
      expect(await turn()).toEqual(["openAccount ext_carol", "shutAccount ext_carol"]);
      expect([mayAdmit(state), opened()]).toEqual([false, false]);
      const text = "The host refused: openAccount of ext_carol. ext_carol is shut until that is done";
      expect(state.records[0]).toMatchObject({ todo: { ...NOTHING, open: true }, problem: { kind: "refused", text } });
      host.failing.clear();
      await turn();
      expect([mayAdmit(state), opened()]).toEqual([false, true]);
      expect(state.records[0]).toMatchObject({ made: true, todo: NOTHING, problem: undefined });
    });

    test("is shut where its profile cannot be held", async () => {
      makeUnsure();
      work = { ...work, holding: { ...work.holding, problemOf: () => "This host does not hold the profile files" } };
      expect(await turn()).toEqual(["shutAccount ext_carol"]);
      expect([mayAdmit(state), opened()]).toEqual([false, false]);
    });

    test("ends no lease once it is gone, or somebody else's", async () => {
      makeUnsure();
      host.accounts.clear();
      host.failing.add("createAccount");
      await turn();
      expect([mayAdmit(state), state.records[0]?.problem?.kind]).toEqual([false, "refused"]);
      makeUnsure();
      host.accounts.set("ext_carol", { uid: 1000, open: true, expireAt: new Date(0), file: [] });
      await turn();
      expect([mayAdmit(state), state.records[0]?.problem?.kind]).toEqual([false, "conflict"]);
    });
  });

  test("shuts again what uam lock shut in between", async () => {
    state = records(["ext_carol", { open: true }]);
    let asked = 0;
    work = { ...work, locked: () => new Set(asked++ === 0 ? [] : ["ext_carol"]) };
    expect(await turn()).toEqual(["openAccount ext_carol", "shutAccount ext_carol"]);
    expect(state.records[0]).toMatchObject({ todo: { ...NOTHING, open: true }, problem: undefined });
    expect(host.accounts.get("ext_carol")?.open).toBe(false);
  });
});
