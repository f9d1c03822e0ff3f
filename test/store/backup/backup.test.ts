import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Writable } from "node:stream";
import { eq, getTableName, is, sql } from "drizzle-orm";
import { PgTable } from "drizzle-orm/pg-core";
import { verifyAudit } from "../../../src/domain/audit/verify.ts";
import { addAdmin } from "../../../src/domain/auth/administrators/add-admin.ts";
import { createUser } from "../../../src/domain/users/users.ts";
import { silentLog } from "../../../src/shared/log.ts";
import { LOCKS } from "../../../src/store/advisory-locks.ts";
import { writeBackup } from "../../../src/store/backup/backup.ts";
import { writeFileWhole } from "../../../src/store/backup/backup-file.ts";
import { verifyBackup } from "../../../src/store/backup/backup-reader.ts";
import { type RestoreTarget, restoreBackup } from "../../../src/store/backup/restore.ts";
import { type ConnectionOptions, type Database, openDatabase } from "../../../src/store/client.ts";
import { INDEXES_AT_ONCE, indexesOf, missingIndexes } from "../../../src/store/indexes.ts";
import { migrate } from "../../../src/store/migrate.ts";
import { MIGRATIONS } from "../../../src/store/migrations.ts";
import { prepareDatabase } from "../../../src/store/prepare.ts";
import { auditProtectionFaults } from "../../../src/store/protect.ts";
import * as schema from "../../../src/store/schema.ts";
import * as auditSchema from "../../../src/store/schema-audit.ts";
import * as authSchema from "../../../src/store/schema-auth.ts";
import * as companiesSchema from "../../../src/store/schema-companies.ts";
import * as eventsSchema from "../../../src/store/schema-events.ts";
import * as fleetSchema from "../../../src/store/schema-fleet.ts";
import * as passkeySchema from "../../../src/store/schema-passkeys.ts";
import * as reviewsSchema from "../../../src/store/schema-reviews.ts";
import * as serviceSchema from "../../../src/store/schema-service.ts";
import * as ssoSchema from "../../../src/store/schema-sso.ts";
import { ADMIN_PASSWORD, createTestApp, type TestApp } from "../../support/app.ts";
import { busyDraft, fillAuditLog, seededRandom } from "../../support/audit-log.ts";
import { addPasskeyTo, PASSKEY_ORIGIN } from "../../support/authenticator.ts";
import { createTestDatabase, type TestDatabase } from "../../support/database.ts";
import { databaseDirectory } from "../../support/directory.ts";
import { testSlow } from "../../support/thorough.ts";

setDefaultTimeout(180_000);

const directory = databaseDirectory("uam-test-backup-");
const patient = new AbortController().signal;
const WHEN = new Date("2026-03-01T10:00:00Z");
const FORGOTTEN = [
  "tokens",
  "join_tokens",
  "otp_codes",
  "reset_tokens",
  "sessions",
  ...["used_captchas", "used_tickets"],
  ...["sso_logins", "sso_logouts", "sso_sessions"],
];
const cleanUps: (() => Promise<void>)[] = [];

afterAll(async () => {
  for (const cleanUp of cleanUps.reverse()) await cleanUp();
  rmSync(directory, { recursive: true });
});

function backUp(connection: ConnectionOptions, name: string, replace = false) {
  const source = { connection, program: "1.2.3", createdAt: WHEN, auditKey: undefined, signal: patient };
  return writeFileWhole(join(directory, name), replace, (sink) => writeBackup(source, sink));
}

function load(name: string, database: TestDatabase, more: Partial<RestoreTarget> = {}) {
  return restoreBackup(join(directory, name), {
    connection: database.superuser,
    serviceRole: "uam",
    force: false,
    uids: { first: 20_000, last: 59_999, onHost: undefined },
    signal: patient,
    beforeCommit: async () => {},
    ...more,
  });
}

async function emptyDatabase(): Promise<TestDatabase> {
  const database = await createTestDatabase();
  cleanUps.push(() => database.drop());
  return database;
}

