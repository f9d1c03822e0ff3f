import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { sql } from "drizzle-orm";
import { beat } from "../../../src/domain/lifecycle/heartbeat.ts";
import { storeCounts } from "../../../src/domain/stats/daily.ts";
import { readSeries } from "../../../src/domain/stats/series.ts";
import { DAY, HOUR, shift } from "../../../src/shared/time/clock.ts";
import { type Client, createTestApp, type TestApp } from "../../support/app.ts";

let app: TestApp;
let admin: Client;

beforeAll(async () => {
  app = await createTestApp();
  // In the middle of a day, so that hours do not lead into the next.
  const now = app.clock.now().getTime();
  app.clock.advance(DAY - (now % DAY) + 12 * HOUR);
  admin = await app.admin();
});
afterAll(() => app.close());

const dayOf = (days: number) =>
  shift(app.clock.now(), days * DAY)
    .toISOString()
    .slice(0, 10);

async function create(username: string, days: number): Promise<number> {
  const made = await admin.call("POST", "/users", { username, email: "s@example.org", ttl_days: days });
  return made.body.data.id;
}

async function nextDay(days = 1): Promise<void> {
  app.clock.advance(days * DAY);
  admin = await app.admin();
}

describe("readSeries()", () => {
  test("knows today, and only today, on a new service", async () => {
    for (const path of ["/audit", "/audit/export", "/users/export"])
      expect([path, (await admin.call("GET", path)).status]).toEqual([path, 200]);
    const { days, states, ends, changes } = (await admin.call("GET", "/admin/stats/series")).body.data;
    expect(days).toBe(90);
    expect(states).toEqual([{ date: dayOf(0), active: 0, disabled: 0, expired: 0 }]);
    expect(ends).toHaveLength(90);
    expect([ends[0], ends[89]]).toEqual([
      { date: dayOf(0), users: 0 },
      { date: dayOf(89), users: 0 },
    ]);
    // The log begins today, with a login and with reading, which are no changes.
    expect(changes).toEqual([{ date: dayOf(0), changes: 0, failed: 0 }]);
  });

  test("counts endings of active users only, by the day", async () => {
    await create("in-3", 3);
    await create("also-in-3", 3);
    await create("in-6", 6);
    await create("in-7", 7);
    await admin.call("POST", `/users/${await create("off-in-3", 3)}/disable`);
    const { ends } = (await admin.call("GET", "/admin/stats/series?days=7")).body.data;
    expect(ends.filter(({ users }: { users: number }) => users > 0)).toEqual([
      { date: dayOf(3), users: 2 },
      { date: dayOf(6), users: 1 },
    ]);
    expect(ends).toHaveLength(7);
  });

  test("has each day as last counted on it, leaves out those on which nobody counted, and counts changes and failures", async () => {
    await storeCounts(app.services);
    await create("late", 100);
    await storeCounts(app.services);
    await admin.call("POST", "/users", { username: "late", email: "s@example.org" });
    await nextDay(2);
    await create("today", 100);
    const series = (await admin.call("GET", "/admin/stats/series?days=7")).body.data;
    expect(series.states).toEqual([
      { date: dayOf(-2), active: 5, disabled: 1, expired: 0 },
      { date: dayOf(0), active: 6, disabled: 1, expired: 0 },
    ]);
    expect(series.changes).toEqual([
      // Six created, one disabled; one that could not be.
      { date: dayOf(-2), changes: 7, failed: 1 },
      { date: dayOf(-1), changes: 0, failed: 0 },
      { date: dayOf(0), changes: 1, failed: 0 },
    ]);
  });

  test("answers the same before and after the past days are stored, however often", async () => {
    await nextDay();
    const before = (await admin.call("GET", "/admin/stats/series?days=30")).body.data;
    await Promise.all([storeCounts(app.services), storeCounts(app.services)]);
    const stored = await app.db.execute(sql`select date::text from change_counts order by 1`);
    expect(stored.map(({ date }) => date)).toEqual([dayOf(-3), dayOf(-2), dayOf(-1)]);
    const after = (await admin.call("GET", "/admin/stats/series?days=30")).body.data;
    expect(after).toEqual(before);
  });

  test("does not store a day before the last operations of it can be committed", async () => {
    const midnight = app.clock.now().getTime() % DAY;
    app.clock.advance(DAY - midnight + HOUR / 2);
    await storeCounts(app.services);
    const newest = () => app.db.execute(sql`select max(date)::text as date from change_counts`);
    expect((await newest())[0]).toEqual({ date: dayOf(-2) });
    app.clock.advance(HOUR);
    await storeCounts(app.services);
    expect((await newest())[0]).toEqual({ date: dayOf(-1) });
  });

  test("keeps what retention has removed from the log, and forgets what no series shows", async () => {
    admin = await app.admin();
    const { changes } = await readSeries(app.system, 30);
    await app.alter("alter table audit disable trigger user; delete from audit where id <= 4");
    expect((await readSeries(app.system, 30)).changes).toEqual(changes);
    await app.alter(
      "insert into user_counts values ('2001-01-01', 1, 1, 1); insert into change_counts values ('2001-01-01', 1, 1)",
    );
    await storeCounts(app.services);
    for (const table of ["user_counts", "change_counts"]) {
      const [row] = await app.db.execute(
        sql`select count(*)::int as old from ${sql.identifier(table)} where date < '2002-01-01'`,
      );
      expect(row).toEqual({ old: 0 });
    }
  });

  test("comes through a jump of the clock and back as it was", async () => {
    await beat(app.services);
    const { states, changes } = await readSeries(app.system, 30);
    app.clock.advance(400 * DAY);
    await storeCounts(app.services);
    await beat(app.services);
    await storeCounts(app.services);
    app.clock.advance(-400 * DAY);
    await beat(app.services);
    await storeCounts(app.services);
    const after = await readSeries(app.system, 30);
    expect([after.states, after.changes]).toEqual([states, changes]);
    app.clock.advance(DAY);
    admin = await app.admin();
    await beat(app.services);
    await create("after-jump", 100);
    app.clock.advance(DAY);
    await beat(app.services);
    await storeCounts(app.services);
    const [, count] = (await readSeries(app.system, 30)).changes.toReversed();
    expect(count).toEqual({ date: dayOf(-1), changes: 1, failed: 0 });
    admin = await app.admin();
  });

  test("leaves out the day of which retention has removed a part", async () => {
    await app.alter("delete from change_counts");
    const [first] = await app.db.execute<{ day: string }>(
      sql`select to_char(min(created_at) at time zone 'UTC', 'YYYY-MM-DD') as day from audit`,
    );
    const { changes } = await readSeries(app.system, 30);
    expect(changes[0]?.date).toBe(
      shift(new Date(`${first?.day}T00:00:00Z`), DAY)
        .toISOString()
        .slice(0, 10),
    );
  });
});

describe("GET /admin/stats/series", () => {
  test.each(["6", "366", "0", "-7", "x", "7.5", "1e2", "00000"])("refuses %s days", async (days) => {
    expect((await admin.call("GET", `/admin/stats/series?days=${days}`)).status).toBe(400);
  });

  test.each(["7", "365"])("takes %s days", async (days) => {
    const { status, body } = await admin.call("GET", `/admin/stats/series?days=${days}`);
    expect([status, body.data.days, body.data.ends.length]).toEqual([200, Number(days), Number(days)]);
  });
});
