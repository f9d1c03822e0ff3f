/** The command line of a new version with the database of an older one. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type DatabaseHandle, openDatabase } from "../../src/store/client.ts";
import { migrate, pendingMigrations } from "../../src/store/migrate.ts";
import { MIGRATIONS } from "../../src/store/migrations.ts";
import { createTestCli, type TestCli } from "../support/cli.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";

setDefaultTimeout(180_000);

const READING = [
  ["user", "list"],
  ["user", "show", "alice"],
  ["key", "list", "alice"],
  ["approval", "list"],
  ["audit", "list"],
  ["audit", "export"],
  ["audit", "verify"],
  ["setting", "list"],
  ["admin", "list"],
  ["recycle"],
  ["reconcile", "--check"],
];

let database: TestDatabase;
let owner: DatabaseHandle;
let cli: TestCli;
beforeAll(async () => {
  database = await createTestDatabase();
  if ("url" in database.superuser) throw new Error("the test database is expected on a unix socket");
  const { host, username, database: name } = database.superuser;
  cli = await createTestCli({ UAM_DATABASE_URL: `postgres://${username}@localhost/${name}?host=${host}` });
  owner = openDatabase(database.superuser, 1);
});
afterAll(async () => {
  await cli.close();
  await owner.close();
  await database.drop();
});

/** Leaves the database as a program with so many migrations would have created it. */
async function setBack(migrations: number): Promise<void> {
  await owner.db.execute("drop schema public cascade");
  await owner.db.execute("create schema public");
  if (migrations > 0) await migrate(owner.db, MIGRATIONS.slice(0, migrations));
}

describe("a command that only reads", () => {
  test("leaves a database of an older version as it is, and says what to run", async () => {
    await setBack(MIGRATIONS.length - 1);
    for (const args of READING) {
      expect([args, await cli.run(args)]).toEqual([
        args,
        {
          code: 1,
          stdout: "",
          stderr:
            'uam: The database is from an older version of uam. Run "uam migrate", or start the service; a command that only reads changes nothing.\n',
        },
      ]);
    }
    expect(await pendingMigrations(owner.db)).toHaveLength(1);
  });

  test("backs up a database of an older version as it is, and says that this is not on record", async () => {
    await setBack(MIGRATIONS.length - 1);
    const file = join(cli.dataDir, "older.backup");
    const { code, stderr } = await cli.run(["backup", file]);
    expect([code, stderr]).toEqual([0, expect.stringContaining("the backup is not recorded in the audit log")]);
    expect((await cli.run(["restore", "--check", file])).code).toBe(0);
    expect(await pendingMigrations(owner.db)).toHaveLength(1);
  });

  test("creates no tables in an empty database, and no database where there is none", async () => {
    await setBack(0);
    const { code, stderr } = await cli.run(["user", "list"]);
    expect([code, stderr]).toEqual([1, expect.stringContaining("uam: The database has no tables yet. Run")]);
    expect(await pendingMigrations(owner.db)).toHaveLength(MIGRATIONS.length);
    const directory = mkdtempSync(join(tmpdir(), "uam-older-"));
    const variables = { UAM_DATA_DIR: join(directory, "data") };
    expect((await cli.run(["user", "list"], { variables })).stderr).toStartWith(
      `uam: There is no database in ${directory}/data yet.`,
    );
    expect(readdirSync(directory)).toEqual([]);
    rmSync(directory, { recursive: true });
  });
});

describe("a command that changes something", () => {
  test("says so before it brings the database up to date", async () => {
    await setBack(MIGRATIONS.length - 1);
    const { code, stderr } = await cli.run(["setting", "set", "policy.recycle_period", "20d"]);
    expect([code, stderr]).toEqual([0, expect.stringContaining("older version of uam: bringing it up to date")]);
    expect(await pendingMigrations(owner.db)).toEqual([]);
    expect((await cli.run(["setting", "list"])).code).toBe(0);
  });

  test("says nothing when it creates the tables of a new one", async () => {
    await setBack(0);
    expect((await cli.run(["admin", "list"])).code).toBe(1);
    const { code, stderr } = await cli.run(["migrate"]);
    expect([code, stderr]).toEqual([0, expect.stringMatching(/The database is up to date\.\n$/)]);
    expect(stderr).not.toContain("older");
    expect((await cli.run(["admin", "list"])).code).toBe(0);
  });
});
