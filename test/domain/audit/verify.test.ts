import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type SQL, sql } from "drizzle-orm";
import {
  type AuditHead,
  auditHead,
  createHeadReporter,
  describeHead,
  parseHead,
} from "../../../src/domain/audit/head.ts";
import { createSeal } from "../../../src/domain/audit/seal.ts";
import { verifyAudit } from "../../../src/domain/audit/verify.ts";
import type { Database, DatabaseHandle } from "../../../src/store/client.ts";
import { openDatabase } from "../../../src/store/client.ts";
import { withGuardsDown } from "../../../src/store/protect.ts";
import { createTestApp, type TestApp } from "../../support/app.ts";
import { busyDraft, fillAuditLog, purgeAudit, seededRandom } from "../../support/audit-log.ts";

/** More than one block, so that faults at block borders occur too. */
const ROWS = 1010;
const START = new Date("2026-01-01T00:00:00.000Z");
const at = (id: number) => new Date(START.getTime() + (id - 1) * 1000);

describe("verifyAudit()", () => {
  let t: TestApp;
  let superuser: DatabaseHandle;
  let head: AuditHead;
  beforeAll(async () => {
    t = await createTestApp();
    superuser = openDatabase(t.superuser, 1);
    await fillAuditLog(superuser.db, ROWS, busyDraft(seededRandom(5), START, 1000));
    head = await auditHead(t.services);
  });
  afterAll(async () => {
    await superuser.close();
    await t.close();
  });

  /** What is found after a superuser did this to the tables; undone afterwards. */
  async function after(statements: readonly SQL[], known?: AuditHead) {
    let result: Awaited<ReturnType<typeof verifyAudit>> | undefined;
    await superuser.db
      .transaction(async (tx) => {
        await withGuardsDown(tx, async () => {
          for (const statement of statements) await tx.execute(statement);
        });
        result = await verifyAudit({ ...t.services, db: tx as unknown as Database }, known);
        tx.rollback();
      })
      .catch((error: Error) => {
        if (error.message !== "Rollback") throw error;
      });
    return result;
  }

  const copyOf = (id: number, from: number) => sql`
    insert into audit select (json_populate_record(a, json_build_object('id', ${id}::bigint))).* from audit a where a.id = ${from}`;
  const shift = (from: number, by: number) => [
    sql`update audit set id = -id where id >= ${from}`,
    sql`update audit set id = -id + ${by}::bigint where id < 0`,
  ];

  test("verifyAudit() finds no fault in a log that nobody touched, and verifies every record", async () => {
    expect(await verifyAudit(t.services)).toEqual({ fault: undefined, verified: ROWS, start: 0, head });
    expect((await verifyAudit(t.services, head)).fault).toBeUndefined();
  });

  const columns: readonly [string, SQL][] = [
    ["created_at", sql`created_at + interval '1 millisecond'`],
    ["actor_type", sql`'cli'`],
    ["actor", sql`'mallory'`],
    ["action", sql`'user.disable2'`],
    ["resource_type", sql`'other'`],
    ["resource_id", sql`'424242'`],
    ["detail", sql`'{}'`],
    ["result", sql`case result when 'failed' then 'success' else 'failed' end`],
    ["ip", sql`'192.0.2.99'`],
    ["subject_id", sql`coalesce(subject_id, 0) + 1`],
    ["n_action", sql`n_action + 1`],
    ["n_actor_action", sql`n_actor_action + 1`],
    ["n_resource_action", sql`n_resource_action + 1`],
    ["n_resource_actor_action", sql`n_resource_actor_action + 1`],
    ["n_subject", sql`n_subject + 1`],
    ["sealed_counters", sql`'[1,1,1,1,1,1]'`],
    ["sealed_counters", sql`'no array'`],
    ["mac", sql`sha256('x')`],
  ];
  for (const [column, value] of columns) {
    test(`verifyAudit() names the record whose ${column} was altered`, async () => {
      for (const id of [1, 77, 1000, 1001, ROWS]) {
        const result = await after([sql`update audit set ${sql.identifier(column)} = ${value} where id = ${id}`]);
        expect(result).toMatchObject({ fault: { kind: "altered", id }, verified: id - 1 });
      }
    });
  }

  test("verifyAudit() names the first record that was removed", async () => {
    for (const id of [1, 77, 1000, 1001, ROWS]) {
      const result = await after([sql`delete from audit where id = ${id}`]);
      expect(result?.fault).toMatchObject({ kind: "removed", id });
    }
    const several = await after([sql`delete from audit where id between 10 and 20`]);
    expect(several?.fault?.message).toBe("Records 10 to 20 were removed.");
  });

  test("verifyAudit() names the place where a record was removed and the others renumbered", async () => {
    const result = await after([sql`delete from audit where id = 77`, ...shift(78, -1)]);
    expect(result?.fault).toMatchObject({ kind: "altered", id: 77 });
  });

  test("verifyAudit() names a record that was inserted", async () => {
    expect((await after([...shift(78, 1), copyOf(78, 3)]))?.fault).toMatchObject({ kind: "inserted", id: 78 });
    expect((await after([copyOf(ROWS + 1, 3)]))?.fault).toMatchObject({ id: ROWS + 1 });
    expect((await after([copyOf(0, 3)]))?.fault).toMatchObject({ kind: "inserted", id: 0 });
  });

  test("verifyAudit() finds two records that changed places", async () => {
    const swap = sql`update audit set id = case id when 30 then -31 else -30 end where id in (30, 31)`;
    expect((await after([swap, sql`update audit set id = -id where id < 0`]))?.fault).toMatchObject({ id: 30 });
  });

  test("verifyAudit() finds a tail that was cut off together with the stored head, given a head", async () => {
    const cut = [
      sql`delete from audit where id > 1005`,
      sql`update audit_head set id = 1005, mac = (select mac from audit where id = 1005)`,
    ];
    expect((await after(cut))?.fault).toBeUndefined();
    expect((await after(cut, head))?.fault).toMatchObject({ kind: "removed", id: 1006 });
    expect((await after([sql`delete from audit where id > 1005`]))?.fault).toMatchObject({ kind: "removed", id: 1006 });
    expect((await after([sql`delete from audit`], head))?.fault).toMatchObject({ kind: "removed", id: 1 });
  });

  test("verifyAudit() finds a head that is not the log's", async () => {
    expect((await after([sql`update audit_head set mac = sha256('x')`]))?.fault).toMatchObject({ kind: "head" });
    const other = { id: 100, seal: "0".repeat(64) };
    expect((await after([], other))?.fault).toMatchObject({ kind: "head", id: 100 });
  });

  test("verifyAudit() with another key finds the first record", async () => {
    const seal = createSeal(new Uint8Array(32).fill(8));
    expect((await verifyAudit({ ...t.services, seal })).fault).toMatchObject({ kind: "altered", id: 1 });
  });

  test("verifyAudit() survives retention, and finds a prefix that something else removed", async () => {
    expect(await purgeAudit(t.services, at(101))).toBe(100);
    expect(await purgeAudit(t.services, at(101))).toBe(0);
    expect(await verifyAudit(t.services, head)).toEqual({ fault: undefined, verified: ROWS - 100, start: 100, head });
    expect((await after([sql`delete from audit where id = 101`]))?.fault).toMatchObject({ kind: "removed", id: 101 });
    expect((await after([copyOf(100, 200)]))?.fault).toMatchObject({ kind: "inserted", id: 100 });
    const forged = sql`insert into audit_checkpoint select id, created_at, mac, now(), sha256('x') from audit where id = 150`;
    const result = await after([forged, sql`delete from audit where id <= 150`]);
    expect(result?.fault).toMatchObject({ kind: "checkpoint", id: 150 });
    // Who has the key could say that retention removed what a head from elsewhere would have shown to be another log.
    const old = { id: 50, seal: "0".repeat(64) };
    expect((await after([], old))?.fault).toMatchObject({ kind: "head", id: 50 });
    const moved = sql`update audit_checkpoint set purged_at = purged_at + interval '1 day'`;
    expect((await after([moved]))?.fault).toMatchObject({ kind: "checkpoint", id: 100 });
  });

  test("verifyAudit() finds nothing while writers and retention are at work", async () => {
    let busy = true;
    const writers = Array.from({ length: 4 }, async () => {
      while (busy) await t.anonymous().call("POST", "/auth/admin/login", { username: "x", password: "y" });
    });
    for (const id of [200, 300, 400]) {
      const purged = purgeAudit(t.services, at(id));
      expect((await verifyAudit(t.services)).fault).toBeUndefined();
      await purged;
    }
    busy = false;
    await Promise.all(writers);
    const result = await verifyAudit(t.services, head);
    expect(result).toMatchObject({ fault: undefined, start: 399 });
    expect(result.head.id).toBeGreaterThan(ROWS);
    await purgeAudit(t.services, new Date("2100-01-01T00:00:00Z"));
    expect(await verifyAudit(t.services)).toMatchObject({ fault: undefined, verified: 0 });
  });
});

describe("the head", () => {
  test("describeHead() and parseHead() are inverse, and parseHead() refuses what is not a head", () => {
    const head = { id: 12, seal: "ab".repeat(32) };
    expect(parseHead(describeHead(head))).toEqual(head);
    for (const text of ["", "12", `12:${"g".repeat(64)}`, `-1:${"a".repeat(64)}`, `1:${"a".repeat(63)}`]) {
      expect(() => parseHead(text)).toThrow("A head is");
    }
  });

  test("createHeadReporter() logs the head once for each change", async () => {
    const t = await createTestApp();
    const logged: unknown[] = [];
    const log = { ...t.services.log, info: (_: string, fields?: object) => void logged.push(fields) };
    const report = createHeadReporter({ ...t.services, log });
    await report();
    expect(logged).toEqual([]);
    for (let i = 0; i < 2; i++) {
      await t.anonymous().call("POST", "/auth/admin/login", { username: "x", password: "y" });
      await report();
      await report();
      expect(logged).toHaveLength(i + 1);
    }
    expect(logged.at(-1)).toEqual({ head: describeHead(await auditHead(t.services)) });
    await t.close();
  });
});