async function withDatabase<T>(connection: ConnectionOptions, work: (db: Database) => Promise<T>): Promise<T> {
  const handle = openDatabase(connection, 1);
  try {
    return await work(handle.db);
  } finally {
    await handle.close();
  }
}

/** A digest of every table, of what numbers come next, and of the rights. */
function fingerprint(connection: ConnectionOptions): Promise<Record<string, unknown>> {
  return withDatabase(connection, async (db) => {
    const tables = await db.execute<{ name: string; kind: string; acl: string }>(
      sql`select relname as name, relkind::text as kind, relacl::text as acl from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'S') order by 1`,
    );
    const found: Record<string, unknown> = {};
    for (const { name, kind, acl } of tables) {
      const [row] = await db.execute<{ content: string }>(
        `select md5(coalesce(string_agg(t::text, chr(10) order by t::text), '')) as content from ${kind === "S" ? `(select last_value, is_called from public.${name})` : `public.${name}`} t`,
      );
      found[name] = `${row?.content} ${acl}`;
    }
    return found;
  });
}

async function refusal(db: Database, statement: string): Promise<unknown> {
  try {
    return await db.execute(statement);
  } catch (error) {
    return error;
  }
}

async function rowsOf(connection: ConnectionOptions, table: string): Promise<readonly string[]> {
  return await withDatabase(connection, async (db) => {
    const rows = await db.execute<{ row: string }>(`select t::text as row from public.${table} t order by 1`);
    return rows.map(({ row }) => row);
  });
}

const allTables = Object.values({
  ...schema,
  ...companiesSchema,
  ...reviewsSchema,
  ...serviceSchema,
  ...authSchema,
  ...auditSchema,
  ...ssoSchema,
  ...passkeySchema,
  ...eventsSchema,
  ...fleetSchema,
})
  .filter((value) => is(value, PgTable))
  .map((table) => getTableName(table))
  .sort();

