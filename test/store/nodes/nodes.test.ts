import { afterEach, expect } from "bun:test";
import { spawnSync } from "node:child_process";
import { appendFileSync, chmodSync, chownSync, statSync } from "node:fs";
import { join } from "node:path";
import { sql } from "drizzle-orm";
import { connectionFailure, openDatabase } from "../../../src/store/client.ts";
import { openNodes, type Patience } from "../../../src/store/nodes/nodes.ts";
import { listen } from "../../../src/store/notify.ts";
import { HANG } from "../../support/hang.ts";
import { type PostgresNode, type PostgresNodes, startPostgresNodes } from "../../support/postgres-nodes.ts";
import { testSlow } from "../../support/thorough.ts";

const QUICK: Patience = { search: 1500, pause: 50, answer: 400, watch: 100 };
/** A node has as long to say what it is as a busy machine needs. */
const BUSY: Patience = { ...QUICK, search: 5000, answer: 4000 };
const ATTRIBUTES = "?target_session_attrs=read-write";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** A primary with a standby, and a pool that knows both, the standby first. */
async function openPair(patience = QUICK) {
  const cluster = await startPostgresNodes(1, { fsync: "off" });
  closing.push(() => cluster.close());
  const [primary, standby] = cluster.nodes as [PostgresNode, PostgresNode];
  const { db, nodes } = openPool(cluster, [standby, primary], patience);
  return { cluster, primary, standby, db, nodes };
}

function openPool(cluster: PostgresNodes, of: readonly PostgresNode[], patience = QUICK) {
  const url = cluster.url(ATTRIBUTES, of);
  const nodes = openNodes(url, patience);
  const { db, close } = openDatabase({ url, nodes }, 4);
  closing.push(() => {
    nodes.close();
    return close();
  });
  return { db, nodes };
}

const portOf = async (db: Awaited<ReturnType<typeof openPair>>["db"]) =>
  Number((await db.execute<{ port: string }>(sql`select current_setting('port') as port`))[0]?.port);

/** Milliseconds until `work` succeeds. */
async function until(work: () => Promise<unknown>, patience = HANG): Promise<number> {
  const began = performance.now();
  for (;;) {
    try {
      await work();
      return performance.now() - began;
    } catch (error) {
      if (performance.now() - began > patience) throw error;
      await Bun.sleep(20);
    }
  }
}

/** A table that the standby has, too: what it had not received would be lost with the primary. */
async function makeTable(db: Awaited<ReturnType<typeof openPair>>["db"], standby: PostgresNode): Promise<void> {
  await db.execute(sql`create table t (i integer)`);
  await until(() => standby.run("select from t"));
}

testSlow(
  "openNodes() connects to the node that takes changes, wherever in the list, and follows a promotion",
  async () => {
    const { primary, standby, db } = await openPair();
    expect(await portOf(db)).toBe(primary.port);
    await makeTable(db, standby);
    await primary.kill();
    await standby.run("select pg_promote()");
    const gap = await until(() => db.execute(sql`insert into t values (1)`));
    console.log(`after a promotion the pool works again after ${gap.toFixed(0)} ms`);
    expect(await portOf(db)).toBe(standby.port);
  },
);

testSlow("openNodes() cuts what waits on a node that fell silent, once another has been promoted", async () => {
  const { primary, standby, db } = await openPair();
  await makeTable(db, standby);
  primary.freeze();
  const waiting = db.execute(sql`insert into t values (1)`).then(
    () => "done",
    (error: unknown) => connectionFailure(error),
  );
  await standby.run("select pg_promote()");
  expect(await waiting).toMatch(/CONNECTION_CLOSED/);
  await until(() => db.execute(sql`insert into t values (2)`));
  // It comes back, and still takes itself for the primary: what was promoted last counts.
  primary.thaw();
  expect(await portOf(openPool({ ...closingCluster(primary, standby) }, [primary, standby], BUSY).db)).toBe(
    standby.port,
  );
});

testSlow("openNodes() leaves what only takes long alone", async () => {
  const { db } = await openPair();
  await db.execute(sql`select pg_sleep(1.5)`);
});

