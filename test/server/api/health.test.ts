import { afterAll, beforeAll, describe, expect, spyOn, test } from "bun:test";
import { createApp } from "../../../src/server/api/app.ts";
import type { Database } from "../../../src/store/client.ts";
import { createTestApp, type TestApp } from "../../support/app.ts";
import { testSlow } from "../../support/thorough.ts";
import { until } from "../../support/until.ts";

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp();
});
afterAll(() => app.close());

/** The application on a database that answers as `answer` does. */
function appOn(answer: () => Promise<unknown>) {
  let asked = 0;
  const autocommit = new Proxy(app.services.autocommit, {
    get: (target, name) => {
      if (name !== "execute") return Reflect.get(target, name);
      asked++;
      return answer;
    },
  }) as Database;
  const other = createApp({ ...app.services, autocommit }, { ...app.config, version: "1", runtime: "t" });
  other.enter("serving");
  const get = async (path: string) => {
    const response = await other.fetch(new Request(`http://127.0.0.1:8080/api/v1${path}`), "192.0.2.1");
    // biome-ignore lint/suspicious/noExplicitAny: the tests look into it
    return { status: response.status, body: (await response.json()) as any };
  };
  return { get, questions: () => asked };
}

describe("GET /healthz and GET /readyz", () => {
  test("say ok to anybody while the database answers", async () => {
    const health = await app.anonymous().call("GET", "/healthz");
    expect([health.status, health.body.data.status]).toEqual([200, "ok"]);
    const readiness = await app.anonymous().call("GET", "/readyz");
    expect([readiness.status, readiness.body]).toEqual([200, { data: { status: "ok" } }]);
    expect(readiness.headers.get("cache-control")).toBe("no-store");
  });

  test.each([
    ["refuses", () => Promise.reject(new Error("gone"))],
    ["is silent", () => new Promise(() => {})],
  ])("of a database that %s say degraded, which is still alive, and 503", async (_, answer) => {
    const { get } = appOn(answer);
    const health = await get("/healthz");
    expect([health.status, health.body.data.status]).toEqual([200, "degraded"]);
    expect(await get("/readyz")).toEqual({ status: 503, body: { error: "The database does not answer" } });
  });

  testSlow("see the database go and come back", async () => {
    let isThere = true;
    const { get } = appOn(() => (isThere ? Promise.resolve([]) : Promise.reject(new Error("gone"))));
    expect((await get("/readyz")).status).toBe(200);
    // What was answered within the last second is not asked again.
    isThere = false;
    await until(async () => (await get("/readyz")).status === 503);
    isThere = true;
    await until(async () => (await get("/readyz")).status === 200);
  });

  test("ask the database once a second, however many ask them", async () => {
    const { get, questions } = appOn(() => Promise.resolve([]));
    const all = () => Promise.all(Array.from({ length: 50 }, (_, n) => get(n % 2 === 0 ? "/healthz" : "/readyz")));
    // A second that lasts as long as a busy machine needs for all of them.
    const began = performance.now();
    const now = spyOn(performance, "now").mockReturnValue(began);
    try {
      await all();
      expect(questions()).toBe(1);
      now.mockReturnValue(began + 1001);
      await all();
      expect(questions()).toBe(2);
    } finally {
      now.mockRestore();
    }
  });
});

test("GET /readyz is 503 while the service starts and stops, and nothing else is", async () => {
  const own = createApp(app.services, { ...app.config, version: "1", runtime: "t" });
  const get = (path: string) => own.fetch(new Request(`http://127.0.0.1:8080/api/v1${path}`), "192.0.2.1");
  const readiness = async () => [(await get("/readyz")).status, (await get("/healthz")).status];
  expect(await readiness()).toEqual([503, 200]);
  expect(await (await get("/readyz")).json()).toEqual({ error: "The service is starting" });
  own.enter("serving");
  expect(await readiness()).toEqual([200, 200]);
  own.enter("stopping");
  expect(await readiness()).toEqual([503, 200]);
  expect(await (await get("/readyz")).json()).toEqual({ error: "The service is stopping" });
});
