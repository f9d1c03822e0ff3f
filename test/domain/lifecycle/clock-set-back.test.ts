/** A clock that was years ahead is set right: nothing waits, and no login is valid, until those years have passed. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { submitApplication } from "../../../src/domain/approvals/approvals.ts";
import { verifyAudit } from "../../../src/domain/audit/verify.ts";
import { INVITATION_TTL } from "../../../src/domain/auth/administrators/admin-invitation.ts";
import { finishClosings } from "../../../src/domain/lifecycle/finish-closings.ts";
import { beat } from "../../../src/domain/lifecycle/heartbeat.ts";
import { workOnReviews } from "../../../src/domain/reviews/due.ts";
import { deliverDue } from "../../../src/server/mail/delivery.ts";
import { DAY, HOUR, MINUTE, SECOND } from "../../../src/shared/time/clock.ts";
import { closings, outbox, users } from "../../../src/store/schema.ts";
import { reviews } from "../../../src/store/schema-reviews.ts";
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

test("sponsors are asked again, their links end, and reviews begin, once it is right", async () => {
  const sponsor = "bo@example.com";
  const apply = (username: string) =>
    submitApplication(app.system, {
      ...{ username, email: `${username}@example.org`, purpose: "Builds", sponsorEmail: sponsor },
    });
  const pass25Hours = async () => {
    for (let hour = 0; hour < 25; hour++) {
      app.clock.advance(HOUR);
      await beat(app.services);
    }
  };
  const work = async () => await workOnReviews(app.services, await beat(app.services));
  admin = await app.admin();
  const every = { key: "policy.review_every", value: "90d" };
  expect((await admin.call("PUT", "/settings", every)).status).toBe(200);
  app.clock.advance(AHEAD);
  await beat(app.services);
  // As many as a mailbox gets in a day.
  for (const hour of [1, 2, 3, 4, 5]) {
    app.clock.advance(HOUR);
    await beat(app.services);
    await apply(`ahead-${hour}`);
  }
  await app.db.update(users).set({ seenAt: app.clock.now() }).where(eq(users.id, owed));
  await pass25Hours();
  await work();
  const begun = await app.db.$count(reviews);
  expect(begun).toBe(1);
  const mails = await app.mails(sponsor);
  expect(mails).toHaveLength(5);
  const token = /\/decide#([\w-]{43})/.exec(mails[0]?.text ?? "")?.[1];

  await setBack();
  const [seen] = await app.db.select({ at: users.seenAt }).from(users).where(eq(users.id, owed));
  expect(seen?.at).toEqual(app.clock.now());
  await work();
  expect(await app.db.$count(reviews)).toBe(begun);
  await pass25Hours();
  await work();
  await work();
  expect(await app.db.$count(reviews)).toBe(begun + 1);
  await apply("in-time");
  expect(await app.mails(sponsor)).toHaveLength(mails.length + 1);
  app.clock.advance(14 * DAY);
  expect((await app.anonymous().call("POST", "/decisions/look", { token })).status).toBe(404);
});
