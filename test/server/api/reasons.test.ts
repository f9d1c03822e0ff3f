/** The header `Uam-Error`. That no answer carries an undocumented reason, every test checks that calls the application. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Answer, type Client, createTestApp, type TestApp } from "../../support/app.ts";
import { freshKey } from "../../support/keys.ts";

let app: TestApp;
let admin: Client;
let user: Client;
let nobody: Client;

beforeAll(async () => {
  app = await createTestApp({ UAM_MAX_KEYS: "1", UAM_CORS_ORIGINS: "https://console.example.org" });
  admin = await app.admin();
  user = (await app.user("reasoned")).client;
  nobody = app.anonymous();
});
afterAll(() => app.close());

const password = { username: "admin", password: "wrong horses over cold water" };
const taken = { username: "reasoned", email: "r@example.org" };
const key = (text: string) => ({ name: "k", public_key: text });

describe("Uam-Error", () => {
  const CASES: readonly (readonly [string, number, () => Promise<Answer>])[] = [
    ["session.missing", 401, () => nobody.call("GET", "/users")],
    ["session.wrong_kind", 403, () => user.call("GET", "/users")],
    ["request.origin", 403, () => admin.call("POST", "/users", taken, { origin: "https://elsewhere.example.org" })],
    ["request.invalid", 400, () => admin.call("GET", "/users?page=x")],
    ["request.too_large", 413, () => admin.call("POST", "/users", { ...taken, purpose: "x".repeat(100_000) })],
    ["route.unknown", 404, () => nobody.call("GET", "/nothing")],
    ["route.method", 405, () => nobody.call("PUT", "/users")],
    ["user.missing", 404, () => admin.call("GET", "/users/999")],
    ["user.taken", 409, () => admin.call("POST", "/users", taken)],
    ["key.missing", 404, () => user.call("DELETE", "/me/keys/999")],
    ["key.format", 400, () => user.call("POST", "/me/keys", key("no key"))],
    ["key.private", 400, () => user.call("POST", "/me/keys", key("-----BEGIN OPENSSH PRIVATE KEY-----"))],
    ["key.type", 400, () => user.call("POST", "/me/keys", key("ssh-dss AAAA"))],
    ["setting.missing", 404, () => admin.call("DELETE", "/settings/policy.nothing")],
    ["setting.too_short", 400, () => admin.call("PUT", "/settings", { key: "policy.audit_retention", value: "1d" })],
    ["application.missing", 404, () => admin.call("POST", "/approvals/999/review", { approve: true })],
    ["login.wrong", 401, () => nobody.call("POST", "/auth/admin/login", password)],
    ["code.wrong", 401, () => nobody.call("POST", "/auth/otp/login", { username: "reasoned", code: "1" })],
    [
      "captcha.wrong",
      400,
      () => nobody.call("POST", "/auth/otp/send", { username: "reasoned", captcha_id: "x", captcha_code: "x" }),
    ],
    [
      "reset.wrong",
      400,
      () => nobody.call("POST", "/auth/admin/reset", { token: "x", new_password: "a b c d e f g h" }),
    ],
  ];
  test.each(CASES)("%s", async (reason, status, ask) => {
    const answer = await ask();
    expect([answer.status, answer.headers.get("uam-error")]).toEqual([status, reason]);
    expect(answer.body).toEqual({ error: expect.any(String) });
  });

  test("tells a duplicate key, a full account and a disabled user apart", async () => {
    const other = (await app.user("other")).client;
    const text = freshKey();
    expect((await user.call("POST", "/me/keys", key(text))).headers.get("uam-error")).toBeNull();
    expect((await other.call("POST", "/me/keys", key(text))).headers.get("uam-error")).toBe("key.duplicate");
    expect((await user.call("POST", "/me/keys", key(freshKey()))).headers.get("uam-error")).toBe("key.limit");
    const { id, client } = await app.user("shutout");
    await admin.call("POST", `/users/${id}/disable`);
    const refused = await client.call("POST", "/me/keys", key(freshKey()));
    expect([refused.status, refused.headers.get("uam-error")]).toEqual([409, "user.not_active"]);
  });

  test("keeps the reason where the status table gives a failure another status", async () => {
    app.host.failing.add("createAccount");
    const answer = await admin.call("POST", "/users", { username: "unhosted", email: "u@example.org" });
    app.host.failing.clear();
    expect([answer.status, answer.headers.get("uam-error")]).toEqual([400, "host.refused"]);
  });

  test("says that something is left to do when access was taken away", async () => {
    const { id } = await app.user("owing");
    app.host.failing.add("endProcesses");
    const answer = await admin.call("POST", `/users/${id}/disable`);
    app.host.failing.clear();
    expect([answer.status, answer.headers.get("uam-error")]).toEqual([500, "access.owed"]);
  });

  test("tells a locked login and a service that is not ready apart from other refusals", async () => {
    let answer = await nobody.call("POST", "/auth/admin/login", { ...password, username: "guessed" });
    for (let left = 20; left > 0 && answer.status === 401; left--) {
      answer = await nobody.call("POST", "/auth/admin/login", { ...password, username: "guessed" });
    }
    expect([answer.status, answer.headers.get("uam-error")]).toEqual([429, "login.locked"]);
    app.app.enter("stopping");
    const ready = await nobody.call("GET", "/readyz");
    app.app.enter("serving");
    expect([ready.status, ready.headers.get("uam-error")]).toEqual([503, "service.not_ready"]);
  });

  test("may be read by pages of the listed origins, and comes with a HEAD too", async () => {
    const headers = { origin: "https://console.example.org" };
    const answer = await nobody.call("GET", "/users", undefined, headers);
    expect(answer.headers.get("access-control-expose-headers")).toContain("Uam-Error");
    const request = new Request("http://127.0.0.1:8080/api/v1/users", { method: "HEAD" });
    expect((await app.app.fetch(request, "192.0.2.1")).headers.get("uam-error")).toBe("session.missing");
  });
});
