/** What a change that takes access away answers, and what is recorded of it. */

import { afterEach, beforeEach, describe, expect, spyOn, test } from "bun:test";
import { eq, sql } from "drizzle-orm";
import { hasRemoteHosts } from "../../../src/domain/accounts/remote.ts";
import { awaitHosts, awaitRecord, settleChanges } from "../../../src/domain/hosts/confirmation.ts";
import { updateHost } from "../../../src/domain/hosts/hosts.ts";
import { retireHost } from "../../../src/domain/hosts/retirement.ts";
import { beat } from "../../../src/domain/lifecycle/heartbeat.ts";
import { expireDue } from "../../../src/domain/lifecycle/lifecycle.ts";
import type { Services } from "../../../src/domain/operation/context.ts";
import { updateProfile } from "../../../src/domain/profiles/update.ts";
import { allowAccess } from "../../../src/domain/requests/allow.ts";
import { endAccess } from "../../../src/domain/requests/end.ts";
import { HOUR, MINUTE, SECOND } from "../../../src/shared/time/clock.ts";
import type { Database } from "../../../src/store/client.ts";
import { users } from "../../../src/store/schema.ts";
import { fleetChanges, hosts } from "../../../src/store/schema-fleet.ts";
import type { TestAgent } from "../../support/agent.ts";
import { type Client, createTestApp, type TestApp } from "../../support/app.ts";
import { joinedAgent } from "../../support/fleet.ts";
import { HANG } from "../../support/hang.ts";
import { freshKey } from "../../support/keys.ts";
import { until } from "../../support/until.ts";

let t: TestApp;
let admin: Client;
// Each test has hosts and a clock of its own: what one leaves owed would count in the next.
beforeEach(async () => {
  t = await createTestApp({ UAM_FLEET_WAIT: "1s" });
  admin = await t.admin();
});
afterEach(() => t.close());

/** Does as an agent does, until it is told to stop. */
function run(agent: TestAgent): () => Promise<void> {
  let stopped = false;
  const running = (async () => {
    while (!stopped) {
      const before = agent.cursor;
      await agent.state(1);
      if (agent.cursor !== before) await agent.report();
    }
  })();
  return async () => {
    stopped = true;
    await running;
  };
}

test("without any other host nothing is said, and nothing is stored", async () => {
  const { id, client } = await t.user("single");
  const { body } = await client.call("POST", "/me/keys", { name: "laptop", public_key: freshKey() });
  const revoked = await client.call("DELETE", `/me/keys/${body.data.id}`);
  expect(revoked.body.data).not.toHaveProperty("hosts");
  expect((await admin.call("POST", `/users/${id}/disable`)).body.data).toEqual({ status: "disabled" });
  expect((await admin.call("DELETE", `/users/${id}`)).body.data).toEqual({ status: "deleted" });
  expect(await t.db.select().from(fleetChanges)).toEqual([]);
  expect(await t.db.execute(sql`select 1 from removed_accounts`)).toHaveLength(0);
});

