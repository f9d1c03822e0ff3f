/** Single sign-on with a provider that answers what it should not, slowly, or not at all. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { ServerResponse } from "node:http";
import { eq } from "drizzle-orm";
import fc from "fast-check";
import { generateKeyPair } from "jose";
import { addAdmin } from "../../../src/domain/auth/administrators/add-admin.ts";
import { createSsoProvider } from "../../../src/server/sso/provider.ts";
import { silentLog } from "../../../src/shared/log.ts";
import { systemClock } from "../../../src/shared/time/clock.ts";
import { admins } from "../../../src/store/schema-auth.ts";
import { ssoIdentities, ssoLogins } from "../../../src/store/schema-sso.ts";
import { ADMIN_PASSWORD, createTestApp, type TestApp } from "../../support/app.ts";
import { type ForgedProvider, startForgedProvider } from "../../support/forged-provider.ts";
import { HANG } from "../../support/hang.ts";
import { APP, type Browser, CALLBACK, meetClock, openBrowser, ssoVariables } from "../../support/sso-browser.ts";
import { testSlow } from "../../support/thorough.ts";

let app: TestApp;
let provider: ForgedProvider;
const logged: string[] = [];

beforeAll(async () => {
  provider = await startForgedProvider();
  const note = (message: string, fields: unknown) => logged.push(`${message} ${Bun.inspect(fields, { depth: 3 })}`);
  const { UAM_OIDC_ROLES: roles, ...rest } = ssoVariables(provider.issuer);
  const variables = { ...rest, UAM_OIDC_ROLES: `${roles},email:boss@example.org=owner` };
  app = await createTestApp(variables, { warn: note, error: note });
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

const said = (outcome: string) => `/login?as=admin&sso=${outcome}`;
const DONE = "/login?as=admin&sso=done&next=%2Fadmin";

/** A whole login; `spoil` changes the address that the provider sends the browser back to. */
async function login(spoil: (back: URL) => void = () => {}, browser: Browser = openBrowser(app)): Promise<string> {
  const at = await browser.follow(`${APP}/api/v1/auth/oidc/login`, (url) => url.startsWith(provider.issuer));
  if (at.startsWith(APP)) return at.slice(APP.length);
  const back = provider.answerTo(at);
  spoil(back);
  return (await browser.follow(back.href)).slice(APP.length);
}

const later = (seconds: number) => Math.floor(Date.now() / 1000) + seconds;

