import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { addAdmin } from "../../../src/domain/auth/administrators/add-admin.ts";
import { beat, endHold, HOLD, readHeartbeat } from "../../../src/domain/lifecycle/heartbeat.ts";
import { expireDue, recycleDue } from "../../../src/domain/lifecycle/lifecycle.ts";
import { systemContext } from "../../../src/domain/operation/context.ts";
import { createUser } from "../../../src/domain/users/users.ts";
import { DAY, HOUR, MINUTE, SECOND } from "../../../src/shared/time/clock.ts";
import { outbox, users } from "../../../src/store/schema.ts";
import { serviceState } from "../../../src/store/schema-service.ts";
import { createTestApp, type TestApp } from "../../support/app.ts";

let app: TestApp;

beforeAll(async () => {
  app = await createTestApp();
  await addAdmin(app.system, "first", "first@example.org", "seven lanterns over cold water");
  await addAdmin(app.system, "second", "second@example.org", "seven lanterns over cold water");
});
afterAll(() => app.close());
beforeEach(async () => {
  await app.db.delete(serviceState);
  await app.db.delete(outbox);
  await app.db.delete(users);
  await beat(app.services);
});

const jumpMails = async () => (await app.mails()).filter((mail) => mail.dedupeKey?.startsWith("clock-jump:"));

describe("beat()", () => {
  test("makes nothing wait at the very first start, nor after up to an hour", async () => {
    for (const pause of [0, MINUTE, HOUR, -HOUR]) {
      app.clock.advance(pause);
      expect(await beat(app.services)).toEqual({ now: app.clock.now(), holdUntil: undefined });
    }
    expect(await jumpMails()).toEqual([]);
  });

  test.each([[HOUR + 1], [3 * DAY], [365 * DAY], [-HOUR - 1], [-DAY]])(
    "begins a wait of 24 hours after a gap of %d ms, and tells each administrator and the log",
    async (gap) => {
      const from = app.clock.now();
      app.clock.advance(gap);
      const warned: unknown[] = [];
      const log = { ...app.services.log, warn: (_: string, fields: unknown) => void warned.push(fields) };
      const until = new Date(app.clock.now().getTime() + HOLD);
      expect(HOLD).toBe(24 * HOUR);
      expect(await beat({ ...app.services, log })).toEqual({ now: app.clock.now(), holdUntil: until });
      expect(warned).toEqual([
        expect.objectContaining({
          from: from.toISOString(),
          to: app.clock.now().toISOString(),
          until: until.toISOString(),
        }),
      ]);
      const mails = await jumpMails();
      expect(mails.map((mail) => mail.recipient)).toEqual(["first@example.org", "second@example.org"]);
      expect(mails[0]?.text).toContain("uam recycle --now");
    },
  );

  test("ends the wait by itself after a day of beating, and no sooner", async () => {
    app.clock.advance(3 * DAY);
    const { holdUntil } = await beat(app.services);
    for (let minutes = 0; minutes < 24 * 60 - 30; minutes += 30) {
      app.clock.advance(30 * MINUTE);
      expect((await beat(app.services)).holdUntil).toEqual(holdUntil);
    }
    app.clock.advance(30 * MINUTE - 1);
    expect((await beat(app.services)).holdUntil).toEqual(holdUntil);
    app.clock.advance(1);
    expect((await beat(app.services)).holdUntil).toBeUndefined();
    expect(await jumpMails()).toHaveLength(2);
  });

  test("restarts with every gap, so that a clock that is set back does not wait for a day in the future", async () => {
    app.clock.advance(365 * DAY);
    await beat(app.services);
    app.clock.advance(-365 * DAY);
    expect((await beat(app.services)).holdUntil).toEqual(new Date(app.clock.now().getTime() + HOLD));
  });

  test("sends one mail for a gap that several instances see at once", async () => {
    app.clock.advance(3 * DAY);
    const times = await Promise.all(Array.from({ length: 6 }, () => beat(app.services)));
    expect(new Set(times.map((time) => time.holdUntil?.getTime())).size).toBe(1);
    expect(await jumpMails()).toHaveLength(2);
  });
});

describe("endHold()", () => {
  test("ends the wait, and a gap that no instance has noticed yet", async () => {
    app.clock.advance(3 * DAY);
    await beat(app.services);
    expect((await endHold(app.services)).holdUntil).toBeUndefined();
    expect((await beat(app.services)).holdUntil).toBeUndefined();
    app.clock.advance(3 * DAY);
    await endHold(app.services);
    expect((await beat(app.services)).holdUntil).toBeUndefined();
  });
});

describe("readHeartbeat()", () => {
  test("says until when deletion is on hold, and changes nothing", async () => {
    expect((await readHeartbeat(app.services)).holdUntil).toBeUndefined();
    app.clock.advance(3 * DAY);
    const until = new Date(app.clock.now().getTime() + HOLD);
    expect((await readHeartbeat(app.services)).holdUntil).toEqual(until);
    expect(await jumpMails()).toEqual([]);
    await beat(app.services);
    app.clock.advance(SECOND);
    expect((await readHeartbeat(app.services)).holdUntil).toEqual(until);
  });
});

describe("a clock that jumps", () => {
  test("deletes nobody, however far it jumps, while expiry goes on", async () => {
    const system = systemContext(app.services);
    const user = await createUser(app.system, { username: "jumper", email: "j@example.org", ttlDays: 10 });
    app.clock.advance(1000 * DAY);
    const time = await beat(app.services);
    expect((await expireDue(system, time)).done).toBe(1);
    expect(await recycleDue(system, time)).toEqual({ done: 0, failed: 0 });
    expect(app.host.accounts.has("ext_jumper")).toBe(true);
    const notice = (await app.mails("j@example.org")).find(
      (mail) => mail.dedupeKey === `expired:${user.id}:${user.expireAt.getTime()}`,
    );
    // The end of the recycle period is long past; what holds is the end of the wait.
    expect(notice?.text).toContain(`${time.holdUntil?.getUTCFullYear()}`);
  });

  test("in the middle of a run does not make more users due", async () => {
    const user = await createUser(app.system, { username: "midway", email: "m@example.org", ttlDays: 10 });
    app.clock.set(user.expireAt);
    const system = systemContext(app.services);
    await expireDue(system, await beat(app.services));
    await endHold(app.services);
    const time = await beat(app.services);
    app.clock.advance(365 * DAY);
    expect(await recycleDue(system, time)).toEqual({ done: 0, failed: 0 });
    expect(app.host.accounts.has("ext_midway")).toBe(true);
  });
});
