/** What further hosts are told of when accounts are open. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { disableUser } from "../../../src/domain/users/users.ts";
import { isFar, limitedBy, needsHours } from "../../../src/domain/wire/hours-state.ts";
import type { HostState } from "../../../src/protocol/fleet.ts";
import { parseHostState } from "../../../src/protocol/fleet-answers.ts";
import { DAY, HOUR, shift } from "../../../src/shared/time/clock.ts";
import { fleetChanges, hosts } from "../../../src/store/schema-fleet.ts";
import type { TestAgent } from "../../support/agent.ts";
import { createTestApp, type TestApp } from "../../support/app.ts";
import { joinedAgent } from "../../support/fleet.ts";
import { toldAccount } from "../../support/fleet-stub.ts";
import { freshKey } from "../../support/keys.ts";

/** A Friday: Berlin is at 11:00. */
const NOW = new Date("2026-11-27T10:00:00.000Z");
const UNTIL = "2026-12-05T10:00:00.000Z";
const OFFICE = { zone: "Europe/Berlin", windows: [{ days: ["fri", "mon"], from: "08:00", to: "18:00" }] };
const FRIDAY = { from: "2026-11-27T10:00:00.000Z", to: "2026-11-27T17:00:00.000Z" };
const MONDAY = { from: "2026-11-30T07:00:00.000Z", to: "2026-11-30T17:00:00.000Z" };
const NEXT = { from: "2026-12-04T07:00:00.000Z", to: "2026-12-04T17:00:00.000Z" };

let t: TestApp;
let admin: Awaited<ReturnType<TestApp["admin"]>>;
/** Keeps hours. */
let agent: TestAgent;
/** Of the version before. */
let older: TestAgent;
beforeAll(async () => {
  t = await createTestApp({ UAM_FLEET_WAIT: "1s" });
  t.clock.set(NOW);
  admin = await t.admin();
  agent = await joinedAgent(t, "keeps");
  agent.hours = "none";
  older = await joinedAgent(t, "older");
});
afterAll(() => t.close());

const accountIn = ({ accounts }: HostState, username: string) =>
  accounts.find(({ name }) => name === `ext_${username}`);

async function create(username: string, fields: Record<string, unknown>): Promise<number> {
  const { status, body } = await admin.call("POST", "/users", { username, email: "p@example.org", ...fields });
  expect(status).toBe(201);
  return body.data.id;
}

