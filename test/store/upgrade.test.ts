import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { sql } from "drizzle-orm";
import { silentLog } from "../../src/shared/log.ts";
import { DAY } from "../../src/shared/time/clock.ts";
import { type DatabaseHandle, openDatabase } from "../../src/store/client.ts";
import { migrate } from "../../src/store/migrate.ts";
import { MIGRATIONS } from "../../src/store/migrations.ts";
import { prepareDatabase } from "../../src/store/prepare.ts";
import { auditProtectionFaults } from "../../src/store/protect.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";

setDefaultTimeout(180_000);

const FLOOR = 30 * DAY;

let database: TestDatabase;
let owner: DatabaseHandle;
let older: DatabaseHandle;

beforeAll(async () => {
  database = await createTestDatabase();
  owner = openDatabase(database.superuser, 1);
  older = openDatabase(database.connection, 3);
  await owner.db.execute("drop schema public cascade");
  await owner.db.execute("create schema public");
  await migrate(owner.db, MIGRATIONS.slice(0, 1));
  await owner.db.execute("grant usage on schema public to uam");
  await owner.db.execute("grant all on all tables in schema public to uam");
});
afterAll(async () => {
  await Promise.all([owner.close(), older.close()]);
  await database.drop();
});

test("prepareDatabase() brings an older database forward while an instance of the older version serves", async () => {
  const failures: unknown[] = [];
  let written = 0;
  let serving = true;
  const serve = async () => {
    while (serving && failures.length === 0) {
      try {
        await older.db.transaction(async (tx) => {
          await tx.execute(
            sql`insert into approvals (username, email, created_at) values (${`u${written}`}, '', now())`,
          );
          await tx.execute(sql`select count(*) from users`);
        });
        written++;
      } catch (error) {
        failures.push(error);
      }
    }
  };
  const working = serve();
  while (written < 5 && failures.length === 0) await Bun.sleep(5);
  const fresh = [openDatabase(database.connection, 1), openDatabase(database.connection, 1)] as const;
  // Two instances of the new version start at once.
  await Promise.all(
    fresh.map((handle) => prepareDatabase(handle.db, { owner: database.superuser, auditFloor: FLOOR, log: silentLog })),
  );
  const at = written;
  while (written < at + 5 && failures.length === 0) await Bun.sleep(5);
  serving = false;
  await working;
  expect(failures).toEqual([]);
  const [row] = await owner.db.execute<{ rows: number }>("select count(*)::int as rows from approvals");
  expect(row?.rows).toBe(written);
  expect(await migrate(owner.db)).toEqual([]);
  expect(await auditProtectionFaults(fresh[0].db)).toEqual([]);
  await Promise.all(fresh.map((handle) => handle.close()));
});

test("prepareDatabase() refuses a database made by a newer version, and leaves it alone", async () => {
  await migrate(owner.db, [...MIGRATIONS, { name: "9999_future", sql: "create table future (n integer)" }]);
  const fresh = openDatabase(database.connection, 1);
  await expect(
    prepareDatabase(fresh.db, { owner: database.superuser, auditFloor: FLOOR, log: silentLog }),
  ).rejects.toMatchObject({
    message: expect.stringContaining("newer version"),
  });
  await fresh.close();
  const [row] = await owner.db.execute<{ rows: number }>("select count(*)::int as rows from uam_migrations");
  expect(row?.rows).toBe(MIGRATIONS.length + 1);
});