describe("an ID token", () => {
  test("that is right lets in, twice the same person", async () => {
    expect(await login()).toBe(DONE);
    expect(await login()).toBe(DONE);
    expect(await app.db.select().from(ssoIdentities)).toHaveLength(1);
  });

  test.each<[string, Record<string, unknown>]>([
    ["another nonce", { nonce: "another" }],
    ["no nonce", { nonce: undefined }],
    ["another audience", { aud: "another" }],
    ["another issuer", { iss: "https://evil.example" }],
    ["an end that is past", { exp: later(-120) }],
    ["no end", { exp: undefined }],
    ["a beginning yet to come", { nbf: later(300), iat: later(300) }],
    ["a moment an hour ahead", { iat: later(3600), exp: later(7200) }],
    ["a moment of a month ago", { iat: later(-30 * 86_400), exp: later(300) }],
    ["a moment before the login began", { iat: later(-12 * 60), exp: later(300) }],
    ["somebody else's party to use it", { azp: "another" }],
    ["a party to use it that is no text", { azp: ["uam"] }],
    ["no subject", { sub: undefined }],
    ["a number for a subject", { sub: 7 }],
    ["an empty subject", { sub: "" }],
    ["a long subject", { sub: "x".repeat(256) }],
    ["a subject with control characters", { sub: "a\u0007b" }],
    ["a subject with line breaks", { sub: "alice\nroot" }],
    ["a subject that runs backwards", { sub: "alice\u202e" }],
    ["a session with control characters", { sid: "a\0b" }],
    ["a session that is no text", { sid: { toString: 1 } }],
  ])("with %s proves nobody", async (_, claims) => {
    provider.forgery.claims = claims;
    const before = await app.db.select().from(ssoIdentities);
    expect(await login()).toBe(said("invalid"));
    expect(await app.db.select().from(ssoIdentities)).toEqual(before);
    expect(await app.lastAudit("auth.admin_login")).toMatchObject({ actorType: "anonymous", result: "failed" });
  });

  test("that somebody else signed, or nobody, or the client's secret, proves nobody", async () => {
    provider.forgery.key = (await generateKeyPair("ES256")).privateKey;
    expect(await login()).toBe(said("invalid"));
    provider.forgery.key = new TextEncoder().encode("a secret of the client's, as long as HS256 needs");
    provider.forgery.header = { alg: "HS256" };
    expect(await login()).toBe(said("invalid"));
    provider.honest();
    const claims = { iss: provider.issuer, aud: "uam", sub: "somebody", iat: later(0), exp: later(60) };
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
    provider.forgery.token = { id_token: `${part({ alg: "none" })}.${part(claims)}.` };
    expect(await login()).toBe(said("invalid"));
  });

  test("is required", async () => {
    provider.forgery.token = { id_token: undefined };
    expect(await login()).toBe(said("invalid"));
  });

  test("of a clock that is a little off is taken, and of one that is far off is not", async () => {
    for (const [off, end] of [
      [45, DONE],
      [-45, DONE],
      [-400, said("invalid")],
    ] as const) {
      provider.forgery.claims = { iat: later(off), nbf: later(off), exp: later(off + 300) };
      expect(await login()).toBe(end);
    }
    provider.forgery.claims = { nbf: later(120) };
    expect(await login()).toBe(said("invalid"));
  });

  test("that a new key signed is taken at once, without waiting for an old one to go", async () => {
    expect(await login()).toBe(DONE);
    await provider.rotate();
    expect(await login()).toBe(DONE);
  });
});

describe("claims of any shape", () => {
  let count = 0;
  function stranger(claims: Record<string, unknown>): Record<string, unknown> {
    const sub = `stranger-${++count}`;
    provider.forgery.userinfo = { sub };
    return { sub, ...claims };
  }

  test.each<[string, unknown, string]>([
    ["a name", "Zoë.Müller@example.org", "zoe.muller"],
    ["control characters", "al\u0000ice\u001b[31m\n", "al-ice-31m"],
    ["a megabyte", "x".repeat(500_000), "x".repeat(56)],
    ["a prototype's name", "__proto__", "proto"],
    ["what objects inherit", "constructor", "constructor"],
    ["nothing that a name may hold", "\u202e💥", "sso"],
    ["an array", ["root"], "mail"],
    ["an object", { toString: "root" }, "mail"],
    ["path separators", "../../etc/passwd", "etc-passwd"],
  ])("make a name of %s", async (_, preferred, name) => {
    provider.forgery.claims = stranger({ preferred_username: preferred, email: "mail@example.org" });
    expect(await login()).toBe(DONE);
    const made = await app.lastAudit("admin.create");
    const { username } = made.detail;
    // A number follows where the name is taken.
    expect(String(username).replace(/-\d+$/, "")).toBe(name);
  });

  test("give no role by what objects inherit, and by no other type than text", async () => {
    const odd = [
      "uam-owners ",
      [["uam-owners"], ["x"]],
      { "uam-owners": true },
      [{ toString: "uam-owners" }],
      true,
      1e308,
    ];
    for (const groups of odd) {
      provider.forgery.claims = stranger({ groups });
      expect(await login()).toBe(said("role"));
    }
    const own = JSON.parse('{"__proto__":{"groups":["uam-owners"]}}') as Record<string, unknown>;
    provider.forgery.claims = Object.assign(stranger({ groups: undefined }), { constructor: own });
    expect(await login()).toBe(said("role"));
  });

  test("need an address that the provider vouches for", async () => {
    for (const email of [undefined, "", "no address", ["a@example.org"], "a@example.org\nBcc: b@example.org", 7]) {
      provider.forgery.claims = stranger({ email });
      expect(await login()).toBe(said("email"));
    }
    // As in nOAuth: an address that its owner typed.
    provider.forgery.claims = stranger({ email_verified: false });
    expect(await login()).toBe(said("email"));
  });

  test("that the ID token lacks come from the userinfo endpoint, if it is about the same person", async () => {
    const lacking = stranger({ groups: undefined, email: undefined });
    provider.forgery.claims = lacking;
    const more = { groups: ["ops"], email: "more@example.org" };
    provider.forgery.userinfo = { sub: lacking.sub, ...more };
    expect(await login()).toBe(DONE);
    expect((await app.lastAudit("admin.create")).detail).toMatchObject({ role: "operator", email: "more@example.org" });
    provider.forgery.userinfo = { sub: "somebody else", ...more };
    expect(await login()).toBe(said("invalid"));
    // What is signed wins over what is not.
    provider.forgery.claims = stranger({ groups: ["readers"], email: undefined });
    provider.forgery.userinfo = { sub: provider.forgery.claims.sub, ...more, groups: ["uam-owners"] };
    expect(await login()).toBe(DONE);
    expect((await app.lastAudit("admin.create")).detail).toMatchObject({ role: "auditor" });
  });
});