describe("hours on the wire", () => {
  test("an agent that keeps them is told the windows of 8 days, with the keys, and the time; an older one has it shut", async () => {
    const { id, client } = await t.user("anna");
    await client.call("POST", "/me/keys", { name: "laptop", public_key: freshKey() });
    expect((await admin.call("PATCH", `/users/${id}`, { hours: OFFICE })).status).toBe(200);
    const state = await agent.state();
    const now = t.clock.now().toISOString();
    expect(state.now).toBe(now);
    const anna = accountIn(state, "anna");
    expect(anna).toMatchObject({ open: true, hours: { until: UNTIL, zone: OFFICE.zone } });
    expect(anna?.keys).toHaveLength(1);
    expect(anna?.hours?.windows).toMatchObject([{ to: FRIDAY.to }, MONDAY, NEXT]);
    expect(parseHostState(state)).toEqual(state);

    const told = await older.state();
    expect(accountIn(told, "anna")).toMatchObject({ open: false, keys: [] });
    expect([JSON.stringify(told).includes("hours"), "now" in told]).toEqual([false, false]);
  });

  test("a change of hours is told at once, and so is that there are none any more", async () => {
    const id = await create("berta", { hours: OFFICE });
    await agent.state();
    const sunday = { zone: "UTC", windows: [{ days: ["sun"], from: "10:00", to: "11:00" }] };
    await admin.call("PATCH", `/users/${id}`, { hours: sunday });
    const windows = [{ from: "2026-11-29T10:00:00.000Z", to: "2026-11-29T11:00:00.000Z" }];
    expect(accountIn(await agent.state(), "berta")).toMatchObject({ open: true, hours: { windows } });
    await admin.call("PATCH", `/users/${id}`, { hours: null });
    const always = accountIn(await agent.state(), "berta");
    expect([always?.open, always?.hours]).toEqual([true, undefined]);
    await admin.call("PATCH", `/users/${id}`, { hours: OFFICE });
    await disableUser(t.system, id);
    const shut = accountIn(await agent.state(), "berta");
    expect([shut?.open, shut?.hours]).toEqual([false, undefined]);
  });

  test("a start is told as a window that begins then, and the windows are cut at the end", async () => {
    await create("carla", { starts_at: "2026-12-01T07:00:00Z", expire_at: "2026-12-04T12:00:00Z" });
    await create("dora", { hours: OFFICE, starts_at: "2026-11-30T12:00:00Z", expire_at: "2026-12-04T12:00:00Z" });
    await create("emma", { starts_at: "2026-12-20T07:00:00Z" });
    const state = await agent.state();
    const windowsOf = (username: string) => accountIn(state, username)?.hours?.windows;
    expect(windowsOf("carla")).toEqual([{ from: "2026-12-01T07:00:00.000Z", to: "2026-12-04T12:00:00.000Z" }]);
    expect(windowsOf("dora")).toEqual([
      { from: "2026-11-30T12:00:00.000Z", to: MONDAY.to },
      { from: NEXT.from, to: "2026-12-04T12:00:00.000Z" },
    ]);
    expect(windowsOf("emma")).toEqual([]);
    expect(accountIn(state, "emma")?.open).toBe(true);
    expect(accountIn(state, "emma")?.hours).not.toHaveProperty("zone");
  });

  test("fewer hours name the hosts that have not followed, and from when on they hold there; more do not", async () => {
    const id = await create("gerda", { hours: OFFICE });
    await agent.state();
    const ends = (await t.db.select().from(hosts)).flatMap(({ leaseUntil }) => leaseUntil?.getTime() ?? []);
    const patch = async (hours: unknown) => (await admin.call("PATCH", `/users/${id}`, { hours })).body.data.hosts;
    const until = (time: string) => ({
      zone: "Europe/Berlin",
      windows: [{ days: ["fri", "mon"], from: "08:00", to: time }],
    });
    expect(await patch(until("12:00"))).toEqual({
      ...{ total: 2, confirmed: 0, pending: ["keeps", "older"] },
      effective_by: new Date(Math.max(...ends)).toISOString(),
    });
    expect([await patch(until("12:00")), await patch(until("13:00"))]).toEqual([undefined, undefined]);
    expect(await patch(null)).toBeUndefined();
    expect(await patch(OFFICE)).toMatchObject({ total: 2 });
  });

  test("hours of a company are told for each of its users, and fewer of them are to be confirmed", async () => {
    const { id: companyId } = (await admin.call("POST", "/companies", { name: "Lindqvist AB" })).body.data;
    const id = await create("hanna", { company_id: companyId });
    expect(accountIn(await agent.state(), "hanna")?.hours).toBeUndefined();
    const monday = { zone: "UTC", windows: [{ days: ["mon"], from: "10:00", to: "11:00" }] };
    expect((await admin.call("PATCH", `/companies/${companyId}`, { hours: monday })).status).toBe(200);
    const windows = [{ from: "2026-11-30T10:00:00.000Z", to: "2026-11-30T11:00:00.000Z" }];
    expect(accountIn(await agent.state(), "hanna")).toMatchObject({ hours: { windows } });
    const record = await t.lastAudit("user.update");
    expect(record).toMatchObject({
      subjectId: id,
      detail: { reason: "company", company_hours: "mon 10:00-11:00 UTC" },
    });
    const changes = await t.db.select().from(fleetChanges).where(eq(fleetChanges.recordId, record.id));
    expect(changes).toMatchObject([{ userId: id }]);
    await admin.call("PATCH", `/companies/${companyId}`, { hours: null });
    expect(accountIn(await agent.state(), "hanna")?.hours).toBeUndefined();
  });

  test("where only logins end with them, the agent is told so, and that sessions end from now on is to be confirmed", async () => {
    const id = await create("ines", { hours: OFFICE, hours_end: "logins" });
    agent.cursor = "";
    const state = await agent.state();
    expect(accountIn(state, "ines")).toMatchObject({
      open: true,
      hours_end: "logins",
    });
    expect(parseHostState(state)).toEqual(state);
    expect(JSON.stringify(await older.state())).not.toContain("hours_end");
    const { body } = await admin.call("PATCH", `/users/${id}`, { hours_end: "sessions" });
    expect(body.data.hosts).toMatchObject({ total: 2 });
    expect(accountIn(await agent.state(), "ines")).not.toHaveProperty("hours_end");
    const asks = await create("jana", { hours_end: "logins", on_request: { rule: "self", max_hours: 1 } });
    expect(asks).toBeGreaterThan(id);
    expect(accountIn(await agent.state(), "jana")).not.toHaveProperty("hours_end");
  });

  test("later windows come by themselves within two days, once; a host without hours is not told anything", async () => {
    await create("frida", { hours: OFFICE });
    const first = await agent.state();
    const until = accountIn(first, "frida")?.hours?.until ?? "";
    agent.hours = until;
    t.clock.set(shift(NOW, 12 * HOUR));
    expect(await agent.state()).toMatchObject({ full: false, accounts: [] });
    t.clock.set(shift(NOW, 2 * DAY));
    const renewed = await agent.state();
    expect(renewed.full).toBe(true);
    const hours = accountIn(renewed, "frida")?.hours;
    expect(hours?.until).toBe(shift(t.clock.now(), 8 * DAY).toISOString());
    expect(hours?.windows.map(({ from }) => from)).toEqual([MONDAY.from, NEXT.from, "2026-12-07T07:00:00.000Z"]);
    agent.hours = hours?.until;
    expect(await agent.state()).toMatchObject({ full: false, accounts: [] });
    agent.hours = "none";
    expect(await agent.state()).toMatchObject({ full: false, accounts: [] });
  });

  test("nothing else than a time is taken as one", async () => {
    for (const hours of ["soon", "2026-13-01T00:00:00Z"]) {
      const { status } = await agent.ask("GET", `/agent/state?since=&wait=0&hours=${hours}`);
      expect([hours, status]).toEqual([hours, 400]);
    }
  });
});

