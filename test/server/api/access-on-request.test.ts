import { afterAll, beforeAll, expect, test } from "bun:test";
import { MINUTE } from "../../../src/shared/time/clock.ts";
import { type Client, createTestApp, loginUser, type TestApp } from "../../support/app.ts";

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
