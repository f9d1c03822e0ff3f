import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { sql } from "drizzle-orm";
import {
  type AuditFilter,
  auditRange,
  listAudit,
  listOwnAudit,
  type ShownRecord,
} from "../../../src/domain/audit/audit.ts";
import type { AuditAction } from "../../../src/shared/product/audit-actions.ts";
import type { Page } from "../../../src/shared/product/page.ts";
import { openDatabase } from "../../../src/store/client.ts";
import { type AuditRow, audit, isAbout } from "../../../src/store/schema-audit.ts";
import { createTestApp, type TestApp } from "../../support/app.ts";
import { busyDraft, fillAuditLog, purgeAudit, seededRandom } from "../../support/audit-log.ts";

const ROWS = 4000;
const START = new Date("2026-01-01T00:00:00.000Z");

/** What lists show of a record. */
function shown(row: AuditRow): ShownRecord {
  const { id, createdAt, actorType, actor, action, resourceType, resourceId, detail, result, ip } = row;
  return { id, createdAt, actorType, actor, action, resourceType, resourceId, detail, result, ip };
}

describe("listAudit()", () => {
  let t: TestApp;
  let rows: AuditRow[];
  beforeAll(async () => {
    t = await createTestApp();
    const superuser = openDatabase(t.superuser, 1);
    const random = seededRandom(1);
    const busy = busyDraft(random, START, 250);
    await fillAuditLog(superuser.db, ROWS, (index) => {
      const draft = busy(index);
      // Several records have the same time, and a burst by one actor makes the distribution uneven.
      const createdAt = new Date(START.getTime() + Math.floor(index / 3) * 750);
      return index > 2500 && index < 3300 ? { ...draft, createdAt, actor: "admin0" } : { ...draft, createdAt };
    });
    await superuser.close();
    rows = (await t.auditRows()).toReversed();
  });
  afterAll(() => t.close());

  const time = (index: number) => new Date(START.getTime() + Math.floor(index / 3) * 750);
  const filters: readonly AuditFilter[] = [
    {},
    { actor: "admin0" },
    { actor: "anonymous" },
    { actor: "user3" },
    { actor: "nobody" },
    { action: "key.create" },
    { action: "auth.logout" },
    { resourceType: "user" },
    { resourceType: "setting" },
    { resourceId: "5" },
    { resourceId: "" },
    { actor: "a\0b" },
    { actor: "admin0", action: "user.create" },
    { actor: "admin0", resourceType: "user" },
    { actor: "user3", action: "user.create" },
    { action: "user.create", resourceType: "user" },
    { action: "user.create", resourceType: "ssh_key" },
    { actor: "admin0", action: "user.update", resourceType: "user" },
    { resourceType: "user", resourceId: "5" },
    { actor: "admin0", resourceId: "5" },
    { action: "user.extend", resourceType: "user", resourceId: "5" },
    { userId: 1 },
    { userId: 424242 },
    { userId: 1, action: "user.update" },
    { userId: 1, actor: "user1" },
    { userId: 1, actor: "admin0", resourceType: "user" },
    { userId: 1, resourceType: "ssh_key" },
    { userId: 1, resourceId: "1", action: "user.create" },
    { userId: 1, resourceId: "2" },
    { userId: 7, actor: "admin0", action: "user.create", resourceType: "user", resourceId: "7" },
  ];
  const spans: readonly Pick<AuditFilter, "since" | "until">[] = [
    {},
    { since: time(1000), until: time(2999) },
    { since: new Date(time(700).getTime() + 1) },
    { until: new Date(time(700).getTime() - 1) },
    { since: time(3999), until: time(3999) },
    { since: new Date(time(3999).getTime() + 1) },
    { until: new Date(START.getTime() - 1) },
    { since: time(2000), until: time(1000) },
  ];

  async function agrees(filter: AuditFilter): Promise<void> {
    const expected = rows.filter((row) => matches(row, filter));
    const pages = pagesOf(expected.length);
    for (const page of pages) {
      const { total, items } = await listAudit(t.system, filter, page);
      const start = (page.page - 1) * page.pageSize;
      const wanted = expected.slice(start, start + page.pageSize);
      expect({ filter, page, total, ids: items.map((row) => row.id) }).toEqual({
        filter,
        page,
        total: expected.length,
        ids: wanted.map((row) => row.id),
      });
      expect(items).toEqual(wanted.map(shown));
    }
  }

  for (const filter of filters) {
    test(`listAudit() of ${JSON.stringify(filter)} gives what counting all records gives, in every time span`, async () => {
      for (const span of spans) await agrees({ ...filter, ...span });
    });
  }

  test("listOwnAudit() gives the records about one user, none of others, and nobody else's address", async () => {
    for (const userId of [1, 7, 1999, 424242]) {
      const about = rows.filter((row) => row.subjectId === userId);
      const expected = about.map((row) => (row.actor === `user${userId}` ? row : { ...row, ip: "" }));
      const caller = { ...t.system, actor: { type: "user", name: `user${userId}`, ip: "" } } as const;
      const { total, items } = await listOwnAudit(caller, userId, { page: 1, pageSize: 500 });
      expect(total).toBe(expected.length);
      expect(items).toEqual(expected.slice(0, 500).map(shown));
    }
  });

  test("auditRange() turns times into record numbers", async () => {
    expect(await auditRange(t.db)).toEqual({ first: 1, last: ROWS });
    expect(await auditRange(t.db, time(9), time(11))).toEqual({ first: 10, last: 12 });
    expect(await auditRange(t.db, time(3999 + 3))).toEqual({ first: ROWS + 1, last: ROWS });
  });

  test("listAudit() of a user and another filter reads only that user's records, and only in the index", async () => {
    await t.alter("vacuum analyze audit");
    const root = openDatabase(t.superuser, 1);
    const once = async (call: string) => {
      const [row] = await root.db.execute<{ "QUERY PLAN": { Plan: Record<string, number> }[] }>(
        sql.raw(`explain (analyze, buffers, format json) select * from ${call}`),
      );
      const plan = row?.["QUERY PLAN"][0]?.Plan ?? {};
      return (plan["Shared Hit Blocks"] ?? 0) + (plan["Shared Read Blocks"] ?? 0);
    };
    // The server reads its own catalogue again when something tells it to, which counts as well.
    const buffers = async (call: string) => Math.min(await once(call), await once(call), await once(call));
    const call = (user: number) =>
      `audit_subject_page(${user}, 'admin0', null, '{user.create,user.update}', 1, ${ROWS}, 0, 20)`;
    const [size] = await root.db.execute<{ pages: number }>("select (pg_relation_size('audit') / 8192)::int as pages");
    expect(size?.pages).toBeGreaterThan(100);
    // Looking at each record in the table would cost more than that.
    expect(rows.filter((row) => row.subjectId === 1).length).toBeGreaterThan(50);
    expect(await buffers(call(7))).toBeLessThan(30);
    expect(await buffers(call(1))).toBeLessThan(50);
    await root.close();
  });

  test("records about a resource, with one action, are found by their index", async () => {
    await t.alter("vacuum analyze audit");
    const ids = rows.filter(({ action }) => action === "user.update").map(({ resourceId }) => resourceId);
    const about = [...new Set(ids)].slice(0, 2);
    const query = t.db.select({ id: audit.id }).from(audit).where(isAbout(about, "user.update"));
    const plan = await t.db.execute<{ "QUERY PLAN": string }>(sql`explain ${query}`);
    expect(plan.map((row) => row["QUERY PLAN"]).join("\n")).toContain("audit_by_resource_action");
    const wanted = rows.filter((row) => about.includes(row.resourceId) && row.action === "user.update");
    expect((await query).length).toBe(wanted.length);
    expect(wanted.length).toBeGreaterThan(0);
  });

  test("listAudit() is exact after retention, and after records were added by many writers at once", async () => {
    await purgeAudit(t.system, time(1234));
    await Promise.all(
      Array.from({ length: 20 }, () =>
        t.anonymous().call("POST", "/auth/admin/login", { username: "x", password: "y" }),
      ),
    );
    rows = (await t.auditRows()).toReversed();
    expect(rows.at(-1)?.id).toBe(1234);
    expect(rows[0]?.id).toBe(ROWS + 20);
    for (const filter of filters) for (const span of spans.slice(0, 3)) await agrees({ ...filter, ...span });
  });

  test("listAudit() of an empty log is empty", async () => {
    t.clock.set(new Date("2030-01-01T00:00:00Z"));
    await purgeAudit(t.system, t.clock.now());
    rows = [];
    for (const filter of filters) await agrees(filter);
    const logged = await t.anonymous().call("POST", "/auth/admin/login", { username: "x", password: "y" });
    expect(logged.status).not.toBe(200);
    const { total, items } = await listAudit(t.system, { actor: "anonymous" }, { page: 1, pageSize: 5 });
    expect([total, items[0]?.id]).toEqual([1, ROWS + 21]);
  });
});

