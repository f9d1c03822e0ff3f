import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { sql } from "drizzle-orm";
import { verifyAudit } from "../../src/domain/audit/verify.ts";
import { type Log, silentLog } from "../../src/shared/log.ts";
import { DAY, systemClock } from "../../src/shared/time/clock.ts";
import { readAuditFloor, storeAuditFloor } from "../../src/store/audit-floor.ts";
import { type ConnectionOptions, type Database, type DatabaseHandle, openDatabase } from "../../src/store/client.ts";
import { prepareDatabase } from "../../src/store/prepare.ts";
import { auditProtectionFaults, protectAudit } from "../../src/store/protect.ts";
import { createTestApp, type TestApp } from "../support/app.ts";
import { busyDraft, fillAuditLog, seededRandom } from "../support/audit-log.ts";

const FLOOR = 30 * DAY;

const FORGED = `(id, created_at, actor_type, actor, action, resource_type, resource_id, detail, result, ip, mac)
  values ((select id + 1 from audit_head), now() + interval '9 years', 'admin', 'mallory', 'user.create', 'user', '1', '{}', 'success', '', sha256('x'))`;

/** SQLSTATE of a refusal, as opposed to a statement that is wrong. */
const INSUFFICIENT_PRIVILEGE = "42501";

/** What somebody with the service's SQL access might try; each has to be refused, whatever came before it. */
const ATTACKS: readonly (readonly [string, readonly string[]])[] = [
  ["UPDATE", ["update audit set actor = 'nobody' where id = 2"]],
  ["UPDATE by a cursor", ["select * from audit where id = 2 for update"]],
  ["DELETE", ["delete from audit where id = 2"]],
  ["DELETE of the newest", ["delete from audit where id = (select max(id) from audit)"]],
  ["TRUNCATE", ["truncate audit"]],
  ["TRUNCATE ... CASCADE", ["truncate audit, audit_head, audit_checkpoint cascade"]],
  ["a forged INSERT", [`insert into audit ${FORGED}`]],
  ["COPY", ["copy audit from program 'true'"]],
  ["MERGE", ["merge into audit a using audit_head h on a.id = 2 when matched then delete"]],
  ["moving the head", ["update audit_head set id = id - 1"]],
  ["removing the head", ["delete from audit_head"]],
  [
    "a forged checkpoint",
    ["insert into audit_checkpoint select id, created_at, mac, now(), mac from audit where id = 3"],
  ],
  ["DISABLE TRIGGER", ["alter table audit disable trigger all"]],
  ["DROP TRIGGER", ["drop trigger audit_guard_rows on audit"]],
  ["session_replication_role", ["set session_replication_role = replica"]],
  ["ALTER TABLE", ["alter table audit alter column actor drop not null"]],
  ["ALTER TABLE ... OWNER", ["alter table audit owner to current_user"]],
  ["RENAME", ["alter table audit rename to old_audit"]],
  ["DROP TABLE", ["drop table audit cascade"]],
  ["DROP SCHEMA", ["drop schema public cascade"]],
  ["a rule", ["create rule quiet as on insert to audit do instead nothing"]],
  [
    "a trigger of one's own",
    ["create trigger mine before insert on audit for each row execute function suppress_redundant_updates_trigger()"],
  ],
  ["row security", ["alter table audit enable row level security"]],
  [
    "CREATE OR REPLACE FUNCTION",
    ["create or replace function public.audit_guard() returns trigger language plpgsql as 'begin return new; end'"],
  ],
  ["DROP FUNCTION", ["drop function audit_guard() cascade"]],
  ["ALTER FUNCTION", ["alter function public.audit_purge(bigint, timestamptz, bytea) reset search_path"]],
  ["SET ROLE to the owner", ["set role uam_owner"]],
  ["SET ROLE to a superuser", ["set role postgres"]],
  ["SET SESSION AUTHORIZATION", ["set session authorization postgres"]],
  ["joining the owner", ["grant uam_owner to current_user"]],
  [
    "granting oneself rights",
    ["do $$ begin grant all on audit to current_user; end $$", "update audit set actor = 'x'"],
  ],
  ["a new table where functions look", ["create table public.sha256 (x int)"]],
  ["overwriting the key's fingerprint", ["update audit_key set fingerprint = sha256('x')"]],
  ["removing the key's fingerprint", ["delete from audit_key"]],
  ["another key's fingerprint", ["insert into audit_key values (2, sha256('x'))"]],
  ["lowering the shortest retention", ["update audit_floor set milliseconds = 0"]],
  ["removing the shortest retention", ["delete from audit_floor"]],
  ["a second shortest retention", ["insert into audit_floor values (0, 0)"]],
  ["changing the migrations that were made", ["delete from uam_migrations"]],
];

