/** What agents report: bounded, hostile, repeated. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { disableUser, enableUser } from "../../../src/domain/users/users.ts";
import { DAY, HOUR, shift } from "../../../src/shared/time/clock.ts";
import { hostProblems, hosts, importedLocks } from "../../../src/store/schema-fleet.ts";
import type { TestAgent } from "../../support/agent.ts";
import { createTestApp, type TestApp } from "../../support/app.ts";
import { joinedAgent } from "../../support/fleet.ts";

let t: TestApp;
let agent: TestAgent;
beforeAll(async () => {
  t = await createTestApp();
  await t.admin();
  agent = await joinedAgent(t, "reporter");
  await agent.state();
});
afterAll(() => t.close());

const row = async (one = agent) => (await t.db.select().from(hosts).where(eq(hosts.id, one.id)))[0];
const problems = async (one = agent) =>
  (await t.db.select().from(hostProblems).where(eq(hostProblems.hostId, one.id))).map(({ account, kind, text }) => ({
    account,
    kind,
    text,
  }));
const report = async (more: Parameters<TestAgent["report"]>[0] = {}) => {
  t.clock.advance(10);
  return await agent.report(more);
};

describe("a report", () => {
  test("says how far the host is, and what it is", async () => {
    const ssh = {
      host: "web1.example.net",
      port: 2222,
      host_keys: [{ type: "ssh-ed25519", base64: "AAAA", fingerprint: "SHA256:x" }],
    };
    const clock = shift(t.clock.now(), 90_000).toISOString();
    t.clock.advance(10);
    await agent.state();
    expect(await report({ ssh, clock, version: "9.9.9" })).toMatchObject({
      status: 200,
      signed: true,
      data: { status: "done" },
    });
    const stored = await row();
    expect(stored).toMatchObject({ version: "9.9.9", sshHost: "web1.example.net", sshPort: 2222, mode: "direct" });
    expect(`${stored?.appliedId}.${stored?.appliedSeal}`).toBe(agent.cursor);
    expect(Math.abs((stored?.clockOffsetMs ?? 0) - 90_000)).toBeLessThan(100);
  });

  test("counts no cursor that the log does not have", async () => {
    const before = await row();
    for (const cursor of ["", "x", `999999.${"0".repeat(64)}`, `1.${"0".repeat(64)}`]) {
      expect((await report({ cursor })).status).toBe(200);
      expect((await row())?.appliedId).toBe(before?.appliedId as number);
    }
  });

  test("replaces the problems, keeps their age, and takes none of others' accounts", async () => {
    await t.user("gina");
    const missing = { account: "ext_gina", kind: "missing", text: "gone" } as const;
    await report({
      problems: [
        missing,
        { account: "root", kind: "refused", text: "x" },
        { account: "ext_nobody", kind: "refused", text: "x" },
      ],
    });
    expect(await problems()).toEqual([missing]);
    const [first] = await t.db.select().from(hostProblems);
    await report({ problems: [missing, { account: "", kind: "finding", text: "disk\u0007full\n" }] });
    expect(await problems()).toEqual([missing, { account: "", kind: "finding", text: "disk full " }]);
    expect((await t.db.select().from(hostProblems))[0]?.since).toEqual(first?.since as Date);
    await report();
    expect(await problems()).toEqual([]);
  });

  test("refuses what is too much or too long, and stores nothing of it", async () => {
    const long = { account: "", kind: "finding", text: "x".repeat(501) } as const;
    expect((await report({ problems: [long] })).status).toBe(400);
    const many = Array.from({ length: 101 }, (_, index) => ({
      account: "",
      kind: "finding" as const,
      text: String(index),
    }));
    expect((await report({ problems: many })).status).toBe(400);
    expect((await report({ version: "v\u0000" })).status).toBe(400);
    expect((await report({ clock: "yesterday" })).status).toBe(400);
    expect((await report({ problems: [{ account: "", kind: "other" as "finding", text: "" }] })).status).toBe(400);
    const huge = Array.from({ length: 100 }, () => ({
      account: "",
      kind: "finding" as const,
      text: "\u20ac".repeat(2000),
    }));
    expect((await report({ problems: huge })).status).toBe(413);
    expect(await problems()).toEqual([]);
    // As large as it may be.
    const most = Array.from({ length: 100 }, (_, index) => ({
      account: "",
      kind: "finding" as const,
      text: `${index}`.padEnd(500, "\u20ac"),
    }));
    expect((await report({ problems: most })).status).toBe(200);
    await report();
  });

  test("drift is recorded once, shown for a day, and mailed where the account was to be shut", async () => {
    const { id } = await t.user("hanna");
    const drift = (text: string) => ({ account: "ext_hanna", kind: "drift", text }) as const;
    await report({ problems: [drift("a key was added")] });
    await report({ problems: [drift("a key was added")] });
    await report();
    expect(await problems()).toEqual([drift("a key was added")]);
    expect(await t.auditRows("host.drift")).toHaveLength(1);
    expect(await t.lastAudit("host.drift")).toMatchObject({
      ...{ resourceId: String(agent.id), actorType: "system" },
      detail: { host: "reporter", username: "hanna", found: "a key was added" },
    });
    const mails = async () =>
      (await t.mails("admin@example.org")).filter(({ subject }) => subject.includes("closed account"));
    expect(await mails()).toHaveLength(0);
    await disableUser(t.system, id);
    await report({ problems: [drift("it was open")] });
    await report({ problems: [drift("it was open again")] });
    expect(await mails()).toHaveLength(1);
    t.clock.advance(DAY + HOUR);
    await report();
    expect(await problems()).toEqual([]);
  });

  test("endless drift is neither recorded nor stored without end", async () => {
    const before = (await t.auditRows("host.drift")).length;
    for (let round = 0; round < 5; round++) {
      const flood = Array.from({ length: 60 }, (_, index) => ({
        account: "",
        kind: "drift" as const,
        text: `${round} ${index}`,
      }));
      await report({ problems: flood });
    }
    expect((await t.auditRows("host.drift")).length - before).toBe(20);
    expect((await problems()).length).toBeLessThanOrEqual(260);
    t.clock.advance(DAY + HOUR);
    await report();
    expect(await problems()).toEqual([]);
  });

  test("a lock from the host disables the user, once, in the name of the operator there", async () => {
    const { id } = await t.user("ines");
    const lock = {
      id: "0b5e-1",
      at: shift(t.clock.now(), -HOUR).toISOString(),
      username: "ines",
      operator: "root\u0007",
    };
    await report({ locks: [lock] });
    expect(await t.lastAudit("user.disable")).toMatchObject({
      ...{ actorType: "cli", actor: "root ", subjectId: id, result: "success" },
      detail: { username: "ines", host: "reporter", locked_at: lock.at, status: "disabled" },
    });
    expect(t.host.accounts.get("ext_ines")?.open).toBe(false);
    t.clock.advance(10);
    expect((await agent.state()).recorded_locks).toEqual(["0b5e-1"]);
    await enableUser(t.system, id);
    // Reported again, as the answer was lost.
    await report({ locks: [lock] });
    expect(t.host.accounts.get("ext_ines")?.open).toBe(true);
    expect(await t.auditRows("user.disable")).toHaveLength(2);
    await report();
    expect(await t.db.select().from(importedLocks)).toEqual([]);
    t.clock.advance(10);
    expect((await agent.state()).recorded_locks).toEqual([]);
  });

  test("a lock of an account that the host does not have changes nothing", async () => {
    const stranger = await joinedAgent(t, "stranger", "");
    await t.user("jana");
    await stranger.state();
    const lock = (id: string, username: string) => ({
      id,
      at: t.clock.now().toISOString(),
      username,
      operator: "root",
    });
    t.clock.advance(10);
    expect((await stranger.report({ locks: [lock("a", "jana"), lock("b", "nobody"), lock("c", "../x")] })).status).toBe(
      200,
    );
    expect(t.host.accounts.get("ext_jana")?.open).toBe(true);
    expect((await t.auditRows("user.disable")).length).toBe(2);
    t.clock.advance(10);
    expect([...(await stranger.state()).recorded_locks].sort()).toEqual(["a", "b", "c"]);
  });

  test("what the service's own host cannot do of a lock is owed, and the lock counts as recorded", async () => {
    const { id } = await t.user("kai");
    t.host.failing.add("shutAccount");
    const lock = { id: "owed", at: t.clock.now().toISOString(), username: "kai", operator: "root" };
    expect((await report({ locks: [lock] })).status).toBe(200);
    t.host.failing.clear();
    expect(await t.lastAudit("user.disable")).toMatchObject({ subjectId: id, result: "failed" });
    expect(await t.db.execute(`select 1 from closings where user_id = ${id}`)).toHaveLength(1);
    await report();
  });

  test("a lease that root prolonged is recorded once, counts, and cannot fill the log", async () => {
    const until = shift(t.clock.now(), 12 * HOUR).toISOString();
    const hold = { id: "hold-1", at: t.clock.now().toISOString(), until, reason: "a move", operator: "root" };
    await report({ holds: [hold] });
    await report({ holds: [hold] });
    expect(await t.auditRows("host.hold")).toHaveLength(1);
    expect(await t.lastAudit("host.hold")).toMatchObject({
      actor: "root",
      detail: { host: "reporter", until, reason: "a move" },
    });
    expect((await row())?.leaseUntil?.toISOString()).toBe(until);
    for (let round = 0; round < 4; round++) {
      const flood = Array.from({ length: 10 }, (_, index) => ({ ...hold, id: `flood-${round}-${index}` }));
      expect((await report({ holds: flood })).status).toBe(200);
    }
    expect((await t.auditRows("host.hold")).length).toBeLessThan(35);
  });
});
