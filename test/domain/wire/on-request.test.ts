/** Access on request on further hosts: their agents are told of what is allowed as of any other window. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { HostState } from "../../../src/protocol/fleet.ts";
import { HOUR, MINUTE, shift } from "../../../src/shared/time/clock.ts";
import type { TestAgent } from "../../support/agent.ts";
import { type Client, createTestApp, loginUser, type TestApp } from "../../support/app.ts";
import { joinedAgent } from "../../support/fleet.ts";
import { freshKey } from "../../support/keys.ts";

/** A Friday. */
const NOW = new Date("2026-11-27T10:00:00.000Z");

let t: TestApp;
let admin: Client;
/** Keeps hours. */
let agent: TestAgent;
/** Of a version before hours. */
let older: TestAgent;
let count = 0;
let name: string;
let id: number;
let client: Client;
beforeAll(async () => {
  t = await createTestApp({ UAM_FLEET_WAIT: "1s" });
  t.clock.set(NOW);
  admin = await t.admin();
  agent = await joinedAgent(t, "keeps");
  agent.hours = "none";
  older = await joinedAgent(t, "older");
});
afterAll(() => t.close());
beforeEach(async () => {
  t.clock.set(NOW);
  name = `asker-${++count}`;
  const fields = { username: name, email: "p@example.org", on_request: { rule: "self", max_hours: 4 } };
  const made = await admin.call("POST", "/users", fields);
  expect(made.status).toBe(201);
  id = made.body.data.id;
  client = await loginUser(t.system, t.app, name);
  await client.call("POST", "/me/keys", { name: "laptop", public_key: freshKey() });
});

const accountIn = ({ accounts }: HostState) => accounts.find((account) => account.name === `ext_${name}`);
const windows = async () => accountIn(await agent.state())?.hours?.windows;
const ask = async (hours = 2) => (await client.call("POST", "/me/access", { hours, reason: "Deploy" })).body.data;
const span = (from: Date, to: Date) => ({ from: from.toISOString(), to: to.toISOString() });

describe("a user on request with an account on further hosts", () => {
  test("has no window there until it is allowed, and then that one, at once; an older agent has it shut", async () => {
    expect(await windows()).toEqual([]);
    const told = agent.state(20);
    const now = t.clock.now();
    expect(await ask(2)).toEqual({ access: "open", until: shift(now, 2 * HOUR).toISOString() });
    const account = accountIn(await told);
    expect(account).toMatchObject({ open: true, hours: { windows: [span(now, shift(now, 2 * HOUR))] } });
    expect(account?.keys).toHaveLength(1);
    expect(accountIn(await older.state())).toMatchObject({ open: false, keys: [] });
    t.clock.set(shift(now, HOUR));
    client = await loginUser(t.system, t.app, name);
    await ask(2);
    expect((await windows())?.at(-1)?.to).toBe(shift(now, 4 * HOUR).toISOString());
    t.clock.set(shift(now, 5 * HOUR));
    agent.cursor = "";
    const later = t.clock.now().toISOString();
    expect((await windows())?.filter(({ to }) => to > later)).toEqual([]);
  });

  test("whose access is ended before its time: both ways name the hosts that have not followed", async () => {
    await ask(2);
    expect(await windows()).toHaveLength(1);
    const own = await client.call("DELETE", "/me/access");
    expect(own.body.data).toMatchObject({ access: "on_request", hosts: { total: 2, pending: ["keeps", "older"] } });
    expect(own.body.data.hosts.effective_by).toBeString();
    expect(await windows()).toEqual([]);
    await ask(1);
    expect(await windows()).toHaveLength(1);
    const theirs = await admin.call("DELETE", `/users/${id}/access`);
    expect(theirs.body.data.hosts).toMatchObject({ total: 2, confirmed: 0 });
    expect(await windows()).toEqual([]);
  });

  test("whose rule allows less is narrowed there, and whoever need not ask any more is open to the end", async () => {
    await ask(4);
    const patch = async (on_request: unknown) => await admin.call("PATCH", `/users/${id}`, { on_request });
    expect((await patch({ rule: "self", max_hours: 1 })).body.data.hosts).toMatchObject({ total: 2 });
    expect(await windows()).toMatchObject([{ to: shift(t.clock.now(), HOUR).toISOString() }]);
    expect((await patch(null)).body.data.hosts).toBeUndefined();
    expect(await windows()).toBeUndefined();
    expect((await patch({ rule: "self", max_hours: 1 })).body.data.hosts).toMatchObject({ total: 2 });
    expect(await windows()).toEqual([]);
  });

  test("on a host of a group with hours is open only while these are, too", async () => {
    const hours = { zone: "UTC", windows: [{ days: ["fri"], from: "10:30", to: "11:00" }] };
    const { id: group } = (await admin.call("POST", "/host-groups", { name: `g${id}`, hosts: ["keeps"], hours })).body
      .data;
    const now = t.clock.now();
    await ask(2);
    agent.cursor = "";
    expect(await windows()).toEqual([span(shift(now, 30 * MINUTE), shift(now, HOUR))]);
    await admin.call("DELETE", `/host-groups/${group}`);
    expect(await windows()).toEqual([span(now, shift(now, 2 * HOUR))]);
  });
});
