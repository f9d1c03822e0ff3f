import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { AuditFilter } from "../../../src/domain/audit/audit.ts";
import { failedIn, searchAudit } from "../../../src/domain/audit/search.ts";
import type { Context } from "../../../src/domain/operation/context.ts";
import { MOST_SEARCHED } from "../../../src/shared/product/limits.ts";
import { openDatabase } from "../../../src/store/client.ts";
import type { AuditRow } from "../../../src/store/schema-audit.ts";
import { type Client, createTestApp, type TestApp } from "../../support/app.ts";
import { busyDraft, fillAuditLog, seededRandom } from "../../support/audit-log.ts";

/** More than one search looks through. */
const ROWS = MOST_SEARCHED + 3000;
const START = new Date("2026-01-01T00:00:00.000Z");
const WHOLE = { page: 1, pageSize: 500 };
/** The last records; the first is the newest. */
const SPECIAL = [
  { actor: "Ünïcödé Ödla" },
  { detail: { username: "ann", err: 'She said "100%_sure\\" {x}' } },
  { detail: { name: "laptop", fingerprint: "SHA256:AbC+/x" }, ip: "2001:db8::77" },
  { resourceId: "policy.default_ttl", detail: { value: "60d", days: 7777 } },
  { actor: 'olga,"username":', detail: { email: ',"username":' } },
] as const;

let app: TestApp;
let admin: Client;
let context: Context;
let rows: readonly AuditRow[];

beforeAll(async () => {
  app = await createTestApp();
  context = app.system;
  const superuser = openDatabase(app.superuser, 1);
  const busy = busyDraft(seededRandom(11), START, 250);
  await fillAuditLog(superuser.db, ROWS, (index) => {
    const { detail, ...special } = (SPECIAL[ROWS - 1 - index] ?? {}) as { readonly detail?: object };
    const draft = {
      ...busy(index),
      ...(index < ROWS - SPECIAL.length ? {} : { actor: "special", ip: "" }),
      ...special,
    };
    return detail === undefined ? draft : { ...draft, detail: JSON.stringify(detail) };
  });
  await superuser.close();
  rows = (await app.auditRows()).toReversed();
  admin = await app.admin();
});
afterAll(() => app.close());

/** The place of each found record among the special ones, 0 for the newest. */
async function foundSpecial(search: string) {
  const { items } = await searchAudit(context, { search, until: rows[0]?.createdAt, since: rows[4]?.createdAt }, WHOLE);
  return items.map(({ id }) => ROWS - id);
}

