/** What a restore leaves for after its commit: that nothing of it can be forgotten. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { silentLog } from "../../src/shared/log.ts";
import { type DatabaseHandle, openDatabase } from "../../src/store/client.ts";
import { buildIndexes, indexesOf, missingIndexes } from "../../src/store/indexes.ts";
import { migrate } from "../../src/store/migrate.ts";
import { MIGRATIONS } from "../../src/store/migrations.ts";
import { prepareDatabase } from "../../src/store/prepare.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";

let database: TestDatabase;
let root: DatabaseHandle;
let whole: readonly string[];

beforeAll(async () => {
  database = await createTestDatabase();
  root = openDatabase(database.superuser, 4);
  whole = await definitions();
});
afterAll(async () => {
  await root.close();
  await database.drop();
});

async function definitions(): Promise<readonly string[]> {
  const rows = await root.db.execute<{ definition: string }>(
    "select pg_get_indexdef(indexrelid) as definition from pg_index i join pg_class c on c.oid = i.indexrelid where relnamespace = 'public'::regnamespace",
  );
  return rows.map(({ definition }) => definition).sort();
}

async function drop(names: Iterable<string>): Promise<void> {
  for (const name of names) await root.db.execute(`drop index "${name}"`);
}

test("indexesOf() names every index that holds no rule, and no other, of every version", async () => {
  const old = await createTestDatabase();
  const { db, close } = openDatabase(old.superuser, 1);
  await db.execute("drop schema public cascade");
  await db.execute("create schema public");
  for (let length = 1; length <= MIGRATIONS.length; length++) {
    const migrations = MIGRATIONS.slice(0, length);
    await migrate(db, migrations);
    const rows = await db.execute<{ name: string }>(`
      select relname as name from pg_index i join pg_class c on c.oid = i.indexrelid
      where relnamespace = 'public'::regnamespace and not indisunique`);
    const names = rows.map(({ name }) => name).sort();
    expect({ length, names: [...indexesOf(migrations).keys()].sort() }).toEqual({ length, names });
  }
  await close();
  await old.drop();
});

test("buildIndexes() makes all of them what they were, whoever else does so at the same time", async () => {
  expect(await missingIndexes(root.db, MIGRATIONS)).toEqual([]);
  const names = [...indexesOf(MIGRATIONS).keys()];
  await drop(names);
  expect([...(await missingIndexes(root.db, MIGRATIONS))].sort()).toEqual(names.sort());
  const other = openDatabase(database.superuser, 1);
  await Promise.all([buildIndexes(root.db, MIGRATIONS), buildIndexes(other.db, MIGRATIONS)]);
  await other.close();
  expect(await definitions()).toEqual(whole);
});

test("buildIndexes() begins none once it is told to stop", async () => {
  await drop(["users_search", "audit_by_action"]);
  const stop = new AbortController();
  stop.abort();
  await buildIndexes(root.db, MIGRATIONS, stop.signal);
  expect([...(await missingIndexes(root.db, MIGRATIONS))].sort()).toEqual(["audit_by_action", "users_search"]);
});

test("prepareDatabase() builds what a restore that was cut short has left, as the owner", async () => {
  expect(await definitions()).not.toEqual(whole);
  const service = openDatabase(database.connection, 1);
  const warned: string[] = [];
  const log = { ...silentLog, warn: (message: string) => void warned.push(message) };
  await prepareDatabase(service.db, { owner: database.superuser, auditFloor: 0, log });
  expect(warned.filter((message) => message.includes("indexes are missing"))).toHaveLength(1);
  expect(await definitions()).toEqual(whole);
  await prepareDatabase(service.db, { owner: database.superuser, auditFloor: 0, log });
  expect(warned.filter((message) => message.includes("indexes are missing"))).toHaveLength(1);
  await service.close();
});

test("prepareDatabase() goes on where the role may not build them, and says so", async () => {
  await drop(["users_search"]);
  const service = openDatabase(database.connection, 1);
  const failed: string[] = [];
  const log = { ...silentLog, error: (message: string) => void failed.push(message) };
  await prepareDatabase(service.db, { owner: undefined, auditFloor: 0, log });
  expect(failed).toHaveLength(1);
  expect(await missingIndexes(root.db, MIGRATIONS)).toEqual(["users_search"]);
  await service.close();
});