testSlow("openNodes() gives up where no node takes changes, says what each said, and finds one later", async () => {
  const { primary, standby, db, nodes } = await openPair(BUSY);
  await primary.kill();
  const began = performance.now();
  const failed = await Promise.all([1, 2, 3].map(() => db.execute(sql`select 1`).catch(connectionFailure)));
  expect(performance.now() - began).toBeLessThan(HANG);
  for (const why of failed) expect(why).toContain(`127.0.0.1:${standby.port} is a standby`);
  await expect(nodes.leaderUrl()).rejects.toThrow("no node of the database takes changes (");
  await standby.run("select pg_promote()");
  // As many as there are connections: none of them was lost by failing.
  await until(() => Promise.all([1, 2, 3, 4].map(() => db.execute(sql`select pg_sleep(0.05)`))));
  expect(await nodes.leaderUrl()).toBe(`postgres://postgres@127.0.0.1:${standby.port}/postgres`);
});

testSlow("listen() hears again after a promotion", async () => {
  const { primary, standby, db } = await openPair();
  let heard = 0;
  const stop = await listen(db, "news", () => {
    heard++;
  });
  await primary.kill();
  await standby.run("select pg_promote()");
  await until(async () => {
    const before = heard;
    await db.execute(sql`select pg_notify('news', '')`);
    await Bun.sleep(30);
    if (heard === before) throw new Error("nothing was heard");
  });
  await stop();
});

testSlow(
  "over TLS too, what waits on a silent node is cut",
  async () => {
    const { cluster, primary, standby } = await openPair();
    for (const { directory } of cluster.nodes) makeCertificate(directory);
    for (const node of [primary, standby]) {
      if (node === primary) await node.run("alter system set ssl = on");
      else appendFileSync(join(node.directory, "postgresql.conf"), "ssl = on\n");
      await node.run("select pg_reload_conf()");
    }
    const url = cluster.url(`${ATTRIBUTES}&sslmode=require`, [standby, primary]);
    const nodes = openNodes(url, QUICK);
    const { db, close } = openDatabase({ url, nodes }, 2);
    const isEncrypted = async () => {
      const query = sql`select ssl from pg_stat_ssl where pid = pg_backend_pid()`;
      return (await db.execute<{ ssl: boolean }>(query))[0]?.ssl;
    };
    await until(async () => {
      if (!(await isEncrypted())) throw new Error("not encrypted yet");
    });
    primary.freeze();
    const waiting = db.execute(sql`select 1`).catch(connectionFailure);
    await standby.run("select pg_promote()");
    expect(await waiting).toMatch(/CONNECTION_CLOSED/);
    await until(isEncrypted);
    expect(await portOf(db)).toBe(standby.port);
    nodes.close();
    await close();
  },
  180_000,
);

testSlow("openDatabase() tells of a commit that was acknowledged without its standby", async () => {
  const cluster = await startPostgresNodes(1, {}, { synchronous_standby_names: "s1" });
  closing.push(() => cluster.close());
  const [primary, standby] = cluster.nodes as [PostgresNode, PostgresNode];
  let told = 0;
  const { db, close } = openDatabase({ url: cluster.url("", [primary]) }, 1, { unreplicated: () => told++ });
  closing.push(close);
  await makeTable(db, standby);
  expect(told).toBe(0);
  standby.freeze();
  const waiting = db.execute(sql`insert into t values (1)`).execute();
  await until(async () => {
    const waits = "select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'";
    if ((await primary.run(waits)).length === 0) throw new Error("nothing waits yet");
  });
  await waiting;
  expect(told).toBe(1);
});

/** Self-signed, and the server's alone. */
function makeCertificate(directory: string): void {
  const [key, certificate] = [join(directory, "server.key"), join(directory, "server.crt")];
  const subject = ["-subj", "/CN=127.0.0.1", "-days", "2", "-keyout", key, "-out", certificate];
  spawnSync("openssl", ["req", "-x509", "-newkey", "rsa:2048", "-nodes", ...subject]);
  const { uid, gid } = statSync(directory);
  for (const path of [key, certificate]) {
    chmodSync(path, 0o600);
    chownSync(path, uid, gid);
  }
}

function closingCluster(...nodes: readonly PostgresNode[]): PostgresNodes {
  return {
    nodes,
    url: (parameters = "", some = nodes) =>
      `postgres://postgres@${some.map(({ port }) => `127.0.0.1:${port}`).join(",")}/postgres${parameters}`,
    close: async () => {},
  };
}
