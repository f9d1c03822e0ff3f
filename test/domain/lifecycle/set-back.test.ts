/** A clock that was years ahead is set right: nothing waits, and no login is valid, until those years have passed. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { verifyAudit } from "../../../src/domain/audit/verify.ts";
import { INVITATION_TTL } from "../../../src/domain/auth/administrators/admin-invitation.ts";
import { finishClosings } from "../../../src/domain/lifecycle/finish.ts";
import { beat } from "../../../src/domain/lifecycle/heartbeat.ts";
import { deliverDue } from "../../../src/server/mail/delivery.ts";
import { DAY, HOUR, MINUTE, SECOND } from "../../../src/shared/time/clock.ts";
import { closings, outbox } from "../../../src/store/schema.ts";
import { ADMIN_PASSWORD, type Client, createTestApp, type TestApp } from "../../support/app.ts";

const AHEAD = 4 * 365 * DAY;
const CAPTCHA = { captcha_id: "x", captcha_code: "x" };

let app: TestApp;
let admin: Client;
let owed: number;
let started: Date;

beforeAll(async () => {
  app = await createTestApp({ UAM_CAPTCHA: "off" });
  await beat(app.services);
  started = app.clock.now();
  app.clock.advance(AHEAD);
  await beat(app.services);
  admin = await app.admin();
  ({ id: owed } = await app.user("owed"));
  await app.user("coded");
});
afterAll(() => app.close());

async function setBack(): Promise<void> {
  app.clock.advance(-AHEAD);
  await beat(app.services);
}

test("what was put off, locked or opened while it was ahead is within its bounds again", async () => {
  app.host.failing.add("endProcesses");
  expect((await admin.call("POST", `/users/${owed}/disable`)).status).toBe(500);
  app.host.failing.clear();
  app.clock.advance(2 * MINUTE);
  const nobody = app.anonymous();
  expect((await nobody.call("POST", "/auth/otp/send", { username: "coded", ...CAPTCHA })).status).toBe(200);
  for (let time = 0; time < 5; time++) {
    await nobody.call("POST", "/auth/admin/login", { username: "admin", password: "wrong horses over cold water" });
  }
  const right = { username: "admin", password: ADMIN_PASSWORD };
  expect((await nobody.call("POST", "/auth/admin/login", right)).status).toBe(429);
  await setBack();

  const [closing] = await app.db.select().from(closings).where(eq(closings.userId, owed));
  expect(closing?.dueAt).toEqual(app.clock.now());
  await finishClosings(app.services);
  expect(await app.db.select().from(closings)).toEqual([]);
  expect(app.host.accounts.get("ext_owed")?.open).toBe(false);

  const sent: string[] = [];
  await deliverDue(app.services, {
    send: async ({ to }) => {
      sent.push(to);
      return { kind: "sent" };
    },
    verify: async () => {},
    close: async () => {},
  });
  expect(sent).toContain("coded@example.org");
  expect(await app.db.select().from(outbox).where(eq(outbox.status, "queued"))).toEqual([]);

  expect((await admin.call("GET", "/users")).status).toBe(200);
  app.clock.advance(MINUTE + SECOND);
  expect((await nobody.call("POST", "/auth/otp/send", { username: "coded", ...CAPTCHA })).status).toBe(200);
  app.clock.advance(HOUR);
  expect((await nobody.call("POST", "/auth/admin/login", right)).status).toBe(200);
  app.clock.advance(11 * HOUR);
  expect((await admin.call("GET", "/users")).status).toBe(401);
  expect(app.clock.now().getTime() - started.getTime()).toBeLessThan(INVITATION_TTL);
  expect((await verifyAudit(app.services)).fault).toBeUndefined();
});

test("a clock that is set back by seconds ends no login", async () => {
  const client = await app.admin();
  await beat(app.services);
  app.clock.advance(-3 * SECOND);
  await beat(app.services);
  expect((await client.call("GET", "/users")).status).toBe(200);
});
