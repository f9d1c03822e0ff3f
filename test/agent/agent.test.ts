/** The agent against a service that signs: what it does on the host, what it believes, and what it says. */

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createClient } from "../../src/agent/client.ts";
import { readLease, writeLease } from "../../src/agent/lease.ts";
import { readStatus } from "../../src/agent/status.ts";
import { makeNextKey, readGiven, readKeys, readState } from "../../src/agent/store.ts";
import { openTurn, shutForGood } from "../../src/agent/turn.ts";
import { publicBytes, signingKey } from "../../src/protocol/fleet-signature.ts";
import { bunRuntime } from "../../src/runtime/bun.ts";
import { removeLock, writeLock } from "../../src/shared/system/lock-journal.ts";
import { cursor, HOST_ID, toldAccount } from "../support/fleet-stub.ts";
import { HANG } from "../support/hang.ts";
import { testSlow, testSlowIf } from "../support/thorough.ts";
import { until } from "../support/until.ts";
import { type AgentLab, openAgentLab } from "./lab.ts";

let lab: AgentLab;
beforeEach(async () => {
  lab = await openAgentLab();
});
afterEach(async () => {
  await lab.close();
});

const key = (id: number, extra = {}) => ({
  ...{ id, type: "ssh-ed25519", base64: "AAAAC3NzaC1lZDI1NTE5AAAAIFBr/dqzta2r51dmoGYcCCUUz9/JwQPGUaIvDOjL9QKs" },
  fingerprint: `SHA256:${String(id).padStart(43, "0")}`,
  ...extra,
});
const alice = (overrides = {}) => toldAccount({ keys: [key(1), key(2)], ...overrides });
const files = (name = "ext_alice") => lab.host.accounts.get(name);
const lastReport = () => lab.stub.reports.at(-1);
const reportedUpTo = (id: number) => until(() => lastReport()?.cursor === cursor(id));

async function startWith(...accounts: ReturnType<typeof alice>[]): Promise<void> {
  lab.stub.tell({ full: true, accounts });
  lab.start();
  await reportedUpTo(2);
}

