import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { followDueHours, recordEndedSessions } from "../../../src/domain/lifecycle/hours.ts";
import { updateUser } from "../../../src/domain/users/update.ts";
import { createUser, deleteUser } from "../../../src/domain/users/users.ts";
import { parseHours } from "../../../src/shared/hours/text.ts";
import { users } from "../../../src/store/schema.ts";
import { createTestApp, type TestApp } from "../../support/app.ts";

let app: TestApp;
let name: string;
let id: number;
let count = 0;

beforeAll(async () => {
  app = await createTestApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  app.host.sessionsOpen.length = 0;
  await app.db.delete(users);
  app.host.accounts.clear();
  // A Friday.
  app.clock.set(new Date("2026-11-27T07:00:00Z"));
  name = `person-${++count}`;
  const hours = parseHours("mon-fri 08:00-09:00,10:00-11:00,12:00-13:00 UTC");
  ({ id } = await createUser(app.system, { username: name, email: `${name}@example.org`, hours }));
});

const follow = () => followDueHours(app.services, app.config.dataDir);
const recordLeft = () => recordEndedSessions(app.services);
const recorded = async () =>
  (await app.auditRows("access.window"))
    .filter(({ resourceId }) => resourceId === String(id))
    .map(({ createdAt, detail }) => [createdAt.toISOString().slice(0, 16), JSON.parse(detail).sessions]);

/** A window from that hour on, at whose end so many are logged in; and the minute's job. */
async function passWindow(day: string, hour: number, sessions: number): Promise<void> {
  const at = (moment: number) => app.clock.set(new Date(`${day}T${String(moment).padStart(2, "0")}:00:00Z`));
  at(hour);
  await follow();
  expect(app.host.accounts.get(`ext_${name}`)?.open).toBe(true);
  const session = { since: app.clock.now(), from: "192.0.2.1", fingerprint: undefined, account: `ext_${name}` };
  for (let left = sessions; left > 0; left--) app.host.sessionsOpen.push({ ...session, id: `${day} ${hour} ${left}` });
  at(hour + 1);
  await follow();
  app.host.sessionsOpen.length = 0;
  await recordLeft();
}

describe("sessions that end with windows", () => {
  test("are recorded with the first end of a day that ends any, and those of its other ends on the next day", async () => {
    await passWindow("2026-11-27", 8, 0);
    await passWindow("2026-11-27", 10, 2);
    expect(await recorded()).toEqual([["2026-11-27T11:00", 2]]);
    await passWindow("2026-11-27", 12, 3);
    app.clock.set(new Date("2026-11-27T23:59:59.999Z"));
    await recordLeft();
    expect(await recorded()).toHaveLength(1);
    app.clock.advance(1);
    await recordLeft();
    await recordLeft();
    expect(await recorded()).toEqual([
      ["2026-11-27T11:00", 2],
      ["2026-11-28T00:00", 3],
    ]);
  });

  test("once a day, all of them, also where a window ends before the minute's job", async () => {
    await passWindow("2026-11-27", 8, 1);
    await passWindow("2026-11-27", 10, 1);
    await passWindow("2026-11-27", 12, 1);
    await passWindow("2026-11-30", 8, 4);
    await passWindow("2026-11-30", 10, 5);
    await passWindow("2026-12-01", 8, 6);
    expect((await recorded()).map(([, sessions]) => sessions)).toEqual([1, 2 + 4, 5 + 6]);
  });

  test("are recorded although the user has no hours any more", async () => {
    await passWindow("2026-11-27", 8, 1);
    await passWindow("2026-11-27", 10, 7);
    await updateUser(app.system, id, { hours: null });
    app.clock.set(new Date("2026-11-28T00:00:00Z"));
    await recordLeft();
    expect((await recorded()).map(([, sessions]) => sessions)).toEqual([1, 7]);
  });

  test("are recorded once by two instances at the same instant", async () => {
    await passWindow("2026-11-27", 8, 1);
    await passWindow("2026-11-27", 10, 2);
    app.clock.set(new Date("2026-11-28T00:00:00Z"));
    await Promise.all([recordLeft(), recordLeft(), recordLeft()]);
    expect(await recorded()).toHaveLength(2);
  });

  test("are recorded at once after a clock that was ahead is set back", async () => {
    app.clock.set(new Date("2026-12-03T23:00:00Z"));
    await app.db.update(users).set({ windowRecordedAt: app.clock.now() }).where(eq(users.id, id));
    await passWindow("2026-11-27", 8, 1);
    expect(await recorded()).toHaveLength(1);
  });

  test("need no record of somebody who is deleted meanwhile", async () => {
    await passWindow("2026-11-27", 8, 1);
    await passWindow("2026-11-27", 10, 2);
    await deleteUser(app.system, id);
    app.clock.set(new Date("2026-11-28T00:00:00Z"));
    await recordLeft();
    expect(await recorded()).toHaveLength(1);
  });
});
