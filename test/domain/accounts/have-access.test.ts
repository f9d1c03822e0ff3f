import { afterAll, beforeAll, expect, test } from "bun:test";
import { accessAt } from "../../../src/domain/accounts/access-state.ts";
import { haveAccess } from "../../../src/domain/accounts/have-access.ts";
import { listUsers, matchingIds } from "../../../src/domain/users/list.ts";
import { ACCESS_STATES } from "../../../src/shared/product/statuses.ts";
import { HOUR, shift } from "../../../src/shared/time/clock.ts";
import { type UserRow, users } from "../../../src/store/schema.ts";
import { createTestApp, type TestApp } from "../../support/app.ts";

let app: TestApp;
// A Friday: Berlin is at 11:00.
const NOW = new Date("2026-11-27T10:00:00Z");

beforeAll(async () => {
  app = await createTestApp();
  app.clock.set(NOW);
});
afterAll(() => app.close());

/** Everything that access depends on, each with everything else: moments, before, at and after now. */
const at = (hours: number) => shift(NOW, hours * HOUR);
const HOURS = [
  null,
  "mon-fri 08:00-18:00 Europe/Berlin",
  "fri 11:00-12:00 Europe/Berlin",
  "sat 08:00-18:00 UTC",
  "odd",
];
const TIMES = [undefined, -1, 0, 1] as const;

test("haveAccess() finds exactly those whose accessAt() is so", async () => {
  const rows: (typeof users.$inferInsert)[] = [];
  const [, office, , saturday] = HOURS;
  for (const status of ["active", "disabled", "expired"] as const)
    for (const end of [-1, 0, 1])
      for (const start of TIMES)
        for (const hours of status === "active" ? HOURS : [null])
          for (const companyHours of [null, office, saturday])
            for (const [from, until] of [[], [-2, -1], [-1, 0], [-1, 1], [0, 1], [1, 2]]) {
              const username = `u-${rows.length}`;
              rows.push({
                ...{
                  username,
                  email: "a@example.org",
                  status,
                  expireAt: at(end * 3),
                  hours,
                  companyHours: companyHours ?? null,
                },
                ...{ createdAt: NOW, updatedAt: NOW },
                startsAt: start === undefined ? null : at(start),
                ...(rows.length % 3 === 0 ? {} : { requestRule: "self" as const, requestHours: 4 }),
                ...(from === undefined ? {} : { allowedFrom: at(from), allowedUntil: at(until as number) }),
                ...(status === "disabled" ? { disabledAt: NOW } : {}),
              });
            }
  for (let next = 0; next < rows.length; next += 500) await app.db.insert(users).values(rows.slice(next, next + 500));
  const stored: readonly UserRow[] = await app.db.select().from(users);
  const found = new Set<number>();
  for (const access of ACCESS_STATES) {
    const wanted = stored.filter((user) => accessAt(user, NOW).access === access).map(({ id }) => id);
    expect(wanted.length).toBeGreaterThan(0);
    const where = await haveAccess(app.services.db, access, NOW);
    const ids = (await app.db.select({ id: users.id }).from(users).where(where)).map(({ id }) => id);
    expect(ids.toSorted((one, other) => one - other)).toEqual(wanted.toSorted((one, other) => one - other));
    for (const id of ids) found.add(id);
    expect(new Set(await matchingIds(app.system, { access }))).toEqual(new Set(ids));
    const { total, items } = await listUsers(app.system, { access, search: "u-" }, { page: 1, pageSize: 20 });
    expect([total, items.every(({ id }) => ids.includes(id))]).toEqual([ids.length, true]);
  }
  expect(found.size).toBe(rows.length);
});

test("GET /users takes the filter, and refuses another state", async () => {
  const admin = await app.admin();
  const { body } = await admin.call("GET", "/users?access=outside_hours&page_size=3");
  expect(body.data.items.map(({ access }: { access: string }) => access)).toEqual(Array(3).fill("outside_hours"));
  expect((await admin.call("GET", "/users?access=shut")).status).toBe(400);
});