describe("runAgent()", () => {
  test("creates what the service wants, opens the host with the lease, and reports", async () => {
    await startWith(alice());
    expect(files()).toMatchObject({ open: true, file: [key(1).fingerprint, key(2).fingerprint] });
    expect(lab.isOpen()).toBe(true);
    expect(lastReport()).toMatchObject({ problems: [], locks: [], holds: [], mode: "direct" });
    expect(readStatus(lab.files.directory)).toMatchObject({ since: expect.any(String), problems: [] });
  });

  test("has root's old copies of removed jobs deleted", async () => {
    await startWith(alice());
    await lab.stop();
    let asked = 0;
    lab.host.forgetJobs = async () => void asked++;
    lab.start();
    await until(() => asked === 1);
  });

  test("ends silent sessions", async () => {
    await startWith(alice());
    await lab.stop();
    let asked = 0;
    lab.host.endSilent = async () => void asked++;
    lab.start();
    await until(() => asked === 1);
  });

  test("takes a key, shuts and removes, each confirmed when it is done", async () => {
    await startWith(alice());
    lab.stub.tell({ accounts: [alice({ keys: [key(2)] })] });
    await reportedUpTo(3);
    expect(files()?.file).toEqual([key(2).fingerprint]);
    expect(lab.host.calls).toContain("takeKey ext_alice");
    lab.stub.tell({ accounts: [alice({ open: false, keys: [] })] });
    await reportedUpTo(4);
    expect(files()).toMatchObject({ open: false, file: [] });
    lab.stub.tell({ removed: [{ name: "ext_alice", uid: 41_001 }] });
    await reportedUpTo(5);
    expect(files()).toBeUndefined();
    expect(readState(lab.directory)?.records).toEqual([]);
  });

  test("makes an account anew that was given back while its removal was owed", async () => {
    await startWith(alice());
    lab.host.failing.add("removeAccount");
    lab.stub.tell({ removed: [{ name: "ext_alice", uid: 41_001 }] });
    await until(() => lastReport()?.problems[0]?.kind === "refused");
    lab.host.accounts.delete("ext_alice");
    lab.host.failing.clear();
    lab.stub.tell({ accounts: [alice()] });
    await reportedUpTo(4);
    expect(files()).toMatchObject({ open: true, file: [key(1).fingerprint, key(2).fingerprint] });
    expect(lastReport()?.problems).toEqual([]);
  });

  test("closes before it opens", async () => {
    await startWith(alice());
    lab.host.calls.length = 0;
    const bob = toldAccount({ name: "ext_bob", uid: 41_002, keys: [key(3)] });
    lab.stub.tell({ accounts: [bob, alice({ open: false, keys: [] })] });
    await reportedUpTo(3);
    expect(lab.host.calls.slice(0, 2)).toEqual(["shutAccount ext_alice", "createAccount ext_bob"]);
  });

  testSlow("a closing does not wait behind hundreds of openings", async () => {
    await startWith(alice());
    const { createAccount } = lab.host;
    Object.assign(lab.host, {
      createAccount: async (account: Parameters<typeof createAccount>[0]) => {
        await Bun.sleep(20);
        await createAccount(account);
      },
    });
    const many = Array.from({ length: 400 }, (_, index) => toldAccount({ name: `ext_m${index}`, uid: 42_000 + index }));
    lab.stub.tell({ accounts: many });
    await until(() => lab.host.accounts.size > 20);
    lab.stub.tell({ accounts: [...many, alice({ open: false, keys: [] })] });
    await until(() => files()?.open === false);
    expect(lab.host.accounts.size).toBeLessThan(350);
    await until(() => lab.host.accounts.size === 401);
  });

  test("a renewal that changes nothing writes nothing but the lease in /run", async () => {
    await startWith(alice());
    const before = readFileSync(join(lab.directory, "state.json"), "utf8");
    lab.host.calls.length = 0;
    lab.stub.tell({});
    await until(() => lab.stub.requests.filter((request) => request.includes("state?since=3")).length > 0);
    expect(readFileSync(join(lab.directory, "state.json"), "utf8")).toBe(before);
    expect(lab.host.calls).toEqual([]);
  });

  test("what the host refuses is a problem, is tried again, and then is none", async () => {
    await startWith(alice());
    lab.host.failing.add("shutAccount");
    lab.stub.tell({ accounts: [alice({ open: false, keys: [] })] });
    await until(() => lastReport()?.problems[0]?.kind === "refused");
    expect(lastReport()?.problems[0]?.account).toBe("ext_alice");
    lab.host.failing.clear();
    await until(() => lastReport()?.problems.length === 0);
    expect(files()?.open).toBe(false);
  });

  test("where a key cannot be taken, the account is shut until it can", async () => {
    await startWith(alice());
    lab.host.failing.add("takeKey");
    lab.stub.tell({ accounts: [alice({ keys: [key(2)] })] });
    await until(() => lastReport()?.problems[0]?.kind === "refused");
    expect(files()).toMatchObject({ open: false, file: [] });
    lab.host.failing.clear();
    await until(() => lastReport()?.problems.length === 0);
    expect(files()).toMatchObject({ open: true, file: [key(2).fingerprint] });
  });

  test("an account whose uid is somebody else's is left alone, and said so", async () => {
    lab.host.accounts.set("ext_alice", { uid: 1234, open: true, expireAt: new Date(0), file: ["theirs"] });
    await startWith(alice());
    expect(files()).toMatchObject({ uid: 1234, open: true, file: ["theirs"] });
    expect(lastReport()?.problems).toMatchObject([{ account: "ext_alice", kind: "conflict" }]);
  });

  test("an account that somebody removed on the host is not made again, and said so", async () => {
    await startWith(alice());
    lab.host.accounts.delete("ext_alice");
    lab.stub.tell({ accounts: [alice({ keys: [key(1), key(2), key(3)] })] });
    await until(() => lastReport()?.problems[0]?.kind === "missing");
    expect(files()).toBeUndefined();
  });

  test("a full answer shuts what it does not name, on the host too, and removes nothing", async () => {
    lab.host.accounts.set("ext_old", { uid: 41_009, open: true, expireAt: new Date(0), file: ["x"] });
    await startWith(alice());
    expect(files("ext_old")).toMatchObject({ open: false, file: [] });
  });

  test("what the service told of once and has forgotten is shut, reported, and removed only once the service says so", async () => {
    lab.host.accounts.set("ext_old", { uid: 41_009, open: true, expireAt: new Date(0), file: ["x"] });
    await startWith(alice(), toldAccount({ name: "ext_bob", uid: 41_002 }));
    expect(lastReport()?.unknown).toEqual([]);
    lab.stub.tell({ full: true, cautious: true, accounts: [alice()] });
    await until(() => lastReport()?.unknown?.length === 1);
    // Not the one that it never told of.
    expect(lastReport()?.unknown).toEqual([{ name: "ext_bob", uid: 41_002 }]);
    expect([files("ext_bob"), files("ext_old")]).toMatchObject([{ open: false }, { open: false }]);
    await lab.stop();
    lab.start();
    const before = lab.stub.reports.length;
    await until(() => lab.stub.reports.length > before);
    expect(lastReport()?.unknown).toEqual([{ name: "ext_bob", uid: 41_002 }]);
    lab.stub.tell({ full: true, cautious: false, accounts: [alice()] });
    await reportedUpTo(4);
    expect(files("ext_bob")).toMatchObject({ open: false });
    lab.stub.tell({ full: true, accounts: [alice()], removed: [{ name: "ext_bob", uid: 41_002 }] });
    await until(() => lastReport()?.unknown?.length === 0);
    expect([files("ext_bob"), files("ext_old")?.open, files()?.open]).toEqual([undefined, false, true]);
  });

  test("what it has forgotten and knows again is opened as before", async () => {
    await startWith(alice({ keys: [key(1)] }));
    lab.stub.tell({ full: true, accounts: [] });
    await until(() => lastReport()?.unknown?.length === 1);
    expect(files()).toMatchObject({ open: false, file: [] });
    lab.stub.tell({ accounts: [alice({ keys: [key(1)] })] });
    await until(() => lastReport()?.unknown?.length === 0);
    expect(files()).toMatchObject({ open: true, file: [key(1).fingerprint] });
  });

  test("a name or uid that is given out again has the forgotten account shut, and the new one made once that is removed", async () => {
    await startWith(alice(), toldAccount({ name: "ext_bob", uid: 41_002 }));
    const anew = [toldAccount({ uid: 41_005 }), toldAccount({ name: "ext_carol", uid: 41_002 })];
    // As after the loss of some commits while the agent was away.
    lab.stub.tell({ full: true, cautious: true, accounts: anew });
    await until(() => lastReport()?.unknown?.length === 2);
    lab.stub.tell({ full: true, cautious: false, accounts: anew });
    await until(() => lastReport()?.problems.some(({ kind }) => kind === "conflict") === true);
    expect([files(), files("ext_bob")]).toMatchObject([
      { uid: 41_001, open: false, file: [] },
      { uid: 41_002, open: false, file: [] },
    ]);
    const removed = [
      { name: "ext_alice", uid: 41_001 },
      { name: "ext_bob", uid: 41_002 },
    ];
    lab.stub.tell({ full: true, accounts: anew, removed });
    await until(() => files()?.uid === 41_005 && files("ext_carol") !== undefined);
    expect([files(), files("ext_bob"), files("ext_carol")]).toMatchObject([{ open: true }, undefined, { open: true }]);
    await until(() => lastReport()?.problems.length === 0 && lastReport()?.unknown?.length === 0);
  });

  test("a cautious answer opens nothing that is shut, gives no key back and makes no account", async () => {
    await startWith(alice({ keys: [key(1)] }), toldAccount({ name: "ext_bob", uid: 41_002, open: false }));
    lab.stub.tell({
      full: true,
      cautious: true,
      accounts: [
        alice({ keys: [key(1), key(2)] }),
        toldAccount({ name: "ext_bob", uid: 41_002, keys: [key(3)] }),
        toldAccount({ name: "ext_carol", uid: 41_003, keys: [key(4)] }),
      ],
    });
    await reportedUpTo(3);
    expect(files()).toMatchObject({ open: true, file: [key(1).fingerprint] });
    expect(files("ext_bob")?.open ?? false).toBe(false);
    expect(files("ext_carol")).toBeUndefined();
  });

  describe("what it has applied", () => {
    const said = () => lab.stub.requests.findLast((request) => request.startsWith("GET")) ?? "";
    const saidUpTo = (id: number) => until(() => said().includes(`&applied=${cursor(id)}`));

    test("is said by the next request for the state, where the service takes it from there", async () => {
      lab.stub.takesApplied = true;
      await startWith(alice());
      await saidUpTo(2);
      const { length } = lab.stub.reports;
      lab.stub.tell({});
      await saidUpTo(3);
      lab.host.failing.add("shutAccount");
      lab.stub.tell({ accounts: [alice({ open: false, keys: [] })] });
      // What is wrong is a report's to say, and comes first.
      await until(() => lastReport()?.problems[0]?.kind === "refused");
      expect([lastReport()?.cursor, lab.stub.reports.length > length]).toEqual([cursor(4), true]);
      lab.host.failing.clear();
      await until(() => lastReport()?.problems.length === 0);
      expect(files()?.open).toBe(false);
      const reports = lab.stub.reports.length;
      lab.stub.tell({ accounts: [alice({ keys: [key(2)] })] });
      await saidUpTo(5);
      expect(files()).toMatchObject({ open: true, file: [key(2).fingerprint] });
      expect(lab.stub.reports.length).toBe(reports);
    });

    test("is never said before it is done", async () => {
      lab.stub.takesApplied = true;
      await startWith(alice());
      await saidUpTo(2);
      const { takeKey } = lab.host;
      const [begun, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      Object.assign(lab.host, {
        takeKey: async (...given: Parameters<typeof takeKey>) => {
          begun.resolve();
          await gate.promise;
          return await takeKey(...given);
        },
      });
      lab.stub.tell({ accounts: [alice({ keys: [key(2)] })] });
      await begun.promise;
      await Bun.sleep(700);
      expect(lab.stub.requests.some((request) => request.includes(`applied=${cursor(3)}`))).toBe(false);
      gate.resolve();
      await saidUpTo(3);
      expect(files()?.file).toEqual([key(2).fingerprint]);
    });

    test("is reported to a service that does not take it from there, as after one was set back to an older version", async () => {
      lab.stub.takesApplied = true;
      await startWith(alice());
      await saidUpTo(2);
      lab.stub.takesApplied = false;
      lab.stub.tell({ accounts: [alice({ keys: [key(2)] })] });
      await reportedUpTo(3);
      lab.stub.tell({ accounts: [alice({ open: false, keys: [] })] });
      await reportedUpTo(4);
    });

    test("is reported again after a restart, and after a report that failed it is not said otherwise", async () => {
      lab.stub.takesApplied = true;
      await startWith(alice());
      await saidUpTo(2);
      await lab.stop();
      const { length } = lab.stub.requests;
      lab.stub.refuse = (method) => (method === "POST" ? { status: 500 } : undefined);
      lab.start();
      await until(() => lab.stub.requests.length >= length + 4);
      expect(lab.stub.requests.slice(length).some((request) => request.includes("applied="))).toBe(false);
      lab.stub.refuse = () => undefined;
      await saidUpTo(2);
    });
  });

  test("a locked host is shut at once, and opened again", async () => {
    await startWith(alice());
    lab.stub.tell({ status: "locked" });
    await reportedUpTo(3);
    expect([lab.isOpen(), files()?.open]).toEqual([false, false]);
    lab.stub.tell({ status: "active" });
    await reportedUpTo(4);
    expect([lab.isOpen(), files()?.open]).toEqual([true, true]);
  });

  test("a retiring host removes all accounts and stays shut", async () => {
    await startWith(alice());
    lab.stub.tell({ status: "retiring" });
    await reportedUpTo(3);
    expect([lab.isOpen(), lab.host.accounts.size]).toEqual([false, 0]);
  });

  test("reports what uam lock shut, keeps it shut, and forgets it once it is recorded", async () => {
    await startWith(alice());
    const id = "00000000-0000-4000-8000-000000000001";
    writeLock(lab.directory, { id, at: new Date(), username: "alice", uid: 41_001, operator: "root" });
    await lab.host.shutAccount({ name: "ext_alice", uid: 41_001 });
    await until(() => lastReport()?.locks.length === 1);
    expect(lastReport()?.locks).toMatchObject([{ id, username: "alice", operator: "root" }]);
    lab.stub.tell({ accounts: [alice({ keys: [key(1)] })] });
    await reportedUpTo(3);
    expect(files()?.open).toBe(false);
    lab.stub.tell({ accounts: [alice({ open: false, keys: [] })], recorded_locks: [id] });
    await reportedUpTo(4);
    await until(() => lastReport()?.locks.length === 0);
    expect(files()?.open).toBe(false);
  });

  testSlowIf(process.platform === "linux")(
    "uam lock in the same instant as the agent opens the account: once it has answered, the account stays shut",
    async () => {
      await startWith(alice());
      const ref = { name: "ext_alice", uid: 41_001 };
      const turn = openTurn(lab.directory, bunRuntime.openKernel());
      const pause = () => Bun.sleep(Math.random() * 4);
      let isLocked = false;
      const openings = { all: 0, late: 0 };
      const { openAccount } = lab.host;
      Object.assign(lab.host, {
        openAccount: async (account: Parameters<typeof openAccount>[0]) => {
          await pause();
          await openAccount(account);
          openings.all++;
          if (isLocked) openings.late++;
          await pause();
        },
      });
      // Where the agent is slow to store what it was told, most locks are there before it opens anything: then for longer.
      const end = performance.now() + HANG;
      for (let round = 0; round < 60 || (openings.all <= 3 && performance.now() < end); round++) {
        isLocked = false;
        lab.stub.tell({ accounts: [alice({ keys: round % 2 === 0 ? [key(1)] : [key(1), key(2)] })] });
        await Bun.sleep(Math.random() * 12);
        const id = crypto.randomUUID();
        writeLock(lab.directory, { id, at: new Date(), username: "alice", uid: 41_001, operator: "root" });
        await shutForGood(lab.host, ref, { turn });
        expect(files()?.open).toBe(false);
        isLocked = true;
        await Bun.sleep(10);
        expect(files()?.open).toBe(false);
        removeLock(lab.directory, id);
      }
      expect(openings.all).toBeGreaterThan(3);
      expect(openings.late).toBe(0);
    },
  );

  test.if(process.platform === "linux")(
    "an account that is to stay shut is shut again, also while it is to be opened later",
    async () => {
      await startWith(alice());
      const id = "00000000-0000-4000-8000-000000000002";
      writeLock(lab.directory, { id, at: new Date(), username: "alice", uid: 41_001, operator: "root" });
      await lab.host.shutAccount({ name: "ext_alice", uid: 41_001 });
      lab.stub.tell({ accounts: [alice({ keys: [key(1)] })] });
      await reportedUpTo(3);
      // The agent may have been killed just after it opened the account.
      const compared: (readonly { readonly name: string; readonly open: boolean }[])[] = [];
      Object.assign(lab.host, {
        reconcile: async (accounts: (typeof compared)[number]) => {
          compared.push(accounts);
          return [];
        },
      });
      await until(() => compared.length > 1);
      expect(compared[1]).toMatchObject([{ name: "ext_alice", open: false }]);
    },
  );

  test.if(process.platform === "linux")("whoever holds the turn for too long makes nobody wait who shuts", async () => {
    await startWith(alice());
    const turn = openTurn(lab.directory, bunRuntime.openKernel());
    const held = Promise.withResolvers<void>();
    const holding = turn(() => held.promise);
    lab.stub.tell({ accounts: [alice({ open: false, keys: [] })] });
    await reportedUpTo(3);
    expect(files()?.open).toBe(false);
    await expect(turn(async () => {}, 50)).rejects.toThrow("too long");
    held.resolve();
    await holding;
  });

  test("drift is reported by change", async () => {
    await startWith(alice());
    lab.host.drifts.push({ account: "ext_alice", kind: "key_added", problem: "a key more", repaired: true });
    await until(() => lastReport()?.problems[0]?.kind === "drift");
    const many = lab.stub.reports.length;
    await lab.compared(3);
    expect(lab.stub.reports.length - many).toBeLessThanOrEqual(1);
  });

  testSlow(
    "what runs under a removed account's uid is ended and reported; what the service never told of, or keeps open, is left alone",
    async () => {
      await startWith(alice());
      const { uid } = alice();
      const strays = () => lab.host.calls.filter((call) => call.startsWith("endStrays"));
      const stray = (of: number, ended = true) => ({ uid: of, problem: `1 process of uid ${of}`, ended });
      lab.host.strays.push(stray(uid), stray(uid + 500));
      const reports = lab.host.calls.length;
      await lab.compared(3);
      expect([strays(), lab.host.calls.length - reports]).toEqual([[], 0]);

      lab.stub.tell({ removed: [{ name: "ext_alice", uid }] });
      await until(() => strays().length > 0);
      await until(() => lastReport()?.problems[0]?.kind === "drift");
      expect(lastReport()?.problems).toEqual([
        { account: "", kind: "drift", text: `1 process of uid ${uid}; it was repaired` },
      ]);
      expect(lab.host.strays.map((left) => left.uid)).toEqual([uid + 500]);

      // Also after a restart, long after the record of it is gone; and what does not end is shown.
      await lab.stop();
      lab.host.strays.push(stray(uid, false));
      lab.start();
      await until(() => lastReport()?.problems[0]?.kind === "finding");
      expect(lastReport()?.problems[0]?.text).toBe(`1 process of uid ${uid}`);
      expect(new Set(strays())).toEqual(new Set([`endStrays ${uid}`]));
    },
  );

  test("which uids were given is known, too, where the orders could not be stored, and to the doctor", async () => {
    await startWith(alice());
    const { uid } = alice();
    lab.stub.tell({ removed: [{ name: "ext_alice", uid }] });
    await until(() => files() === undefined);
    await lab.stop();
    // What is left of them after a full disk.
    rmSync(join(lab.directory, "state.json"));
    expect(readGiven(lab.directory)).toEqual([uid]);
    lab.host.strays.push({ uid, problem: `1 process of uid ${uid}`, ended: true });
    lab.stub.tell({ full: true, accounts: [toldAccount({ name: "ext_bob", uid: 41_002 })] });
    lab.start();
    await until(() => lab.host.calls.includes(`endStrays ${uid}`));
    expect(readState(lab.directory)?.given).toEqual([uid, 41_002]);
    expect(readGiven(lab.directory)).toEqual([uid, 41_002]);
  });

  testSlow(
    "of an account that somebody removed on the host, what runs on ends before a closing is confirmed",
    async () => {
      for (const change of [{ keys: [key(2)] }, { open: false, keys: [] }]) {
        await startWith(alice());
        const { uid } = alice();
        const running = { uid, problem: `1 process of uid ${uid}`, ended: false };
        lab.host.accounts.delete("ext_alice");
        lab.host.strays.push(running);
        lab.stub.tell({ accounts: [alice(change)] });
        await until(() => lastReport()?.problems.some(({ kind }) => kind === "refused") === true);
        expect(lastReport()?.problems).toContainEqual({ account: "ext_alice", kind: "refused", text: running.problem });
        lab.host.strays.splice(0, 1, { ...running, ended: true });
        await until(() => lab.host.strays.length === 0);
        await until(() => lastReport()?.problems.every(({ kind }) => kind !== "refused") === true);
        await lab.close();
        lab = await openAgentLab();
      }
    },
  );

  test("with no place to store, what is to be shut is shut, and nothing stale is left to open it again", async () => {
    await startWith(alice());
    rmSync(join(lab.directory, "state.json"));
    // The rename of a draft onto it fails, as a full disk would.
    mkdirSync(join(lab.directory, "state.json/in-the-way"), { recursive: true });
    lab.stub.tell({ accounts: [alice({ open: false, keys: [] })] });
    await reportedUpTo(3);
    expect(files()?.open).toBe(false);
    expect(lastReport()?.problems).toMatchObject([{ account: "", kind: "finding" }]);
  });

  test("a crash between answer and closing ends in the closing, without the service", async () => {
    await startWith(alice());
    lab.host.failing.add("shutAccount");
    lab.stub.tell({ accounts: [alice({ open: false, keys: [] })] });
    await until(() => lastReport()?.problems[0]?.kind === "refused");
    await lab.stop();
    lab.stub.gone = true;
    lab.host.failing.clear();
    lab.start();
    await until(() => files()?.open === false);
  });

  test("goes on after a restart with the next epoch and the stored cursor", async () => {
    await startWith(alice());
    await lab.stop();
    expect(lab.isOpen()).toBe(true);
    lab.start();
    await until(() => Math.floor((lab.stub.counters.at(-1) ?? 0) / 2 ** 32) === 2);
    expect(lab.stub.copied).toBe(0);
    expect(files()?.open).toBe(true);
  });
});

describe("what the agent believes", () => {
  async function unmoved(during: () => Promise<void>): Promise<void> {
    const before = JSON.stringify([...lab.host.accounts]);
    await during();
    expect(JSON.stringify([...lab.host.accounts])).toBe(before);
  }
  const isTampered = () =>
    until(() => readStatus(lab.files.directory)?.failure?.includes("not in the service's name") === true);

  test("an added key, another status, no signature: nothing changes, and the lease is not renewed", async () => {
    await startWith(alice());
    for (const change of [
      (text: string) => [
        text.replace('"accounts":[]', JSON.stringify({ accounts: [alice({ keys: [key(9)] })] }).slice(1, -1)),
        200,
      ],
      (text: string) => [text, 202],
      (text: string) => [text.replace(/}$/, " }"), 200],
    ] as const) {
      await unmoved(async () => {
        const lease = readFileSync(join(lab.files.directory, "lease"), "utf8");
        lab.stub.tamper = async (answer, target) => {
          if (!target.startsWith("/agent/state")) return answer;
          const [text, status] = change(await answer.text());
          return new Response(text as string, { status: status as number, headers: answer.headers });
        };
        lab.stub.tell({});
        await isTampered();
        expect(readFileSync(join(lab.files.directory, "lease"), "utf8")).toBe(lease);
        lab.stub.tamper = (answer) => answer;
        await until(() => readStatus(lab.files.directory)?.failure === undefined);
      });
    }
  });

  test("an earlier answer, given again: nothing changes", async () => {
    lab.stub.tell({ full: true, accounts: [alice()] });
    let first: { text: string; headers: Headers } | undefined;
    lab.stub.tamper = async (answer, target) => {
      const text = await answer.text();
      if (target === "/agent/state" && text.includes("ext_alice")) first ??= { text, headers: answer.headers };
      return new Response(text, { status: answer.status, headers: answer.headers });
    };
    lab.start();
    await reportedUpTo(2);
    lab.stub.tamper = (answer) => answer;
    lab.stub.tell({ accounts: [alice({ keys: [key(1)] })] });
    await reportedUpTo(3);
    await unmoved(async () => {
      lab.stub.tamper = (answer, target) =>
        target === "/agent/state" && first !== undefined
          ? new Response(first.text, { headers: first.headers })
          : answer;
      lab.stub.tell({});
      await isTampered();
    });
  });

  testSlow("503 with Retry-After is obeyed; 502 of a proxy is waited out", async () => {
    const asked: number[] = [];
    lab.stub.refuse = (_, target) => {
      if (!target.startsWith("/agent/state")) return undefined;
      asked.push(performance.now());
      return { status: 503, headers: { "retry-after": "2" } };
    };
    lab.start();
    await until(() => readStatus(lab.files.directory)?.failure?.includes("503") === true);
    await until(() => asked.length > 1);
    const [first = Number.NaN, next = Number.NaN] = asked;
    expect(next - first).toBeGreaterThan(1900);
    lab.stub.refuse = () => undefined;
    lab.stub.gone = true;
    await until(() => readStatus(lab.files.directory)?.failure?.includes("502") === true);
    lab.stub.gone = false;
    await until(() => readStatus(lab.files.directory)?.failure === undefined);
  });

  testSlow("a report that is refused costs no lease", async () => {
    lab.stub.refuse = (_, target) => (target === "/agent/report" ? { status: 500 } : undefined);
    lab.stub.tell({ full: true, accounts: [alice()] });
    lab.start();
    await until(() => lab.isOpen());
    const lease = () => readFileSync(join(lab.files.directory, "lease"), "utf8");
    for (let renewals = 0, last = lease(); renewals < 3; last = lease()) {
      await until(() => lease() !== last);
      renewals++;
    }
    expect(lab.stub.reports).toEqual([]);
    lab.stub.refuse = () => undefined;
    await reportedUpTo(2);
  });

  test("a redirect is not followed", async () => {
    const target = lab.stub;
    lab.stub.tamper = () => Response.redirect("http://127.0.0.1:1/", 302);
    const client = createClient({
      ...{ service: target.origin, fleetKey: publicBytes(signingKey(target.seed)), host: HOST_ID },
      ...{ seed: randomBytes(32), epoch: 1, send: lab.send },
    });
    await expect(client.ask({ method: "GET", target: "/agent/state?since=&wait=1" })).rejects.toThrow("answered 302");
  });
});

