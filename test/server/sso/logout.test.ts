/** Back-channel logout: the provider's own over HTTP, and tokens that should not count. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { generateKeyPair } from "jose";
import { addAdmin } from "../../../src/domain/auth/administrators/add-admin.ts";
import { removeAdmin } from "../../../src/domain/auth/administrators/admin-changes.ts";
import { cleanUp } from "../../../src/domain/lifecycle/clean-up.ts";
import { HOUR } from "../../../src/shared/time/clock.ts";
import { ssoLogins, ssoLogouts, ssoSessions } from "../../../src/store/schema-sso.ts";
import { ADMIN_PASSWORD, createTestApp, type TestApp } from "../../support/app.ts";
import { type ForgedProvider, LOGOUT_EVENT, startForgedProvider } from "../../support/forged-provider.ts";
import { startProvider } from "../../support/oidc-provider.ts";
import { APP, type Browser, CALLBACK, meetClock, openBrowser, ssoVariables } from "../../support/sso-browser.ts";
import { testSlow } from "../../support/thorough.ts";
import { until } from "../../support/until.ts";

const PATH = "/api/v1/auth/oidc/backchannel-logout";

let app: TestApp;
let provider: ForgedProvider;

beforeAll(async () => {
  provider = await startForgedProvider();
  app = await createTestApp(ssoVariables(provider.issuer));
  await addAdmin(app.system, "local-owner", "local@example.org", ADMIN_PASSWORD);
});
afterAll(async () => {
  await app.close();
  await provider.close();
});
beforeEach(() => {
  provider.honest();
  meetClock(app);
});

async function login(claims: Record<string, unknown>): Promise<Browser> {
  provider.forgery.claims = claims;
  const browser = openBrowser(app);
  const at = await browser.follow(`${APP}/api/v1/auth/oidc/login`, (url) => url.startsWith(provider.issuer));
  expect(await browser.follow(provider.answerTo(at).href)).toContain("sso=done");
  return browser;
}

async function tell(
  token: string,
  more: RequestInit = {},
): Promise<{ readonly status: number; readonly text: string }> {
  const body = new URLSearchParams({ logout_token: token });
  const response = await app.app.fetch(new Request(APP + PATH, { method: "POST", body, ...more }), "192.0.2.9");
  expect(response.headers.get("cache-control")).toBe("no-store");
  return { status: response.status, text: await response.text() };
}

describe("POST /auth/oidc/backchannel-logout", () => {
  test("ends the sessions of the provider's session, and no others", async () => {
    const one = await login({ sub: "ann", sid: "a-1" });
    const other = await login({ sub: "ann", sid: "a-2" });
    const same = await login({ sub: "ben", sid: "b-1" });
    expect(await tell(await provider.logoutToken({ sub: "ann", sid: "a-1" }))).toEqual({
      ...{ status: 200, text: '{"data":{"status":"logged_out"}}' },
    });
    expect(await one.me()).toBe(401);
    expect(await other.me()).toMatchObject({ user_type: "admin" });
    expect(await same.me()).toMatchObject({ user_type: "admin" });
    const record = await app.lastAudit("auth.sso_logout");
    expect(record).toMatchObject({ actorType: "anonymous", result: "success", ip: "192.0.2.9" });
    expect(record.detail).toMatchObject({ way: "oidc", issuer: provider.issuer, subject: "ann", sessions: 1 });
    // By the session alone.
    expect((await tell(await provider.logoutToken({ sid: "b-1" }))).status).toBe(200);
    expect(await same.me()).toBe(401);
  });

  test("without a session ends all that the subject has by single sign-on, and leaves a password's", async () => {
    const both = [await login({ sub: "cat", sid: "c-1" }), await login({ sub: "cat", sid: "c-2" })];
    const local = await app.admin();
    expect((await tell(await provider.logoutToken({ sub: "cat" }))).status).toBe(200);
    expect(await Promise.all(both.map((browser) => browser.me()))).toEqual([401, 401]);
    expect((await local.call("GET", "/auth/me")).status).toBe(200);
    expect((await app.lastAudit("auth.sso_logout")).detail).toMatchObject({ subject: "cat", sessions: 2 });
  });

  test("about nobody here changes and records nothing, and answers as the standard says", async () => {
    const before = await app.auditRows();
    expect((await tell(await provider.logoutToken({ sub: "nobody here" }))).status).toBe(200);
    expect(await app.auditRows()).toHaveLength(before.length);
  });

  test("takes a token once, also of two at the same instant", async () => {
    await login({ sub: "dan", sid: "d-1" });
    const token = await provider.logoutToken({ sub: "dan" });
    const answers = await Promise.all([tell(token), tell(token)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
    const browser = await login({ sub: "dan", sid: "d-2" }).catch(() => undefined);
    // Of the same second, it may be either; a second later it is a new login.
    expect((await tell(token)).status).toBe(400);
    if (browser !== undefined) expect(await browser.me()).toMatchObject({ user_type: "admin" });
    const refused = await app.lastAudit("auth.sso_logout");
    expect(refused).toMatchObject({ result: "failed", detail: { err: "This logout token was used before" } });
  });

  const past = Math.floor(Date.now() / 1000) - 600;
  test.each<[string, Record<string, unknown>]>([
    ["another issuer", { iss: "https://evil.example" }],
    ["another audience", { aud: "another" }],
    ["no audience", { aud: undefined }],
    ["a nonce, as an ID token has", { nonce: "n" }],
    ["no events", { events: undefined }],
    ["other events", { events: { "http://schemas.openid.net/event/other": {} } }],
    ["an event that objects inherit", { events: JSON.parse(`{"__proto__":{"${LOGOUT_EVENT}":{}}}`) }],
    ["a list for events", { events: [LOGOUT_EVENT] }],
    ["neither subject nor session", { sub: undefined }],
    ["no id of its own", { jti: undefined }],
    ["an id that is no text", { jti: 7 }],
    ["an end that is past", { iat: past - 60, exp: past }],
    ["a moment an hour ahead", { iat: past + 4200, exp: past + 4800 }],
    ["no end", { exp: undefined }],
    ["no beginning", { iat: undefined }],
    ["control characters", { sub: "eve\n" }],
    ["a subject that is no text", { sub: { eve: 1 } }],
  ])("refuses a token with %s", async (_, claims) => {
    const browser = await login({ sub: "eve", sid: crypto.randomUUID() });
    const answer = await tell(await provider.logoutToken({ sub: "eve", ...claims }));
    expect(answer).toEqual({
      ...{ status: 400, text: '{"error":"This is no logout token of the provider\'s for this service"}' },
    });
    expect(await browser.me()).toMatchObject({ user_type: "admin" });
  });

  test("refuses a token that another key signed, none did, or the client's secret, and what is no token", async () => {
    const browser = await login({ sub: "fay", sid: "f-1" });
    const right = await provider.logoutToken({ sub: "fay" });
    const [header = "", payload = ""] = right.split(".");
    const none = `${Buffer.from('{"alg":"none"}').toString("base64url")}.${payload}.`;
    provider.forgery.key = (await generateKeyPair("ES256")).privateKey;
    const foreign = await provider.logoutToken({ sub: "fay" });
    provider.forgery.key = new TextEncoder().encode("a secret of the client's");
    provider.forgery.header = { alg: "HS256" };
    const shared = await provider.logoutToken({ sub: "fay" });
    for (const token of [none, foreign, shared, `${header}.${payload}.`, "", "a.b.c", "\0", "x".repeat(50_000)]) {
      expect((await tell(token)).status).toBe(400);
    }
    expect(await browser.me()).toMatchObject({ user_type: "admin" });
  });

  test("takes a form, once each field, of a bounded size, and nothing else", async () => {
    const json = { body: "{}", headers: { "content-type": "application/json" } };
    const form = { headers: { "content-type": "application/x-www-form-urlencoded" } };
    expect((await tell("", json)).text).toContain("must be a form");
    expect((await tell("", { ...form, body: "" })).text).toContain("logout_token is missing");
    expect((await tell("", { ...form, body: "logout_token=a&logout_token=b" })).status).toBe(400);
    expect((await tell("", { ...form, body: `logout_token=${"x".repeat(100_000)}` })).status).toBe(413);
    const foreign = { origin: "https://evil.example", ...form.headers };
    expect((await tell("", { body: "logout_token=a", headers: foreign })).status).toBe(403);
  });

  testSlow("finds a rotated key, after a few seconds", async () => {
    const browser = await login({ sub: "gus", sid: "g-1" });
    await tell(await provider.logoutToken({ sub: "gus", sid: "another" }));
    await provider.rotate();
    const token = await provider.logoutToken({ sub: "gus", sid: "g-1" });
    await until(async () => {
      const { status } = await tell(token);
      if (status !== 200) await Bun.sleep(500);
      return status === 200;
    });
    expect(await browser.me()).toBe(401);
  });

  test("is answered 503 while the provider's keys cannot be had, so that it tries again; junk is 400, and none is a fault", async () => {
    const faults: string[] = [];
    const fresh = await createTestApp(ssoVariables(provider.issuer), { error: (message) => void faults.push(message) });
    meetClock(fresh);
    provider.forgery.at = { "/jwks": (_, response) => void response.destroy() };
    const body = new URLSearchParams({ logout_token: await provider.logoutToken({ sub: "hal" }) });
    const response = await fresh.app.fetch(new Request(APP + PATH, { method: "POST", body }), undefined);
    expect([response.status, response.headers.get("uam-error")]).toEqual([503, "sso.unavailable"]);
    expect(response.headers.get("retry-after")).toBe("2");
    const unsigned = (claims: object) =>
      ['{"alg":"RS256"}', JSON.stringify(claims), "x"].map((part) => Buffer.from(part).toString("base64url")).join(".");
    for (const token of ["junk", "a.b.c", "..", unsigned({}), unsigned({ aud: "somebody else" })]) {
      const junk = new URLSearchParams({ logout_token: token });
      const { status } = await fresh.app.fetch(new Request(APP + PATH, { method: "POST", body: junk }), undefined);
      expect([token, status]).toEqual([token, 400]);
    }
    expect(faults).toEqual([]);
    await fresh.close();
  });

  test("stops a login that began before it", async () => {
    const browser = openBrowser(app);
    provider.forgery.claims = { sub: "ida", sid: "i-1" };
    const at = await browser.follow(`${APP}/api/v1/auth/oidc/login`, (url) => url.startsWith(provider.issuer));
    const back = provider.answerTo(at);
    expect((await tell(await provider.logoutToken({ sub: "ida", sid: "i-1" }))).status).toBe(200);
    expect(await browser.follow(back.href)).toContain("sso=expired");
    // Whoever logs in at the provider again has another session there.
    await login({ sub: "ida", sid: "i-2" });
  });

  test("counts wrong tokens against the address, and never right ones", async () => {
    const limited = await createTestApp(ssoVariables(provider.issuer, { UAM_RATE_LIMIT: "on" }));
    meetClock(limited);
    const post = async (token: string) => {
      const body = new URLSearchParams({ logout_token: token });
      return (await limited.app.fetch(new Request(APP + PATH, { method: "POST", body }), "192.0.2.9")).status;
    };
    for (let left = 60; left > 0; left--) expect(await post("a.b.c")).toBe(400);
    expect(await post("a.b.c")).toBe(429);
    expect(await post(await provider.logoutToken({ sub: "joe" }))).toBe(200);
    await limited.close();
  });
});

describe("what single sign-on stores", () => {
  test("goes with the administrator, the session, and the time", async () => {
    const browser = await login({ sub: "kim", sid: "k-1" });
    const { username } = (await browser.me()) as { username: string };
    const before = (await app.db.select().from(ssoSessions)).length;
    await removeAdmin(app.system, username);
    expect((await app.db.select().from(ssoSessions)).length).toBe(before - 1);
    await browser.get(`${APP}/api/v1/auth/oidc/login`);
    expect((await app.db.select().from(ssoLogins)).length).toBeGreaterThan(0);
    app.clock.advance(HOUR);
    await cleanUp(app.services);
    expect(await app.db.select().from(ssoLogins)).toEqual([]);
    expect(await app.db.select().from(ssoLogouts)).toEqual([]);
  });
});

describe("a real provider", () => {
  test("ends the session here when its own ends", async () => {
    let current: TestApp | undefined;
    const server = Bun.serve({
      ...{ port: 0, hostname: "127.0.0.1", idleTimeout: 0 },
      fetch: (request) => current?.app.fetch(request, "127.0.0.1") ?? new Response(null, { status: 503 }),
    });
    const real = await startProvider(CALLBACK, `http://127.0.0.1:${server.port}${PATH}`);
    const own = await createTestApp(ssoVariables(real.issuer));
    current = own;
    try {
      meetClock(own);
      const claims = { preferred_username: "real", email: "real@example.org", groups: ["uam-owners"] };
      real.wishes.person = { subject: "real-1", claims };
      const browser = openBrowser(own);
      expect(await browser.login()).toContain("sso=done");
      expect(await browser.me()).toMatchObject({ username: "real" });
      const [{ sid = "" } = {}] = (await own.db.select().from(ssoSessions)) as { sid?: string }[];
      expect(sid).not.toBe("");
      const client = (await real.provider.Client.find("uam")) as unknown as {
        backchannelLogout(subject: string, session: string): Promise<void>;
      };
      await client.backchannelLogout("real-1", sid);
      expect(await browser.me()).toBe(401);
      expect((await own.lastAudit("auth.sso_logout")).detail).toMatchObject({ username: "real", sessions: 1 });
    } finally {
      await own.close();
      await real.close();
      await server.stop(true);
    }
  });
});
