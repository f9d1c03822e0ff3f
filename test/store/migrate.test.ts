import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { sql } from "drizzle-orm";
import { listAudit, listOwnAudit } from "../../src/domain/audit/audit.ts";
import { createSeal } from "../../src/domain/audit/seal.ts";
import { verifyAudit } from "../../src/domain/audit/verify.ts";
import { appendAudit } from "../../src/domain/operation/append.ts";
import { type Context, type Seal, type Services, systemContext } from "../../src/domain/operation/context.ts";
import { systemClock } from "../../src/shared/time/clock.ts";
import { type Database, type DatabaseHandle, openDatabase } from "../../src/store/client.ts";
import { migrate } from "../../src/store/migrate.ts";
import { MIGRATIONS } from "../../src/store/migrations.ts";
import { withGuardsDown } from "../../src/store/protect.ts";
import { givenUids, importedLocks, repairs } from "../../src/store/schema-fleet.ts";
import { serviceState } from "../../src/store/schema-service.ts";
import { TEST_KEY } from "../support/audit-log.ts";
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

/** An empty database on the tests' server, for a schema of before. */
async function openEmpty(name: string, connections = 1) {
  await handle.db.execute(sql.raw(`create database ${name}`));
  if ("url" in database.superuser) throw new Error("the test server answers on a socket");
  const { db, close } = openDatabase({ ...database.superuser, database: name }, connections);
  return {
    db,
    async drop() {
      await close();
      await handle.db.execute(sql.raw(`drop database ${name} with (force)`));
    },
  };
}

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

  test("leaves no function that forbids scans but lets PostgreSQL before 18 compile what it then takes for dear", async () => {
    const names = await handle.db.execute<{ name: string }>(sql`
      select proname as name from pg_proc where 'enable_seqscan=off' = any(proconfig) and not ('jit=off' = any(proconfig))`);
    expect(names.map(({ name }) => name)).toEqual([]);
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

  test("brings a log from before the counters up to date, and lists it just as counting its records would", async () => {
    const old = await openEmpty("migrate_old", 2);
    await migrate(old.db, MIGRATIONS.slice(0, 1));
    await old.db.execute(sql`
      insert into audit (id, created_at, actor_type, actor, action, resource_type, resource_id, detail, result, ip, subject_id)
      select n, '2026-01-01'::timestamptz + n * interval '1s', 'admin', 'admin' || n % 3, 'user.create', 'user', (n % 5)::text, '{}',
        'success', '', n % 5 from generate_series(1, 700) n`);
    await old.db.execute(sql`insert into audit_head (one, id) values (1, 700)`);
    expect(await migrate(old.db)).toEqual(MIGRATIONS.slice(1).map((migration) => migration.name));
    const context = systemContext({ db: old.db } as unknown as Services);
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
    await old.drop();
  });

  test("makes owners of the administrators from before the roles", async () => {
    const old = await openEmpty("migrate_roles");
    const number = MIGRATIONS.findIndex(({ name }) => name.endsWith("_admin_roles"));
    await migrate(old.db, MIGRATIONS.slice(0, number));
    await old.db.execute(sql`insert into admins (username, email, password_hash, created_at, updated_at)
      values ('first', '', 'x', now(), now())`);
    await migrate(old.db);
    expect([...(await old.db.execute(sql`select role, password_hash, last_login_at from admins`))]).toEqual([
      { role: "owner", password_hash: "x", last_login_at: null },
    ]);
    await expect(old.db.execute(sql`update admins set role = 'king'`).then(() => "stored")).rejects.toThrow();
    await old.drop();
  });

  test("carries over repairs that were noted among the locks", async () => {
    const old = await openEmpty("migrate_repairs");
    const number = MIGRATIONS.findIndex(({ name }) => name.endsWith("_repairs"));
    await migrate(old.db, MIGRATIONS.slice(0, number));
    await old.db.execute(sql`insert into imported_locks (id, at) values ('repair/7/key_added key_file', '2026-01-02Z'),
      ('repair/7/key_file', '2026-01-01Z'), ('repair/8/expiry_date', '2026-01-03Z'), ('2/lock/repair/9/x', '2026-01-04Z')`);
    await migrate(old.db);
    expect([...(await old.db.select().from(repairs).orderBy(repairs.userId, repairs.kind))]).toEqual([
      { userId: 7, kind: "key_added", notedAt: new Date("2026-01-02Z") },
      { userId: 7, kind: "key_file", notedAt: new Date("2026-01-01Z") },
      { userId: 8, kind: "expiry_date", notedAt: new Date("2026-01-03Z") },
    ]);
    expect((await old.db.select().from(importedLocks)).map(({ id }) => id)).toEqual(["2/lock/repair/9/x"]);
    await old.drop();
  });

  test("carries over which uids accounts were given, also of those that are deleted", async () => {
    const old = await openEmpty("migrate_uids");
    const number = MIGRATIONS.findIndex(({ name }) => name.endsWith("_given_uids"));
    await migrate(old.db, MIGRATIONS.slice(0, number));
    await old.db.execute(sql`insert into users (id, username, email, supervisor, purpose, status, expire_at, created_at, updated_at)
      overriding system value values (7, 'vera', '', '', '', 'active', now(), now(), now())`);
    await old.db.execute(sql`insert into accounts (user_id, uid) values (7, 20007)`);
    await old.db.execute(sql`insert into account_intents (uid, name) values (20008, 'ext_half')`);
    // As the owner may, so that no service need have written them.
    await old.db.execute(sql`alter table audit disable trigger user`);
    const record = (id: number, action: string, result: string, detail: object) =>
      old.db.execute(sql`insert into audit (id, created_at, actor_type, actor, action, resource_type, resource_id, detail, result, ip)
        values (${id}, now(), 'admin', 'olga', ${action}, 'user', '', ${JSON.stringify(detail)}, ${result}, '')`);
    await record(1, "user.delete", "success", { username: "otto", purpose: 'x","uid":30001,"', uid: 20_001 });
    await record(2, "lifecycle.recycle", "success", { uid: 20_002, keys: 1 });
    await record(3, "user.delete", "failed", { uid: 20_003 });
    await record(4, "user.update", "success", { uid: 20_004 });
    await record(5, "user.delete", "success", { username: "older" });
    await old.db.execute(sql`alter table audit enable trigger user`);
    await migrate(old.db);
    const given = await old.db.select().from(givenUids).orderBy(givenUids.uid);
    expect(given.map(({ uid }) => uid)).toEqual([20_001, 20_002, 20_007, 20_008]);
    await old.drop();
  });

  test("carries over what the table counters and the key's fingerprint said", async () => {
    const old = await openEmpty("migrate_counters");
    await migrate(old.db, MIGRATIONS.slice(0, 5));
    await old.db.execute(sql`insert into counters (name, value) values ('uid', 20041), ('heartbeat', 1700000000123),
      ('recycle_hold_until', 1700086400000), ('lock:0b5e', 1690000000000)`);
    await old.db.execute(
      sql`insert into secrets (name, value) values ('captcha', 'c'), ('audit_key_fingerprint', sha256('k'))`,
    );
    await migrate(old.db);
    const rows = async (table: string) => [...(await old.db.execute(`select * from ${table}`))];
    expect(await rows("uid_counter")).toEqual([{ one: 1, last: 20_041 }]);
    const [state] = await old.db.select().from(serviceState);
    expect(state).toEqual({ one: 1, heartbeatAt: new Date(1_700_000_000_123), holdUntil: new Date(1_700_086_400_000) });
    expect(await old.db.select().from(importedLocks)).toEqual([{ id: "0b5e", at: new Date(1_690_000_000_000) }]);
    expect(await rows("secrets")).toMatchObject([{ name: "captcha" }]);
    const [key] = await old.db.execute<{ same: boolean }>("select fingerprint = sha256('k') as same from audit_key");
    expect(key?.same).toBe(true);
    await old.drop();
  });

  test("brings a sealed log forward: it verifies, is listed completely, and accepts an older instance's records meanwhile", async () => {
    const old = await openEmpty("migrate_sealed", 2);
    await migrate(old.db, MIGRATIONS.slice(0, 4));
    const seal = createSeal(TEST_KEY);
    for (let n = 1; n <= 60; n++) await appendAsBefore(old.db, seal, n);
    // What is left after retention begins with other counters than 1.
    const [mark] = await old.db.execute<{ created_at: string; mac: Uint8Array }>(
      sql`select created_at::text, mac from audit where id = 9`,
    );
    const purged = new Date("2026-06-01T00:00:00Z");
    const checkpoint = seal.checkpoint(9, new Date(String(mark?.created_at)), mark?.mac as Uint8Array, purged);
    await old.db.execute(sql`select audit_purge(9, ${purged.toISOString()}::timestamptz, ${checkpoint})`);

    expect(await migrate(old.db)).toEqual(MIGRATIONS.slice(4).map(({ name }) => name));
    const services = { db: old.db, seal, clock: systemClock } as unknown as Context;
    expect(await verifyAudit(services)).toMatchObject({ fault: undefined, verified: 51, start: 9 });
    for (let n = 61; n <= 65; n++) await appendAsBefore(old.db, seal, n);
    const actor = { type: "admin", name: "admin0", ip: "" } as const;
    const entry = { action: "user.update", resourceId: "2", subjectId: 2 } as const;
    await old.db.transaction((tx) => appendAudit(tx, { ...services, actor }, { entry, result: "success" }));
    expect(await verifyAudit(services)).toMatchObject({ fault: undefined, verified: 57 });
    expect((await listAudit(services, {}, { page: 1, pageSize: 5 })).total).toBe(57);
    const counted = await old.db.execute<{ actor: string; resource: string; rows: number }>(sql`
      select actor, resource_id as resource, count(*)::int as rows from audit group by 1, 2`);
    for (const { actor, resource, rows } of counted) {
      const { total, items } = await listAudit(services, { actor, resourceId: resource }, { page: 1, pageSize: 100 });
      expect([total, items.length]).toEqual([rows, rows]);
    }
    const altered = sql`update audit set sealed_counters = null where id = 30`;
    await old.db.transaction((tx) => withGuardsDown(tx, () => tx.execute(altered)));
    expect((await verifyAudit(services)).fault).toMatchObject({ kind: "altered", id: 30 });
    await old.drop();
  });
});

