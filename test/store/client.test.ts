import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "drizzle-orm";
import { connectionFailure, openDatabase, preparedOnce } from "../../src/store/client.ts";
import { createTestDatabase } from "../support/database.ts";

/** PostgreSQL's messages AuthenticationOk and ReadyForQuery. */
const WELCOME = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0, 0x5a, 0, 0, 0, 5, 0x49]);

test("a server that accepts a connection and then cuts it fails the query, and not the process", async () => {
  const directory = mkdtempSync(join(tmpdir(), "uam-client-"));
  // Closing with messages unread is what the other side sees as a reset.
  const server = createServer({ pauseOnConnect: true }, (socket) => {
    socket.write(WELCOME);
    setTimeout(() => socket.destroy(), 100);
  });
  await new Promise<void>((resolve) => server.listen(join(directory, ".s.PGSQL.5432"), resolve));
  // An error that nobody handles fails the test by itself.
  const { db } = openDatabase({ host: directory, port: 5432, username: "uam", database: "uam" }, 1);
  const failure = await db.execute(sql`select 1`).then(
    () => undefined,
    (error: Error) => error.cause,
  );
  expect(failure).toMatchObject({ code: "ECONNRESET" });
  await db.$client.end({ timeout: 0 });
  server.close();
  rmSync(directory, { recursive: true });
});

test("the password in a URL is given to the server that asks for it", async () => {
  const directory = mkdtempSync(join(tmpdir(), "uam-client-"));
  const asked = Promise.withResolvers<string>();
  const server = createServer((socket) => {
    // AuthenticationCleartextPassword, answered with PasswordMessage: "p", the length, the password and NUL.
    socket.once("data", () => {
      socket.once("data", (answer) => {
        asked.resolve(Buffer.from(answer).subarray(5, -1).toString());
        socket.destroy();
      });
      socket.write(Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 3]));
    });
  });
  await new Promise<void>((resolve) => server.listen(join(directory, ".s.PGSQL.5432"), resolve));
  const { db } = openDatabase({ url: `postgres://uam:s%C3%A9cret%3A%2F@localhost/uam?host=${directory}` }, 1);
  const query = db.execute(sql`select 1`).catch(() => {});
  expect(await asked.promise).toBe("sécret:/");
  await db.$client.end({ timeout: 0 });
  await query;
  server.close();
  rmSync(directory, { recursive: true });
});

test("what a transaction still does after its connection was lost reaches nobody else's, and does not end the process", async () => {
  const { connection, superuser, drop } = await createTestDatabase();
  const owner = openDatabase(superuser, 1);
  await owner.db.execute(sql`create table trial (who text)`);
  await owner.db.execute(sql`grant all on trial to public`);
  // One connection, so that whoever comes next gets the one that was lost.
  const { db, close } = openDatabase(connection, 1);
  const isLost = Promise.withResolvers<void>();
  const isDone = Promise.withResolvers<unknown>();
  const first = db.transaction(async (tx) => {
    await tx.execute(sql`insert into trial values ('before')`);
    await owner.db.execute(
      sql`select pg_terminate_backend(pid) from pg_stat_activity where usename <> current_user and datname = current_database()`,
    );
    await isLost.promise;
    // Work on a host goes on meanwhile, and then its result is to be stored.
    isDone.resolve(await tx.execute(sql`insert into trial values ('after')`).catch(connectionFailure));
  });
  await expect(first).rejects.toThrow();
  const second = db.transaction(async (tx) => {
    await tx.execute(sql`insert into trial values ('second')`);
    isLost.resolve();
    expect(await isDone.promise).toContain("CONNECTION_CLOSED");
    await Bun.sleep(20);
  });
  await second;
  expect(await db.execute<{ who: string }>(sql`select who from trial`)).toEqual([{ who: "second" }] as never);
  await close();
  await owner.close();
  await drop();
});

test("preparedOnce() builds a query once, and runs it on the pool and in each transaction that asks", async () => {
  const { connection, drop } = await createTestDatabase();
  const { db, close } = openDatabase(connection, 2);
  let built = 0;
  const selectTransaction = preparedOnce((on) => {
    built++;
    const given = sql<number>`${sql.placeholder("given")}::int`;
    return on
      .select({ given, id: sql<string>`pg_current_xact_id()::text` })
      .from(sql`(values (1)) as one`)
      .prepare("transaction_id");
  });
  const inOne = await db.transaction(async (tx) => {
    const [first] = await selectTransaction(tx).execute({ given: 1 });
    // The outer query is still usable where it began while another transaction asks.
    const [other] = await db.transaction((second) => selectTransaction(second).execute({ given: 2 }));
    const [again] = await selectTransaction(tx).execute({ given: 3 });
    return { first, other, again };
  });
  expect([inOne.first?.given, inOne.other?.given, inOne.again?.given]).toEqual([1, 2, 3]);
  expect(inOne.again?.id).toBe(inOne.first?.id ?? "");
  expect(inOne.other?.id).not.toBe(inOne.first?.id ?? "");
  expect(await selectTransaction(db).execute({ given: 4 })).toMatchObject([{ given: 4 }]);
  expect(built).toBe(1);
  await close();
  await drop();
});

test("preparedOnce() refuses what Drizzle does not run by a client of its own", async () => {
  const { connection, drop } = await createTestDatabase();
  const { db, close } = openDatabase(connection, 1);
  expect(() => preparedOnce(() => ({}))(db)).toThrow("not a prepared query of postgres.js");
  await close();
  await drop();
});
