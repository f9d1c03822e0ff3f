/** Grants, groups, locks and retirement, as agents are told of them and confirm them. */

import { afterAll, describe, expect, test } from "bun:test";
import { setUserHosts } from "../../../src/domain/hosts/grants.ts";
import { createGroup, updateGroup } from "../../../src/domain/hosts/groups.ts";
import { getHost, lockHost, unlockHost, updateHost } from "../../../src/domain/hosts/hosts.ts";
import { forgetRetired, retireHost } from "../../../src/domain/hosts/retirement.ts";
import { listUserHosts } from "../../../src/domain/hosts/user-hosts.ts";
import { createUser } from "../../../src/domain/users/users.ts";
import type { HostState } from "../../../src/protocol/fleet.ts";
import { MINUTE } from "../../../src/shared/time/clock.ts";
import { createTestApp } from "../../support/app.ts";
import { joinedAgent } from "../../support/fleet.ts";
import { testSlow } from "../../support/thorough.ts";

const app = await createTestApp({ UAM_FLEET_WAIT: "1s" });
afterAll(() => app.close());
const { system } = app;

const alice = await createUser(system, { username: "alice", email: "alice@example.org" });
const bob = await createUser(system, { username: "bob", email: "bob@example.org" });
const names = (refs: readonly { readonly name: string }[]) => refs.map(({ name }) => name).sort();
const told = ({ accounts, removed }: HostState) => ({ accounts: names(accounts), removed: names(removed) });
const stateOf = async (user: number, host: string) =>
  (await listUserHosts(system, user))
    .filter((place) => place.host.name === host)
    .map(({ state, removing }) => (removing ? `removing ${state}` : state));

describe("what agents are told", () => {
  test("a user who is given a host, who loses it, and who gets it back", async () => {
    const agent = await joinedAgent(app, "tools", "");
    expect(told(await agent.state())).toEqual({ accounts: [], removed: [] });
    await agent.report();
    await setUserHosts(system, alice.id, { hosts: ["tools"], groups: ["default"] });
    expect(await stateOf(alice.id, "tools")).toEqual(["pending"]);
    expect(told(await agent.state())).toEqual({ accounts: ["ext_alice"], removed: [] });
    await agent.report();
    expect(await stateOf(alice.id, "tools")).toEqual(["applied"]);
    const refused = { account: "ext_alice", kind: "conflict" as const, text: "The uid is somebody else's" };
    await agent.report({ problems: [refused] });
    expect(await stateOf(alice.id, "tools")).toEqual(["problem"]);
    await agent.report();

    const { taken } = await setUserHosts(system, alice.id, { hosts: [], groups: ["default"] });
    expect(taken).toMatchObject({ total: 1, confirmed: 0, pending: ["tools"], effectiveBy: expect.any(Date) });
    expect(await stateOf(alice.id, "tools")).toEqual(["removing pending"]);
    expect(told(await agent.state())).toEqual({ accounts: [], removed: ["ext_alice"] });
    await setUserHosts(system, alice.id, { hosts: ["tools"], groups: ["default"] });
    expect(told(await agent.state())).toEqual({ accounts: ["ext_alice"], removed: [] });
  });

  test("a host that is taken and confirms at once", async () => {
    const agent = await joinedAgent(app, "quick", "");
    await setUserHosts(system, bob.id, { hosts: ["quick"], groups: ["default"] });
    await agent.state();
    const confirming = agent.state(20).then(() => agent.report());
    // The host answers at once; only a hang takes so long.
    const patient = { ...system, policy: { ...system.policy, fleetWait: MINUTE } };
    const { taken, places } = await setUserHosts(patient, bob.id, { hosts: [], groups: ["default"] });
    await confirming;
    expect(taken).toMatchObject({ total: 1, confirmed: 1, pending: [] });
    expect(places.map(({ host }) => host.name)).not.toContain("web1");
    expect(await app.lastAudit("fleet.confirmed")).toMatchObject({ result: "success" });
  });

  testSlow("all users of a group that the host joins and leaves", async () => {
    const agent = await joinedAgent(app, "node", "");
    await agent.state();
    await agent.report();
    await createGroup(system, { name: "team" });
    for (const { id } of [alice, bob]) await setUserHosts(system, id, { hosts: [], groups: ["default", "team"] });
    expect(told(await agent.state())).toEqual({ accounts: [], removed: [] });
    await updateGroup(system, "team", { add: ["node"] });
    expect(told(await agent.state())).toEqual({ accounts: ["ext_alice", "ext_bob"], removed: [] });
    await agent.report();
    expect(await stateOf(bob.id, "node")).toEqual(["applied"]);
    await updateGroup(system, "team", { remove: ["node"] });
    expect(told(await agent.state())).toEqual({ accounts: [], removed: ["ext_alice", "ext_bob"] });
    await agent.report();
  });

  test("another lease, a lock and its end; the key is still good", async () => {
    const agent = await joinedAgent(app, "shop", "");
    const { id } = await getHost(system, "shop").then(({ row }) => row);
    await setUserHosts(system, bob.id, { hosts: ["shop"], groups: ["default"] });
    const open = await agent.state();
    expect([open.lease_ms, open.accounts[0]?.open]).toEqual([4 * 3600_000, true]);
    await updateHost(system, id, { lease: "10m", leaseEnds: "sessions" });
    expect(await agent.state()).toMatchObject({ lease_ms: 600_000, lease_ends: "sessions" });
    await lockHost(system, id);
    expect(await agent.state()).toMatchObject({ status: "locked", accounts: [{ open: false, keys: [] }] });
    await unlockHost(system, id);
    // A nonce from before is stale, which an agent knows how to go on from.
    expect(await agent.state()).toMatchObject({ status: "active", accounts: [{ name: "ext_bob", open: true }] });
    expect((await getHost(system, id)).row.status).toBe("active");
  });

  test("unlocking after a counter that was set back lets the agent go on, and takes nothing that was sent before", async () => {
    const agent = await joinedAgent(app, "clone", "");
    await agent.state();
    const counter = agent.counter;
    await agent.state();
    // Set back, as by a snapshot: it asks with the counter of before.
    agent.counter = counter - 1;
    await agent.state().catch(() => {});
    const { row } = await getHost(system, "clone");
    expect(row.status).toBe("locked");
    const before = agent.nonce;
    app.clock.advance(1000);
    await unlockHost(system, row.id);
    const old = await agent.once("GET", `/agent/state?since=${agent.cursor}&wait=0`, undefined, {
      nonce: before,
      counter: agent.counter + 1,
    });
    expect(old.status).toBe(401);
    app.clock.advance(1000);
    expect((await agent.state()).status).toBe("active");
  });

  test("a host that is retired is forgotten once its agent has confirmed", async () => {
    const agent = await joinedAgent(app, "leaver", "default");
    await agent.state();
    await agent.report();
    expect(await retireHost(system, "leaver", { force: false })).toMatchObject({ status: "retiring", accounts: 2 });
    expect(await forgetRetired(app.services)).toEqual([]);
    expect(await agent.state()).toMatchObject({ status: "retiring" });
    expect(await forgetRetired(app.services)).toEqual([]);
    await agent.report({ problems: [{ account: "ext_alice", kind: "refused", text: "A process is still there" }] });
    expect(await forgetRetired(app.services)).toEqual([]);
    await agent.report();
    expect(await forgetRetired(app.services)).toEqual(["leaver"]);
    expect((await agent.ask("GET", "/agent/state?since=&wait=0")).status).toBe(401);
  });
});
