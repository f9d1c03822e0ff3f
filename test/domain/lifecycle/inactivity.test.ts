/** Access that nobody uses ends, and nobody's ends without two mails before, or for want of a log. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { checkInactivity } from "../../../src/doctor/inactivity.ts";
import { beat, endHold } from "../../../src/domain/lifecycle/heartbeat.ts";
import { endInactive } from "../../../src/domain/lifecycle/inactivity.ts";
import { createUser, enableUser } from "../../../src/domain/users/users.ts";
import { DAY } from "../../../src/shared/time/clock.ts";
import { LOCAL_HOST, loginLogs, users } from "../../../src/store/schema.ts";
import { grants } from "../../../src/store/schema-fleet.ts";
import { createTestApp, type TestApp } from "../../support/app.ts";

let app: TestApp;
let count = 0;

beforeAll(async () => {
  app = await createTestApp();
  await app.db.insert(loginLogs).values({ hostId: LOCAL_HOST, next: "cursor" });
  const admin = await app.admin();
  await admin.call("PUT", "/settings", { key: "policy.inactive_after", value: "30d" });
});
afterAll(() => app.close());

async function make() {
  const username = `user-${++count}`;
  const user = await createUser(app.system, { username, email: `${username}@example.org`, ttlDays: 1000 });
  return {
    ...user,
    status: async () => (await app.db.select().from(users).where(eq(users.id, user.id)))[0]?.status,
    mails: async () =>
      (await app.mails(user.email)).map(({ subject }) => subject).filter((text) => /shut on/.test(text)),
  };
}

/** The job, once a day for that many days, with the clock beyond doubt. */
async function days(number: number) {
  for (let day = 0; day < number; day++) {
    app.clock.advance(DAY);
    await endInactive(app.services, await endHold(app.services));
  }
}
const use = async (id: number) => await app.db.update(users).set({ seenAt: app.clock.now() }).where(eq(users.id, id));

describe("endInactive()", () => {
  test("mails 14 days and 1 day before, and then disables, on record", async () => {
    const user = await make();
    await days(15);
    expect(await user.mails()).toHaveLength(0);
    await days(1);
    expect(await user.mails()).toHaveLength(1);
    await days(12);
    expect(await user.mails()).toHaveLength(1);
    await days(1);
    expect([await user.mails(), await user.status()]).toEqual([
      [
        "Your account on 127.0.0.1 will be shut on 20 December 2026",
        "Your account on 127.0.0.1 will be shut on 20 December 2026",
      ],
      "active",
    ]);
    await days(1);
    expect(await user.status()).toBe("disabled");
    expect(app.host.accounts.get(`ext_${user.username}`)?.open).toBe(false);
    expect(await app.lastAudit("user.disable")).toMatchObject({
      ...{ subjectId: user.id, actorType: "system", detail: { reason: "inactive", status: "disabled" } },
    });
    // Enabling counts anew: nobody is disabled again within the minute.
    await enableUser(app.system, user.id);
    await days(29);
    expect(await user.status()).toBe("active");
    await days(1);
    expect(await user.status()).toBe("disabled");
  });

  test("begins anew with each use", async () => {
    const user = await make();
    await days(20);
    await use(user.id);
    await days(15);
    expect([await user.mails(), await user.status()]).toEqual([[expect.any(String)], "active"]);
    await days(14);
    await use(user.id);
    await days(5);
    expect(await user.status()).toBe("active");
  });

  test("warns whoever was inactive before it was switched on", async () => {
    const user = await make();
    app.clock.advance(200 * DAY);
    await endInactive(app.services, await endHold(app.services));
    expect([(await user.mails()).length, await user.status()]).toEqual([1, "active"]);
    await days(13);
    expect([(await user.mails()).length, await user.status()]).toEqual([2, "active"]);
    await days(1);
    expect(await user.status()).toBe("disabled");
  });

  test("waits while the clock is doubtful", async () => {
    const user = await make();
    await days(29);
    app.clock.advance(5 * DAY);
    await endInactive(app.services, await beat(app.services));
    expect(await user.status()).toBe("active");
  });

  test("counts nobody as inactive where nothing proves logins, and the doctor says so", async () => {
    const [user, remote] = [await make(), await make()];
    await app.alter(`insert into hosts (id, name, enrolled_at) values (77, 'web1', '2026-01-01')`);
    await app.db.insert(grants).values({ userId: remote.id, hostId: 77, createdAt: app.clock.now() });
    await days(35);
    expect([await user.status(), await remote.status()]).toEqual(["disabled", "active"]);
    expect(await checkInactivity(app.services)).toMatchObject([{ state: "ok" }]);
    const other = await make();
    await app.db.delete(loginLogs);
    await days(35);
    expect([await other.status(), (await other.mails()).length]).toEqual(["active", 0]);
    expect(await checkInactivity(app.services)).toMatchObject([{ state: "fault" }]);
  });
});
