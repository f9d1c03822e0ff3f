/** A connection that is reset, rather than closed, in the middle of a transaction: what comes after it on a new one. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { connect, createServer, type Server, type Socket } from "node:net";
import type postgres from "postgres";
import { openClient } from "../../src/store/client.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { HANG } from "../support/hang.ts";

let database: TestDatabase;
let server: Server;
let client: postgres.Sql;
const sockets = new Set<Socket>();

beforeAll(async () => {
  database = await createTestDatabase();
  const { connection } = database;
  if (!("host" in connection)) throw new Error("the database answers on a unix socket");
  server = createServer((socket) => {
    sockets.add(socket);
    const upstream = connect(`${connection.host}/.s.PGSQL.${connection.port}`);
    socket.pipe(upstream).pipe(socket);
    for (const end of [socket, upstream]) end.on("error", () => {});
    socket.on("close", () => {
      sockets.delete(socket);
      upstream.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  client = openClient({ url: `postgres://${connection.username}@127.0.0.1:${port}/${connection.database}` }, 1);
});
afterAll(async () => {
  await client.end({ timeout: 0 });
  server.close();
  await database.drop();
});

/** As the kernel of a machine does whose server is gone. */
function reset(): void {
  for (const socket of sockets) socket.resetAndDestroy();
}

const within = async <T>(work: PromiseLike<T>): Promise<T | string> =>
  await Promise.race([work, Bun.sleep(HANG).then(() => "nothing")]);

test("a transaction whose connection was reset leaves nothing that a later query waits for, or takes for its answer", async () => {
  const lost = client.begin(async (tx) => {
    setTimeout(reset, 100);
    await tx`select pg_sleep(600)`;
  });
  expect(String(await within(lost.catch((error: unknown) => String(error))))).toMatch(/ECONNRESET|CONNECTION_CLOSED/);
  const answers = client.begin(async (tx) => [await tx`select 1 as first`, await tx`select 2 as second`]);
  expect(await within(answers.then((rows) => JSON.stringify(rows)))).toBe('[[{"first":1}],[{"second":2}]]');
  expect(await within(client`select 3 as third`.then((rows) => JSON.stringify(rows)))).toBe('[{"third":3}]');
});

test("a pool that lost a connection in the middle of a query closes at once", async () => {
  const lost = client`select pg_sleep(600)`.catch((error: unknown) => String(error));
  await Bun.sleep(100);
  reset();
  await lost;
  expect(await within(client.end().then(() => "closed"))).toBe("closed");
});