describe("with hosts", () => {
  let quick: TestAgent;
  let dead: TestAgent;
  let stop: () => Promise<void>;
  beforeEach(async () => {
    quick = await joinedAgent(t, "quick");
    stop = run(quick);
    await joinedAgent(t, "elsewhere", "");
  });
  afterEach(() => stop());

  /** The answer to a change for which `quick` is waited for as long as a busy machine needs, and nobody else for more than a second. */
  async function answered<T>(change: () => Promise<T>): Promise<T> {
    const newest = async () =>
      (await t.db.select().from(fleetChanges)).reduce((id, row) => Math.max(id, row.recordId), 0);
    const before = await newest();
    const hasQuick = async () => {
      const [row] = await t.db.select().from(hosts).where(eq(hosts.id, quick.id));
      const id = await newest();
      return id > before && (row?.appliedId ?? 0) >= id;
    };
    let isOver = false;
    Object.assign(t.services.policy, { fleetWait: HANG });
    const answer = change().finally(() => {
      isOver = true;
    });
    await until(async () => isOver || (await hasQuick()));
    Object.assign(t.services.policy, { fleetWait: SECOND });
    return await answer;
  }

  test("a change that all have confirmed says so, and is recorded once", async () => {
    const { id, client } = await t.user("lena");
    const { body } = await client.call("POST", "/me/keys", { name: "laptop", public_key: freshKey() });
    const revoked = await answered(() => client.call("DELETE", `/me/keys/${body.data.id}`));
    const now = t.clock.now().toISOString();
    expect(revoked.body.data.hosts).toEqual({ total: 1, confirmed: 1, pending: [], effective_by: now });
    const disabled = await answered(() => admin.call("POST", `/users/${id}/disable`));
    expect(disabled.body.data).toEqual({
      status: "disabled",
      hosts: { total: 1, confirmed: 1, pending: [], effective_by: now },
    });
    const change = (await t.auditRows("user.disable")).at(-1);
    expect(await t.lastAudit("fleet.confirmed")).toMatchObject({
      ...{ resourceType: "fleet", resourceId: String(change?.id), actorType: "system", result: "success" },
      detail: { username: "lena", hosts: 1, confirmed: 1, outstanding: "" },
    });
    expect(await t.auditRows("fleet.confirmed")).toHaveLength(2);
    expect(await t.db.select().from(fleetChanges)).toEqual([]);
  });

  test("one that is cut off is named, with the moment when its lease ends; later that is recorded, whatever happened in between", async () => {
    dead = await joinedAgent(t, "dead");
    const { id } = await t.user("mia");
    await dead.state();
    await dead.report();
    const until = (await t.db.select().from(hosts).where(eq(hosts.id, dead.id)))[0]?.leaseUntil;
    const began = performance.now();
    const { body } = await answered(() => admin.call("POST", `/users/${id}/disable`));
    expect(performance.now() - began).toBeGreaterThan(900);
    expect(body.data.hosts).toEqual({ total: 2, confirmed: 1, pending: ["dead"], effective_by: until?.toISOString() });
    const before = (await t.auditRows("fleet.confirmed")).length;
    await settleChanges(t.services);
    expect(await t.auditRows("fleet.confirmed")).toHaveLength(before);
    // An answer into a dead wire counts as a renewal, but came with the change.
    t.clock.advance(HOUR);
    const cursor = dead.cursor;
    await dead.state();
    dead.cursor = cursor;
    t.clock.advance(3 * HOUR + 10 * MINUTE);
    await Promise.all([settleChanges(t.services), settleChanges(t.services)]);
    expect(await t.auditRows("fleet.confirmed")).toHaveLength(before + 1);
    expect(await t.lastAudit("fleet.confirmed")).toMatchObject({
      detail: { username: "mia", hosts: 2, confirmed: 1, outstanding: "dead", effective_by: until?.toISOString() },
    });
  });

  test("where the database does not say who has confirmed it, nothing is promised: it is asked again, and then that is said", async () => {
    dead = await joinedAgent(t, "dead");
    const { id } = await t.user("lost");
    await dead.state();
    await dead.report();
    const { body } = await answered(() => admin.call("POST", `/users/${id}/disable`));
    const { effective_by, ...told } = body.data.hosts;
    expect(told).toEqual({ total: 2, confirmed: 1, pending: ["dead"] });

    /** The service, whose first questions of a kind the database refuses. */
    const refusing = (name: "db" | "autocommit", verb: "select" | "update", code: string, times = 1): Services => {
      const database = t.services[name];
      let left = times;
      const ask = (...given: unknown[]) => {
        if (left-- > 0) throw Object.assign(new Error("refused"), { code });
        return (database[verb] as (...all: unknown[]) => unknown)(...given);
      };
      return { ...t.services, [name]: Object.assign(Object.create(database), { [verb]: ask }) };
    };
    const again = await awaitHosts(refusing("autocommit", "select", "EPIPE"), id);
    expect(again).toEqual({ ...told, effectiveBy: new Date(effective_by) });
    const [change] = await t.db.select().from(fleetChanges);
    expect(await awaitRecord(refusing("db", "select", "57P01"), change?.recordId ?? 0)).toEqual(again);
    // A full disk takes no note of it, and says who is pending.
    expect(await awaitHosts(refusing("db", "update", "53100"), id)).toEqual(again);
    const never = () => refusing("autocommit", "select", "XX000", Number.POSITIVE_INFINITY);
    await expect(awaitHosts(never(), id)).rejects.toThrow(
      "The change is made, but which further hosts have followed it",
    );
    // Where there was no other host when somebody asked last, nobody has to follow.
    const db = Object.create(t.db) as Database;
    const asked = (execute: () => Promise<unknown>) => ({ ...t.services, db, autocommit: { execute } as never });
    expect(await hasRemoteHosts(asked(async () => [{ found: false }]))).toBe(false);
    const later = performance.now() + MINUTE;
    const now = spyOn(performance, "now").mockImplementation(() => later);
    try {
      const refused = asked(() => Promise.reject(new Error("refused")));
      expect(await awaitHosts(refused, id)).toBeUndefined();
    } finally {
      now.mockRestore();
    }
  });

  test("what a host refuses is not confirmed, and a missing account is", async () => {
    dead = await joinedAgent(t, "dead");
    const { id } = await t.user("nele");
    await dead.state();
    await dead.report();
    const disabling = answered(() => admin.call("POST", `/users/${id}/disable`));
    await until(async () => (await t.db.select().from(users).where(eq(users.id, id)))[0]?.disabledAt !== null);
    t.clock.advance(10);
    await dead.state();
    await dead.report({ problems: [{ account: "ext_nele", kind: "refused", text: "the disk is full" }] });
    expect((await disabling).body.data.hosts).toMatchObject({ confirmed: 1, pending: ["dead"] });
    await dead.report({ problems: [{ account: "ext_nele", kind: "missing", text: "no such account" }] });
    await settleChanges(t.services);
    expect(await t.lastAudit("fleet.confirmed")).toMatchObject({
      detail: { username: "nele", confirmed: 2, outstanding: "" },
    });
    await dead.report();
  });

  test("a user who is deleted is waited for until each host has removed the account", async () => {
    dead = await joinedAgent(t, "dead");
    const { id } = await t.user("olga");
    await dead.state();
    await dead.report();
    const { body } = await answered(() => admin.call("DELETE", `/users/${id}`));
    expect(body.data).toMatchObject({ status: "deleted", hosts: { total: 2, confirmed: 1, pending: ["dead"] } });
    t.clock.advance(10);
    const state = await dead.state();
    expect(state.removed.map(({ name }) => name)).toContain("ext_olga");
    await dead.report();
    await settleChanges(t.services);
    expect(await t.lastAudit("fleet.confirmed")).toMatchObject({ detail: { username: "olga", confirmed: 2 } });
    expect(await t.db.execute(sql`select 1 from removed_accounts where name = 'ext_olga'`)).toHaveLength(0);
  });

  test("a host that was to remove the account, and has not, is waited for by whatever is taken away afterwards", async () => {
    dead = await joinedAgent(t, "dead");
    const { id, client } = await t.user("sina");
    const { body: key } = await client.call("POST", "/me/keys", { name: "laptop", public_key: freshKey() });
    await dead.state();
    await dead.report();
    const moved = await answered(() => admin.call("PUT", `/users/${id}/hosts`, { hosts: ["quick"], groups: [] }));
    expect(moved.body.data.taken).toMatchObject({ total: 1, pending: ["dead"] });
    const end = moved.body.data.taken.effective_by;
    const revoked = await answered(() => client.call("DELETE", `/me/keys/${key.data.id}`));
    expect(revoked.body.data.hosts).toEqual({ total: 2, confirmed: 1, pending: ["dead"], effective_by: end });
    // It is told to remove the account, says so only later, and hears of nothing else.
    t.clock.advance(10);
    expect((await dead.state()).removed.map(({ name }) => name)).toEqual(["ext_sina"]);
    const disabled = await answered(() => admin.call("POST", `/users/${id}/disable`));
    expect(disabled.body.data.hosts).toMatchObject({ total: 2, confirmed: 1, pending: ["dead"] });
    await dead.report();
    await settleChanges(t.services);
    expect(await t.db.select().from(fleetChanges)).toEqual([]);
    for (const { detail } of (await t.auditRows("fleet.confirmed")).slice(-2))
      expect(JSON.parse(detail)).toMatchObject({ username: "sina", hosts: 2, confirmed: 2, outstanding: "" });
    const again = await answered(() => admin.call("POST", `/users/${id}/enable`));
    expect(again.status).toBe(200);
    expect((await answered(() => admin.call("DELETE", `/users/${id}`))).body.data.hosts).toMatchObject({ total: 1 });
  });

  test("so it is where hosts are taken one after the other: what one does not take, another has", async () => {
    dead = await joinedAgent(t, "dead");
    const late = await joinedAgent(t, "late");
    const { id } = await t.user("rosa");
    const give = (hosts: string[]) => admin.call("PUT", `/users/${id}/hosts`, { hosts, groups: [] });
    await answered(() => give(["quick", "dead", "late"]));
    for (const agent of [dead, late]) {
      await agent.state();
      await agent.report();
    }
    expect((await answered(() => give(["quick", "late"]))).body.data.taken).toMatchObject({ pending: ["dead"] });
    const second = await answered(() => give(["quick"]));
    expect(second.body.data.taken).toMatchObject({ total: 2, confirmed: 0, pending: ["dead", "late"] });
    t.clock.advance(10);
    await late.state();
    await late.report();
    await give(["quick", "elsewhere"]);
    const last = await answered(() => give(["elsewhere"]));
    expect(last.body.data.taken).toMatchObject({ total: 3, confirmed: 2, pending: ["dead"] });
  });

  test("so it is where a host left a group before", async () => {
    dead = await joinedAgent(t, "dead", "");
    const { id } = await t.user("rolf");
    const { id: groupId } = (await admin.call("POST", "/host-groups", { name: "web", hosts: ["dead"] })).body.data;
    await answered(() => admin.call("PUT", `/users/${id}/hosts`, { hosts: ["quick"], groups: ["web"] }));
    await dead.state();
    await dead.report();
    await admin.call("PATCH", `/host-groups/${groupId}`, { remove: ["dead"] });
    const taken = await answered(() => admin.call("PUT", `/users/${id}/hosts`, { hosts: [], groups: ["web"] }));
    expect(taken.body.data.taken).toMatchObject({ total: 2, confirmed: 1, pending: ["dead"] });
  });

  test("so it is for who is answered only after somebody else's change of the same user", async () => {
    dead = await joinedAgent(t, "dead");
    const { id, client } = await t.user("rita");
    const { body: key } = await client.call("POST", "/me/keys", { name: "laptop", public_key: freshKey() });
    await dead.state();
    await dead.report();
    await answered(() => client.call("DELETE", `/me/keys/${key.data.id}`));
    const other = await answered(() => admin.call("PUT", `/users/${id}/hosts`, { hosts: ["dead"], groups: [] }));
    expect(other.body.data.taken).toMatchObject({ total: 2, confirmed: 1, pending: ["dead"] });
    expect(await awaitHosts(t.services, id)).toMatchObject({ total: 2, pending: ["dead"] });
  });

  test("so it is by the end of access on request, by a narrower profile, and where a host leaves a group", async () => {
    dead = await joinedAgent(t, "dead", "");
    const inStep = async () => {
      t.clock.advance(10);
      await dead.state();
      await dead.report();
    };
    const { id } = await t.user("tina");
    const { id: groupId } = (await admin.call("POST", "/host-groups", { name: "web", hosts: ["dead"] })).body.data;
    const both = { hosts: ["quick"], groups: ["web"] };
    await answered(() => admin.call("PUT", `/users/${id}/hosts`, both));
    await inStep();
    const { id: profileId } = (await admin.call("POST", "/profiles", { name: "dev", kind: "shell" })).body.data;
    await admin.call("PATCH", `/users/${id}`, { profile: "dev" });
    await admin.call("PATCH", `/users/${id}`, { on_request: { rule: "review", max_hours: 8 } });
    await allowAccess(t.system, id, { hours: 4, hosts: ["dead", "quick"] });
    await inStep();
    const left = await admin.call("PATCH", `/host-groups/${groupId}`, { remove: ["dead"] });
    expect(left.body.data.narrowed).toMatchObject({ total: 1, confirmed: 0, pending: ["dead"] });
    const end = left.body.data.narrowed.effective_by;
    const narrowed = await answered(() => admin.call("PATCH", `/profiles/${profileId}`, { forwarding: false }));
    expect(narrowed.body.data.hosts).toEqual({ total: 2, confirmed: 1, pending: ["dead"], effective_by: end });
    const ended = await answered(() => admin.call("DELETE", `/users/${id}/access`));
    expect(ended.body.data.hosts).toEqual({ total: 2, confirmed: 1, pending: ["dead"], effective_by: end });
    expect((await t.lastAudit("access.end")).detail).toMatchObject({ hosts: "quick, dead" });
    await inStep();
    await settleChanges(t.services);
    expect(await t.db.select().from(fleetChanges)).toEqual([]);
  });

  test("a group with a narrower profile is waited for on the hosts where it takes something away", async () => {
    dead = await joinedAgent(t, "dead", "");
    const { id } = await t.user("uta");
    await admin.call("POST", "/profiles", { name: "files", kind: "sftp", directory: "/data/x" });
    await admin.call("POST", "/host-groups", { name: "narrow", hosts: ["dead"], profile: "files" });
    await admin.call("PUT", `/users/${id}/hosts`, { hosts: ["dead"], groups: [] });
    await dead.state();
    await dead.report();
    const bound = await admin.call("PUT", `/users/${id}/hosts`, { hosts: ["dead"], groups: ["narrow"] });
    expect(bound.body.data.taken).toMatchObject({ total: 1, confirmed: 0, pending: ["dead"] });
    const wider = await admin.call("PUT", `/users/${id}/hosts`, { hosts: ["dead"], groups: [] });
    expect(wider.body.data).not.toHaveProperty("taken");
  });

  test("a host that has not confirmed the end of access on request, or a narrower profile, is not shown as done", async () => {
    const { id } = await t.user("vera");
    await admin.call("PUT", `/users/${id}/hosts`, { hosts: ["quick"], groups: [] });
    await admin.call("POST", "/profiles", { name: "dev", kind: "shell" });
    await admin.call("PATCH", `/users/${id}`, { profile: "dev" });
    await admin.call("PATCH", `/users/${id}`, { on_request: { rule: "review", max_hours: 8 } });
    await allowAccess(t.system, id, { hours: 4, hosts: null });
    const [{ id: profileId }] = (await admin.call("GET", "/profiles")).body.data.items;
    const states = async () => {
      const ofUser = (await admin.call("GET", `/users/${id}/hosts`)).body.data.items;
      const ofHost = (await admin.call("GET", `/hosts/${quick.id}/users`)).body.data.items;
      return [...ofUser, ...ofHost].map(({ state }: { readonly state: string }) => state);
    };
    await until(async () => (await states()).join() === "applied,applied");
    await stop();
    await endAccess(t.system, id);
    expect(await states()).toEqual(["pending", "pending"]);
    stop = run(quick);
    await until(async () => (await states()).join() === "applied,applied");
    await stop();
    await updateProfile(t.system, profileId, { forwarding: false });
    expect(await states()).toEqual(["pending", "pending"]);
    stop = run(quick);
    await until(async () => (await states()).join() === "applied,applied");
  });

  test("a host that stays open for ever leaves the end open, until it says that its lease was shortened", async () => {
    dead = await joinedAgent(t, "dead");
    const endless = await joinedAgent(t, "endless");
    await updateHost(t.system, endless.id, { lease: "none" });
    const { id } = await t.user("rita");
    await endless.state();
    await endless.report();
    await dead.state();
    await dead.report();
    const { body } = await answered(() => admin.call("POST", `/users/${id}/disable`));
    expect(body.data.hosts).toMatchObject({ pending: ["dead", "endless"], effective_by: null });
    await updateHost(t.system, endless.id, { lease: "10m" });
    const end = async () => (await t.db.select().from(fleetChanges).where(eq(fleetChanges.userId, id)))[0]?.effectiveBy;
    endless.held = "none";
    const cursor = endless.cursor;
    await endless.state();
    await settleChanges(t.services);
    expect((await end())?.getUTCFullYear()).toBe(9999);
    endless.held = "594";
    endless.cursor = cursor;
    await endless.state();
    await settleChanges(t.services);
    const [row] = await t.db.select().from(hosts).where(eq(hosts.id, dead.id));
    const fixed = await end();
    expect(fixed).toEqual(row?.leaseUntil as Date);
    t.clock.advance(MINUTE);
    await endless.state();
    await settleChanges(t.services);
    expect(await end()).toEqual(fixed as Date);
    await retireHost(t.system, endless.id, { force: true });
    await dead.state();
    await dead.report();
    await settleChanges(t.services);
  });

  test("the expiry job does not wait, and what becomes of it is recorded", async () => {
    dead = await joinedAgent(t, "dead");
    await t.user("paul");
    await dead.state();
    await dead.report();
    t.clock.advance(91 * 24 * HOUR);
    // Whoever waited for one of them would wait until the test's end.
    const context = { ...t.system, policy: { ...t.system.policy, fleetWait: HOUR } };
    await expireDue(context, await beat(t.services));
    expect((await t.db.select().from(fleetChanges)).map(({ account }) => account)).toContain("ext_paul");
    await settleChanges(t.services);
    t.clock.advance(5 * HOUR);
    await settleChanges(t.services);
    expect((await t.auditRows("fleet.confirmed")).some(({ detail }) => detail.includes("paul"))).toBe(true);
  }, 180_000);

  test("a user whose account is missing here can be disabled as long as another host may have it", async () => {
    dead = await joinedAgent(t, "dead");
    const { id } = await t.user("rosa");
    t.host.accounts.delete("ext_rosa");
    await dead.state();
    await dead.report();
    const problems = [{ account: "ext_rosa", kind: "missing" as const, text: "gone" }];
    await dead.report({ problems });
    expect((await admin.call("POST", `/users/${id}/disable`)).status).toBe(200);
    expect((await admin.call("POST", `/users/${id}/enable`)).status).toBe(409);
    await stop();
    await quick.report({ problems });
    t.clock.advance(10);
    expect((await admin.call("POST", `/users/${id}/disable`)).status).toBe(409);
    stop = run(quick);
  });
});