describe("the agent's key", () => {
  test("is changed after a month", async () => {
    const path = join(lab.directory, "agent.json");
    writeFileSync(
      path,
      readFileSync(path, "utf8").replace(/"key_since": "[^"]*"/, '"key_since": "2026-01-01T00:00:00.000Z"'),
    );
    const old = Buffer.from(readKeys(lab.directory).present ?? []);
    await startWith(alice());
    await until(
      () => lab.stub.requests.includes("POST /agent/rotate") && !existsSync(join(lab.directory, "agent.key.next")),
    );
    expect(Buffer.from(readKeys(lab.directory).present ?? []).equals(old)).toBe(false);
    lab.stub.tell({ accounts: [alice({ open: false, keys: [] })] });
    await reportedUpTo(3);
  });

  test("is found again after a crash between the service's new key and ours", async () => {
    const seed = makeNextKey(lab.directory);
    lab.stub.agentKey = publicBytes(signingKey(seed));
    await startWith(alice());
    expect(Buffer.from(readKeys(lab.directory).present ?? []).equals(Buffer.from(seed))).toBe(true);
    expect(readKeys(lab.directory).next).toBeUndefined();
  });
});

describe("the lease", () => {
  const asked = () => lab.stub.requests.findLast((each) => each.includes("/agent/state")) ?? "";
  const held = () => /held=(\w+)/.exec(asked())?.[1];
  /** As many seconds, or a few less: on a busy machine some pass until it is said. */
  const isHeld = (seconds: number) => Number(held()) <= seconds && Number(held()) > seconds - 15;

  testSlow("ends when either clock says so, whatever the agent hears, and comes back with an answer", async () => {
    for (const skewed of ["boot", "wall"] as const) {
      lab.stub.tell({ full: true, accounts: [alice()], lease_ms: 600_000 });
      if (skewed === "boot") lab.start();
      // What failed before, or was not asked yet, is no failure any more.
      await until(() => lab.isOpen() && readStatus(lab.files.directory)?.failure === undefined);
      lab.stub.gone = true;
      lab.stub.tell({});
      await until(() => readStatus(lab.files.directory)?.failure !== undefined);
      // What is left is more than a busy machine takes until the agent has looked again.
      lab.skew[skewed] += 500;
      await Bun.sleep(1100);
      expect(lab.isOpen()).toBe(true);
      lab.skew[skewed] += 100;
      await until(() => !lab.isOpen());
      lab.stub.gone = false;
    }
  });

  test("is told to the service as it is, with what a boot or another clock could make of it", async () => {
    lab.stub.tell({ full: true, accounts: [alice()], lease_ms: 600_000 });
    lab.start();
    await until(() => isHeld(594));
    lab.skew.wall += 500;
    lab.stub.tell({ lease_ms: 3_600_000 });
    await until(() => isHeld(3564));
    writeLease(lab.files, "hold", { boot: performance.now() / 1000 + 9000, wall: 1, ends: "logins" });
    lab.stub.tell({});
    await until(() => isHeld(8000));
    lab.stub.tell({ lease_ms: null });
    await until(() => held() === "none");
    lab.stub.tell({ status: "locked" });
    await until(() => held() === "0");
  });

  test("that was without end and is shortened counts at once, whether or not the rest of the answer could be done", async () => {
    lab.stub.tell({ full: true, accounts: [alice()], lease_ms: null });
    lab.start();
    await until(() => held() === "none");
    // The host can be worked on no more, so that the answer is not stored: a restart goes by the file in /run alone.
    lab.openHostFails = true;
    lab.stub.tell({ lease_ms: 600_000, accounts: [alice({ keys: [key(1), key(2), key(3)] })] });
    await until(() => readLease(lab.files, "lease")?.boot !== 99_999_999_999);
    expect(readState(lab.directory)?.lease_ms).toBeNull();
    await until(() => isHeld(594));
    lab.openHostFails = false;
    await until(() => readState(lab.directory)?.lease_ms === 600_000);
  });

  test("is put back where somebody emptied /run or changed the link", async () => {
    await startWith(alice());
    rmSync(lab.files.directory, { recursive: true });
    await until(() => !lab.isOpen());
    lab.stub.tell({});
    await until(() => lab.isOpen());
    rmSync(join(lab.files.directory, "revoked-keys"));
    mkdirSync(join(lab.files.directory, "revoked-keys"));
    await until(() => lab.isOpen());
  });
});
