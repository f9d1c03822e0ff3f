import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { sql } from "drizzle-orm";
import { listAudit, listOwnAudit } from "../../src/audit/audit.ts";
import type { Context } from "../../src/core/context.ts";
import { type DatabaseHandle, openDatabase } from "../../src/db/client.ts";
import { migrate } from "../../src/db/migrate.ts";
import { MIGRATIONS } from "../../src/db/migrations.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";

let database: TestDatabase;
let handle: DatabaseHandle;
const extra = [
  ...MIGRATIONS,
  { name: "next", sql: "create table later (n integer);--> statement-breakpoint\ninsert into later values (1);" },
];

beforeAll(async () => {
  database = await createTestDatabase();
  handle = openDatabase(database.superuser, 6);
});
afterAll(async () => {
  await handle.close();
  await database.drop();
});

describe("migrate()", () => {
  test("carries every migration in drizzle/, in order", () => {
    const directory = join(import.meta.dir, "../../drizzle");
    const files = readdirSync(directory)
      .filter((name) => name.endsWith(".sql"))
      .sort();
    expect(MIGRATIONS.map((migration) => `${migration.name}.sql`)).toEqual(files);
    for (const migration of MIGRATIONS)
      expect(migration.sql).toBe(readFileSync(join(directory, `${migration.name}.sql`), "utf8"));
  });

  test("does nothing to a database that is up to date", async () => {
    expect(await migrate(handle.db)).toEqual([]);
  });

  test("applies a migration once, however many ask at once", async () => {
    const applied = await Promise.all(Array.from({ length: 5 }, () => migrate(handle.db, extra)));
    expect(applied.flat()).toEqual(["next"]);
    expect(await handle.db.execute(sql`select n from later`)).toHaveLength(1);
  });

  test("refuses a database made by a newer version", async () => {
    await expect(migrate(handle.db)).rejects.toMatchObject({ message: expect.stringContaining("newer version") });
  });

  test("refuses a database whose applied migration is another, and applies all or nothing", async () => {
    const changed = extra.map((migration) =>
      migration.name === "next" ? { ...migration, sql: "select 1" } : migration,
    );
    await expect(migrate(handle.db, changed)).rejects.toMatchObject({ message: expect.stringContaining("next") });
    const broken = [
      ...extra,
      { name: "broken", sql: "create table half (n integer);--> statement-breakpoint\nnonsense" },
    ];
    await expect(migrate(handle.db, broken)).rejects.toThrow();
    const [found] = await handle.db.execute(sql`select to_regclass('half') as half`);
    expect(found).toEqual({ half: null });
  });

  test("brings a log from before the counters up to date, and lists it as counting its records would", async () => {
    const root = openDatabase(database.superuser, 1);
    await root.db.execute(sql.raw("create database migrate_old"));
    if ("url" in database.superuser) throw new Error("the test server answers on a socket");
    const old = openDatabase({ ...database.superuser, database: "migrate_old" }, 2);
    await migrate(old.db, MIGRATIONS.slice(0, 1));
    await old.db.execute(sql`
      insert into audit (id, created_at, actor_type, actor, action, resource_type, resource_id, detail, result, ip, subject_id)
      select n, '2026-01-01'::timestamptz + n * interval '1s', 'admin', 'admin' || n % 3, 'user.create', 'user', (n % 5)::text, '{}',
        'success', '', n % 5 from generate_series(1, 700) n`);
    await old.db.execute(sql`insert into audit_head (one, id) values (1, 700)`);
    expect(await migrate(old.db)).toEqual(MIGRATIONS.slice(1).map((migration) => migration.name));
    const context = { db: old.db } as unknown as Context;
    for (const page of [1, 2, 12, 24]) {
      const { total, items } = await listAudit(context, { actor: "admin1" }, { page, pageSize: 10 });
      expect(total).toBe(234);
      expect(items[0]?.id).toBe(700 - (page - 1) * 30);
    }
    expect((await listOwnAudit(context, 4, { page: 1, pageSize: 1 })).total).toBe(140);
    const [head] = await old.db.execute(
      sql`select id::int, created_at = '2026-01-01 00:11:40Z' as current from audit_head`,
    );
    expect(head).toEqual({ id: 700, current: true });
    await old.close();
    await root.db.execute(sql.raw("drop database migrate_old with (force)"));
    await root.close();
  });
});
