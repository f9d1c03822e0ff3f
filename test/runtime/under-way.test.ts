import { expect, test } from "bun:test";
import { bunRuntime } from "../../src/runtime/bun.ts";
import { serveWhole } from "../../src/runtime/under-way.ts";

const LISTEN = { kind: "tcp", hostname: "127.0.0.1", port: 0 } as const;

/** A server whose one request waits for `finish`, and whose client leaves once it has arrived. */
async function leftAlone(finish: Promise<unknown>) {
  const arrived = Promise.withResolvers<void>();
  const seen = { done: false };
  const server = await serveWhole(bunRuntime, {
    listen: LISTEN,
    fetch: async () => {
      arrived.resolve();
      await finish;
      seen.done = true;
      return new Response("done");
    },
  });
  const client = new AbortController();
  const answer = fetch(server.address, { signal: client.signal }).catch((error: Error) => error.name);
  await arrived.promise;
  client.abort();
  expect(await answer).toBe("AbortError");
  return { server, seen };
}

test("serveWhole() lets a request finish whose client has gone before it stops", async () => {
  const finish = Promise.withResolvers<void>();
  const { server, seen } = await leftAlone(finish.promise);
  let isStopped = false;
  const stopping = server.stop(30_000).then(() => {
    isStopped = true;
  });
  await Bun.sleep(300);
  expect([seen.done, isStopped]).toEqual([false, false]);
  finish.resolve();
  await stopping;
  expect(seen.done).toBe(true);
});

test("serveWhole() stops without a request that does not finish within the time", async () => {
  const finish = Promise.withResolvers<void>();
  const { server, seen } = await leftAlone(finish.promise);
  await server.stop(100);
  expect(seen.done).toBe(false);
  finish.resolve();
});

test("serveWhole() stops after a handler that failed", async () => {
  const finish = Promise.withResolvers<void>();
  const { server } = await leftAlone(finish.promise);
  const stopping = server.stop(30_000);
  finish.reject(new Error("no"));
  await stopping;
});