async function attempt(db: Database, statements: readonly string[]): Promise<unknown> {
  try {
    await db.transaction(async (tx) => {
      for (const statement of statements) await tx.execute(sql.raw(statement));
    });
  } catch (error) {
    return error;
  }
  return undefined;
}

async function snapshot(db: Database): Promise<unknown> {
  const [row] = await db.execute(sql`
    select (select md5(string_agg(a::text, '|' order by id)) from audit a) as audit,
      (select h::text from audit_head h) as head, (select count(*) from audit_checkpoint) as checkpoints`);
  return row;
}

describe("the role of the service", () => {
  let t: TestApp;
  let superuser: DatabaseHandle;
  beforeAll(async () => {
    t = await createTestApp();
    superuser = openDatabase(t.superuser, 1);
    await fillAuditLog(superuser.db, 20, busyDraft(seededRandom(3), new Date("2026-01-01T00:00:00Z"), 1000));
  });
  afterAll(async () => {
    await superuser.close();
    await t.close();
  });

  for (const [name, statements] of ATTACKS) {
    test(`protectAudit() leaves the service no way to change the log by ${name}`, async () => {
      const before = await snapshot(superuser.db);
      const error = await attempt(t.db, statements);
      expect(error).toMatchObject({ cause: { code: INSUFFICIENT_PRIVILEGE } });
      expect(await snapshot(superuser.db)).toEqual(before);
    });
  }

  test("audit_append() refuses a record that does not continue the log", async () => {
    const call = (id: string, previous: string, at: string, mac: string) =>
      attempt(t.db, [
        `select audit_append(${id}, ${previous}, ${at}, 'admin', 'm', 'user.create', 'user', '1', '{}', 'success', '', null, '{1,1,1,1,1}', ${mac})`,
      ]);
    const before = await snapshot(superuser.db);
    const head = (column: string) => `(select ${column} from audit_head)`;
    const next = `${head("id")} + 1`;
    expect(await call(head("id"), head("mac"), head("created_at"), "sha256('x')")).toBeInstanceOf(Error);
    expect(await call(`${next} + 1`, head("mac"), head("created_at"), "sha256('x')")).toBeInstanceOf(Error);
    expect(await call(next, "sha256('y')", head("created_at"), "sha256('x')")).toBeInstanceOf(Error);
    expect(await call(next, head("mac"), `${head("created_at")} - interval '1s'`, "sha256('x')")).toBeInstanceOf(Error);
    expect(await call(next, head("mac"), head("created_at"), "null")).toBeInstanceOf(Error);
    expect(await call(next, head("mac"), head("created_at"), "''")).toBeInstanceOf(Error);
    expect(await snapshot(superuser.db)).toEqual(before);
  });

  test("audit_next(), audit_append() and audit_purge() do not see tables and functions that the caller put in the way", async () => {
    const hijack = [
      "create temp table audit_head (one int, id bigint, created_at timestamptz, mac bytea)",
      "insert into audit_head values (1, 0, '1970-01-01', '')",
      "create temp table audit (like public.audit)",
      "create function pg_temp.audit_counters(text, text, text, bigint, bigint) returns bigint[] language sql as 'select array[666]::bigint[]'",
      "set local search_path = pg_temp, public",
    ];
    let next: unknown;
    await t.db
      .transaction(async (tx) => {
        for (const statement of hijack) await tx.execute(sql.raw(statement));
        [next] = await tx.execute(
          sql`select id::int, n[1]::int < 600 as sane from public.audit_next('a', 'b', 'user', '1', null)`,
        );
        tx.rollback();
      })
      .catch(() => undefined);
    expect(next).toEqual({ id: 21, sane: true });
  });

  test("audit_append() with a seal of one's own is found by verifyAudit()", async () => {
    await t.db
      .transaction(async (tx) => {
        await tx.execute(sql`
          select audit_append(h.id + 1, h.mac, h.created_at, 'admin', 'mallory', 'user.create', 'user', '1', '{}', 'success', '', null,
            '{1,1,1,1,1}', sha256('x')) from audit_head h`);
        const result = await verifyAudit({ ...t.services, db: tx as unknown as Database });
        expect(result.fault).toMatchObject({ kind: "altered", id: 21 });
        tx.rollback();
      })
      .catch((error: Error) => expect(error.message).toBe("Rollback"));
  });

  test("audit_begin() keeps the fingerprint that is stored, and nothing else replaces it", async () => {
    const fingerprint = (call: string) =>
      t.db.execute<{ key: string }>(sql.raw(`select encode(audit_begin(${call}), 'hex') as key`));
    const [first] = await fingerprint("sha256('first')");
    const [second] = await fingerprint("sha256('second')");
    expect(second).toEqual({ key: String(first?.key) });
    expect(await attempt(t.db, ["select audit_begin('short')"])).toBeInstanceOf(Error);
    for (const statement of ["update audit_key set one = 2", "delete from audit_key", "truncate audit_key"]) {
      expect(String(((await attempt(superuser.db, [statement])) as Error | undefined)?.cause)).toContain("stays");
    }
  });

  test("audit_purge() removes nothing younger than the shortest retention, whatever date it is given", async () => {
    const copy = await createTestApp();
    const root = openDatabase(copy.superuser, 1);
    const start = new Date(systemClock.now().getTime() - 31 * DAY);
    await fillAuditLog(root.db, 40, busyDraft(seededRandom(3), start, DAY));
    await storeAuditFloor(root.db, FLOOR);
    const before = await snapshot(root.db);
    for (const date of ["now()", "now() + interval '90 years'", "'infinity'"]) {
      const error = await attempt(copy.db, [`select audit_purge(3, ${date}, sha256('x'))`]);
      expect(error).toMatchObject({ cause: { code: INSUFFICIENT_PRIVILEGE } });
    }
    await root.db.execute("delete from audit_floor");
    expect(await attempt(copy.db, ["select audit_purge(3, now(), sha256('x'))"])).toBeInstanceOf(Error);
    expect(await snapshot(root.db)).toEqual(before);
    expect(await attempt(copy.db, ["select audit_purge(1, now(), sha256('x'))"])).toBeUndefined();
    await root.close();
    await copy.close();
  });

  test("audit_purge() called without the key is found by verifyAudit()", async () => {
    const copy = await createTestApp();
    const root = openDatabase(copy.superuser, 1);
    await fillAuditLog(root.db, 20, busyDraft(seededRandom(3), new Date("2026-01-01T00:00:00Z"), 1000));
    await copy.db.execute(sql`select audit_purge(10, now(), sha256('x'))`);
    expect((await verifyAudit(copy.services)).fault).toMatchObject({ kind: "checkpoint", id: 10 });
    await root.close();
    await copy.close();
  });

  test("auditProtectionFaults() finds none for the service, and names each way in that is opened", async () => {
    expect(await auditProtectionFaults(t.db)).toEqual([]);
    expect(await auditProtectionFaults(superuser.db)).toContain("it is a superuser");
    await superuser.db.execute(sql`grant update on audit_head to uam`);
    expect(await auditProtectionFaults(t.db)).toEqual(["it may write to the table audit_head"]);
    await protectAudit(superuser.db, "uam");
    expect(await auditProtectionFaults(t.db)).toEqual([]);
  });
});

