import { afterAll, beforeAll, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { readFigures } from "../../../src/domain/stats/figures.ts";
import { readStats } from "../../../src/domain/stats/stats.ts";
import { DAY } from "../../../src/shared/time/clock.ts";
import { users } from "../../../src/store/schema.ts";
import { type Client, createTestApp, type TestApp } from "../../support/app.ts";

let app: TestApp;
let admin: Client;

beforeAll(async () => {
  app = await createTestApp();
  admin = await app.admin();
});
afterAll(() => app.close());

async function create(username: string, days: number): Promise<number> {
  const made = await admin.call("POST", "/users", { username, email: "s@example.org", ttl_days: days });
  return made.body.data.id;
}

test("readStats() counts nothing on an empty service", async () => {
  expect((await admin.call("GET", "/admin/stats")).body).toEqual({
    data: { total: 0, active: 0, disabled: 0, expired: 0, expiring_soon: [], pending_approvals: 0 },
  });
});

test("readStats() counts users by status, pending applications, and who expires within 30 days, soonest first", async () => {
  await create("in-30", 30);
  await create("in-31", 31);
  const soonest = await create("in-2", 2);
  await admin.call("POST", `/users/${await create("off-in-3", 3)}/disable`);
  const expired = await create("gone", 1);
  await app.db.update(users).set({ status: "expired" }).where(eq(users.id, expired));
  for (const username of ["one", "two", "three"]) {
    await app.anonymous().call("POST", "/approvals", { username, email: "a@example.org" });
  }
  await admin.call("POST", "/approvals/1/review", { approve: false, reason: "no" });
  const { body } = await admin.call("GET", "/admin/stats");
  const { expiring_soon: soon, ...figures } = body.data;
  expect(figures).toEqual({ total: 5, active: 3, disabled: 1, expired: 1, pending_approvals: 2 });
  expect(soon.map((user: { username: string }) => user.username)).toEqual(["in-2", "in-30"]);
  expect(soon[0]).toEqual((await admin.call("GET", `/users/${soonest}`)).body.data);
});

test("readStats() counts users as expired whose time is up, even before the job ran", async () => {
  const before = (await admin.call("GET", "/admin/stats")).body.data;
  app.clock.advance(2 * DAY);
  const later = await app.admin();
  const { body } = await later.call("GET", "/admin/stats");
  expect([body.data.active, body.data.disabled, body.data.expired]).toEqual([before.active - 1, 1, before.expired + 1]);
  const figures = await readFigures(app.db, app.clock.now());
  expect(figures.users).toEqual({ active: before.active - 1, disabled: 1, expired: before.expired + 1 });
  app.clock.advance(-2 * DAY);
});

test("readStats() leaves out users who expire at this very moment", async () => {
  app.clock.advance(2 * DAY);
  const later = await app.admin();
  const { body } = await later.call("GET", "/admin/stats");
  expect(body.data.expiring_soon.map((user: { username: string }) => user.username)).toEqual(["in-30", "in-31"]);
});

test("readStats() of many at once gives each what was stored before it asked", async () => {
  const { total } = await readStats(app.system);
  const asking = Array.from({ length: 8 }, () => readStats(app.system));
  const by = await app.admin();
  await by.call("POST", "/users", { username: "afterwards", email: "s@example.org", ttl_days: 3 });
  expect((await readStats(app.system)).total).toBe(total + 1);
  for (const seen of await Promise.all(asking)) expect([total, total + 1]).toContain(seen.total);
});
