import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "drizzle-orm";
import { SERVER_VERSION } from "../../src/build/postgres/pinned.ts";
import { openDatabase } from "../../src/store/client.ts";
import { installedPackage, minimalPostgresTree } from "../../src/store/postgres/postgres-tree.ts";
import { createTestDatabase, removeLeftovers } from "./database.ts";
import { serverUnderTest } from "./server-under-test.ts";

describe("createTestDatabase", async () => {
  const first = await createTestDatabase();
  const second = await createTestDatabase();
  const one = openDatabase(first.connection, 1);
  const two = openDatabase(second.connection, 1);
  afterAll(async () => {
    await Promise.all([one.close(), two.close()]);
    await Promise.all([first.drop(), second.drop()]);
  });

  test("createTestDatabase() gives each caller a migrated database of its own", async () => {
    await one.db.execute(sql`insert into settings (key, value, updated_at) values ('fruit', 1, now())`);
    expect(await two.db.execute(sql`select 1 from settings`)).toHaveLength(0);
    expect(await two.db.execute(sql`select to_regclass('uam_migrations')::text as name`)).toMatchObject([
      { name: "uam_migrations" },
    ]);
  });

  test("createTestDatabase() connects as the program does, not as a superuser", async () => {
    const rows = await one.db.execute(sql`select usename, usesuper from pg_user where usename = current_user`);
    expect(rows).toMatchObject([{ usename: "uam", usesuper: false }]);
  });

  test("createTestDatabase() is on the PostgreSQL that is to be tested: npm's, or a release's", async () => {
    const [row] = await one.db.execute<{ version: string }>(sql`select current_setting('server_version') as version`);
    const npms = minimalPostgresTree(installedPackage(process.arch)).version;
    expect(row?.version).toBe(serverUnderTest === "source" ? SERVER_VERSION : npms);
    expect(npms).not.toBe(SERVER_VERSION);
  });

  test("drop() removes a database that is still in use", async () => {
    const third = await createTestDatabase();
    const open = openDatabase(third.connection, 1);
    const [row] = await open.db.execute<{ name: string }>(sql`select current_database() as name`);
    await third.drop();
    expect(await two.db.execute(sql`select 1 from pg_database where datname = ${row?.name}`)).toHaveLength(0);
    await open.close();
  });
});

describe("removeLeftovers()", () => {
  test("removes what a dead run of one's own left, nothing of a run that goes on, and nothing of another user", () => {
    const parent = mkdtempSync(join(tmpdir(), "uam-leftovers-"));
    // No process has it: the largest that Linux gives is 4194304.
    const dead = "uam-test-postgres-9999999-a";
    const alive = `uam-test-postgres-${process.pid}-b`;
    mkdirSync(join(parent, dead, "data"), { recursive: true });
    mkdirSync(join(parent, alive));
    removeLeftovers(parent, (process.getuid?.() ?? 0) + 1);
    expect(readdirSync(parent).sort()).toEqual([alive, dead].sort());
    removeLeftovers(parent);
    expect(readdirSync(parent)).toEqual([alive]);
    rmSync(parent, { recursive: true });
  });
});
