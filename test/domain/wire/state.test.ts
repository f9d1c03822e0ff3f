/** What hosts are told, when, and of whom. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eq, sql } from "drizzle-orm";
import { webOptionsOf } from "../../../src/cli/commands/service/web-options.ts";
import { settleChanges } from "../../../src/domain/hosts/confirmation.ts";
import { setUserHosts } from "../../../src/domain/hosts/grants.ts";
import { lockHost, unlockHost, updateHost } from "../../../src/domain/hosts/hosts.ts";
import { finishClosings } from "../../../src/domain/lifecycle/finish-closings.ts";
import { acceptHistory } from "../../../src/domain/recovery/divergence.ts";
import { deleteUser, disableUser, enableUser } from "../../../src/domain/users/users.ts";
import { fleetOf } from "../../../src/domain/wire/fleet.ts";
import { fleetSecrets } from "../../../src/domain/wire/fleet-key.ts";
import type { HostState } from "../../../src/protocol/fleet.ts";
import { createApp } from "../../../src/server/api/app.ts";
import { formatLease, isForever } from "../../../src/shared/time/lease.ts";
import { openDatabase } from "../../../src/store/client.ts";
import { grants, hostGroupMembers, hosts, removedAccounts } from "../../../src/store/schema-fleet.ts";
import { createAgent, type TestAgent } from "../../support/agent.ts";
import { createTestApp, type TestApp } from "../../support/app.ts";
import { joinedAgent, reachOf } from "../../support/fleet.ts";
import { SHORT_HANG } from "../../support/hang.ts";
import { freshKey } from "../../support/keys.ts";
import { testSlow } from "../../support/thorough.ts";
import { until } from "../../support/until.ts";

let t: TestApp;
beforeAll(async () => {
  t = await createTestApp();
  await t.admin();
});
afterAll(() => t.close());

const names = ({ accounts }: HostState) => accounts.map(({ name }) => name).sort();
const accountOf = ({ accounts }: HostState, username: string) =>
  accounts.find(({ name }) => name === `ext_${username}`);

/** The state without those that came of other tests. */
async function settled(agent: TestAgent): Promise<HostState> {
  t.clock.advance(10);
  return await agent.state();
}

/** Adds records that concern no host, beside what operations write. */
function addRecords(count: number): Promise<void> {
  const seal = `decode('${"ab".repeat(32)}', 'hex')`;
  return t.alter(`alter table audit disable trigger all; alter table audit_head disable trigger all;
    insert into audit (id, created_at, actor_type, actor, action, resource_type, resource_id, detail, result, ip, mac)
      select id + n, created_at, 'cli', 'filler', 'settings.update', 'setting', '', '{}', 'success', '', ${seal}
      from audit_head, generate_series(1, ${count}) as n;
    update audit_head set id = id + ${count}, mac = ${seal};
    alter table audit enable trigger all; alter table audit_head enable trigger all`);
}