test("needsHours() spreads hosts over half a day, and what is remembered always reaches further", () => {
  const state = (until: Date) => ({
    name: "",
    uid: 0,
    expire_at: "",
    open: true,
    keys: [],
    hours: { until: until.toISOString(), windows: [] },
  });
  let latest = 0;
  for (let host = 1; host < 2000; host++) {
    for (let known = 6 * DAY; known <= 8 * DAY; known += HOUR) {
      if (needsHours(host, shift(NOW, known), NOW)) latest = Math.max(latest, known);
    }
    expect(needsHours(host, shift(NOW, 6 * DAY), NOW)).toBe(true);
  }
  expect(isFar(state(shift(NOW, latest)), NOW)).toBe(false);
  expect(isFar(state(new Date(UNTIL)), NOW)).toBe(true);
  for (const known of [undefined, "none"] as const) expect(needsHours(2, known, NOW)).toBe(false);
});

test("limitedBy() names the zone of the user's hours, and that of the groups' where they have none", () => {
  const told = (zone?: string) => {
    const hours = { until: UNTIL, windows: [FRIDAY], ...(zone === undefined ? {} : { zone }) };
    return limitedBy(["mon-fri 08:00-18:00 Asia/Tokyo"], NOW)(toldAccount({ hours })).hours?.zone;
  };
  expect([told("Europe/Berlin"), told()]).toEqual(["Europe/Berlin", "Asia/Tokyo"]);
  expect(limitedBy(["mon-fri 08:00-18:00 Asia/Tokyo"], NOW)(toldAccount()).hours?.zone).toBe("Asia/Tokyo");
});
