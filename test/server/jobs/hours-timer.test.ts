import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { updateUser } from "../../../src/domain/users/update.ts";
import { createUser } from "../../../src/domain/users/users.ts";
import { type HoursTimer, startHoursTimer } from "../../../src/server/jobs/hours-timer.ts";
import { parseHours } from "../../../src/shared/hours/text.ts";
import { DAY, HOUR, SECOND, shift } from "../../../src/shared/time/clock.ts";
import { users } from "../../../src/store/schema.ts";
import { createTestApp, type TestApp } from "../../support/app.ts";
import { until } from "../../support/until.ts";

let app: TestApp;
let timer: HoursTimer | undefined;
/** The program's time at each call. */
let calls: Date[];
/** How often the timer has looked at the clock, and at once asked what is next. */
let looks = 0;

beforeEach(async () => {
  app = await createTestApp();
  app.clock.set(new Date("2026-11-28T10:00:00Z"));
  calls = [];
});
afterEach(async () => {
  await timer?.stop();
  timer = undefined;
  await app.close();
});

const start = (follow: () => Promise<void> = async () => {}) => {
  const { db } = app.services;
  const select: typeof db.select = ((...fields: []) => {
    looks++;
    return db.select(...fields);
  }) as never;
  timer = startHoursTimer({ ...app.services, db: Object.assign(Object.create(db), { select }) }, async () => {
    calls.push(app.clock.now());
    await follow();
  });
};
const create = (startsAt: Date) =>
  createUser(app.system, { username: "kim", email: "kim@example.org", startsAt, ttlDays: 9 });
/** Waits for as many calls; a hang runs into the test's own limit. */
const called = async (times: number) => {
  while (calls.length < times) await Bun.sleep(5);
};
/** Long enough for a timer that has nothing to wait for to show that it does not wait. */
const quiet = () => Bun.sleep(300);

describe("startHoursTimer()", () => {
  test("waits for the nearest moment, whatever its second, and not for one that was followed", async () => {
    const at = shift(app.clock.now(), 250);
    await create(at);
    start();
    await quiet();
    // The timer has fired, but by the program's clock the moment has not come: it opens nothing early.
    expect(calls).toEqual([]);
    app.clock.set(at);
    await called(1);
    await quiet();
    expect(calls).toEqual([at]);
  });

  test("hears of users who are created, and of hours that are changed, by any process", async () => {
    start();
    await quiet();
    const at = shift(app.clock.now(), 50);
    const { id } = await create(at);
    app.clock.set(at);
    await called(1);
    await app.db.update(users).set({ hoursDueAt: shift(at, 90 * DAY) });
    const end = "10:01";
    app.clock.set(new Date("2026-11-28T10:00:59.900Z"));
    await updateUser(app.system, id, { hours: parseHours(`sat 09:00-${end} UTC`) });
    app.clock.advance(100);
    await called(2);
    expect(calls[1]).toEqual(new Date("2026-11-28T10:01:00Z"));
  });

  test("after the clock was set back follows the moments of the time that it shows", async () => {
    const began = app.clock.now();
    await create(shift(began, 2 * DAY));
    start();
    await quiet();
    app.clock.advance(3 * DAY);
    await createUser(app.system, { username: "lee", email: "lee@example.org", startsAt: shift(began, 4 * DAY) });
    await called(1);
    app.clock.set(began);
    const before = looks;
    await app.db.update(users).set({ hoursDueAt: shift(began, DAY) });
    const later = shift(began, DAY);
    await createUser(app.system, { username: "sam", email: "sam@example.org", startsAt: shift(began, 3 * DAY) });
    // From then on it follows that time.
    await until(() => looks > before);
    app.clock.set(later);
    await createUser(app.system, { username: "uli", email: "uli@example.org", startsAt: shift(began, 3 * DAY) });
    await called(2);
    expect(calls).toEqual([shift(began, 3 * DAY), later]);
  });

  test("goes on after the database could not be read", async () => {
    await create(shift(app.clock.now(), HOUR));
    const logged: string[] = [];
    const { db } = app.services;
    let isDown = true;
    const select: typeof db.select = ((...fields: []) => {
      if (isDown) throw new Error("the database is down");
      return db.select(...fields);
    }) as never;
    const services = { ...app.services, db: Object.assign(Object.create(db), { select }) };
    const log = { ...app.services.log, error: (message: string) => void logged.push(message) };
    timer = startHoursTimer({ ...services, log }, async () => void calls.push(app.clock.now()));
    while (logged.length === 0) await Bun.sleep(5);
    isDown = false;
    app.clock.advance(HOUR);
    // Whatever is heard has it look again.
    await createUser(app.system, {
      ...{ username: "lee", email: "lee@example.org", ttlDays: 9 },
      startsAt: shift(app.clock.now(), SECOND),
    });
    await called(1);
  });

  test("stop() lets what was begun end", async () => {
    const { promise: hang, resolve } = Promise.withResolvers<void>();
    const at = shift(app.clock.now(), 20);
    await create(at);
    app.clock.set(at);
    app.clock.advance(-1);
    start(() => hang);
    app.clock.advance(1);
    await called(1);
    let isOver = false;
    const stopping = timer?.stop().then(() => {
      isOver = true;
    });
    await quiet();
    expect(isOver).toBe(false);
    resolve();
    await stopping;
  });
});