describe("an address, and whether it is verified", () => {
  let count = 0;
  /** Somebody new: what the ID token says, and what the userinfo endpoint does. */
  async function entering(token: Record<string, unknown>, userinfo: Record<string, unknown>): Promise<string> {
    const sub = `addressed-${++count}`;
    // Without groups, both are asked for.
    provider.forgery.claims = { sub, preferred_username: sub, groups: undefined, email: undefined, ...token };
    provider.forgery.userinfo = { sub, ...userinfo };
    return await login();
  }

  test("are of one source: a flag of one makes no address of the other true", async () => {
    const boss = "boss@example.org";
    const mine = "mine@example.org";
    // Whoever has the address has the role; only of a verified one.
    expect(await entering({ email: boss }, { email: boss, email_verified: true })).toBe(DONE);
    expect(await entering({ email: boss, email_verified: true }, {})).toBe(DONE);
    expect(await entering({}, { email: boss, email_verified: true })).toBe(DONE);
    expect(await entering({ email: boss }, { email: mine, email_verified: true })).toBe(said("role"));
    expect(await entering({ email: boss }, { email_verified: true })).toBe(said("role"));
    expect(await entering({ email_verified: true }, { email: boss })).toBe(said("role"));
    expect(await entering({ email: mine, email_verified: true }, { email: boss })).toBe(said("role"));
  });

  test("that one source denies is vouched for by none", async () => {
    const groups = ["uam-owners"];
    expect(await entering({ email: "a@example.org" }, { groups, email: "a@example.org", email_verified: false })).toBe(
      said("email"),
    );
    expect(await entering({ email_verified: false }, { groups, email: "a@example.org" })).toBe(said("email"));
    expect(await entering({ email: "a@example.org" }, { groups, email: "b@example.org" })).toBe(DONE);
    expect((await app.lastAudit("admin.create")).detail).toMatchObject({ email: "a@example.org" });
  });
});

