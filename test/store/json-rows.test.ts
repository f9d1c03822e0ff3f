import { afterAll, beforeAll, expect, test } from "bun:test";
import { asc, getTableColumns, like, sql } from "drizzle-orm";
import { jsonRows } from "../../src/store/json-rows.ts";
import { users } from "../../src/store/schema.ts";
import { createTestApp, type TestApp } from "../support/app.ts";

let app: TestApp;

beforeAll(async () => {
  app = await createTestApp();
});
afterAll(() => app.close());

const columns = getTableColumns(users);

test("jsonRows() gives what a select of the columns gives, whatever the texts, times and numbers are", async () => {
  const texts = [
    "",
    "null",
    '"',
    "\\",
    "'",
    "a,b",
    "{}",
    "[1]",
    "\u2028\u0001\t\n",
    "Åsa 🚀",
    "\ud7ff\uffff",
    "__proto__",
  ];
  const times = [
    "1000-01-01T00:00:00.001Z",
    "1969-12-31T23:59:59.999Z",
    "2026-11-22T11:50:49.060Z",
    "9999-12-31T23:59:59.999Z",
  ];
  await app.db.insert(users).values(
    texts.map((text, index) => ({
      username: `odd${index}`,
      email: text,
      supervisor: text,
      purpose: text,
      sourceNetworks: index % 3 === 0 ? [] : [text, "192.0.2.0/24", ""],
      expireAt: new Date(times[index % times.length] ?? ""),
      disabledAt: index % 2 === 0 ? null : new Date(times[index % times.length] ?? ""),
      createdAt: new Date(0),
      updatedAt: new Date(1),
    })),
  );
  await app.db.execute(sql`insert into users (id, username, email, expire_at, created_at, updated_at)
    overriding system value values (${Number.MAX_SAFE_INTEGER}, 'oddest', '', now(), now(), now())`);
  const expected = await app.db.select().from(users).where(like(users.username, "odd%")).orderBy(asc(users.username));
  const rows = jsonRows(columns, sql`${users} where ${like(users.username, "odd%")}`, [asc(users.username)]);
  const [found] = await app.db.select({ rows }).from(sql`(select) one`);
  expect(found?.rows.length).toBe(texts.length + 1);
  expect(found?.rows).toEqual(expected);
});

test("jsonRows() of no rows is an empty list", async () => {
  const rows = jsonRows(columns, sql`${users} where false`, [asc(users.id)]);
  expect(await app.db.select({ rows }).from(sql`(select) one`)).toEqual([{ rows: [] }]);
});