describe("a backup of an installation in use", () => {
  let t: TestApp;
  let copy: TestDatabase;

  beforeAll(async () => {
    t = await createTestApp({ UAM_BASE_URL: PASSKEY_ORIGIN });
    cleanUps.push(() => t.close());
    const admin = await t.admin();
    const { client } = await t.user("alice");
    const key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl";
    expect(
      (
        await client.call("POST", "/me/keys", {
          name: "tab\tis refused \\ \u{1F511}".replace("\t", ""),
          public_key: key,
        })
      ).status,
    ).toBe(201);
    await t.user("bob");
    await admin.call("DELETE", `/users/${(await t.user("carol")).id}`);
    await admin.call("PUT", "/settings/policy.default_ttl", { value: "30d" });
    await addPasskeyTo(admin, ADMIN_PASSWORD);
    await t.db
      .insert(schema.approvals)
      .values({ username: "dave", email: "d@example.org", purpose: 'a\tb\nc\\N "', createdAt: WHEN });
    await t.db.insert(schema.outbox).values({
      ...{ recipient: "a@example.org", subject: "code", text: "12345678", html: "<b>12345678</b>", dedupeKey: "k" },
      ...{ createdAt: WHEN, dueAt: WHEN },
    });
    await t.db.insert(serviceSchema.serviceState).values({ one: 1, heartbeatAt: WHEN });
    await t.db
      .insert(authSchema.secrets)
      .values({ name: "captcha", value: Buffer.from("c") })
      .onConflictDoNothing();
    copy = await emptyDatabase();
    await backUp(t.superuser, "used");
    await load("used", copy);
  });

  test("restoreBackup() makes every table what it was", async () => {
    const changed = ["outbox", "secrets", "uid_counter"];
    for (const table of allTables.filter((name) => !FORGOTTEN.includes(name) && !changed.includes(name))) {
      const before = await rowsOf(t.superuser, table);
      expect({ table, rows: await rowsOf(copy.superuser, table) }).toEqual({ table, rows: before });
    }
    expect((await rowsOf(copy.superuser, "ssh_keys")).length).toBe(1);
  });

  test("restoreBackup() makes every index and constraint what it was", async () => {
    const definitions = (connection: ConnectionOptions) =>
      withDatabase(connection, (db) =>
        db.execute<{ name: string; definition: string }>(sql`
          select relname as name, pg_get_indexdef(oid) as definition from pg_class
          where relnamespace = 'public'::regnamespace and relkind = 'i'
          union all
          select conrelid::regclass::text || '.' || conname, pg_get_constraintdef(oid) from pg_constraint
          where connamespace = 'public'::regnamespace
          order by 1, 2`),
      );
    const before = await definitions(t.superuser);
    expect(
      before.filter(({ name }) => /^audit_by_|^audit_pkey$|^users\.users_pkey$/.test(name)).length,
    ).toBeGreaterThan(5);
    expect([...(await definitions(copy.superuser))]).toEqual([...before]);
  });

  test("writeBackup() and verifyBackup() say how long the file is", async () => {
    const path = join(directory, "used");
    const { bytes } = await backUp(t.superuser, "used-again");
    expect(bytes).toBe(statSync(join(directory, "used-again")).size);
    expect((await verifyBackup(path, patient)).bytes).toBe(statSync(path).size);
  });

  test("writeBackup() carries every table of the schema but those with logins", async () => {
    const { header } = await verifyBackup(join(directory, "used"), patient);
    expect(header.tables.map(({ name }) => name).sort()).toEqual(allTables.filter((name) => !FORGOTTEN.includes(name)));
    for (const table of FORGOTTEN) expect(await rowsOf(copy.superuser, table)).toEqual([]);
    expect((await rowsOf(t.superuser, "sessions")).length).toBeGreaterThan(0);
  });

  test("writeBackup() turns queued mail into dropped mail, without its text", async () => {
    await withDatabase(copy.superuser, async (db) => {
      const rows = await db.select().from(schema.outbox);
      expect(rows.length).toBe((await t.mails()).length);
      expect(rows.filter((row) => row.status === "queued" || row.text !== "" || row.finishedAt === null)).toEqual([]);
      expect(rows.find((row) => row.dedupeKey === "k")).toMatchObject({ status: "dropped", html: "" });
    });
    expect(readFileSync(join(directory, "used")).includes("12345678")).toBe(false);
  });

  test("restoreBackup() keeps passkeys and what authenticators know administrators by, and no challenge", async () => {
    expect(await rowsOf(copy.superuser, "passkeys")).toHaveLength(1);
    expect(await rowsOf(t.superuser, "used_tickets")).not.toEqual([]);
    const named = async (connection: ConnectionOptions) =>
      (await rowsOf(connection, "secrets")).map((row) => /^\((\w+)/.exec(row)?.[1]).sort();
    expect(await named(t.superuser)).toEqual(["captcha", "handle", "ticket"]);
    expect(await named(copy.superuser)).toEqual(["handle"]);
  });

  test("restoreBackup() keeps the heartbeat and forgets the captchas' key", async () => {
    expect(await rowsOf(copy.superuser, "service_state")).toEqual(await rowsOf(t.superuser, "service_state"));
    expect((await rowsOf(copy.superuser, "secrets")).some((row) => row.startsWith("(captcha"))).toBe(false);
  });

  test("restoreBackup() leaves the audit log sealed, guarded, and the service's role without rights to change it", async () => {
    await withDatabase(copy.connection, async (db) => {
      expect(await auditProtectionFaults(db)).toEqual([]);
      expect((await verifyAudit({ db, seal: t.services.seal })).fault).toBeUndefined();
    });
    await withDatabase(copy.superuser, async (db) => {
      await expect(refusal(db, "update audit set actor = 'x'")).resolves.toMatchObject({ cause: { code: "42501" } });
      await expect(refusal(db, "truncate audit")).resolves.toMatchObject({ cause: { code: "42501" } });
      const indexes = sql`select indexdef from pg_indexes where schemaname = 'public' order by 1`;
      expect([...(await db.execute(indexes))]).toEqual(
        await withDatabase(t.superuser, async (original) => [...(await original.execute(indexes))]),
      );
    });
  });

  test("restoreBackup() continues ids where they were, not from the highest that is left", async () => {
    const users = await withDatabase(copy.connection, async (db) => {
      const context = { ...t.system, db, autocommit: db };
      const handle = openDatabase(copy.connection, 1);
      try {
        await createUser({ ...context, autocommit: handle.db }, { username: "eve", email: "e@example.org" });
      } finally {
        await handle.close();
      }
      return await db
        .select({ id: schema.users.id, username: schema.users.username, uid: schema.accounts.uid })
        .from(schema.users)
        .innerJoin(schema.accounts, eq(schema.accounts.userId, schema.users.id));
    });
    const eve = users.find((user) => user.username === "eve");
    // Carol had 3 and was deleted.
    expect(eve?.id).toBe(4);
    expect(eve?.uid).toBeGreaterThan(20_002 + 900);
    await withDatabase(copy.connection, async (db) => {
      expect((await verifyAudit({ db, seal: t.services.seal })).fault).toBeUndefined();
    });
  });
});

describe("uids after a restore", () => {
  const nextAfter = async (uids: Partial<RestoreTarget["uids"]>, database?: TestDatabase) => {
    const range = { first: 20_000, last: 59_999, onHost: undefined, ...uids };
    return (await load("uids", database ?? (await emptyDatabase()), { uids: range, force: true })).nextUid;
  };
  beforeAll(async () => {
    const database = await emptyDatabase();
    await withDatabase(database.superuser, (db) => db.insert(fleetSchema.uidCounter).values({ one: 1, last: 20_041 }));
    await backUp(database.superuser, "uids");
  });

  test("restoreBackup() leaves a gap for those that were given out after the backup", async () => {
    expect(await nextAfter({})).toBe(20_041 + 1000 + 1);
  });
  testSlow("restoreBackup() continues above the highest that the host has", async () => {
    expect(await nextAfter({ onHost: 30_000 })).toBe(31_001);
  });
  testSlow("restoreBackup() continues above the highest of the database that it replaces", async () => {
    const database = await emptyDatabase();
    await withDatabase(database.superuser, (db) => db.insert(fleetSchema.uidCounter).values({ one: 1, last: 40_000 }));
    expect(await nextAfter({}, database)).toBe(41_001);
    // What it gave out counts as given; the gap was never anybody's.
    await withDatabase(database.connection, async (db) => {
      const given = await db.select().from(fleetSchema.givenUids).orderBy(fleetSchema.givenUids.uid);
      expect([given.length, given[0]?.uid, given.at(-1)?.uid]).toEqual([40_000 - 20_041, 20_042, 40_000]);
    });
  });
  describe("of a version that kept them in counters", () => {
    const older = async () => {
      const database = await emptyDatabase();
      await withDatabase(database.superuser, async (db) => {
        await db.execute("drop schema public cascade");
        await db.execute("create schema public");
        await migrate(db, MIGRATIONS.slice(0, 5));
        await db.execute(sql`insert into counters (name, value) values ('uid', 30041), ('heartbeat', ${WHEN.getTime()}::bigint),
          ('lock:0b5e', ${WHEN.getTime()}::bigint)`);
        await db.execute(sql`insert into secrets (name, value) values ('audit_key_fingerprint', sha256('k'))`);
      });
      return database;
    };

    testSlow("restoreBackup() of an older backup brings them where they belong", async () => {
      await backUp((await older()).superuser, "older");
      const database = await emptyDatabase();
      const { nextUid, migrated } = await load("older", database, { force: true });
      expect([nextUid, migrated]).toEqual([31_042, MIGRATIONS.slice(5).map(({ name }) => name)]);
      await withDatabase(database.connection, async (db) => {
        expect(await db.select().from(serviceSchema.serviceState)).toMatchObject([{ heartbeatAt: WHEN }]);
        expect(await db.select().from(fleetSchema.importedLocks)).toEqual([{ id: "0b5e", at: WHEN }]);
        expect(await db.select().from(auditSchema.auditKey)).toMatchObject([{ one: 1 }]);
        expect(await auditProtectionFaults(db)).toEqual([]);
      });
    });

    testSlow("restoreBackup() over an older database continues above its highest", async () => {
      expect(await nextAfter({}, await older())).toBe(31_042);
    });
  });

  testSlow(
    "restoreBackup() gives a backup without a heartbeat one as old as itself, so that deletion waits",
    async () => {
      const database = await emptyDatabase();
      await nextAfter({}, database);
      await withDatabase(database.superuser, async (db) => {
        expect(await db.select().from(serviceSchema.serviceState)).toEqual([
          { one: 1, heartbeatAt: WHEN, holdUntil: null },
        ]);
      });
    },
  );
  test("restoreBackup() says of no host that its lease ends before one that it may have had since", async () => {
    const source = await emptyDatabase();
    const lapsed = { enrolledAt: WHEN, kind: "remote", leaseUntil: WHEN } as const;
    const rows = [
      { ...lapsed, name: "usual", publicKey: Buffer.from("a") },
      { ...lapsed, name: "short", publicKey: Buffer.from("b"), leaseMs: 300_000, leaseUntil: null },
    ];
    await withDatabase(source.superuser, (db) => db.insert(fleetSchema.hosts).values(rows));
    await backUp(source.superuser, "leases");
    const database = await emptyDatabase();
    await load("leases", database, { force: true });
    const hosts = await withDatabase(database.superuser, (db) => db.select().from(fleetSchema.hosts));
    const left = (name: string) => (hosts.find((host) => host.name === name)?.leaseUntil?.getTime() ?? 0) - Date.now();
    expect(hosts.find(({ name }) => name === "local")?.leaseUntil).toBeNull();
    expect(Math.abs(left("usual") - 4 * 3_600_000 * 1.01)).toBeLessThan(30_000);
    expect(Math.abs(left("short") - 303_000)).toBeLessThan(30_000);
  });

  testSlow("restoreBackup() never skips more than a tenth of what is left", async () => {
    expect(await nextAfter({ last: 20_141 })).toBe(20_041 + 10 + 1);
    expect(await nextAfter({ last: 20_041 })).toBe(20_042);
  });
});

describe("writeBackup()", () => {
  testSlow("writeBackup() captures the state of one moment while others write", async () => {
    const database = await emptyDatabase();
    await withDatabase(database.superuser, async (db) => {
      await fillAuditLog(db, 3000, busyDraft(seededRandom(1), WHEN, 1000));
      await db.insert(serviceSchema.settings).values({ key: "written", value: 0, updatedAt: WHEN });
    });
    const writers = openDatabase(database.connection, 3);
    let written = 0;
    let writing = true;
    const write = async () => {
      while (writing) {
        await writers.db.transaction(async (tx) => {
          await tx.execute(sql`update settings set value = value + 1 where key = 'written'`);
          await tx.execute(
            sql`insert into approvals (username, email, created_at) values (${`u${written++}`}, '', now())`,
          );
        });
        await Bun.sleep(2);
      }
    };
    const working = Promise.all([write(), write(), write()]);
    const before = written;
    for (let n = 0; n < 3; n++) {
      await backUp(database.superuser, "busy", true);
      const copy = await emptyDatabase();
      await load("busy", copy);
      const state = await withDatabase(copy.superuser, (db) =>
        db.execute<{ rows: number; counted: number }>(
          sql`select (select count(*)::int from approvals) as rows, (select value::int from settings where key = 'written') as counted`,
        ),
      );
      expect(state[0]?.rows).toBe(Number(state[0]?.counted));
    }
    writing = false;
    await working;
    await writers.close();
    expect(written).toBeGreaterThan(before + 20);
  });

  test("writeBackup() refuses a service's role that may not read the ids, and says what to set", async () => {
    const database = await emptyDatabase();
    await expect(backUp(database.connection, "blind")).rejects.toMatchObject({
      message: expect.stringContaining("UAM_DATABASE_OWNER_URL"),
    });
    expect(readdirSync(directory).filter((name) => name.includes("blind"))).toEqual([]);
  });

  testSlow("writeBackup() ends when it is told to, and leaves neither a file nor a connection", async () => {
    const database = await emptyDatabase();
    await withDatabase(database.superuser, (db) => fillAuditLog(db, 3000, busyDraft(seededRandom(1), WHEN, 1000)));
    const stop = new AbortController();
    const source = { connection: database.superuser, program: "1", createdAt: WHEN, auditKey: undefined };
    // A reader that reads no more: only the signal can end this.
    const sink = new Writable({ write: () => stop.abort() });
    const writing = writeFileWhole(join(directory, "stopped"), false, () =>
      writeBackup({ ...source, signal: stop.signal }, sink),
    );
    await expect(writing).rejects.toMatchObject({ code: "conflict" });
    expect(readdirSync(directory).filter((name) => name.includes("stopped"))).toEqual([]);
    await withDatabase(database.superuser, async (db) => {
      const left = () =>
        db.execute(
          "select 1 from pg_stat_activity where datname = current_database() and application_name = 'uam-copy'",
        );
      for (let n = 0; n < 3000 && (await left()).length > 0; n++) await Bun.sleep(20);
      expect(await left()).toHaveLength(0);
    });
  });
});

describe("writeFileWhole()", () => {
  test("writeFileWhole() makes a file for its owner alone, and does not replace one unasked", async () => {
    const path = join(directory, "whole");
    const put = (text: string, replace: boolean) =>
      writeFileWhole(path, replace, (sink) => new Promise<void>((resolve) => sink.end(text, () => resolve())));
    await put("one", false);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    await expect(put("two", false)).rejects.toMatchObject({ code: "conflict" });
    expect(readFileSync(path, "utf8")).toBe("one");
    await put("three", true);
    expect(readFileSync(path, "utf8")).toBe("three");
    await expect(writeFileWhole(path, true, async () => Promise.reject(new Error("no")))).rejects.toThrow("no");
    expect(readFileSync(path, "utf8")).toBe("three");
    await expect(writeFileWhole(directory, true, async () => {})).rejects.toMatchObject({ code: "conflict" });
    await expect(writeFileWhole(join(directory, "no", "x"), true, async () => {})).rejects.toMatchObject({
      code: "conflict",
    });
    // Below a file, as in a directory that may not be looked into, there is nothing to be found out.
    await expect(writeFileWhole(join(path, "x"), false, async () => {})).rejects.toMatchObject({
      code: "conflict",
      message: expect.stringMatching(/\/whole cannot be written to by the user that this runs as: ENOTDIR/),
    });
    expect(readdirSync(directory).filter((name) => name.endsWith(".part"))).toEqual([]);
  });
});

describe("restoreBackup() refuses", () => {
  let target: TestDatabase;
  let before: Record<string, unknown>;
  let whole: Buffer;

  beforeAll(async () => {
    const source = await emptyDatabase();
    await withDatabase(source.superuser, (db) => fillAuditLog(db, 2000, busyDraft(seededRandom(1), WHEN, 1000)));
    await backUp(source.superuser, "good");
    whole = readFileSync(join(directory, "good"));
    target = await emptyDatabase();
    before = await fingerprint(target.superuser);
  });

  async function refused(bytes: Uint8Array, message: string | RegExp): Promise<void> {
    writeFileSync(join(directory, "bad"), bytes);
    await expect(load("bad", target)).rejects.toMatchObject({
      code: "invalid",
      message: expect.stringMatching(message),
    });
  }

  test("restoreBackup() refuses a truncated file, wherever it ends", async () => {
    for (const share of [0.01, 0.3, 0.7, 0.99]) {
      await refused(whole.subarray(0, Math.floor(whole.length * share)), "damaged");
    }
    await refused(whole.subarray(0, whole.length - 1), "damaged");
    await refused(whole.subarray(0, 13), "damaged");
    expect(await fingerprint(target.superuser)).toEqual(before);
  });

  testSlow("restoreBackup() refuses a file with one bit flipped, wherever it is", async () => {
    const random = seededRandom(9);
    const message = /damaged|not a backup|format/;
    for (let n = 0; n < 60; n++) {
      const bytes = Buffer.from(whole);
      const at = Math.floor(random() * whole.length);
      bytes.writeUInt8(bytes.readUInt8(at) ^ (1 << Math.floor(random() * 8)), at);
      // Loading makes all tables first, so only some of them are.
      if (n % 5 === 0) await refused(bytes, message);
      writeFileSync(join(directory, "flipped"), bytes);
      await expect(verifyBackup(join(directory, "flipped"), patient)).rejects.toMatchObject({
        code: "invalid",
        message: expect.stringMatching(message),
      });
    }
    expect(await fingerprint(target.superuser)).toEqual(before);
  });

  test("restoreBackup() refuses what is not a backup, or has a newer format", async () => {
    await refused(Buffer.alloc(0), "not a backup");
    await refused(Buffer.from("PK\u0003\u0004 something else\n"), "not a backup");
    await refused(Buffer.from("uam-backup x\n"), "not a backup");
    await refused(Buffer.alloc(1000, "uam-backup "), "not a backup");
    await refused(Buffer.concat([Buffer.from("uam-backup 2\n"), whole.subarray(13)]), "format 2");
    await refused(Buffer.concat([whole.subarray(0, 13), Bun.zstdCompressSync("Z\0\0\0\u0002{}")]), "damaged");
    await refused(Buffer.concat([whole, whole.subarray(13)]), "damaged");
    await expect(load("missing", target)).rejects.toMatchObject({ code: "not_found" });
    await expect(restoreBackup(directory, { ...targetOf(target) })).rejects.toMatchObject({ code: "not_found" });
    expect(await fingerprint(target.superuser)).toEqual(before);
  });

  test("restoreBackup() refuses a backup made by a newer program, or by another one", async () => {
    for (const [name, migrations] of [
      ["newer", [...MIGRATIONS, { name: "9999_future", sha256: "0".repeat(64) }]],
      ["another", [{ name: "0000_initial", sha256: "0".repeat(64) }]],
    ] as const) {
      const header = { migrations: migrations.map((m) => ({ sha256: "0".repeat(64), ...m })) };
      const { requireKnownVersion } = await import("../../../src/store/backup/restore.ts");
      const { header: real } = await verifyBackup(join(directory, "good"), patient);
      const own = real.migrations;
      const claimed = name === "newer" ? [...own, ...header.migrations.slice(-1)] : header.migrations;
      expect(() => requireKnownVersion({ ...real, migrations: claimed })).toThrow(name);
    }
  });

  testSlow("restoreBackup() refuses a database that holds data, unless forced", async () => {
    const full = await emptyDatabase();
    await load("used", full);
    const was = await fingerprint(full.superuser);
    await expect(load("good", full)).rejects.toMatchObject({
      code: "conflict",
      message: expect.stringContaining("--force"),
    });
    expect(await fingerprint(full.superuser)).toEqual(was);
    await load("good", full, { force: true });
    expect(await rowsOf(full.superuser, "users")).toEqual([]);
    expect((await rowsOf(full.superuser, "audit")).length).toBe(2000);
    // The ids of users had got to 3 before.
    await withDatabase(full.superuser, async (db) => {
      expect([...(await db.execute("select last_value::int as last from users_id_seq"))]).toEqual([{ last: 3 }]);
    });
  });

  testSlow("restoreBackup() refuses while the service is connected", async () => {
    await withDatabase(target.connection, async (db) => {
      await db.execute("select 1");
      await expect(load("good", target)).rejects.toMatchObject({
        code: "conflict",
        message: expect.stringContaining("Stop it"),
      });
    });
    expect(await fingerprint(target.superuser)).toEqual(before);
  });

  testSlow("restoreBackup() refuses to drop what somebody else's view is made from", async () => {
    const shared = await emptyDatabase();
    await withDatabase(shared.superuser, (db) => db.execute("create view reports as select count(*) from users"));
    await expect(load("good", shared)).rejects.toMatchObject({
      code: "conflict",
      message: expect.stringContaining("depends"),
    });
  });

  testSlow("restoreBackup() changes nothing when it fails at the very end, or is stopped", async () => {
    const failing = load("good", target, { beforeCommit: () => Promise.reject(new Error("too late")) });
    await expect(failing).rejects.toThrow("too late");
    const stop = new AbortController();
    const stopped = load("good", target, {
      signal: stop.signal,
      beforeCommit: async () => stop.abort(),
    });
    await expect(stopped).rejects.toMatchObject({ code: "conflict" });
    expect(await fingerprint(target.superuser)).toEqual(before);
  });

  testSlow(
    "restoreBackup() that is stopped after its commit has every row, and leaves indexes to the next start",
    async () => {
      const copy = await emptyDatabase();
      const first = [...indexesOf(MIGRATIONS).keys()].slice(0, INDEXES_AT_ONCE);
      const stop = new AbortController();
      const restored = await withDatabase(copy.superuser, async (db) => {
        await db.execute("set application_name = 'somebody else'");
        // Nobody gets any further than to the first of them.
        for (const name of first) await db.execute(sql`select pg_advisory_lock(${LOCKS.index}, hashtext(${name}))`);
        const restoring = load("good", copy, { signal: stop.signal });
        while ((await db.execute("select id from audit")).length < 2000) await Bun.sleep(5);
        stop.abort();
        await db.execute("select pg_advisory_unlock_all()");
        return await restoring;
      });
      expect(restored.unfinished).toContain("stopped");
      await withDatabase(copy.superuser, async (db) => {
        expect((await missingIndexes(db, MIGRATIONS)).length).toBeGreaterThan(10);
        const rules = await db.execute(
          "select 1 from pg_constraint where conname in ('audit_pkey', 'users_username_unique')",
        );
        expect(rules).toHaveLength(2);
      });
      await withDatabase(copy.connection, async (db) => {
        expect(await auditProtectionFaults(db)).toEqual([]);
        await prepareDatabase(db, { owner: copy.superuser, auditFloor: 0, log: silentLog });
        expect(await missingIndexes(db, MIGRATIONS)).toEqual([]);
      });
      expect((await load("good", copy, { force: true })).unfinished).toBeUndefined();
    },
  );

  function targetOf(database: TestDatabase): RestoreTarget {
    const uids = { first: 20_000, last: 59_999, onHost: undefined };
    const options = { serviceRole: "uam", force: false, uids, signal: patient, beforeCommit: async () => {} };
    return { connection: database.superuser, ...options };
  }
});

describe("restoreBackup() of a backup from an older version", () => {
  test("restoreBackup() applies later migrations to the older rows", async () => {
    const old = await emptyDatabase();
    await withDatabase(old.superuser, async (db) => {
      await db.execute("drop schema public cascade");
      await db.execute("create schema public");
      await migrate(db, MIGRATIONS.slice(0, 1));
      await db.execute(`insert into audit (id, created_at, actor_type, actor, action, resource_type, resource_id, detail, result, ip)
        values (7, now(), 'cli', 'root', 'user.create', 'user', '1', '{}', 'success', '')`);
      await db.execute("insert into audit_head values (1, 7)");
    });
    const { header } = await backUp(old.superuser, "old");
    expect(header.migrations.map(({ name }) => name)).toEqual(["0000_initial"]);
    const copy = await emptyDatabase();
    const { migrated } = await load("old", copy);
    expect(migrated).toEqual(MIGRATIONS.slice(1).map(({ name }) => name));
    await withDatabase(copy.superuser, async (db) => {
      expect(await migrate(db)).toEqual([]);
      expect(
        await db.select({ id: auditSchema.audit.id, n: auditSchema.audit.nAction }).from(auditSchema.audit),
      ).toEqual([{ id: 7, n: 1 }]);
    });
    await withDatabase(copy.connection, async (db) => expect(await auditProtectionFaults(db)).toEqual([]));
    const t = await createTestApp();
    cleanUps.push(() => t.close());
    const handles = [openDatabase(copy.connection, 2), openDatabase(copy.connection, 1)] as const;
    await addAdmin(
      { ...t.system, db: handles[0].db, autocommit: handles[1].db },
      "root-admin",
      "r@example.org",
      "seven lanterns over cold water",
    );
    await Promise.all(handles.map((handle) => handle.close()));
  });
});