describe("answer()", () => {
  test("tells everything first, then what changed, and nothing of others", async () => {
    const agent = await joinedAgent(t, "state1");
    const alone = await joinedAgent(t, "state2", "");
    const { id, client } = await t.user("anna");
    const first = await settled(agent);
    expect(first).toMatchObject({
      full: true,
      cautious: false,
      status: "active",
      lease_ms: 4 * 3_600_000,
      end_sessions: "key",
    });
    expect(accountOf(first, "anna")).toMatchObject({ open: true, keys: [] });
    expect((await settled(alone)).accounts).toEqual([]);

    await client.call("POST", "/me/keys", { name: "laptop", public_key: freshKey() });
    const second = await settled(agent);
    expect(second).toMatchObject({ full: false, removed: [] });
    expect(names(second)).toEqual(["ext_anna"]);
    expect(accountOf(second, "anna")?.keys).toHaveLength(1);
    expect(JSON.stringify(second)).not.toContain("example.org");

    await disableUser(t.system, id);
    expect(accountOf(await settled(agent), "anna")).toMatchObject({ open: false, keys: [] });
    const before = alone.cursor;
    expect(await settled(alone)).toMatchObject({ full: false, accounts: [], removed: [], cursor: before });
  });

  test("keeps the cursor of a host that nothing concerns until it is 5000 records old, and misses nothing then", async () => {
    const agent = await joinedAgent(t, "unconcerned");
    const { id } = await t.user("olga");
    await settled(agent);
    const { cursor } = agent;
    await addRecords(5000);
    expect(await settled(agent)).toMatchObject({ full: false, accounts: [], cursor });
    await addRecords(1);
    const moved = await settled(agent);
    expect(moved).toMatchObject({ full: false, accounts: [], removed: [] });
    expect(moved.cursor).toBe(`${Number(cursor.split(".")[0]) + 5001}.${"ab".repeat(32)}`);
    await disableUser(t.system, id);
    await addRecords(5001);
    expect(await settled(agent)).toMatchObject({ full: false, accounts: [{ name: "ext_olga", open: false }] });
  });

  test("wakes who waits, at once, and only whom it concerns", async () => {
    const agent = await joinedAgent(t, "wait1");
    const alone = await joinedAgent(t, "wait2", "");
    const { id } = await t.user("bert");
    await settled(agent);
    await settled(alone);
    const other = alone.state(50);
    const held = agent.state(50);
    await until(() => fleetOf(t.services).states.waiting() === 2);
    const began = performance.now();
    await disableUser(t.system, id);
    expect(accountOf(await held, "bert")).toMatchObject({ open: false });
    expect(performance.now() - began).toBeLessThan(SHORT_HANG);
    expect(fleetOf(t.services).states.waiting()).toBe(1);
    // A newer request ends it.
    await alone.state(0);
    expect(fleetOf(t.services).states.waiting()).toBe(0);
    expect((await other).accounts).toEqual([]);
  });

  test("one that leaves is held no longer, and a newer request of the host takes the place of an older", async () => {
    const agent = await joinedAgent(t, "leaver");
    await settled(agent);
    const leaving = new AbortController();
    agent.counter++;
    const held = agent.once("GET", `/agent/state?since=${agent.cursor}&wait=50`, undefined, { signal: leaving.signal });
    await until(() => fleetOf(t.services).states.waiting() === 1);
    const newer = agent.state(50);
    expect((await held).status).toBe(200);
    expect(fleetOf(t.services).states.waiting()).toBe(1);
    await agent.state(0);
    expect(fleetOf(t.services).states.waiting()).toBe(0);
    await newer;
    agent.counter++;
    const left = agent.once("GET", `/agent/state?since=${agent.cursor}&wait=50`, undefined, { signal: leaving.signal });
    await until(() => fleetOf(t.services).states.waiting() === 1);
    leaving.abort();
    await left;
    expect(fleetOf(t.services).states.waiting()).toBe(0);
  });

  test("a deleted user is removed, again and again, until the host has applied it", async () => {
    const agent = await joinedAgent(t, "remover");
    const alone = await joinedAgent(t, "bystander", "");
    const { id } = await t.user("carl");
    const uid = accountOf(await settled(agent), "carl")?.uid ?? 0;
    await agent.report();
    await settled(alone);
    const before = agent.cursor;
    await deleteUser(t.system, id);
    const ref = { name: "ext_carl", uid };
    expect((await settled(agent)).removed).toEqual([ref]);
    // Its state was lost on the way.
    agent.cursor = before;
    expect((await settled(agent)).removed).toEqual([ref]);
    agent.cursor = "";
    expect((await settled(agent)).removed).toContainEqual(ref);
    expect((await settled(alone)).removed).toEqual([]);
    const noted = async () =>
      (
        await t.db
          .select({ hosts: sql<number[]>`to_json(hosts)` })
          .from(removedAccounts)
          .where(eq(removedAccounts.uid, uid))
      )[0];
    expect((await noted())?.hosts).toContain(agent.id);
    expect((await noted())?.hosts).not.toContain(alone.id);
    await agent.report();
    const { settleChanges } = await import("../../../src/domain/hosts/confirmation.ts");
    await settleChanges(t.services);
    expect((await noted())?.hosts ?? []).not.toContain(agent.id);
    expect((await settled(agent)).removed).toEqual([]);
  });

  test("a deletion that the service's own host could not finish is one for the others, too, once it is finished", async () => {
    const agent = await joinedAgent(t, "late-remover");
    const { id } = await t.user("otto");
    const uid = accountOf(await settled(agent), "otto")?.uid ?? 0;
    t.host.failing.add("removeAccount");
    await expect(deleteUser(t.system, id)).rejects.toThrow();
    expect(await settled(agent)).toMatchObject({ removed: [], accounts: [{ name: "ext_otto", open: false }] });
    const held = agent.state(20);
    await Bun.sleep(100);
    t.host.failing.clear();
    await finishClosings(t.services, "all");
    const ref = { name: "ext_otto", uid };
    expect(await t.lastAudit("user.delete")).toMatchObject({ result: "success", subjectId: id });
    expect((await held).removed).toEqual([ref]);
    agent.cursor = "";
    expect((await settled(agent)).removed).toContainEqual(ref);
  });

  testSlow(
    "what a host has to remove is numbered by the record that tells of it, so that it is done once that is applied",
    async () => {
      const agent = await joinedAgent(t, "numbered", "");
      const { id } = await t.user("paula");
      await setUserHosts(t.system, id, { groups: ["default"], hosts: ["numbered"] });
      const uid = accountOf(await settled(agent), "paula")?.uid ?? 0;
      await setUserHosts(t.system, id, { groups: ["default"], hosts: [] });
      const record = await t.lastAudit("user.grant");
      const noted = () => t.db.select().from(removedAccounts).where(eq(removedAccounts.uid, uid));
      expect((await noted()).map(({ recordId }) => recordId)).toEqual([record.id]);
      expect((await settled(agent)).removed).toEqual([{ name: "ext_paula", uid }]);
      expect(agent.cursor.split(".")[0]).toBe(String(record.id));
      await agent.report();
      await settleChanges(t.services);
      expect(await noted()).toEqual([]);
    },
  );

  testSlow(
    "a host without its database gets no lease",
    async () => {
      const database = openDatabase(t.connection, 2);
      const services = { ...t.services, db: database.db };
      const app = createApp(
        services,
        webOptionsOf(t.config, { version: "0", runtime: "test", pages: undefined, setupCommand: undefined }),
      );
      const agent = await joinedAgent(t, "orphan");
      const there = createAgent(reachOf(app), fleetSecrets(t.services.seal).publicKey);
      Object.assign(there, { id: agent.id, key: agent.key });
      await there.state();
      const until = async () =>
        (await t.db.select().from(hosts).where(eq(hosts.id, agent.id)))[0]?.leaseUntil?.getTime() ?? 0;
      const before = await until();
      await fleetOf(services).stop();
      await database.close();
      await Bun.sleep(5200);
      t.clock.advance(60_000);
      const answer = await there.ask("GET", `/agent/state?since=${there.cursor}&wait=0`);
      expect(answer).toMatchObject({ status: 503, signed: true });
      expect(answer.headers.get("retry-after")).toBe("2");
      expect(await until()).toBe(before);
    },
    180_000,
  );

  test("two replicas on one database tell the same, whichever is asked", async () => {
    const database = openDatabase(t.connection, 4);
    const services = { ...t.services, db: database.db };
    const app = createApp(
      services,
      webOptionsOf(t.config, { version: "0", runtime: "test", pages: undefined, setupCommand: undefined }),
    );
    const agent = await joinedAgent(t, "replicas");
    const there = createAgent(reachOf(app), fleetSecrets(t.services.seal).publicKey);
    const { id } = await t.user("dora");
    await settled(agent);
    Object.assign(there, {
      id: agent.id,
      key: agent.key,
      nonce: agent.nonce,
      counter: agent.counter,
      cursor: agent.cursor,
    });
    const held = there.state(50);
    await Bun.sleep(300);
    await disableUser(t.system, id);
    expect(accountOf(await held, "dora")).toMatchObject({ open: false });
    Object.assign(agent, { nonce: there.nonce, counter: there.counter, cursor: there.cursor });
    expect(await agent.state()).toMatchObject({ full: false, accounts: [] });
    await fleetOf(services).stop();
    await database.close();
  });

  test("takes no cursor that is none", async () => {
    const agent = await joinedAgent(t, "cursors");
    for (const since of ["x", "7", "0.00", `7.${"g".repeat(64)}`, `-1.${"0".repeat(64)}`]) {
      expect(await agent.ask("GET", `/agent/state?since=${since}`)).toMatchObject({ status: 400, signed: true });
    }
  });
});