describe("audit_guard()", () => {
  let t: TestApp;
  let superuser: DatabaseHandle;
  afterAll(async () => {
    await superuser.close();
    await t.close();
  });
  beforeAll(async () => {
    t = await createTestApp();
    superuser = openDatabase(t.superuser, 1);
    await fillAuditLog(superuser.db, 5, busyDraft(seededRandom(3), new Date("2026-01-01T00:00:00Z"), 1000));
  });
  const cases = [
    "update audit set actor = 'x' where id = 2",
    "delete from audit where id = 2",
    "truncate audit",
    `insert into audit ${FORGED}`,
    "update audit_head set id = 1",
    "delete from audit_head",
    "truncate audit_head",
    "truncate audit_checkpoint",
    "insert into audit_checkpoint values (3, now(), '', now(), '')",
  ];
  test("audit_guard() refuses even a superuser, and a replica that applies changes", async () => {
    for (const role of ["origin", "replica"]) {
      for (const statement of cases) {
        const error = await attempt(superuser.db, [`set local session_replication_role = ${role}`, statement]);
        expect(String((error as Error | undefined)?.cause)).toContain("append-only");
      }
    }
    expect((await verifyAudit(t.services)).fault).toBeUndefined();
  });
});

describe("prepareDatabase()", () => {
  let t: TestApp;
  let superuser: DatabaseHandle;
  const messages: unknown[] = [];
  const log: Log = { ...silentLog, warn: (_, fields) => void messages.push(fields?.faults) };
  beforeAll(async () => {
    t = await createTestApp();
    superuser = openDatabase(t.superuser, 1);
  });
  afterAll(async () => {
    await superuser.close();
    await t.close();
  });

  async function emptyDatabase(name: string, owner: string): Promise<ConnectionOptions & { username: string }> {
    await superuser.db.execute(sql.raw(`create database ${name} owner ${owner}`));
    if ("url" in t.superuser) throw new Error("the test server answers on a socket");
    return { ...t.superuser, database: name };
  }

  test("prepareDatabase() with one role that owns everything keeps the guards and says what they do not stop", async () => {
    const handle = openDatabase({ ...(await emptyDatabase("prepare_one", "uam")), username: "uam" }, 1);
    await prepareDatabase(handle.db, { owner: undefined, auditFloor: FLOOR, log });
    expect(messages.pop()).toContain("it owns the table audit");
    for (const statement of ["update audit_head set id = 7", "truncate audit", `insert into audit ${FORGED}`]) {
      expect(String(((await attempt(handle.db, [statement])) as Error | undefined)?.cause)).toContain("append-only");
    }
    await handle.close();
    await superuser.db.execute(sql.raw("drop database prepare_one with (force)"));
  });

  test("prepareDatabase() with an owner that is a superuser hands everything to a role without a login", async () => {
    const root = await emptyDatabase("prepare_two", "uam");
    const handle = openDatabase({ ...root, username: "uam" }, 1);
    await prepareDatabase(handle.db, { owner: root, auditFloor: FLOOR, log });
    expect(messages).toEqual([]);
    expect(await auditProtectionFaults(handle.db)).toEqual([]);
    const [owner] = await handle.db.execute(
      sql`select r.rolname, r.rolcanlogin, r.rolsuper from pg_class c join pg_roles r on r.oid = c.relowner where c.relname = 'audit'`,
    );
    expect(owner).toEqual({ rolname: "uam_owner", rolcanlogin: false, rolsuper: false });
    // Up to date, so no owner is needed: the service's unit need not know that connection.
    await prepareDatabase(handle.db, { owner: undefined, auditFloor: FLOOR, log });
    expect(messages).toEqual([]);
    await handle.close();
    await superuser.db.execute(sql.raw("drop database prepare_two with (force)"));
  });

  test("prepareDatabase() has the owner keep the shortest retention as configured, and the service cannot", async () => {
    const root = await emptyDatabase("prepare_floor", "uam");
    const handle = openDatabase({ ...root, username: "uam" }, 1);
    for (const auditFloor of [FLOOR, 7 * DAY, 60 * DAY]) {
      await prepareDatabase(handle.db, { owner: root, auditFloor, log });
      expect(await readAuditFloor(handle.db)).toBe(auditFloor);
    }
    const said: string[] = [];
    const noted: Log = { ...silentLog, warn: (message) => void said.push(message) };
    await prepareDatabase(handle.db, { owner: undefined, auditFloor: DAY, log: noted });
    expect(await readAuditFloor(handle.db)).toBe(60 * DAY);
    expect(said).toEqual(["the database keeps audit records for longer than UAM_AUDIT_RETENTION_MIN says"]);
    await handle.close();
    await superuser.db.execute(sql.raw("drop database prepare_floor with (force)"));
  });

  test("protectAudit() called by an owner that is not a superuser gives the service its rights and no more", async () => {
    await superuser.db.execute(sql.raw("create role prepare_owner login createdb"));
    const root = openDatabase(await emptyDatabase("prepare_three", "prepare_owner"), 1);
    await root.db.execute(sql.raw("set session authorization prepare_owner"));
    await prepareDatabase(root.db, { owner: undefined, auditFloor: FLOOR, log: silentLog });
    await protectAudit(root.db, "uam");
    const handle = openDatabase(
      {
        ...(t.superuser as ConnectionOptions & { host: string; port: number }),
        username: "uam",
        database: "prepare_three",
      },
      1,
    );
    expect(await auditProtectionFaults(handle.db)).toEqual([]);
    await handle.db.execute(sql`insert into settings (key, value, updated_at) values ('x', 1, now())`);
    expect(await attempt(handle.db, ["delete from audit_head"])).toBeInstanceOf(Error);
    await handle.close();
    await root.close();
    await superuser.db.execute(sql.raw("drop database prepare_three with (force)"));
    await superuser.db.execute(sql.raw("drop role prepare_owner"));
  });
});