describe("searchAudit()", () => {
  test.each([
    ["ünïcödé ö", [0]],
    ["ÜNÏ", [0]],
    ["ANN", [1]],
    ['said "100%_SURE\\"', [1]],
    ["{x}", [1]],
    ["0%_", [1]],
    ["sha256:abc+/", [2]],
    ["DB8::77", [2]],
    ["default_ttl", [3]],
    ["7777", [3]],
    ["60d", [3]],
    ["olga", [4]],
    [',"username":', [4]],
    ["  laptop ", [2]],
    // The names of fields, what stands between values, wildcards.
    ["fingerprint", []],
    ["%nn", []],
    ["l.ptop", []],
    ["}", [1]],
    ["laptop\\", []],
  ])("of %j finds the records %j, in any case and literally", async (search, expected) => {
    expect(await foundSpecial(search)).toEqual(expected);
  });

  const FILTERS: readonly (readonly [AuditFilter, (row: AuditRow) => boolean])[] = [
    [{}, () => true],
    [{ action: "user.create" }, ({ action }) => action === "user.create"],
    [{ actor: "admin0", resourceType: "user" }, (row) => row.actor === "admin0" && row.resourceType === "user"],
    [{ userId: 3 }, ({ subjectId }) => subjectId === 3],
    [{ userId: 3, actor: "user3" }, ({ subjectId, actor }) => subjectId === 3 && actor === "user3"],
    [{ since: new Date(START.getTime() + 22_000 * 250) }, ({ id }) => id > 22_000],
  ];
  test.each(FILTERS)("with %j finds among what matches, page by page, as far as it says", async (filter, matches) => {
    const matching = rows.filter(matches);
    const looked = matching.slice(0, MOST_SEARCHED);
    const expected = looked.filter(({ detail }) => JSON.parse(detail).username?.includes("ser12")).map(({ id }) => id);
    const isComplete = matching.length === looked.length;
    const pages = [1, 2, 3].map((page) =>
      searchAudit(context, { until: rows[0]?.createdAt, ...filter, search: "SER12" }, { page, pageSize: 100 }),
    );
    const found = await Promise.all(pages);
    for (const { total, searched } of found) {
      expect(total).toBe(expected.length);
      expect(searched).toEqual({ records: looked.length, since: looked.at(-1)?.createdAt ?? null, isComplete });
    }
    const ids = found.flatMap(({ items }) => items.map(({ id }) => id));
    expect(ids).toEqual(expected.slice(0, 300));
  });

  test("looks further from the oldest that it looked at, to the end", async () => {
    const search = "ser1999";
    const expected = rows.filter(({ actor, detail }) => actor.includes(search) || detail.includes(search));
    const ids = new Set<number>();
    let until: Date | undefined;
    for (let isComplete = false; !isComplete; ) {
      const { items, searched } = await searchAudit(context, { search, until }, WHOLE);
      for (const { id } of items) ids.add(id);
      until = searched?.since ?? undefined;
      isComplete = searched?.isComplete ?? true;
    }
    expect([...ids]).toEqual(expected.map(({ id }) => id));
  });

  test("of nothing is the list, and an empty span has nothing to look through", async () => {
    expect((await searchAudit(context, { search: " " }, WHOLE)).searched).toBeUndefined();
    const before = { search: "ann", until: new Date("2025-01-01T00:00:00Z") };
    const none = { total: 0, items: [], searched: { records: 0, since: null, isComplete: true } };
    expect(await searchAudit(context, before, WHOLE)).toEqual(none);
    expect(await searchAudit(context, { ...before, actor: "admin0" }, WHOLE)).toEqual(none);
  });

  test("is not broken by a record that no JSON reader of the database takes", async () => {
    await app.alter(`alter table audit disable trigger user;
      update audit set detail = '{"err":"\\u0000 \\ud800 odd"}' where id = 22990; alter table audit enable trigger user`);
    const { items } = await searchAudit(context, { search: "ODD" }, WHOLE);
    expect(items.map(({ id }) => id)).toEqual([22990]);
  });
});