describe("what hosts are of their own", () => {
  test("a host that is locked, or joins a group, or leaves it, is told everything", async () => {
    const agent = await joinedAgent(t, "mover", "");
    await t.user("emil");
    expect((await settled(agent)).accounts).toEqual([]);
    const { audited } = await import("../../../src/domain/operation/audited.ts");
    const held = agent.state(20);
    await Bun.sleep(100);
    await audited(t.system, { action: "host_group.update", resourceId: "1" }, async (op) => {
      await op.tx.insert(hostGroupMembers).values({ groupId: 1, hostId: agent.id });
    });
    const joined = await held;
    expect(joined.full).toBe(true);
    expect(accountOf(joined, "emil")).toMatchObject({ open: true });
    await audited(t.system, { action: "host.lock", resourceId: String(agent.id) }, async (op) => {
      await op.tx.update(hosts).set({ status: "locked" }).where(eq(hosts.id, agent.id));
    });
    const locked = await settled(agent);
    expect(locked).toMatchObject({ full: true, status: "locked" });
    expect(locked.accounts.some(({ open }) => open)).toBe(false);
    await audited(t.system, { action: "host.unlock", resourceId: String(agent.id) }, async (op) => {
      await op.tx.update(hosts).set({ status: "active" }).where(eq(hosts.id, agent.id));
    });
    expect(accountOf(await settled(agent), "emil")).toMatchObject({ open: true });
    const emil = accountOf(joined, "emil");
    await audited(t.system, { action: "host_group.update", resourceId: "1" }, async (op) => {
      await op.tx.delete(hostGroupMembers).where(eq(hostGroupMembers.hostId, agent.id));
      await op.tx
        .insert(removedAccounts)
        .values({ name: "ext_emil", uid: emil?.uid ?? 0, hosts: [agent.id], removedAt: t.clock.now() });
    });
    const left = await settled(agent);
    expect(left).toMatchObject({ full: true, accounts: [] });
    expect(left.removed).toEqual([{ name: "ext_emil", uid: emil?.uid ?? 0 }]);
  });

  test("the lease is the host's own, or the shortest of its groups, and is counted with one percent more", async () => {
    const agent = await joinedAgent(t, "leased", "");
    await t.db.execute(
      sql`insert into host_groups (name, lease_ms, created_at) values ('short', 300000, now()), ('long', 600000, now()), ('free', 0, now())`,
    );
    const join = (name: string) =>
      t.db.execute(
        sql`insert into host_group_members (group_id, host_id) select id, ${agent.id} from host_groups where name = ${name}`,
      );
    const lease = async () => (await settled(agent)).lease_ms;
    expect(await lease()).toBe(14_400_000);
    await join("free");
    expect(await lease()).toBeNull();
    await t.db.update(hosts).set({ leaseUntil: null }).where(eq(hosts.id, agent.id));
    await join("long");
    expect(await lease()).toBe(600_000);
    await join("short");
    expect(await lease()).toBe(300_000);
    const [row] = await t.db.select().from(hosts).where(eq(hosts.id, agent.id));
    // What was granted before lasts.
    expect((row?.leaseUntil?.getTime() ?? 0) - t.clock.now().getTime()).toBe(606_000 - 10);
    await t.db.update(hosts).set({ leaseMs: 0 }).where(eq(hosts.id, agent.id));
    expect(await lease()).toBeNull();
  });

  describe("a lease that is changed", () => {
    const HOUR = 3_600_000;
    const DAY = 24 * HOUR;
    async function endOf({ id }: TestAgent): Promise<Date> {
      const [row] = await t.db.select().from(hosts).where(eq(hosts.id, id));
      return row?.leaseUntil ?? new Date(0);
    }
    const left = async (agent: TestAgent) => (await endOf(agent)).getTime() - t.clock.now().getTime();
    const set = (agent: TestAgent, lease: string) => updateHost(t.system, agent.id, { lease });

    test("counts as shorter once the agent says that it holds no longer one, and not before", async () => {
      const agent = await joinedAgent(t, "shorter", "");
      await set(agent, "none");
      await agent.state();
      expect(isForever(await endOf(agent))).toBe(true);
      await set(agent, "4h");
      // Asked before it had an answer with the new one.
      agent.held = "none";
      expect((await agent.state()).lease_ms).toBe(4 * HOUR);
      expect(isForever(await endOf(agent))).toBe(true);
      agent.held = "14256";
      await agent.state();
      expect(await left(agent)).toBe(4 * HOUR * 1.01);
      // Not all of it was taken: a hold of root's, say.
      agent.held = String((7 * DAY) / 1000);
      await agent.state();
      expect(await left(agent)).toBe(7 * DAY * 1.01);
      agent.held = "0";
      await agent.state();
      expect(await left(agent)).toBe(4 * HOUR * 1.01);
    });

    test("stays at the longest that was promised where the agent does not say, or is locked", async () => {
      const agent = await joinedAgent(t, "reticent", "");
      await set(agent, "7d");
      await agent.state();
      await set(agent, "5m");
      await agent.state();
      await agent.state();
      expect(await left(agent)).toBe(7 * DAY * 1.01);
      await lockHost(t.system, agent.id);
      agent.held = "0";
      await agent.state();
      expect(await left(agent)).toBe(7 * DAY * 1.01);
      await unlockHost(t.system, agent.id);
      await agent.state();
      expect(await left(agent)).toBe(5 * 60_000 * 1.01);
    });

    test("is told to a request that waits only as far as it was promised with that request", async () => {
      const agent = await joinedAgent(t, "longer", "");
      agent.held = "0";
      for (const [before, after, told] of [
        ["10m", "7d", 600_000],
        ["4h", "none", 4 * HOUR],
        ["none", "10m", 600_000],
      ] as const) {
        await set(agent, before);
        await agent.state();
        const held = agent.state(50);
        await until(() => fleetOf(t.services).states.waiting() === 1);
        await set(agent, after);
        expect(await held).toMatchObject({ full: true, lease_ms: told });
        const last = (await agent.state()).lease_ms;
        expect(last === null ? "none" : formatLease(last)).toBe(after);
      }
    });

    test("what is no number of seconds is refused", async () => {
      const agent = await joinedAgent(t, "illegible", "");
      for (const held of ["-1", "1e9", "1234567890", "never", "1&held=2"]) {
        expect(await agent.ask("GET", `/agent/state?since=&wait=0&held=${held}`)).toMatchObject({ status: 400 });
      }
    });
  });
});

