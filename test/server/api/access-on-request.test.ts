import { afterAll, beforeAll, expect, test } from "bun:test";
import { MINUTE } from "../../../src/shared/time/clock.ts";
import { type Client, createTestApp, loginUser, type TestApp } from "../../support/app.ts";
import { joinedAgent } from "../../support/fleet.ts";

let app: TestApp;
let admin: Client;
let count = 0;

beforeAll(async () => {
  app = await createTestApp();
  app.clock.set(new Date("2026-11-27T10:00:00Z"));
  admin = await app.admin();
});
afterAll(() => app.close());

async function asker(fields: object) {
  const username = `asker-${++count}`;
  const made = await admin.call("POST", "/users", { username, email: `${username}@example.org`, ...fields });
  expect(made.status).toBe(201);
  return { id: made.body.data.id as number, username, client: await loginUser(app.system, app.app, username) };
}

const ask = (client: Client, hours = 2) => client.call("POST", "/me/access", { hours, reason: "Deploy" });

test("by the rule self: asked, open, shown, ended", async () => {
  const { id, client, username } = await asker({ on_request: { rule: "self", max_hours: 4 } });
  const own = async () => (await client.call("GET", "/me")).body.data;
  expect(await own()).toMatchObject({
    ...{ access: "on_request", access_changes_at: null },
    on_request: { rule: "self", max_hours: 4, request: null },
  });
  const asked = await ask(client);
  expect([asked.status, asked.body.data]).toEqual([200, { access: "open", until: "2026-11-27T12:00:00.000Z" }]);
  expect(await own()).toMatchObject({ access: "open", access_changes_at: "2026-11-27T12:00:00.000Z" });
  expect((await admin.call("GET", `/users/${id}`)).body.data).toMatchObject({
    ...{ access: "open", on_request: { rule: "self", max_hours: 4 } },
  });
  const { body } = await admin.call("GET", `/users/${id}/hours`);
  expect(body.data.windows).toEqual([{ from: "2026-11-27T10:00:00.000Z", to: "2026-11-27T12:00:00.000Z" }]);
  const ended = await client.call("DELETE", "/me/access");
  expect([ended.status, ended.body.data]).toEqual([200, { access: "on_request" }]);
  expect(app.host.accounts.get(`ext_${username}`)?.open).toBe(false);
  expect((await admin.call("GET", `/users/${id}/hours`)).body.data.windows).toEqual([]);
});

test("by the rule review: waits with 202, is listed, allowed, and ended by an administrator", async () => {
  const { id, client, username } = await asker({ on_request: { rule: "review", max_hours: 4 } });
  const asked = await ask(client);
  expect([asked.status, asked.body.data]).toMatchObject([
    202,
    { access: "on_request", request: { status: "pending", hours: 2 } },
  ]);
  expect((await ask(client)).headers.get("uam-error")).toBe("access.pending");
  const listed = await admin.call("GET", "/approvals?kind=access_request&status=pending");
  expect(listed.body.data.items).toMatchObject([{ username, hours: 2, days: null, user_id: id, purpose: "Deploy" }]);
  const review = `/approvals/${listed.body.data.items[0].id}/review`;
  expect((await admin.call("POST", review, { approve: true })).status).toBe(200);
  expect((await client.call("GET", "/me")).body.data.on_request.request).toMatchObject({ status: "approved" });
  const ended = await admin.call("DELETE", `/users/${id}/access?reason=Enough`);
  expect([ended.status, ended.body.data]).toEqual([200, { access: "on_request" }]);
  expect((await app.lastAudit("access.end")).detail).toMatchObject({ reason: "Enough", username });
});