/** Adds record `id` as the version before migration 0004 does: with six counters, which its seal covers. */
async function appendAsBefore(db: Database, seal: Seal, id: number): Promise<void> {
  const names = { actor: `admin${id % 3}`, action: "user.update", resourceType: "user", resourceId: String(id % 4) };
  const rest = { actorType: "admin", detail: "{}", result: "success", ip: "", subjectId: id % 4 } as const;
  const uncounted = { nAction: 0, nActorAction: 0, nResourceAction: 0, nResourceActorAction: 0, nSubject: 0 };
  const createdAt = new Date(Date.UTC(2026, 0, 1, 0, id));
  await db.transaction(async (tx) => {
    const [next] = await tx.execute<{ mac: Uint8Array; n: readonly number[] }>(
      sql`select mac, to_json(n) as n from audit_next(${names.actor}, 'user.update', 'user', ${names.resourceId}, ${id % 4})`,
    );
    if (next === undefined) throw new Error("audit_next() returned no row");
    const n = Array.from({ length: 6 }, (_, index) => next.n[index] ?? 0);
    const content = { id, createdAt, ...names, ...rest, ...uncounted, sealedCounters: JSON.stringify(n) };
    await tx.execute(sql`
      select audit_append(${id}, ${next.mac}, ${createdAt.toISOString()}, 'admin', ${names.actor}, 'user.update', 'user',
        ${names.resourceId}, '{}', 'success', '', ${id % 4}, ${`{${n.join(",")}}`}::bigint[], ${seal.record(next.mac, content)})`);
  });
}