describe("a provider that is away", () => {
  const broken: readonly (readonly [string, (response: ServerResponse) => void])[] = [
    ["hangs up", (response) => response.destroy()],
    ["answers 500", (response) => response.writeHead(500).end("<script>alert(1)</script>")],
    ["answers a page", (response) => response.writeHead(200, { "content-type": "text/html" }).end("<h1>login</h1>")],
    ["leads elsewhere", (response) => response.writeHead(302, { location: "https://evil.example/" }).end()],
    ["answers no JSON", (response) => response.writeHead(200, { "content-type": "application/json" }).end("{")],
    [
      "answers without end",
      (response) => {
        response.writeHead(200, { "content-type": "application/json" });
        response.write("[");
        const more = setInterval(() => response.write(`"${"x".repeat(200_000)}",`), 1);
        response.on("close", () => clearInterval(more));
      },
    ],
  ];

  const PLACES = ["/.well-known/openid-configuration", "/jwks", "/token", "/userinfo"];

  test.each(PLACES.flatMap((path) => broken.map(([what, how]) => [path, what, how] as const)))(
    "at %s, that %s, lets nobody in and says so",
    async (path, _, how) => {
      // What it says of itself is kept for ten minutes, by an application that has asked.
      const fresh = await createTestAppLike();
      try {
        provider.forgery.at = { [path]: (_request, response) => how(response) };
        provider.forgery.claims = { email: undefined };
        provider.forgery.userinfo = { sub: "somebody", email: "somebody@example.org" };
        const browser = openBrowser(fresh);
        expect(await login(undefined, browser)).toBe(said("unavailable"));
        expect(browser.jars.get(APP)?.has("__Host-uam_session") ?? false).toBe(false);
        // Passwords go on, and so does single sign-on once it is back.
        expect((await fresh.admin()).cookie).not.toBe("");
        provider.forgery.at = {};
        expect(await login(undefined, browser)).toBe(DONE);
      } finally {
        await fresh.close();
      }
    },
  );

  test("stores nothing of a login that it cannot begin", async () => {
    const fresh = await createTestAppLike();
    try {
      provider.forgery.at = { "/.well-known/openid-configuration": (_, response) => void response.destroy() };
      expect(await login(undefined, openBrowser(fresh))).toBe(said("unavailable"));
      expect(await fresh.db.select().from(ssoLogins)).toEqual([]);
      const failed = await fresh.lastAudit("auth.admin_login");
      expect(failed).toMatchObject({ actorType: "anonymous", result: "failed", ip: "192.0.2.1" });
      expect(failed.detail).toMatchObject({ way: "oidc", err: expect.stringContaining("does not answer") });
    } finally {
      await fresh.close();
    }
  });

  test("is noticed before a browser is sent there, whatever was known of it", async () => {
    expect(await login()).toBe(DONE);
    app.clock.advance(5_000);
    provider.forgery.at = { "/.well-known/openid-configuration": (_, response) => void response.destroy() };
    expect(await login()).toBe(said("unavailable"));
    provider.forgery.at = {};
    expect(await login()).toBe(DONE);
  });

  testSlow("is not waited for longer than its time", async () => {
    const rules = [{ claim: "groups", value: "uam-owners", role: "owner" }] as const;
    const settings = {
      ...{ issuer: provider.issuer, clientId: "uam", clientSecret: "s", redirectUri: CALLBACK, rules },
      ...{ scope: "openid", name: "n", patience: 300 },
    };
    const secrets = { state: "s".repeat(43), nonce: "n".repeat(43), verifier: "v".repeat(43) };
    for (const path of PLACES) {
      const asked = createSsoProvider(settings, { clock: systemClock, log: silentLog });
      provider.honest();
      // One says nothing at all, one begins and never ends.
      for (const begins of [false, true]) {
        provider.forgery.at = {
          [path]: (_, response) => {
            if (begins) response.writeHead(200, { "content-type": "application/json" }).write("{");
          },
        };
        provider.forgery.claims = { email: undefined };
        const from = performance.now();
        const answer = asked
          .loginAddress(secrets)
          .then((address) => asked.redeem(provider.answerTo(address).searchParams, secrets));
        expect(await answer.catch((error: { reason: string }) => error.reason)).toBe("sso.unavailable");
        expect(performance.now() - from).toBeLessThan(HANG);
      }
    }
  });

  test("calls itself another issuer, or sends elsewhere without TLS: is not believed", async () => {
    const odd: readonly Record<string, unknown>[] = [
      { issuer: "https://evil.example" },
      { issuer: `${provider.issuer}/other` },
      { issuer: undefined },
      { authorization_endpoint: undefined },
    ];
    for (const metadata of odd) {
      const fresh = await createTestAppLike();
      provider.forgery.metadata = metadata;
      const end = await login(undefined, openBrowser(fresh)).catch(String);
      await fresh.close();
      expect(end).toBe(said("unavailable"));
    }
  });

  test("leaves nothing of what it sent in a page's address, an audit record or the log", async () => {
    const hostile = "<script>alert('hostile')</script>";
    for (const error of ["access_denied", "server_error", hostile]) {
      const end = await login((back) => {
        back.searchParams.delete("code");
        back.searchParams.set("error", error);
        back.searchParams.set("error_description", hostile);
        back.searchParams.set("error_uri", "https://evil.example/");
      });
      expect(end).toBe(said(error === "access_denied" ? "refused" : "unavailable"));
    }
    provider.forgery.at = {
      "/token": (_, response) => {
        response.writeHead(400, { "content-type": "application/json" });
        response.end(JSON.stringify({ error: hostile, error_description: hostile }));
      },
    };
    expect(await login()).toBe(said("unavailable"));
    const rows = await app.auditRows("auth.admin_login");
    expect(rows.length).toBeGreaterThan(3);
    expect(JSON.stringify(rows)).not.toContain("hostile");
    expect(logged.filter((line) => /single sign-on/.test(line)).length).toBeGreaterThan(3);
  });
});