test("a forged or stale wish is refused with its reason, and changes nothing", async () => {
  const { id, client } = await asker({ on_request: { rule: "self", max_hours: 2 } });
  for (const [body, status, reason] of [
    [{ hours: 3, reason: "x" }, 409, "access.limit"],
    [{ hours: 0, reason: "x" }, 400, "request.invalid"],
    [{ hours: 1.5, reason: "x" }, 400, "request.invalid"],
    [{ hours: 1 }, 400, "request.invalid"],
    [{ hours: 1, reason: " " }, 400, "request.invalid"],
    [{ hour: 1, reason: "x" }, 400, "request.invalid"],
  ] as const) {
    const answer = await client.call("POST", "/me/access", body);
    expect([body, answer.status, answer.headers.get("uam-error")]).toEqual([body, status, reason]);
  }
  app.clock.advance(16 * MINUTE);
  expect((await ask(client)).headers.get("uam-error")).toBe("access.fresh_login");
  expect((await admin.call("GET", `/users/${id}`)).body.data.access).toBe("on_request");
  for (const on_request of [{ rule: "anybody", max_hours: 1 }, { rule: "self" }, { rule: "self", max_hours: 200 }])
    expect((await admin.call("PATCH", `/users/${id}`, { on_request })).status).toBe(400);
  const free = await asker({});
  expect((await ask(free.client, 1)).headers.get("uam-error")).toBe("access.not_on_request");
});

test("to some hosts only: what may be asked for, is asked for, and is open; the rest stays shut", async () => {
  const agent = await joinedAgent(app, "web1");
  agent.hours = "none";
  await joinedAgent(app, "db1", "default");
  const group = await admin.call("POST", "/host-groups", { name: "web", hosts: ["web1"] });
  expect(group.status).toBe(201);
  const { id, client, username } = await asker({ on_request: { rule: "review", max_hours: 4 } });
  await admin.call("PUT", `/users/${id}/hosts`, { hosts: ["local", "web1"], groups: [] });
  const own = async () => (await client.call("GET", "/me")).body.data.on_request;
  const there = async () =>
    (await agent.state()).accounts.find((account) => account.name === `ext_${username}`)?.hours?.windows.length;
  const request = async (hosts: unknown, hours = 2) =>
    await client.call("POST", "/me/access", { hours, reason: "Deploy", hosts });
  expect((await own()).hosts).toEqual([
    { name: "local", until: null },
    { name: "web1", until: null },
  ]);
  for (const hosts of [["db1"], ["web1", "nowhere"], [999], ["constructor"]]) {
    const refused = await request(hosts);
    expect([hosts, refused.status, refused.headers.get("uam-error")]).toEqual([hosts, 409, "access.hosts"]);
    expect(refused.body.error).toContain("they are local, web1");
  }
  for (const hosts of [[], "web1", [{}], [null], Array(1001).fill("web1")])
    expect([hosts, (await request(hosts)).status]).toEqual([hosts, 400]);

  const asked = await request(["web1"]);
  expect([asked.status, asked.body.data.request]).toMatchObject([202, { hosts: ["web1"] }]);
  const [waiting] = (await admin.call("GET", "/approvals?kind=access_request&status=pending")).body.data.items;
  expect(waiting).toMatchObject({ username, hosts: ["web1"] });
  expect((await app.mails()).find(({ text }) => text.includes(username) && text.includes("On:"))?.text).toContain(
    "web1",
  );
  expect((await admin.call("POST", `/approvals/${waiting.id}/review`, { approve: true })).status).toBe(200);
  expect((await app.lastAudit("access.allow")).detail).toMatchObject({ username, hosts: "web1" });
  const mail = (await app.mails(`${username}@example.org`)).at(-1);
  expect(mail?.text).toMatch(/On:\s+web1/);
  expect([app.host.accounts.get(`ext_${username}`)?.open, await there()]).toEqual([false, 1]);
  const until = "2026-11-27T12:16:00.000Z";
  expect((await own()).hosts).toEqual([
    { name: "local", until: null },
    { name: "web1", until },
  ]);
  const windows = async (host: string) =>
    (await admin.call("GET", `/users/${id}/hours?host=${host}`)).body.data.windows.length;
  expect([await windows("local"), await windows("web1")]).toEqual([0, 1]);
  expect((await admin.call("GET", `/users/${id}`)).body.data.access).toBe("open");

  // Their group alone from now on: what was allowed ends, and the group keeps its name.
  const rule = { rule: "self", max_hours: 4, groups: ["web"] };
  const patched = await admin.call("PATCH", `/users/${id}`, { on_request: rule });
  expect([patched.status, patched.body.data.on_request, patched.body.data.access]).toEqual([200, rule, "on_request"]);
  expect(patched.body.data.hosts.pending).toContain("web1");
  expect(await there()).toBe(0);
  expect((await own()).hosts).toEqual([{ name: "web1", until: null }]);
  for (const body of [{ name: "webs" }, undefined]) {
    const path = `/host-groups/${group.body.data.id}`;
    const refused = await admin.call(body === undefined ? "DELETE" : "PATCH", path, body);
    expect([refused.status, refused.headers.get("uam-error")]).toEqual([409, "host_group.used"]);
  }
  for (const groups of [[], ["nothing"], ["No Name"]])
    expect((await admin.call("PATCH", `/users/${id}`, { on_request: { ...rule, groups } })).status).toBe(400);
  expect((await client.call("POST", "/me/access", { hours: 2, reason: "x", hosts: ["local"] })).status).toBe(409);
  expect((await ask(client)).status).toBe(200);
  expect([app.host.accounts.get(`ext_${username}`)?.open, await there()]).toEqual([false, 1]);
  const ended = await client.call("DELETE", "/me/access");
  // The other one has not said yet that it removed the account.
  expect(ended.body.data).toMatchObject({ access: "on_request", hosts: { total: 2, pending: ["db1", "web1"] } });
  expect((await app.lastAudit("access.end")).detail).toMatchObject({ username, hosts: "web1" });
  expect(await there()).toBe(0);
});

