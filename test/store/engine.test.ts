import { afterAll, expect, test } from "bun:test";
import { openDatabase } from "../../src/store/client.ts";
import { engineFaults } from "../../src/store/engine.ts";
import { createTestCli } from "../support/cli.ts";
import { hasPgbouncer, startPgbouncer } from "../support/pgbouncer.ts";
import { startPostgresNodes } from "../support/postgres-nodes.ts";
import { describeSlow, describeSlowIf, testSlow } from "../support/thorough.ts";

const cluster = await startPostgresNodes(1, { fsync: "off" });
const [primary, standby] = cluster.nodes;
if (primary === undefined || standby === undefined) throw new Error("two nodes are needed");
afterAll(() => cluster.close());

const findings = async (url: string) => (await engineFaults({ url })).map(({ finding }) => finding);

async function took(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

async function connectTwice(url: string): Promise<void> {
  const { db, close } = openDatabase({ url }, 2);
  await Promise.all([1, 2].map(() => db.$client.unsafe("select 1")));
  await close();
}

describeSlow("engineFaults()", () => {
  test("finds nothing wrong with PostgreSQL, also if several look at once, for the price of a few connections", async () => {
    const url = cluster.url("", [primary]);
    expect(await Promise.all([findings(url), findings(url), findings(url)])).toEqual([[], [], []]);
    const times: number[] = [];
    const floor: number[] = [];
    for (let round = 0; round < 15; round++) {
      times.push(await took(() => engineFaults({ url })));
      floor.push(await took(() => connectTwice(url)));
    }
    const ratio = Math.min(...times) / Math.min(...floor);
    console.log(`the database is tried out in ${ratio.toFixed(1)} times what two connections take`);
    // In turns, and the best of each: what else the machine does takes from both.
    expect(ratio).toBeLessThan(10);
  });

  test("leaves no connection behind", async () => {
    await findings(cluster.url("", [primary]));
    const ours = "select pid from pg_stat_activity where application_name = 'uam'";
    let left = await primary.run(ours);
    for (let attempt = 0; attempt < 3000 && left.length > 0; attempt++) {
      await Bun.sleep(20);
      left = await primary.run(ours);
    }
    expect(left.length).toBe(0);
  });

  test("knows a standby", async () => {
    expect(await findings(cluster.url("", [standby]))).toEqual([
      "The database server is a standby, which takes no changes",
    ]);
  });

  test("knows a database that is read-only for the role", async () => {
    await primary.run("create role reader login; alter role reader set default_transaction_read_only = on");
    expect(await findings(cluster.url("", [primary]).replace("postgres@", "reader@"))).toEqual([
      "The database is read-only (default_transaction_read_only)",
    ]);
  });

  test("knows locks that two connections get, as those of CockroachDB", async () => {
    await primary.run(`
      create role pretender login;
      create schema pretence;
      grant usage on schema pretence to pretender;
      create function pretence.pg_try_advisory_xact_lock(integer, integer) returns boolean language sql as 'select true';
      alter role pretender set search_path = pretence, pg_catalog, public;`);
    expect(await findings(cluster.url("", [primary]).replace("postgres@", "pretender@"))).toEqual([
      "The database gives one advisory lock to two connections, so that two instances would migrate at once",
    ]);
  });

  test("fails where there is no database at all", async () => {
    await expect(engineFaults({ url: "postgres://postgres@127.0.0.1:1/postgres" })).rejects.toThrow("ECONNREFUSED");
  });
});

testSlow("the program refuses such a database with a sentence, before it changes anything", async () => {
  const cli = await createTestCli();
  const variables = { UAM_DATA_DIR: cli.dataDir, UAM_DATABASE_URL: cluster.url("", [standby]) };
  const { code, stderr } = await cli.run(["migrate"], { variables });
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr:
      "uam: The database server is a standby, which takes no changes: name the primary in UAM_DATABASE_URL, or all nodes, with ?target_session_attrs=read-write\n",
  });
  await cli.close();
});

describeSlowIf(hasPgbouncer)("engineFaults() before pgbouncer", () => {
  const POOL = "Between the service and PostgreSQL is a pool that gives each transaction another connection";

  const DEAF = "Notifications of one connection do not reach another that listens, as behind a pool of transactions";

  test.each([5, 2, 1])("knows a pool of transactions with %d connections", async (size) => {
    const bouncer = await startPgbouncer(primary, { mode: "transaction", size });
    try {
      const first = [...(await findings(bouncer.url))];
      // Found out by waiting for a second connection, which there is not.
      if (size === 1) return expect(first).toEqual([POOL]);
      // Which of its connections it gives is its affair, on a busy machine from the first on; one of the two shows in any case.
      expect([[POOL], [DEAF]]).toContainEqual(first);
      // Also once it has connections to spare.
      const { db, close } = openDatabase({ url: bouncer.url }, size);
      await Promise.all(Array.from({ length: size }, () => db.$client.unsafe("select pg_sleep(0.05)")));
      expect([[POOL], [DEAF]]).toContainEqual([...(await findings(bouncer.url))]);
      await close();
    } finally {
      await bouncer.close();
    }
  });

  test("has nothing against a pool of sessions", async () => {
    const bouncer = await startPgbouncer(primary, { mode: "session" });
    try {
      expect(await findings(bouncer.url)).toEqual([]);
    } finally {
      await bouncer.close();
    }
  });
});
