import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { HOUR, MINUTE } from "../../../src/shared/time/clock.ts";
import { createTestApp, type TestApp } from "../../support/app.ts";

const ORIGIN = "https://console.example.org";

let app: TestApp;

beforeAll(async () => {
  app = await createTestApp({
    UAM_RATE_LIMIT: "on",
    UAM_CORS_ORIGINS: ORIGIN,
    UAM_TRUSTED_PROXIES: "10.0.0.0/8 unix",
  });
});
afterAll(() => app.close());

describe("limits for each client address", () => {
  /** Method, path, how many within the period, the period, and another route that counts towards the same limit. */
  const LIMITS: readonly (readonly [string, string, number, number])[] = [
    ["GET", "/auth/captcha", 30, MINUTE],
    ["POST", "/auth/otp/send", 30, HOUR],
    ["POST", "/auth/otp/login", 60, HOUR],
    ["POST", "/auth/admin/login", 60, HOUR],
    ["POST", "/auth/admin/reset", 60, HOUR],
    ["POST", "/auth/admin/forgot", 10, HOUR],
    ["POST", "/approvals", 10, HOUR],
  ];

  test.each(LIMITS)("%s %s is limited, whatever the body holds", async (method, path, most, period) => {
    app.clock.advance(2 * HOUR);
    const client = app.anonymous("198.51.100.7");
    const bodies = ["{broken", "{}", undefined];
    for (let n = 0; n < most; n++) {
      const body = method === "GET" ? undefined : bodies[n % bodies.length];
      expect([200, 400]).toContain((await client.call(method, path, body)).status);
    }
    const limited = await client.call(method, path, method === "GET" ? undefined : "{}");
    expect(limited.status).toBe(429);
    expect(limited.headers.get("retry-after")).toBe(String(period / 1000));
    expect(
      (await app.anonymous("198.51.100.8").call(method, path, method === "GET" ? undefined : "{}")).status,
    ).not.toBe(429);
    app.clock.advance(period);
    expect((await client.call(method, path, method === "GET" ? undefined : "{}")).status).not.toBe(429);
  });

  test("the logins of users and administrators count together", async () => {
    app.clock.advance(2 * HOUR);
    const client = app.anonymous("198.51.100.9");
    for (let n = 0; n < 60; n++) await client.call("POST", n % 2 ? "/auth/otp/login" : "/auth/admin/login", {});
    expect((await client.call("POST", "/auth/otp/login", {})).status).toBe(429);
  });

  test("other spellings of a path are limited with it", async () => {
    app.clock.advance(2 * HOUR);
    const client = app.anonymous("198.51.100.10");
    for (let n = 0; n < 10; n++) await client.call("POST", "/approvals/", {});
    expect((await client.call("POST", "/approvals", {})).status).toBe(429);
  });

  test("UAM_RATE_LIMIT=off lifts them", async () => {
    const free = await createTestApp({ UAM_RATE_LIMIT: "off" });
    for (let n = 0; n < 40; n++) expect((await free.anonymous().call("GET", "/auth/captcha")).status).toBe(200);
    await free.close();
  });
});

describe("the client's address", () => {
  test.each([
    ["203.0.113.9", undefined, "203.0.113.9"],
    ["203.0.113.9", "198.51.100.1", "203.0.113.9"],
    ["10.1.2.3", "198.51.100.1", "198.51.100.1"],
    ["10.1.2.3", "192.0.2.66, 198.51.100.1, 10.9.9.9", "198.51.100.1"],
    ["::ffff:203.0.113.9", undefined, "203.0.113.9"],
    [undefined, "198.51.100.1", "198.51.100.1"],
    [undefined, undefined, ""],
  ])("of a request from %p with X-Forwarded-For %p is %p", async (peer, forwarded, ip) => {
    app.clock.advance(2 * HOUR);
    const headers: Record<string, string> = forwarded === undefined ? {} : { "x-forwarded-for": forwarded };
    await app.anonymous(peer).call("POST", "/auth/admin/forgot", { username: "nobody" }, headers);
    expect((await app.lastAudit("auth.admin_forgot")).ip).toBe(ip);
  });
});

describe("preflight", () => {
  function ask(path: string, headers: Record<string, string>) {
    return app.anonymous().call("OPTIONS", path, undefined, headers);
  }
  const asking = { origin: ORIGIN, "access-control-request-method": "PATCH" };

  test("tells a listed origin what it may send", async () => {
    const answer = await ask("/users/7", asking);
    expect(answer.status).toBe(204);
    expect(answer.text).toBe("");
    expect(answer.headers.get("access-control-allow-methods")).toBe("DELETE, GET, HEAD, PATCH");
    expect(answer.headers.get("access-control-allow-headers")).toBe("Content-Type");
    expect(answer.headers.get("access-control-allow-origin")).toBe(ORIGIN);
    expect(answer.headers.get("access-control-allow-credentials")).toBe("true");
    expect(answer.headers.get("vary")).toBe("Origin");
  });

  test.each([
    ["another origin", "/users/7", { ...asking, origin: "https://evil.example" }, 405],
    ["no origin", "/users/7", { "access-control-request-method": "PATCH" }, 405],
    ["no method to ask for", "/users/7", { origin: ORIGIN }, 405],
    ["an unknown path", "/nothing", asking, 404],
  ] as const)("with %s is answered as any other method", async (_name, path, headers, status) => {
    const answer = await ask(path, headers);
    expect(answer.status).toBe(status);
    expect(answer.headers.get("access-control-allow-methods")).toBeNull();
    expect(answer.body).toEqual({ error: expect.any(String) });
  });

  test("lets a listed origin change things, and tells it about limits and names", async () => {
    const headers = { origin: ORIGIN, "sec-fetch-site": "cross-site" };
    const answer = await app.anonymous().call("POST", "/auth/logout", undefined, headers);
    expect(answer.status).toBe(401);
    expect(answer.headers.get("access-control-allow-origin")).toBe(ORIGIN);
    expect(answer.headers.get("access-control-expose-headers")).toContain("Retry-After");
  });

  test("no origin is let in unless origins are listed", async () => {
    const closed = await createTestApp();
    const answer = await closed.anonymous().call("OPTIONS", "/users/7", undefined, asking);
    expect(answer.status).toBe(405);
    expect([...answer.headers.keys()].filter((header) => header.startsWith("access-control"))).toEqual([]);
    await closed.close();
  });
});