describe("a database that was set back", () => {
  test("is noticed by every agent that knew more, which is told so until an administrator accepts", async () => {
    const agent = await joinedAgent(t, "before-restore");
    const second = await joinedAgent(t, "before-restore2");
    await settled(agent);
    await settled(second);
    const [id = "", seal = ""] = agent.cursor.split(".");
    agent.cursor = `${id}.${seal.replace(/^./, (digit) => (digit === "0" ? "1" : "0"))}`;
    second.cursor = `${Number(id) + 1000}.${"0".repeat(64)}`;
    expect(await settled(agent)).toMatchObject({ full: true, cautious: true });
    expect(await settled(second)).toMatchObject({ full: true, cautious: true });
    expect(await t.auditRows("fleet.diverged")).toHaveLength(1);
    expect((await t.mails("admin@example.org")).filter(({ subject }) => subject.includes("audit log"))).toHaveLength(1);
    const { id: user } = await t.user("frida");
    expect(await settled(agent)).toMatchObject({ full: false, cautious: true });
    await disableUser(t.system, user);
    await enableUser(t.system, user);
    expect(await acceptHistory(t.system)).toEqual({
      hosts: 2,
      removed: [],
      unheard: ["before-restore", "before-restore2"],
    });
    expect(await settled(agent)).toMatchObject({ full: true, cautious: false });
    expect(await settled(second)).toMatchObject({ full: true, cautious: false });
    expect(await t.lastAudit("fleet.accept")).toMatchObject({ result: "success", detail: { hosts: 2 } });
  });

  test("is noticed while the service runs: nobody is told by what it remembers", async () => {
    const agent = await joinedAgent(t, "failover");
    await settled(agent);
    // The newest record is another one now, as after a failover that lost some.
    await t.alter(
      "alter table audit disable trigger all; alter table audit_head disable trigger all; update audit set mac = decode(repeat('ab', 32), 'hex') where id = (select max(id) from audit); update audit_head set mac = decode(repeat('ab', 32), 'hex'); alter table audit enable trigger all; alter table audit_head enable trigger all",
    );
    const held = agent.state(5);
    const state = await held;
    expect(state).toMatchObject({ full: true, cautious: true });
  });
});