test("a host that was taken from them while their request waited is not opened, and others are; by their ids, too", async () => {
  const { id, client, username } = await asker({ on_request: { rule: "review", max_hours: 4 } });
  await admin.call("PUT", `/users/${id}/hosts`, { hosts: ["local", "web1", "db1"], groups: [] });
  const review = async () => {
    const [{ id: waiting }] = (await admin.call("GET", `/approvals?status=pending&user_id=${id}`)).body.data.items;
    return await admin.call("POST", `/approvals/${waiting}/review`, { approve: true });
  };
  await client.call("POST", "/me/access", { hours: 1, reason: "x", hosts: [1, "db1"] });
  await admin.call("PUT", `/users/${id}/hosts`, { hosts: ["local", "web1"], groups: [] });
  expect((await review()).status).toBe(200);
  expect((await app.lastAudit("access.allow")).detail).toMatchObject({ hosts: "local" });
  expect(app.host.accounts.get(`ext_${username}`)?.open).toBe(true);

  // Another host besides: the first is not prolonged.
  app.clock.advance(30 * MINUTE);
  await client.call("POST", "/me/access", { hours: 2, reason: "x", hosts: ["web1"] });
  expect((await review()).status).toBe(200);
  const ends = (await client.call("GET", "/me")).body.data.on_request.hosts.map(
    ({ until }: { until: string }) => until,
  );
  expect(Date.parse(ends[1]) - Date.parse(ends[0])).toBe(90 * MINUTE);
  app.clock.advance(30 * MINUTE);
  const { followDueHours } = await import("../../../src/domain/lifecycle/hours.ts");
  await followDueHours(app.services, app.config.dataDir);
  expect(app.host.accounts.get(`ext_${username}`)?.open).toBe(false);
  expect((await client.call("GET", "/me")).body.data.access).toBe("open");

  await client.call("POST", "/me/access", { hours: 1, reason: "x", hosts: ["local"] });
  await admin.call("PUT", `/users/${id}/hosts`, { hosts: ["web1"], groups: [] });
  const refused = await review();
  expect([refused.status, refused.headers.get("uam-error")]).toEqual([409, "access.hosts"]);
});
