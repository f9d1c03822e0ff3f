/** Pages of users: one statement near the beginning, and behind it the way from the nearer end. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { eq, sql } from "drizzle-orm";
import { listUsers, type UserFilter } from "../../../src/domain/users/list.ts";
import type { UserSort } from "../../../src/shared/product/user-sorts.ts";
import { DAY } from "../../../src/shared/time/clock.ts";
import { type UserRow, users } from "../../../src/store/schema.ts";
import { createTestApp, type TestApp } from "../../support/app.ts";

let app: TestApp;

const tenDaysAgo = () => app.clock.now().getTime() - 10 * DAY;
const FILTERS: readonly (readonly [UserFilter, (user: UserRow) => boolean])[] = [
  [{}, () => true],
  [{ status: "active" }, ({ status }) => status === "active"],
  [{ lastUsed: "never" }, ({ seenAt }) => seenAt === null],
  [
    { silentFor: "10d", lastUsed: "never" },
    ({ seenAt, createdAt }) => seenAt === null && createdAt.getTime() <= tenDaysAgo(),
  ],
  [
    { silentFor: "10d", status: "active" },
    ({ seenAt, createdAt, status }) => status === "active" && (seenAt ?? createdAt).getTime() <= tenDaysAgo(),
  ],
  [{ silentFor: "10d" }, ({ seenAt, createdAt }) => (seenAt ?? createdAt).getTime() <= tenDaysAgo()],
];

beforeAll(async () => {
  app = await createTestApp();
});
afterAll(() => app.close());

test("a page is the same whether it is near the beginning or behind it", async () => {
  await app.db.execute(sql`
      insert into users (username, email, supervisor, status, expire_at, created_at, updated_at, seen_at)
      select 'far' || n * 7919 % 2311, 'far@example.org', 'far', case when n % 3 = 0 then 'disabled' else 'active' end,
        ${app.clock.now().toISOString()}::timestamptz + n % 100 * interval '1 day' + interval '1 hour',
        ${app.clock.now().toISOString()}::timestamptz - n % 30 * interval '1 day', now(),
        case when n % 4 <> 0 then ${app.clock.now().toISOString()}::timestamptz - n % 40 * interval '1 day' end
      from generate_series(1, 2310) n`);
  const none = { activeKeys: 0, lastKeyUseAt: null };
  const stored = await app.db.select().from(users).where(eq(users.supervisor, "far"));
  const all = stored.map((user) => ({ ...user, ...none }));
  const ways = {
    "-created_at": (a: UserRow, b: UserRow) => b.id - a.id,
    username: (a: UserRow, b: UserRow) => (a.username < b.username ? -1 : 1),
    "-expire_at": (a: UserRow, b: UserRow) => b.expireAt.getTime() - a.expireAt.getTime() || b.id - a.id,
  };
  for (const [sort, compare] of Object.entries(ways)) {
    for (const [filter, matches] of FILTERS) {
      const expected = all.filter(matches).sort(compare);
      for (const page of [1, 10, 11, 12, 16, 24, 25]) {
        const wanted = { supervisor: "far", ...filter, sort: sort as UserSort };
        const { total, items } = await listUsers(app.system, wanted, { page, pageSize: 100 });
        expect(total).toBe(expected.length);
        expect(items).toEqual(expected.slice((page - 1) * 100, page * 100));
      }
    }
  }
});
