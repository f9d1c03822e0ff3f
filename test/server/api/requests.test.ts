import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { DAY } from "../../../src/shared/time/clock.ts";
import { type Client, createTestApp, type TestApp } from "../../support/app.ts";

let app: TestApp;
let admin: Client;

beforeAll(async () => {
  app = await createTestApp();
  admin = await app.admin();
  await app.user("requester");
});
afterAll(() => app.close());

describe("answers", () => {
  test("unknown paths are 404 and other methods 405 with Allow", async () => {
    const missing = await app.anonymous().call("GET", "/nothing");
    expect(missing.status).toBe(404);
    expect(missing.body).toEqual({ error: expect.any(String) });
    const wrong = await admin.call("PUT", "/users/1", {});
    expect(wrong.status).toBe(405);
    expect(wrong.headers.get("allow")).toBe("DELETE, GET, HEAD, PATCH");
    expect(wrong.body).toEqual({ error: "PUT is not allowed here; allowed: DELETE, GET, HEAD, PATCH" });
  });

  test.each([["/healthz#"], ["/users/1#x/disable"], ["/users?supervisor=a#b"], ["/users?#b"], ["/users?status=#b"]])(
    "the invalid URL %p is 400",
    async (path) => {
      expect((await admin.call("GET", path)).body).toEqual({ error: "The address of a request must not contain #" });
      expect((await admin.call("POST", path, {})).status).toBe(400);
    },
  );

  test.each(["[]", "[{}]", "null", "7", '"text"'])(
    "a body that is %s is 400 where no field is required",
    async (body) => {
      expect((await admin.call("PATCH", "/users/1", body)).status).toBe(400);
      expect((await admin.call("POST", "/users/1/extend", body)).status).toBe(400);
    },
  );

  test("extend without a body is extend by the default, whatever type is declared", async () => {
    const { id } = await app.user("extended");
    const { expire_at: before } = (await admin.call("GET", `/users/${id}`)).body.data;
    for (const type of [undefined, "application/json", "application/x-www-form-urlencoded", "text/plain"]) {
      const headers: Record<string, string> = type === undefined ? {} : { "content-type": type };
      expect((await admin.call("POST", `/users/${id}/extend`, undefined, headers)).status).toBe(200);
    }
    expect((await admin.call("POST", `/users/${id}/extend`, {})).status).toBe(200);
    const { expire_at: after } = (await admin.call("GET", `/users/${id}`)).body.data;
    expect((Date.parse(after) - Date.parse(before)) / DAY).toBe(5 * 90);
    // What is there must be JSON, and the session is asked for first.
    expect((await admin.call("POST", `/users/${id}/extend`, "7", { "content-type": "text/plain" })).status).toBe(400);
    expect((await admin.call("POST", `/users/${id}/extend`, "{")).status).toBe(400);
    expect((await app.anonymous().call("POST", `/users/${id}/extend`)).status).toBe(401);
    expect((await admin.call("POST", "/users")).status).toBe(400);
  });

  test("a body over the limit is 413, for an allowed caller only, with and without a declared length", async () => {
    const large = JSON.stringify({ username: "x".repeat(70_000) });
    expect((await admin.call("POST", "/users", large)).status).toBe(413);
    expect((await app.anonymous().call("POST", "/users", large)).status).toBe(401);
    const stream = new Request("http://127.0.0.1:8080/api/v1/users", {
      method: "POST",
      headers: { cookie: admin.cookie, "content-type": "application/json" },
      body: new Blob([large]).stream(),
    });
    expect((await app.app.fetch(stream, "")).status).toBe(413);
  });

  test("a body over the limit is also 413 on routes that take none, and changes nothing", async () => {
    const { id, client } = await app.user("large-body");
    const large = "x".repeat(70_000);
    const ask = async (caller: Client, route: string, init: RequestInit) => {
      const [method = "", path = ""] = route.split(" ");
      const url = `http://127.0.0.1:8080/api/v1${path}`;
      return await app.app.fetch(
        new Request(url, { ...init, method, headers: { ...init.headers, cookie: caller.cookie } }),
        "",
      );
    };
    const declared = { headers: { "content-length": String(large.length) } };
    for (const route of [`POST /users/${id}/disable`, `DELETE /users/${id}`, "GET /audit/export", "GET /healthz"]) {
      expect([route, (await ask(admin, route, declared)).status]).toEqual([route, 413]);
    }
    for (const route of [`POST /users/${id}/disable`, `DELETE /users/${id}`]) {
      const stream = () => ({ body: new Blob([large]).stream() });
      expect([route, (await ask(admin, route, stream())).status]).toEqual([route, 413]);
      expect([route, (await ask(app.anonymous(), route, stream())).status]).toEqual([route, 401]);
    }
    expect((await client.call("GET", "/auth/me")).status).toBe(200);
    expect((await admin.call("GET", `/users/${id}`)).body).toMatchObject({ data: { status: "active" } });
    // A small one is ignored.
    const small = await ask(admin, `DELETE /users/${id}`, { body: new Blob(["{broken"]).stream() });
    expect(small.status).toBe(200);
  });

  test.each([
    ["text/plain", "{}"],
    ["application/x-www-form-urlencoded", "a=1"],
    ["application/json", "{"],
    ["application/json", ""],
    ["application/json", "[]"],
    ["application/json", "null"],
    ["application/json", '"text"'],
    ["application/json", "{}"],
    ["application/json", '{"username":null,"password":"x"}'],
    ["application/json", '{"username":1,"password":"x"}'],
  ])("a body of type %s that reads %p is 400", async (type, body) => {
    const answer = await app.anonymous().call("POST", "/auth/admin/login", body, { "content-type": type });
    expect(answer.status).toBe(400);
    expect(answer.headers.get("content-type")).toContain("application/json");
    expect(answer.body).toEqual({ error: expect.stringMatching(/^.{10,}$/) });
  });

  test("what was submitted is never in an answer", async () => {
    const answer = await app
      .anonymous()
      .call("POST", "/auth/admin/login", { username: 5, password: ["hunter2-hunter2"] });
    expect(answer.status).toBe(400);
    expect(answer.text).not.toContain("hunter2");
  });

  test.each([["abc"], ["-1"], ["1.5"], ["0x10"]])("the path id %p is 400 or not found", async (id) => {
    expect([400, 404]).toContain((await admin.call("GET", `/users/${id}`)).status);
  });

  test.each([
    ["/users?page=1&page=2", "page is given more than once"],
    ["/users/%ZZ", "id is not valid percent-encoding"],
    ["/users/-1", "id must be an unsigned integer"],
  ])("%p is 400 and says why", async (path, error) => {
    const answer = await admin.call("GET", path);
    expect(answer.status).toBe(400);
    expect(answer.body).toEqual({ error });
  });

  test.each([["9".repeat(19)], ["9".repeat(400)], ["0"], ["9007199254740993"]])("the path id %p is 404", async (id) => {
    for (const [method, path] of [
      ["GET", ""],
      ["DELETE", ""],
      ["POST", "/disable"],
      ["GET", "/keys"],
    ]) {
      expect((await admin.call(method ?? "", `/users/${id}${path}`)).status).toBe(404);
    }
  });

  test.each([["page=0"], ["page=-1"], ["page=x"], ["page=1.5"], ["page_size=0"], ["page_size=501"], ["status=gone"]])(
    "the query %p is 400",
    async (query) => {
      expect((await admin.call("GET", `/users?${query}`)).status).toBe(400);
    },
  );

  test("state changes from another origin are 403, requests without a body too", async () => {
    const call = (headers: Record<string, string>) => admin.call("POST", "/users/0/disable", undefined, headers);
    expect((await call({ origin: "https://evil.example" })).status).toBe(403);
    expect((await call({ origin: "null" })).status).toBe(403);
    expect((await call({ "sec-fetch-site": "cross-site" })).status).toBe(403);
    expect((await call({ origin: "http://127.0.0.1:8080", "sec-fetch-site": "same-origin" })).status).toBe(404);
  });

  test("carry a request id and the hardening headers", async () => {
    const { headers } = await app.anonymous().call("GET", "/auth/me");
    expect(headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect((await app.anonymous().call("GET", "/healthz")).headers.get("cache-control")).toBeNull();
    expect((await app.anonymous().call("PUT", "/healthz")).headers.get("cache-control")).toBeNull();
  });

  test("/healthz tells version, uptime and runtime", async () => {
    app.clock.advance(2500);
    const { body } = await app.anonymous().call("GET", "/healthz");
    expect(body.data).toMatchObject({
      status: "ok",
      version: "0.0.0-test",
      go: "test 1",
      timestamp: app.clock.now().toISOString(),
    });
    expect(body.data.uptime).toBeGreaterThanOrEqual(2);
  });
});
