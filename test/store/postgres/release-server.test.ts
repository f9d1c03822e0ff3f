/** The server that a release carries, with data that npm's has written. */

import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import postgres from "postgres";
import { ownArchitecture, PROJECT } from "../../../src/build/packages.ts";
import { SERVER_VERSION } from "../../../src/build/postgres/pinned.ts";
import { findBuilt } from "../../../src/build/postgres/server.ts";
import { packNpmServer, packServer } from "../../../src/build/postgres-archive.ts";
import { silentLog } from "../../../src/shared/log.ts";
import { type EmbeddedPostgres, openEmbeddedPostgres } from "../../../src/store/postgres/embedded-postgres.ts";
import type { PostgresArchive } from "../../../src/store/postgres/postgres-archive.ts";
import { checkPages } from "../../support/check-pages.ts";
import { databaseDirectory } from "../../support/directory.ts";
import { describeSlowIf, isThorough } from "../../support/thorough.ts";

setDefaultTimeout(180_000);

const top = databaseDirectory("uam-test-release-server-");
const architecture = ownArchitecture();
const cache = join(top, "cache");
afterAll(() => rmSync(top, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 }));

function open(archive: PostgresArchive): Promise<EmbeddedPostgres> {
  return openEmbeddedPostgres({ dataDir: join(top, "data"), log: silentLog, fsync: false, archive });
}

async function asSuperuser<T>({ connection }: EmbeddedPostgres, work: (sql: postgres.Sql) => Promise<T>): Promise<T> {
  const sql = postgres({ ...connection, username: "postgres", max: 1, onnotice: () => {} });
  try {
    return await work(sql);
  } finally {
    await sql.end();
  }
}

// Where it was never built there is nothing to test; in CI there is.
describeSlowIf(isThorough || findBuilt(architecture) !== undefined)("the server of a release", () => {
  test("opens data of npm's server, finds each page of it whole, and npm's opens what it wrote", async () => {
    const npms = await packNpmServer(cache, { architecture, level: 1, modules: join(PROJECT, "node_modules") });
    const ours = await packServer(cache, { architecture, level: 1 });
    expect([npms.version === ours.version, ours.version]).toEqual([false, SERVER_VERSION]);

    const before = await open(npms);
    const wanted = await asSuperuser(before, async (sql) => {
      await sql`create table names as select i, chr(65 + i % 50) || md5(i::text) || 'äöß' as name from generate_series(1, 20000) i`;
      await sql`create index on names (name)`;
      await sql`create index on names (lower(name), i)`;
      await sql`create index on names using gin (string_to_array(name, 'a'))`;
      return await sql`select count(*)::text as n, md5(string_agg(name, ',' order by name)) as digest from names`;
    });
    await before.stop();

    // As binaries up to 0.3.0 name it.
    mkdirSync(join(top, "data/postgres/18.4.0-0123456789ab"));
    const server = await open(ours);
    const programs = readdirSync(join(top, "data/postgres")).filter((name) => name.startsWith("18."));
    expect(programs).toEqual([ours.id]);
    await asSuperuser(server, async (sql) => {
      const [row] = await sql`select current_setting('server_version') as version`;
      expect(row?.version).toBe(SERVER_VERSION);
      const digest =
        await sql`select count(*)::text as n, md5(string_agg(name, ',' order by name)) as digest from names`;
      expect([...digest]).toEqual([...wanted]);
      // Listed by npm's, which has ICU; nothing here uses them.
      const [listed] = await sql`select count(*)::integer as n from pg_collation where collprovider = 'i'`;
      expect(listed?.n).toBeGreaterThan(100);
      const [used] = await sql`
        select count(*)::integer as n from pg_attribute a join pg_collation c on c.oid = a.attcollation where c.collprovider = 'i'`;
      expect(used?.n).toBe(0);
      const { tables, indexes, problems } = await checkPages(sql);
      expect([tables > 50, indexes > 100, problems]).toEqual([true, true, []]);
      await sql`update names set name = upper(name) where i % 7 = 0`;
      await sql`vacuum full names`;
      expect((await checkPages(sql)).problems).toEqual([]);
    });
    await server.stop();

    const after = await open(npms);
    await asSuperuser(after, async (sql) => {
      const [row] = await sql`select count(*)::integer as n from names where name = upper(name)`;
      expect(row?.n).toBeGreaterThan(2800);
    });
    await after.stop();
  });

  test("initialises without ICU, in the builtin locale, and says which program it is", async () => {
    const ours = await packServer(cache, { architecture, level: 1 });
    const dataDir = join(top, "fresh");
    const server = await openEmbeddedPostgres({ dataDir, log: silentLog, fsync: false, archive: ours });
    await asSuperuser(server, async (sql) => {
      const [database] = await sql`
        select datlocprovider::text as provider, datlocale as locale from pg_database where datname = 'uam'`;
      expect(database).toEqual({ provider: "b", locale: "C.UTF-8" });
      const [row] = await sql`select lower('ÄÖ') as lower, now() at time zone 'Europe/Berlin' > 'epoch' as zones`;
      expect(row).toEqual({ lower: "äö", zones: true });
      expect(await sql`show ssl`.then(([shown]) => shown?.ssl)).toBe("off");
    });
    await server.stop();
  });
});