test("series that have the same number in an index are counted and listed apart", async () => {
  const t = await createTestApp();
  const superuser = openDatabase(t.superuser, 1);
  const [twins] = await superuser.db.execute<{ actions: string[] }>(sql`
    select to_json(array_agg('twin.' || n)) as actions from generate_series(1, 3000) n
    group by hashtextextended('twin.' || n, 0) & 65535 having count(*) = 2 limit 1`);
  const actions = twins?.actions ?? [];
  expect(actions.length).toBe(2);
  const random = seededRandom(3);
  const busy = busyDraft(random, START, 250);
  // One has all of the oldest, the other all of the newest, and between them they take turns at random.
  const twinAt = (index: number) => actions[index < 200 ? 0 : index > 500 ? 1 : Math.floor(random() * 2)] ?? "";
  await fillAuditLog(superuser.db, 700, (index) => {
    const twin = { action: twinAt(index) as AuditAction, actor: "admin0", resourceId: "5" };
    return index % 3 === 0 ? busy(index) : { ...busy(index), ...twin };
  });
  const rows = (await t.auditRows()).toReversed();
  for (const action of [...actions, "user.update"]) {
    for (const [series, actor] of [
      ["resource_action", null],
      ["resource_actor_action", "admin0"],
    ] as const) {
      for (const [low, high] of [
        [1, 700],
        [150, 300],
        [450, 620],
      ] as const) {
        const found = rows.filter(
          (row) =>
            row.action === action &&
            row.resourceId === "5" &&
            (actor ?? row.actor) === row.actor &&
            row.id >= low &&
            row.id <= high,
        );
        for (const offset of [0, 3, 90]) {
          const [page] = await superuser.db.execute<{ total: string; ids: number[] | null }>(sql`
            select total, to_json(ids) as ids from public.audit_page(${series}, ${actor}, '5', null, array[${action}], ${low}, ${high}, ${offset}, 7)`);
          const ids = found.slice(offset, offset + 7).map((row) => row.id);
          expect({ action, series, low, offset, total: Number(page?.total), ids: page?.ids ?? [] }).toEqual({
            ...{ action, series, low, offset, total: found.length, ids },
          });
        }
      }
    }
    const [next] = await superuser.db.execute<{ n: number[] }>(
      sql`select to_json(public.audit_counters('admin0', ${action}, '5', null, 701)) as n`,
    );
    const about = rows.filter((row) => row.action === action && row.resourceId === "5");
    expect(next?.n[2]).toBe(about.length + 1);
    expect(next?.n[3]).toBe(about.filter((row) => row.actor === "admin0").length + 1);
  }
  await superuser.close();
  await t.close();
});

function matches(row: AuditRow, filter: AuditFilter): boolean {
  return (
    (filter.userId === undefined || row.subjectId === filter.userId) &&
    (filter.actor === undefined || row.actor === filter.actor) &&
    (filter.action === undefined || row.action === filter.action) &&
    (filter.resourceType === undefined || row.resourceType === filter.resourceType) &&
    (filter.resourceId === undefined || row.resourceId === filter.resourceId) &&
    (filter.since === undefined || row.createdAt >= filter.since) &&
    (filter.until === undefined || row.createdAt <= filter.until)
  );
}

/** The first, some in between, the last, and two past the end. */
function pagesOf(total: number): readonly Page[] {
  const last = Math.max(1, Math.ceil(total / 7));
  const numbers = new Set([1, 2, Math.ceil(last / 3), Math.ceil(last / 2), last, last + 1, last + 1000]);
  return [
    ...[...numbers].map((page) => ({ page, pageSize: 7 })),
    { page: 1, pageSize: 500 },
    { page: 3, pageSize: 500 },
  ];
}
