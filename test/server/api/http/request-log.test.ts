import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { Secret, TOTP } from "otpauth";
import { createApp } from "../../../../src/server/api/app.ts";
import { openLog } from "../../../../src/server/logging.ts";
import type { Log } from "../../../../src/shared/log.ts";
import { ADMIN_PASSWORD, createTestApp, type TestApp } from "../../../support/app.ts";
import { PASSKEY_ORIGIN } from "../../../support/authenticator.ts";

const lines: Record<string, unknown>[] = [];
const log: Log = openLog({
  format: "json",
  level: "info",
  journal: false,
  write: (line) => void lines.push(JSON.parse(line)),
});

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp({}, log);
});
beforeEach(() => {
  lines.length = 0;
});
afterAll(() => app.close());

/** The lines about the request itself. */
function requests() {
  return lines.filter(({ message }) => message === "request" || message === "a login failed");
}

describe("the log", () => {
  test("has one line for what changes something, with the id that the answer carries", async () => {
    const admin = await app.admin();
    lines.length = 0;
    const { headers } = await admin.call("POST", "/users", { username: "logged", email: "l@example.org" });
    expect(requests()).toEqual([
      expect.objectContaining({
        level: "INFO",
        message: "request",
        requestId: headers.get("x-request-id"),
        method: "POST",
        route: "/api/v1/users",
        status: 201,
        address: "192.0.2.1",
        milliseconds: expect.any(Number),
      }),
    ]);
  });

  test("has one line for what fails, with the route and not the path", async () => {
    const { headers } = await app.anonymous("198.51.100.4").call("GET", "/users/41?supervisor=x");
    expect(requests()).toEqual([
      expect.objectContaining({
        requestId: headers.get("x-request-id"),
        route: "/api/v1/users/:id",
        status: 401,
        address: "198.51.100.4",
      }),
    ]);
    lines.length = 0;
    await app.anonymous().call("GET", "/no/such/path");
    expect(requests()).toEqual([expect.objectContaining({ level: "INFO", route: "other", status: 404 })]);
    expect(JSON.stringify(lines)).not.toContain("such");
  });

  test("has none for what only reads", async () => {
    const admin = await app.admin();
    lines.length = 0;
    await admin.call("GET", "/users");
    await admin.call("HEAD", "/audit/export");
    await app.anonymous().call("GET", "/healthz");
    expect(lines).toEqual([]);
  });

  test.each([
    ["/auth/admin/login", { username: "admin", password: "hunter2-hunter2" }],
    ["/auth/otp/login", { username: "nobody-here", code: "12345678" }],
  ])("has a warning for a failed %s, without what was typed", async (path, body) => {
    expect((await app.anonymous("203.0.113.77").call("POST", path, body)).status).toBe(401);
    expect(requests()).toEqual([
      expect.objectContaining({
        level: "WARN",
        message: "a login failed",
        route: `/api/v1${path}`,
        status: 401,
        address: "203.0.113.77",
        requestId: expect.any(String),
      }),
    ]);
    expect(JSON.stringify(lines)).not.toMatch(/hunter2|12345678|nobody-here/);
  });

  test("has a warning for a wrong secret at each door, and for each kind of it", async () => {
    // Of its own: its administrator has a second factor from here on, and is locked in the end.
    const own = await createTestApp({ UAM_BASE_URL: PASSKEY_ORIGIN }, log);
    const admin = await own.admin();
    const right = { username: "admin", password: ADMIN_PASSWORD };
    const begun = await admin.call("POST", "/auth/totp/begin", { password: ADMIN_PASSWORD });
    const totp = new TOTP({ secret: Secret.fromBase32(begun.body.data.secret) });
    const code = totp.generate({ timestamp: own.clock.now().getTime() });
    expect((await admin.call("POST", "/auth/totp", { ticket: begun.body.data.ticket, code })).status).toBe(201);
    const nobodys = { id: "AQID", rawId: "AQID", type: "public-key" };
    const response = { clientDataJSON: "e30", authenticatorData: "AQID", signature: "AQID" };
    const someone = own.anonymous("203.0.113.79");
    const refusals = [
      [someone, "/auth/admin/login", { ...right, password: "wrong" }],
      [someone, "/auth/admin/second", { ...right, password: "wrong" }],
      [someone, "/auth/admin/login", { ...right, code: "123 456" }],
      [someone, "/auth/passkey/login", { passkey: { ...nobodys, response } }],
      [admin, "/auth/passkeys/begin", { password: "wrong" }],
      [admin, "/auth/admin/password", { password: "wrong", new_password: "seven lanterns over deep water" }],
    ] as const;
    for (const [who, path, body] of refusals) {
      lines.length = 0;
      const { status } = await who.call("POST", path, body);
      expect([path, [401, 403].includes(status)]).toEqual([path, true]);
      expect(requests()).toEqual([expect.objectContaining({ level: "WARN", message: "a login failed", status })]);
    }
    // The password is right: a record says so, and nobody is shut out for having a second factor.
    lines.length = 0;
    expect((await someone.call("POST", "/auth/admin/login", right)).status).toBe(401);
    expect((await someone.call("POST", "/auth/admin/second", right)).status).toBe(200);
    expect(requests().map(({ level }) => level)).toEqual(["INFO", "INFO"]);
    expect(await own.auditRows("auth.admin_password_only")).toHaveLength(2);
    while ((await someone.call("POST", "/auth/admin/second", { ...right, password: "wrong" })).status !== 429);
    expect(requests().at(-1)).toMatchObject({ level: "WARN", status: 429, address: "203.0.113.79" });
    await own.close();
  });

  test("also warns of an address that tries too often, but not of a login that succeeds", async () => {
    const limited = createApp({ ...app.services }, { ...app.config, rateLimit: true, version: "1", runtime: "t" });
    const send = () =>
      limited.fetch(new Request("http://127.0.0.1:8080/api/v1/auth/admin/login", { method: "POST" }), "203.0.113.78");
    while ((await send()).status !== 429);
    expect(requests().at(-1)).toMatchObject({ level: "WARN", status: 429, address: "203.0.113.78" });
    lines.length = 0;
    await app.admin();
    expect(requests()).toEqual([expect.objectContaining({ level: "INFO", message: "request", status: 200 })]);
  });

  test("has the request's id on what the request did on the host", async () => {
    const logging = {
      ...app.services,
      host: new Proxy(app.host, {
        get: (host, name) => {
          if (name === "createAccount") log.info("planned", { command: "useradd" });
          return Reflect.get(host, name);
        },
      }),
    };
    const other = createApp(logging, { ...app.config, version: "1", runtime: "t" });
    const { cookie } = await app.admin();
    lines.length = 0;
    const create = (username: string) =>
      other.fetch(
        new Request("http://127.0.0.1:8080/api/v1/users", {
          method: "POST",
          headers: { cookie, "content-type": "application/json" },
          body: JSON.stringify({ username, email: "h@example.org" }),
        }),
        "192.0.2.1",
      );
    const answers = await Promise.all([create("on-host-1"), create("on-host-2")]);
    const ids = answers.map(({ headers }) => headers.get("x-request-id"));
    const planned = lines.filter(({ message }) => message === "planned");
    expect(planned.map(({ requestId }) => requestId).sort()).toEqual([...ids].sort());
    log.info("outside");
    expect(lines.at(-1)).not.toHaveProperty("requestId");
  });
});