describe("what a browser sends", () => {
  test("whatever it is, leads to the login page, never to another and never to a fault", async () => {
    const NAMES = ["state", "code", "error", "iss", "next", "response", "id_token", "session_state"];
    const odd = fc.constantFrom("\0", "__proto__", "%", "//evil.example", "\r\nset-cookie: a=b");
    const query = fc.array(fc.tuple(fc.constantFrom(...NAMES), fc.oneof(fc.string({ unit: "binary" }), odd)), {
      maxLength: 5,
    });
    const cookie = fc.constantFrom("", "__Host-uam_sso=x", `__Host-uam_sso=${"x".repeat(43)}`);
    await fc.assert(
      fc.asyncProperty(query, cookie, async (pairs, sent) => {
        const encoded = pairs.map((pair) => pair.map((part) => encodeURIComponent(part.toWellFormed())).join("="));
        const search = encoded.join("&");
        const request = new Request(`${CALLBACK}?${search}`, { headers: { cookie: sent } });
        const response = await app.app.fetch(request, "192.0.2.1");
        expect([response.status, response.headers.get("location")]).toEqual([303, APP + said("expired")]);
        expect(response.headers.getSetCookie()).toEqual([]);
        const begun = await app.app.fetch(new Request(`${APP}/api/v1/auth/oidc/login?${search}`), "192.0.2.1");
        // NUL in `next`, and two of them.
        if (begun.status === 400) return;
        expect(begun.headers.get("location")).toStartWith(`${provider.issuer}/auth?`);
      }),
      { numRuns: 60 },
    );
  });
});

describe("the service itself", () => {
  test("says so where its database does not take a login, and stores no half of one", async () => {
    for (const table of ["sso_logins", "sso_identities", "sso_sessions"]) {
      const browser = openBrowser(app);
      provider.forgery.claims = { sub: `unlucky-${table}`, email: "unlucky@example.org" };
      const at = await browser.follow(`${APP}/api/v1/auth/oidc/login`, (url) => url.startsWith(provider.issuer));
      await app.alter(`alter table ${table} rename to away`);
      try {
        const before = (await app.auditRows()).length;
        expect(await browser.follow(provider.answerTo(at).href)).toBe(APP + said("failed"));
        expect(browser.jars.get(APP)?.has("__Host-uam_session")).toBe(false);
        // On record, and nothing else.
        expect((await app.auditRows()).slice(before).map(({ action, result }) => [action, result])).toEqual([
          ["auth.admin_login", "failed"],
        ]);
        if (table === "sso_logins") expect(await openBrowser(app).login()).toBe(said("failed"));
      } finally {
        await app.alter(`alter table away rename to ${table}`);
      }
      expect(await app.db.select().from(admins).where(eq(admins.email, "unlucky@example.org"))).toEqual([]);
    }
  });

  test("lets 60 logins an hour through from one address, and says so on the page", async () => {
    const limited = await createTestApp(ssoVariables(provider.issuer, { UAM_RATE_LIMIT: "on" }));
    meetClock(limited);
    for (let left = 60; left > 0; left--) expect(await login(undefined, openBrowser(limited))).toBe(DONE);
    expect(await openBrowser(limited).login()).toBe(said("limited"));
    // Passwords are counted by themselves.
    expect((await limited.admin()).cookie).not.toBe("");
    await limited.close();
  });
});

/** Another application with the same provider, which has asked it nothing yet. */
async function createTestAppLike(): Promise<TestApp> {
  const fresh = await createTestApp(ssoVariables(provider.issuer));
  meetClock(fresh);
  return fresh;
}