describe("grants", () => {
  testSlow(
    "a user who has no account on the service's own host is left alone there, and is on the others",
    async () => {
      const other = await createTestApp({ UAM_FLEET_WAIT: "1s" });
      try {
        const agent = await joinedAgent(other, "only");
        await other.db.delete(hostGroupMembers).where(eq(hostGroupMembers.hostId, 1));
        const before = other.host.accounts.size;
        const { id, client } = await other.user("nora");
        expect(other.host.accounts.size).toBe(before);
        await client.call("POST", "/me/keys", { name: "laptop", public_key: freshKey() });
        const { body } = await client.call("GET", "/me/keys");
        other.clock.advance(10);
        expect(accountOf(await agent.state(), "nora")).toMatchObject({
          open: true,
          keys: [{ id: body.data.items[0].id }],
        });
        const admin = await other.admin();
        expect((await client.call("DELETE", `/me/keys/${body.data.items[0].id}`)).status).toBe(200);
        expect((await admin.call("POST", `/users/${id}/disable?preview=true`)).body.data.host).toEqual([]);
        expect((await admin.call("POST", `/users/${id}/disable`)).status).toBe(200);
        expect((await admin.call("POST", `/users/${id}/enable`)).status).toBe(200);
        expect((await admin.call("POST", `/users/${id}/extend`, { days: 3 })).status).toBe(200);
        const { reconcileHost } = await import("../../../src/domain/lifecycle/reconcile.ts");
        expect(await reconcileHost(other.services, "/nonexistent", "repair")).toEqual([]);
        // One that is there all the same is closed as any other.
        const [row] = await other.db.execute<{ uid: number }>(sql`select uid from accounts where user_id = ${id}`);
        await other.host.createAccount({
          name: "ext_nora",
          uid: Number(row?.uid),
          expireAt: other.clock.now(),
          open: true,
          keys: [],
        });
        expect((await admin.call("POST", `/users/${id}/disable`)).status).toBe(200);
        expect(other.host.accounts.get("ext_nora")?.open).toBe(false);
        expect((await admin.call("DELETE", `/users/${id}`)).status).toBe(200);
        expect(other.host.accounts.has("ext_nora")).toBe(false);
        other.clock.advance(10);
        expect((await agent.state()).removed).toEqual([{ name: "ext_nora", uid: Number(row?.uid) }]);
        expect(await other.db.select().from(grants).where(eq(grants.userId, id))).toEqual([]);
      } finally {
        await other.close();
      }
    },
  );
});