describe("searchAudit() by result", () => {
  const FILTERS: readonly (readonly [AuditFilter, (row: AuditRow) => boolean])[] = [
    [{}, () => true],
    [{ action: "user.create" }, ({ action }) => action === "user.create"],
    [{ actor: "admin0", resourceType: "user" }, (row) => row.actor === "admin0" && row.resourceType === "user"],
    [{ userId: 3 }, ({ subjectId }) => subjectId === 3],
    [{ resourceId: "7", userId: 7 }, ({ subjectId, resourceId }) => subjectId === 7 && resourceId === "7"],
    [{ search: "SER12" }, ({ detail }) => JSON.parse(detail).username?.includes("ser12")],
    [{ actor: "nobody" }, () => false],
  ];
  const since = new Date(START.getTime() + 2000 * 250);
  const idsOf = (found: readonly { readonly id: number }[]) => found.map(({ id }) => id);

  test.each(FILTERS)(
    "failed, with %j, finds what matches, and looks only through what failed",
    async (filter, matches) => {
      const span = { since, until: rows[0]?.createdAt };
      const failed = rows.filter(({ result, createdAt }) => result === "failed" && createdAt >= since);
      const found = await searchAudit(context, { ...span, ...filter, result: "failed" }, WHOLE);
      const expected = failed.filter(matches);
      expect([found.total, idsOf(found.items)]).toEqual([expected.length, idsOf(expected).slice(0, WHOLE.pageSize)]);
      expect(found.searched).toEqual({
        records: failed.length,
        since: failed.at(-1)?.createdAt ?? null,
        isComplete: true,
      });
      expect(failed.length).toBeGreaterThan(1000);
    },
  );

  test.each(FILTERS)("success, with %j, finds it among the newest that match the others", async (filter, matches) => {
    const found = await searchAudit(context, { until: rows[0]?.createdAt, ...filter, result: "success" }, WHOLE);
    const isText = filter.search !== undefined;
    const looked = rows.filter((row) => isText || matches(row)).slice(0, MOST_SEARCHED);
    const expected = looked.filter((row) => row.result === "success" && matches(row));
    expect([found.total, idsOf(found.items)]).toEqual([expected.length, idsOf(expected).slice(0, WHOLE.pageSize)]);
    expect(found.searched).toMatchObject({ records: looked.length, since: looked.at(-1)?.createdAt ?? null });
  });

  test.each(FILTERS.map(([filter]) => filter))("failed, with %j, reads the index of what failed", async (filter) => {
    const { looked, isLooked, parameters } = failedIn(filter, { first: 1, last: ROWS });
    const plan = await app.db.$client.unsafe<{ "QUERY PLAN": string }[]>(
      `explain with ${looked} select id from looked, public.audit where ${isLooked}`,
      [...parameters],
    );
    const text = plan.map((row) => row["QUERY PLAN"]).join("\n");
    expect(text).toContain("using audit_failed");
    expect(text).not.toMatch(/Seq Scan on audit|audit_pkey|audit_created_at/);
  });

  test("failed, of more than it looks through, looks further from the oldest", async () => {
    await app.alter(`alter table audit disable trigger user;
      update audit set result = 'failed' where id <= ${ROWS}; alter table audit enable trigger user`);
    const newest = rows.filter(({ id }) => id <= ROWS);
    const until = newest[0]?.createdAt;
    const { total, searched } = await searchAudit(context, { result: "failed", until }, WHOLE);
    const oldest = newest[MOST_SEARCHED - 1]?.createdAt;
    expect([total, searched]).toEqual([
      MOST_SEARCHED,
      { records: MOST_SEARCHED, since: oldest ?? null, isComplete: false },
    ]);
    const further = await searchAudit(context, { result: "failed", until: oldest }, WHOLE);
    expect([further.total, further.searched?.isComplete]).toEqual([ROWS - MOST_SEARCHED + 1, true]);
    expect(further.items[0]?.id).toBe(newest[MOST_SEARCHED - 1]?.id ?? 0);
  });
});

describe("GET /audit?result=", () => {
  test("says how far it looked, and refuses what is none", async () => {
    const { body } = await admin.call("GET", "/audit?result=failed&page_size=1");
    expect(body.data.items[0].result).toBe("failed");
    expect(body.data.searched).toMatchObject({ records: MOST_SEARCHED, complete: false });
    expect((await admin.call("GET", "/audit?result=broken")).status).toBe(400);
  });
});

describe("GET /audit?q=", () => {
  test("says how far it looked", async () => {
    const { body } = await admin.call("GET", "/audit?q=2001%3Adb8%3A%3A77");
    expect(body.data).toMatchObject({ total: 1, items: [{ ip: "2001:db8::77" }] });
    expect(body.data.searched).toEqual({ records: MOST_SEARCHED, since: expect.any(String), complete: false });
    expect((await admin.call("GET", "/audit?q=")).body.data.searched).toBeUndefined();
  });

  test.each([`q=${"x".repeat(129)}`, "q=a%00b", "q=a%0Ab", "q=%E2%80%AE"])("refuses %j", async (query) => {
    expect((await admin.call("GET", `/audit?${query}`)).status).toBe(400);
    expect((await admin.call("GET", `/audit/export?${query}`)).status).toBe(400);
  });

  test("finds the same in the export, which looks through all", async () => {
    const { text } = await admin.call("GET", "/audit/export?q=ser1999&format=jsonl");
    const expected = rows.filter(({ actor, detail }) => actor.includes("ser1999") || detail.includes("ser1999"));
    const ids = text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line).id);
    expect(ids).toEqual(expected.map(({ id }) => id).reverse());
    const ofOne = await admin.call("GET", "/audit/export?q=ser1999&resource_type=user&format=jsonl");
    const users = expected.filter(({ resourceType }) => resourceType === "user");
    expect(ofOne.text.split("\n").length - 1).toBe(users.length);
  });
});
