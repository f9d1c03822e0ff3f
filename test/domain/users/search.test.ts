/** What `listUsers` finds by a part of a text, and in which order it lists. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { sql } from "drizzle-orm";
import fc from "fast-check";
import { listUsers, type UserFilter } from "../../../src/domain/users/list.ts";
import { updateUser } from "../../../src/domain/users/update.ts";
import { USER_SORTS, type UserSort } from "../../../src/shared/product/user-sorts.ts";
import { searched } from "../../../src/store/conditions.ts";
import { users } from "../../../src/store/schema.ts";
import { createTestApp, type TestApp } from "../../support/app.ts";

const PEOPLE = [
  ["zoe", "zoe@example.org", "Bo Lindqvist", "100% of the servers", 30],
  ["adam", "adam@firm.example", "Åsa Öberg", "Audit_2026 in hall\\3", 10],
  ["m-1", "mia@example.org", "", "ex_t", 20],
  ["bo", "b@other.example", "Zoe's office", "", 20],
] as const;

let app: TestApp;

beforeAll(async () => {
  app = await createTestApp();
  const admin = await app.admin();
  for (const [username, email, supervisor, purpose, days] of PEOPLE) {
    const full_name = username === "adam" ? "Æthelred Haddad" : "";
    const made = await admin.call("POST", "/users", {
      username,
      email,
      full_name,
      supervisor,
      purpose,
      ttl_days: days,
    });
    expect(made.status).toBe(201);
  }
});
afterAll(() => app.close());

const PAGE = { page: 1, pageSize: 20 };

async function found(filter: UserFilter, page = PAGE): Promise<readonly string[]> {
  const { total, items } = await listUsers(app.system, filter, page);
  if (page === PAGE) expect(total).toBe(items.length);
  return items.map(({ username }) => username);
}

describe("listUsers({ search })", () => {
  test.each([
    ["zoe", ["bo", "zoe"]],
    ["ZOE@EXAMPLE", ["zoe"]],
    ["lindqvist", ["zoe"]],
    ["ext_a", ["adam"]],
    ["EXT_", ["bo", "m-1", "adam", "zoe"]],
    ["  hall\\3 ", ["adam"]],
    ["öberg", ["adam"]],
    ["A\u030Asa", ["adam"]],
    ["%", ["zoe"]],
    ["_2026", ["adam"]],
    ["a_a", []],
    ["zo_", []],
    ["z%e", []],
    ["\\", ["adam"]],
    ["office", ["bo"]],
    ["red hadd", ["adam"]],
    ["æTHEL", ["adam"]],
    ["' or 1=1 --", []],
    ["   ", ["bo", "m-1", "adam", "zoe"]],
  ])("finds %j as it stands, in any case and any field", async (search, names) => {
    expect(await found({ search })).toEqual(names);
  });

  test("finds a long text that only its middle tells from another", async () => {
    const [before, after] = ["x".repeat(60), "y".repeat(60)];
    const by = await app.admin();
    const made = await by.call("POST", "/users", {
      ...{ username: "long", email: "long@example.org", purpose: `${before}Q1${after}`, ttl_days: 40 },
    });
    expect(made.status).toBe(201);
    expect(await found({ search: `${before}q1${after}` })).toEqual(["long"]);
    expect(await found({ search: `${before}q2${after}` })).toEqual([]);
    await by.call("DELETE", `/users/${made.body.data.id}`);
  });

  test("has an index for it, however many users there are", async () => {
    const plan = await app.db.transaction(async (tx) => {
      await tx.execute(sql`set local enable_seqscan = off`);
      return await tx.execute<{ "QUERY PLAN": string }>(
        sql`explain select id from users where public.text_parts(lower((${searched(users)}) collate "C")) @> array['zoe', 'oe@']`,
      );
    });
    expect(plan.map((row) => row["QUERY PLAN"]).join("\n")).toContain("users_search");
  });

  test("finds nothing across two fields, and refuses what no field can hold", async () => {
    expect(await found({ search: "zoezoe@" })).toEqual([]);
    for (const search of ["zoe\nzoe", "a\0b", "\u202Eabc", "x".repeat(129)]) {
      expect(listUsers(app.system, { search }, PAGE)).rejects.toMatchObject({ code: "invalid" });
    }
    expect(await found({ search: "x".repeat(128) })).toEqual([]);
  });

  test("finds a user by any part of each of their texts", async () => {
    const part = fc.constantFrom(...PEOPLE).chain(([username, ...texts]) =>
      fc
        .constantFrom(
          `ext_${username}`,
          ...texts
            .slice(0, 3)
            .map(String)
            .filter((text) => text !== ""),
        )
        .chain((text) =>
          fc.tuple(fc.nat(text.length - 1), fc.nat(text.length)).map(([from, to]) => text.slice(from, to)),
        )
        .map((search) => ({ username, search })),
    );
    await fc.assert(
      fc.asyncProperty(part, async ({ username, search }) => {
        expect(await found({ search })).toContain(username);
        expect(await found({ search: search.toUpperCase() })).toContain(username);
      }),
      { numRuns: 60 },
    );
  });

  test("counts what it finds, page by page, together with the other filters", async () => {
    const pages = [1, 2, 3].map((page) =>
      listUsers(app.system, { search: "example", sort: "username" }, { page, pageSize: 2 }),
    );
    const [first, second, third] = await Promise.all(pages);
    expect([first, second, third].map((page) => page?.total)).toEqual([4, 4, 4]);
    expect([first, second, third].map((page) => page?.items.map(({ username }) => username))).toEqual([
      ["adam", "bo"],
      ["m-1", "zoe"],
      [],
    ]);
    expect(await found({ search: "zoe", status: "active", supervisor: "Zoe's office" })).toEqual(["bo"]);
    expect(await found({ search: "zoe", status: "disabled" })).toEqual([]);
  });

  test("finds a user by what was changed", async () => {
    const [zoe] = (await listUsers(app.system, { search: "lindqvist" }, PAGE)).items;
    await updateUser(app.system, zoe?.id ?? 0, { supervisor: "Ilse Bauer" });
    expect([await found({ search: "lindqvist" }), await found({ search: "bauer" })]).toEqual([[], ["zoe"]]);
  });
});

describe("listUsers({ sort })", () => {
  const ORDERS: Record<UserSort, readonly string[]> = {
    created_at: ["zoe", "adam", "m-1", "bo"],
    "-created_at": ["bo", "m-1", "adam", "zoe"],
    username: ["adam", "bo", "m-1", "zoe"],
    "-username": ["zoe", "m-1", "bo", "adam"],
    expire_at: ["adam", "m-1", "bo", "zoe"],
    "-expire_at": ["zoe", "bo", "m-1", "adam"],
  };

  test.each([...USER_SORTS])("lists by %s, with and without a search, from either end", async (sort) => {
    expect(await found({ sort })).toEqual([...ORDERS[sort]]);
    expect(await found({ sort, search: "example" })).toEqual([...ORDERS[sort]]);
    for (const search of [undefined, "example"]) {
      const pages = await Promise.all([1, 2, 3, 4].map((page) => found({ sort, search }, { page, pageSize: 1 })));
      expect(pages.flat()).toEqual([...ORDERS[sort]]);
    }
  });
});

describe("GET /users?q=&sort=", () => {
  test("searches and sorts, and refuses an order that there is not", async () => {
    const admin = await app.admin();
    const { body } = await admin.call("GET", "/users?q=EXAMPLE&sort=-username&page_size=2");
    expect(body.data.total).toBe(4);
    expect(body.data.items.map(({ username }: { username: string }) => username)).toEqual(["zoe", "m-1"]);
    expect((await admin.call("GET", "/users?q=%25&sort=")).body.data.total).toBe(1);
    expect((await admin.call("GET", "/users?sort=email")).status).toBe(400);
    expect((await admin.call("GET", `/users?q=${"x".repeat(129)}`)).status).toBe(400);
    expect((await admin.call("GET", "/users?q=a&q=b")).status).toBe(400);
  });
});