testSlow(
  "many hosts that ask for everything at once are told in turn, or to come again",
  async () => {
    const many = await createTestApp();
    try {
      for (let index = 0; index < 5; index++) await many.user(`many-${index}`);
      const agents: TestAgent[] = [];
      for (let index = 0; index < 70; index++) agents.push(await joinedAgent(many, `many-${index}`));
      const answers = await Promise.all(agents.map((agent) => agent.ask("GET", "/agent/state")));
      const statuses = answers.map(({ status }) => status);
      expect(answers.every(({ signed }) => signed)).toBe(true);
      expect(new Set(statuses).isSubsetOf(new Set([200, 429]))).toBe(true);
      expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(50);
      for (const { status, headers, data } of answers) {
        if (status === 429) expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
        else expect(data.accounts).toHaveLength(5);
      }
      // One change wakes them all, and is read once.
      for (const agent of agents) agent.cursor = "";
      for (const agent of agents) await agent.state();
      const held = agents.map((agent) => agent.state(50));
      while (fleetOf(many.services).states.waiting() < agents.length) await Bun.sleep(20);
      const began = performance.now();
      await disableUser(many.system, 1);
      const states = await Promise.all(held);
      expect(states.every(({ accounts }) => accounts.length === 1 && accounts[0]?.open === false)).toBe(true);
      expect(performance.now() - began).toBeLessThan(SHORT_HANG);
    } finally {
      await many.close();
    }
  },
  180_000,
);
