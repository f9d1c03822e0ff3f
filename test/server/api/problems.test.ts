/** GET /admin/problems: what is left to do on the host, for every administrator. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { checkReceivers } from "../../../src/doctor/receivers.ts";
import { addAdmin } from "../../../src/domain/auth/administrators/add-admin.ts";
import { createWebhook, updateWebhook } from "../../../src/domain/events/webhooks.ts";
import { MINUTE } from "../../../src/shared/time/clock.ts";
import { closings } from "../../../src/store/schema.ts";
import { webhooks } from "../../../src/store/schema-events.ts";
import { ADMIN_PASSWORD, type Client, createTestApp, type TestApp } from "../../support/app.ts";

let app: TestApp;
let admin: Client;

beforeAll(async () => {
  app = await createTestApp();
  admin = await app.admin();
});
afterAll(() => app.close());

const problems = async (client: Client, query = "") => (await client.call("GET", `/admin/problems${query}`)).body.data;

test("GET /admin/problems is empty when all is well", async () => {
  expect(await problems(admin)).toEqual({ total: 0, items: [], receivers: [] });
});

test("GET /admin/problems says of whom access is still to be taken away, since when and why, oldest first", async () => {
  const { id } = await app.user("lingering");
  const other = await app.user("other");
  app.host.failing.add("endProcesses");
  const since = app.clock.now().toISOString();
  const answer = await admin.call("POST", `/users/${id}/disable`);
  const noted = { kind: "shut", action: "", actorType: "admin", actor: "admin" } as const;
  const at = app.clock.now();
  await app.db.insert(closings).values({ ...noted, userId: other.id, begunAt: at, dueAt: at });
  await app.db.insert(closings).values({ ...noted, userId: 987_654, begunAt: at, dueAt: at });
  expect(answer.status).toBe(500);
  const { total, items } = await problems(admin);
  expect(total).toBe(3);
  expect(items[0]).toEqual({
    ...{ id: expect.any(Number), user_id: id, username: "lingering", kind: "shut", since, attempts: 1 },
    next_attempt_at: new Date(app.clock.now().getTime() + MINUTE).toISOString(),
    problem: expect.stringContaining("ext_lingering"),
  });
  expect(items[1]).toMatchObject({ user_id: other.id, username: "other", attempts: 0, problem: "" });
  expect(items[2]).toMatchObject({ user_id: 987_654, username: "" });
  expect((await problems(admin, "?page=2&page_size=2")).items).toEqual([items[2]]);
  expect((await problems(admin, "?page=99999999999999999999")).items).toEqual([]);
});

test("GET /admin/problems names receivers that have taken nothing for an hour, without what may be secret", async () => {
  const { entry } = await createWebhook(app.system, { url: "https://hooks.example.org/secret", actions: [] });
  await createWebhook(app.system, { url: "https://other.example.org/", actions: [] });
  const failingSince = app.clock.now();
  const failing = { failures: 9, failingSince, lastError: "hooks.example.org refuses connections" };
  await app.db.update(webhooks).set(failing).where(eq(webhooks.id, entry.id));
  app.clock.advance(59 * MINUTE);
  expect((await problems(admin)).receivers).toEqual([]);
  app.clock.advance(MINUTE);
  expect((await problems(admin)).receivers).toEqual([
    {
      ...{ kind: "webhook", id: entry.id, name: "https://hooks.example.org", since: failingSince.toISOString() },
      ...{ lag: expect.any(Number), problem: "hooks.example.org refuses connections" },
    },
  ]);
  expect(await checkReceivers(app.services)).toEqual([
    expect.objectContaining({ state: "fault", finding: expect.stringContaining("refuses connections") }),
  ]);
  await updateWebhook(app.system, entry.id, { status: "disabled" });
  expect((await problems(admin)).receivers).toEqual([]);
});

test("GET /admin/problems answers every administrator, and nobody else", async () => {
  await addAdmin(app.system, "reviewer", "r@example.org", ADMIN_PASSWORD, "reviewer");
  const reviewer = app.anonymous();
  await reviewer.call("POST", "/auth/admin/login", { username: "reviewer", password: ADMIN_PASSWORD });
  expect((await problems(reviewer)).total).toBe(3);
  expect((await app.anonymous().call("GET", "/admin/problems")).status).toBe(401);
});
