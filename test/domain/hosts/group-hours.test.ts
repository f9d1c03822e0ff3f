/** Hours of groups of hosts: on every host of the group, for every account there, within the users' own hours. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { settleChanges } from "../../../src/domain/hosts/confirmation.ts";
import type { HostState } from "../../../src/protocol/fleet.ts";
import { hosts } from "../../../src/store/schema-fleet.ts";
import type { TestAgent } from "../../support/agent.ts";
import { type Client, createTestApp, type TestApp } from "../../support/app.ts";
import { joinedAgent } from "../../support/fleet.ts";

/** A Friday: Berlin is at 11:00. */
const NOW = new Date("2026-11-27T10:00:00.000Z");
const office = (to: string) => ({ zone: "Europe/Berlin", windows: [{ days: ["fri"], from: "08:00", to }] });
const TODAY = { from: NOW.toISOString(), to: "2026-11-27T17:00:00.000Z" };
const NEXT = { from: "2026-12-04T07:00:00.000Z", to: "2026-12-04T17:00:00.000Z" };

let t: TestApp;
let admin: Client;
let agent: TestAgent;
/** In no group with hours. */
let other: TestAgent;
let older: TestAgent;
let group: string;
beforeAll(async () => {
  t = await createTestApp({ UAM_FLEET_WAIT: "1s" });
  t.clock.set(NOW);
  admin = await t.admin();
  agent = await joinedAgent(t, "web1");
  agent.hours = "none";
  other = await joinedAgent(t, "web2");
  other.hours = "none";
  older = await joinedAgent(t, "web3");
  await t.user("anna");
  await admin.call("POST", "/users", { username: "bert", email: "b@example.org", hours: office("12:00") });
  const made = await admin.call("POST", "/host-groups", { name: "night", hosts: ["web1", "web3"] });
  expect(made.body.data.hours).toBeNull();
  group = `/host-groups/${made.body.data.id}`;
});
afterAll(() => t.close());

const hoursIn = ({ accounts }: HostState, username: string) =>
  accounts.find(({ name }) => name === `ext_${username}`)?.hours;
const openIn = ({ accounts }: HostState) => accounts.filter(({ open }) => open).map(({ name }) => name);

describe("the hours of a group of hosts", () => {
  test("limit every account on its hosts, those with hours of their own by both, and no other host", async () => {
    for (const one of [agent, other, older]) await one.state();
    const given = await admin.call("PATCH", group, { hours: office("18:00") });
    expect(given.status).toBe(200);
    expect(given.body.data.hours).toMatchObject({ zone: "Europe/Berlin" });
    const state = await agent.state();
    expect(state.full).toBe(true);
    expect(hoursIn(state, "anna")?.windows).toEqual([TODAY, NEXT]);
    expect(hoursIn(state, "bert")?.windows).toEqual([
      { ...TODAY, to: "2026-11-27T11:00:00.000Z" },
      { ...NEXT, to: "2026-12-04T11:00:00.000Z" },
    ]);
    expect(hoursIn(await other.state(), "anna")).toBeUndefined();
    expect(openIn(await older.state())).toEqual([]);
  });

  test("are on record, in lists, previews and the windows of a user on a host", async () => {
    const preview = await admin.call("PATCH", `${group}?preview=true`, { hours: office("12:00") });
    expect(preview.body.data.effects.join()).toContain("fri 08:00-12:00 Europe/Berlin");
    const list = await admin.call("GET", "/host-groups");
    expect(list.body.data.items.find(({ name }: { name: string }) => name === "night").hours.windows).toHaveLength(1);
    const detail = { name: "night", hours: "fri 08:00-18:00 Europe/Berlin", old_hours: "" };
    expect(await t.lastAudit("host_group.update")).toMatchObject({ detail });
    const { items } = (await admin.call("GET", "/users?q=anna")).body.data;
    const windows = async (query: string) =>
      (await admin.call("GET", `/users/${items[0].id}/hours${query}`)).body.data.windows;
    const there = [TODAY, { ...NEXT, to: "2026-12-04T10:00:00.000Z" }];
    expect([await windows("?host=web1"), await windows(`?host=${agent.id}`)]).toEqual([there, there]);
    expect(await windows("?host=web2")).toHaveLength(1);
    expect((await windows("?host=web2"))[0].to).toBe("2026-12-04T10:00:00.000Z");
    expect((await admin.call("GET", `/users/${items[0].id}/hours?host=web9`)).headers.get("uam-error")).toBe(
      "host.missing",
    );
  });

  test("fewer of them name the hosts that have not followed, and are confirmed on record; more do not", async () => {
    const narrowed = async (body: Record<string, unknown>) =>
      (await admin.call("PATCH", group, body)).body.data.narrowed;
    const ends = (await t.db.select().from(hosts)).flatMap(({ id, leaseUntil }) =>
      id === agent.id || id === older.id ? [leaseUntil?.getTime() ?? 0] : [],
    );
    const effective_by = new Date(Math.max(...ends)).toISOString();
    expect(await narrowed({ hours: office("17:00") })).toEqual({
      ...{ total: 2, confirmed: 0, pending: ["web1", "web3"], effective_by },
    });
    expect(await narrowed({ hours: office("18:00") })).toBeUndefined();
    expect(await narrowed({ lease: "1h" })).toBeUndefined();
    expect(await narrowed({ add: ["web2"] })).toMatchObject({ total: 1, pending: ["web2"] });
    expect(await narrowed({ remove: ["web2"] })).toBeUndefined();
    for (const one of [agent, other, older]) {
      await one.state();
      await one.report();
    }
    await settleChanges(t.services);
    const details = (await t.auditRows("fleet.confirmed")).map(({ detail }) => JSON.parse(detail));
    expect(details.map(({ hosts: count, confirmed }) => [count, confirmed]).sort()).toEqual([
      ...[
        [1, 1],
        [2, 2],
        [2, 2],
      ],
    ]);
    expect(details.some((detail) => "username" in detail)).toBe(false);
  });

  test("that cannot be read are refused, and nothing changes", async () => {
    const { items } = (await admin.call("GET", "/host-groups")).body.data;
    const bad = await admin.call("PATCH", group, { hours: { ...office("18:00"), zone: "Mars/Olympus" } });
    expect(bad.status).toBe(400);
    expect((await admin.call("GET", "/host-groups")).body.data.items).toEqual(items);
  });

  test("no windows, or null, clear them", async () => {
    for (const hours of [{ zone: "UTC", windows: [] }, null]) {
      await admin.call("PATCH", group, { hours: office("18:00") });
      expect((await admin.call("PATCH", group, { hours })).body.data.hours).toBeNull();
    }
    expect(hoursIn(await agent.state(), "anna")).toBeUndefined();
  });
});