test("a host confirms by the request for the state that comes next, too, and not while it was refused something", async () => {
  const agent = await joinedAgent(t, "next-request");
  const { id } = await t.user("zora");
  const ask = async (applied = agent.cursor) => {
    const target = `/agent/state?since=${agent.cursor}&wait=0&applied=${applied}`;
    const answer = await agent.ask("GET", target);
    if (answer.status === 200) agent.cursor = answer.data.cursor;
    return answer;
  };
  const stored = async () => (await t.db.select().from(hosts).where(eq(hosts.id, agent.id)))[0];
  const next = async () => {
    t.clock.advance(10);
    return await agent.state();
  };
  await next();
  expect((await ask()).data).toMatchObject({ applied: agent.cursor });
  const disabled = await admin.call("POST", `/users/${id}/disable`);
  expect(disabled.body.data.hosts).toMatchObject({ total: 1, confirmed: 0, pending: ["next-request"] });
  const before = agent.cursor;
  await ask();
  expect(`${(await stored())?.appliedId}.${(await stored())?.appliedSeal}`).toBe(before);
  const refused = { account: "ext_zora", kind: "refused", text: "x" } as const;
  await agent.report({ cursor: before, problems: [refused] });
  t.clock.advance(10);
  expect((await ask()).data.applied).toBe(agent.cursor);
  await settleChanges(t.services);
  expect(await t.db.select().from(fleetChanges)).toHaveLength(1);
  await agent.report();
  await settleChanges(t.services);
  expect(await t.db.select().from(fleetChanges)).toEqual([]);

  // What the log does not have does not count, and what is no cursor is refused.
  const known = await stored();
  for (const cursor of [`999999.${"0".repeat(64)}`, `1.${"0".repeat(64)}`]) {
    t.clock.advance(10);
    expect((await ask(cursor)).data).not.toHaveProperty("applied");
  }
  for (const cursor of ["x", "7", `${agent.cursor}&applied=${agent.cursor}`]) {
    t.clock.advance(10);
    expect((await ask(cursor)).status).toBe(400);
  }
  expect(await stored()).toMatchObject({ appliedId: known?.appliedId, appliedSeal: known?.appliedSeal });
});
