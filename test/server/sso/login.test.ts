/** Single sign-on from end to end, with a real provider over HTTP. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { addAdmin } from "../../../src/domain/auth/administrators/add-admin.ts";
import { removeAdmin, setAdminPassword, updateAdmin } from "../../../src/domain/auth/administrators/admin-changes.ts";
import { createToken } from "../../../src/domain/auth/tokens/tokens.ts";
import { MINUTE } from "../../../src/shared/time/clock.ts";
import { admins, sessions } from "../../../src/store/schema-auth.ts";
import { ssoIdentities, ssoLogins } from "../../../src/store/schema-sso.ts";
import { ADMIN_PASSWORD, confirming, createTestApp, type TestApp } from "../../support/app.ts";
import { type Person, startProvider, type TestProvider } from "../../support/oidc-provider.ts";
import { APP, type Browser, CALLBACK, meetClock, openBrowser, ssoVariables } from "../../support/sso-browser.ts";

let app: TestApp;
let provider: TestProvider;

beforeAll(async () => {
  provider = await startProvider(CALLBACK);
  app = await createTestApp(ssoVariables(provider.issuer));
  // Somebody to rely on, so that roles can fall.
  await addAdmin(app.system, "local-owner", "local@example.org", ADMIN_PASSWORD);
});
afterAll(async () => {
  await app.close();
  await provider.close();
});
beforeEach(() => {
  meetClock(app);
  provider.wishes.before = undefined;
});

let count = 0;
/** Somebody new at the provider, who is at the keyboard from now on. */
function somebody(claims: Person["claims"] = {}): Person {
  count++;
  const subject = `subject-${count}`;
  const own = { preferred_username: `person${count}`, email: `person${count}@example.org`, email_verified: true };
  provider.wishes.person = { subject, claims: { ...own, groups: ["uam-owners"], ...claims } };
  return provider.wishes.person;
}

function enter(): Promise<{ readonly browser: Browser; readonly end: string }> {
  const browser = openBrowser(app);
  return browser.login().then((end) => ({ browser, end }));
}

const done = (next = "/admin") => `/login?${new URLSearchParams({ as: "admin", sso: "done", next })}`;
const said = (outcome: string) => `/login?as=admin&sso=${outcome}`;
const isBack = (url: string) => url.startsWith(CALLBACK);

async function adminOf({ subject }: Person) {
  const [row] = await app.db
    .select({ admin: admins })
    .from(ssoIdentities)
    .innerJoin(admins, eq(admins.id, ssoIdentities.adminId))
    .where(eq(ssoIdentities.subject, subject));
  return row?.admin;
}

describe("a login by single sign-on", () => {
  test("makes an administrator at the first one, and finds them again by issuer and subject at the next", async () => {
    const person = somebody();
    const { browser, end } = await enter();
    expect(end).toBe(done());
    expect(await browser.me()).toMatchObject({ user_type: "admin", username: `person${count}`, role: "owner" });
    const first = await adminOf(person);
    expect(first).toMatchObject({ sso: true, passwordHash: null, email: `person${count}@example.org`, role: "owner" });
    const login = await app.lastAudit("auth.admin_login");
    expect(login).toMatchObject({ actorType: "admin", actor: `person${count}`, result: "success", ip: "192.0.2.1" });
    const { issuer } = provider;
    expect(login.detail).toEqual({ way: "oidc", issuer, subject: person.subject, username: `person${count}` });
    const made = await app.lastAudit("admin.create");
    expect(made).toMatchObject({ actor: `person${count}`, resourceId: String(first?.id) });
    expect(made.detail).toMatchObject({ way: "oidc", issuer, subject: person.subject, role: "owner" });
    // Another name and another address: still the same person.
    provider.wishes.person = {
      ...person,
      claims: { ...person.claims, preferred_username: "x", email: "y@example.org" },
    };
    const again = await enter();
    expect(await again.browser.me()).toMatchObject({ id: first?.id, username: `person${count}` });
    expect((await adminOf(person))?.email).toBe(`person${count}@example.org`);
  });

  test("leads to the page that was asked for if it is one of ours, and to nowhere else", async () => {
    somebody();
    for (const next of ["/admin/users", "/admin/users/7", "/admin/applications?status=pending"]) {
      expect(await openBrowser(app).login(next)).toBe(done(next));
    }
    const foreign = ["https://evil.example", "//evil.example", "/\\evil.example", "/admin/../x", "javascript:alert(1)"];
    for (const next of [...foreign, "/admin\n", "/api/v1/users", "", `/admin?${"x".repeat(600)}`]) {
      expect(await openBrowser(app).login(next)).toBe(done());
    }
  });

  test("binds a login by a cookie that other sites' links carry and no script reads, and takes it away", async () => {
    somebody();
    const { browser } = await enter();
    const [begun] = browser.steps;
    expect(begun?.status).toBe(303);
    expect(begun?.setCookies).toHaveLength(1);
    expect(begun?.setCookies[0]).toMatch(
      /^__Host-uam_sso=[\w-]{43}; Max-Age=600; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
    );
    const back = browser.steps.find(({ url }) => isBack(url));
    expect(back?.setCookies).toHaveLength(2);
    expect(back?.setCookies.join()).toMatch(
      /__Host-uam_session=[\w-]{43}; Max-Age=43200; Path=\/; HttpOnly; Secure; SameSite=Strict/,
    );
    expect([...(browser.jars.get(APP)?.keys() ?? [])]).toEqual(["__Host-uam_session"]);
    const asked = new URL(browser.steps[1]?.url ?? "");
    expect(Object.fromEntries(asked.searchParams)).toMatchObject({
      ...{ response_type: "code", code_challenge_method: "S256", redirect_uri: CALLBACK, client_id: "uam" },
      ...{ scope: "openid profile email groups", state: expect.stringMatching(/^[\w-]{43}$/) },
      nonce: expect.stringMatching(/^[\w-]{43}$/),
    });
  });

  test("replaces the session that the browser had, whose cookie does not come back from another site", async () => {
    somebody();
    const { browser } = await enter();
    const old = browser.jars.get(APP)?.get("__Host-uam_session") ?? "";
    const callback = await browser.follow(`${APP}/api/v1/auth/oidc/login`, isBack);
    browser.jars.get(APP)?.delete("__Host-uam_session");
    expect(await browser.follow(callback)).toStartWith(APP + done());
    const next = browser.jars.get(APP)?.get("__Host-uam_session");
    expect(next).not.toBe(old);
    browser.jars.get(APP)?.set("__Host-uam_session", old);
    expect(await browser.me()).toBe(401);
  });

  test("goes on while the provider changes its keys", async () => {
    const person = somebody();
    await enter();
    await provider.rotate();
    expect((await enter()).end).toBe(done());
    expect(await adminOf(person)).toMatchObject({ username: `person${count}` });
  });

  test("goes on in each of two tabs", async () => {
    somebody();
    const browser = openBrowser(app);
    const first = await browser.follow(`${APP}/api/v1/auth/oidc/login?next=/admin/users`, isBack);
    const second = await browser.follow(`${APP}/api/v1/auth/oidc/login?next=/admin/audit`, isBack);
    const cookie = browser.jars.get(APP)?.get("__Host-uam_sso") ?? "";
    expect(await browser.follow(first)).toBe(APP + done("/admin/users"));
    browser.jars.get(APP)?.set("__Host-uam_sso", cookie);
    expect(await browser.follow(second)).toBe(APP + done("/admin/audit"));
  });
});

describe("an answer that proves nobody", () => {
  /** As far as the provider's answer, which is not yet brought back. */
  async function answered(): Promise<{ readonly browser: Browser; readonly callback: string }> {
    const browser = openBrowser(app);
    return { browser, callback: await browser.follow(`${APP}/api/v1/auth/oidc/login`, isBack) };
  }

  async function refused(browser: Browser, callback: string, outcome: string): Promise<void> {
    expect(await browser.follow(callback)).toBe(APP + said(outcome));
    expect(browser.jars.get(APP)?.has("__Host-uam_session")).toBe(false);
    const failed = await app.lastAudit("auth.admin_login");
    expect(failed).toMatchObject({ actorType: "anonymous", result: "failed" });
    expect(failed.detail).toMatchObject({ way: "oidc", issuer: provider.issuer, err: expect.any(String) });
  }

  test("of somebody who refused says so, without a word of the provider's", async () => {
    provider.wishes.person = undefined;
    const { browser, callback } = await answered();
    expect(callback).toContain("script");
    await refused(browser, callback, "refused");
    expect((await app.lastAudit("auth.admin_login")).detail.err).toBe(
      "The provider did not let you in, or you did not agree",
    );
  });

  test("twice: the state is good once", async () => {
    somebody();
    const { browser, callback } = await answered();
    const cookie = browser.jars.get(APP)?.get("__Host-uam_sso") ?? "";
    expect(await browser.follow(callback)).toBe(APP + done());
    const replay = openBrowser(app);
    replay.jars.set(APP, new Map([["__Host-uam_sso", cookie]]));
    await refused(replay, callback, "expired");
  });

  test("at the same instant: one of two wins", async () => {
    somebody();
    const { browser, callback } = await answered();
    const cookie = browser.jars.get(APP)?.get("__Host-uam_sso") ?? "";
    const both = [openBrowser(app), openBrowser(app)];
    for (const one of both) one.jars.set(APP, new Map([["__Host-uam_sso", cookie]]));
    const ends = await Promise.all(both.map((one) => one.follow(callback)));
    expect(ends.sort()).toEqual([APP + done(), APP + said("expired")]);
  });

  test("with a code that was used, under a state of its own", async () => {
    somebody();
    const first = await answered();
    const code = new URL(first.callback).searchParams.get("code") ?? "";
    expect(await first.browser.follow(first.callback)).toBe(APP + done());
    const second = await answered();
    const url = new URL(second.callback);
    url.searchParams.set("code", code);
    await refused(second.browser, url.href, "expired");
  });

  test("of another browser's login, and without a cookie: nobody is logged in as somebody else", async () => {
    somebody();
    const attacker = await answered();
    const victim = await answered();
    await refused(victim.browser, attacker.callback, "expired");
    await refused(openBrowser(app), attacker.callback, "expired");
    // Nor has that used it up.
    expect(await attacker.browser.follow(attacker.callback)).toBe(APP + done());
  });

  test("after ten minutes, without a state, with two, and of another issuer", async () => {
    somebody();
    const late = await answered();
    app.clock.advance(10 * MINUTE);
    await refused(late.browser, late.callback, "expired");
    meetClock(app);
    const without = await answered();
    await refused(without.browser, `${CALLBACK}?code=x`, "expired");
    await refused(without.browser, `${without.callback}&state=again`, "invalid");
    const mixed = await answered();
    const url = new URL(mixed.callback);
    url.searchParams.set("iss", "https://evil.example");
    await refused(mixed.browser, url.href, "invalid");
    const unsigned = await answered();
    await refused(unsigned.browser, unsigned.callback.replace(/&iss=[^&]*/, ""), "invalid");
  });

  test("asked for by HEAD begins and ends nothing", async () => {
    somebody();
    const { browser, callback } = await answered();
    const before = await app.db.select().from(ssoLogins);
    for (const url of [callback, `${APP}/api/v1/auth/oidc/login`]) {
      const headers = { cookie: `__Host-uam_sso=${browser.jars.get(APP)?.get("__Host-uam_sso")}` };
      const { status } = await app.app.fetch(new Request(url, { method: "HEAD", headers }), "192.0.2.1");
      expect(status).toBe(303);
    }
    expect(await app.db.select().from(ssoLogins)).toEqual(before);
    expect(await browser.follow(callback)).toBe(APP + done());
  });
});

describe("the role", () => {
  test("is the highest that the claims give, and nobody comes in without one", async () => {
    const person = somebody({ groups: ["readers", "ops", "cooks"] });
    expect(await (await enter()).browser.me()).toMatchObject({ role: "operator" });
    for (const groups of [[], undefined, "uam", ["UAM-OWNERS"], [["uam-owners"]], { 0: "uam-owners" }, 1, null]) {
      const stranger = somebody({ groups });
      expect((await enter()).end).toBe(said("role"));
      expect(await adminOf(stranger)).toBeUndefined();
    }
    expect((await adminOf(person))?.role).toBe("operator");
    const failed = await app.lastAudit("auth.admin_login");
    expect(failed).toMatchObject({ result: "failed", actorType: "anonymous" });
    expect(failed.detail).toMatchObject({
      subject: `subject-${count}`,
      err: expect.stringContaining("UAM_OIDC_ROLES"),
    });
  });

  test("follows the claims at each login, in sessions that are open as well, on record", async () => {
    const person = somebody();
    const { browser } = await enter();
    provider.wishes.person = { ...person, claims: { ...person.claims, groups: ["readers"] } };
    await enter();
    expect(await browser.me()).toMatchObject({ role: "auditor" });
    const changed = await app.lastAudit("admin.update");
    expect(changed).toMatchObject({ actor: `person${count}`, result: "success" });
    expect(changed.detail).toMatchObject({ role: "auditor", old_role: "owner", way: "oidc" });
    expect(await app.lastAudit("auth.admin_login")).toMatchObject({ result: "success" });
  });

  test("that is gone ends the sessions and revokes the tokens that there are, though the login is refused", async () => {
    const person = somebody();
    const { browser } = await enter();
    const owner = { owner: `person${count}` };
    const { token } = await createToken(app.system, owner, { name: "nightly", role: "auditor", days: 1, networks: [] });
    const useToken = () => app.anonymous().call("GET", "/auth/me", undefined, { authorization: `Bearer ${token}` });
    expect((await useToken()).status).toBe(200);
    provider.wishes.person = { ...person, claims: { ...person.claims, groups: [] } };
    const refused = await enter();
    expect(refused.end).toBe(said("role"));
    expect(await browser.me()).toBe(401);
    expect((await useToken()).headers.get("uam-error")).toBe("token.revoked");
    expect((await app.lastAudit("token.revoke")).detail).toMatchObject({ administrator: `person${count}` });
    expect((await app.lastAudit("auth.admin_login")).detail).toMatchObject({ username: `person${count}` });
  });

  test("is not an owner's to change, but by the shell", async () => {
    const person = somebody({ groups: ["ops"] });
    await enter();
    const { id = 0, username = "" } = (await adminOf(person)) ?? {};
    const owner = confirming(await app.admin());
    const answer = await owner.call("PATCH", `/admins/${id}`, { role: "auditor" });
    expect([answer.status, answer.headers.get("uam-error")]).toEqual([409, "sso.managed"]);
    expect((await owner.call("PATCH", `/admins/${id}`, { role: "operator" })).status).toBe(200);
    await updateAdmin(app.system, username, { role: "reviewer", which: "even-the-last" });
    expect((await adminOf(person))?.role).toBe("reviewer");
    await enter();
    expect((await adminOf(person))?.role).toBe("operator");
  });

  test("of the last owner does not fall: the login is refused", async () => {
    const only = await createTestApp(ssoVariables(provider.issuer));
    try {
      meetClock(only);
      const person = somebody();
      const login = () => openBrowser(only).login();
      expect(await login()).toBe(done());
      provider.wishes.person = { ...person, claims: { ...person.claims, groups: ["readers"] } };
      expect(await login()).toBe(said("last-owner"));
      const [admin] = await only.db.select().from(admins);
      expect(admin?.role).toBe("owner");
      expect((await only.lastAudit("auth.admin_login")).detail.err).toContain("is the last owner");
    } finally {
      await only.close();
    }
  });
});

describe("an administrator of single sign-on", () => {
  test("never takes over a local one, whatever the claims call them", async () => {
    await addAdmin(app.system, "boss", "boss@example.org", ADMIN_PASSWORD);
    const claims = { preferred_username: "Boss@example.org", email: "boss@example.org" };
    const person = somebody(claims);
    expect(await (await enter()).browser.me()).toMatchObject({ username: "boss-2" });
    const another = somebody(claims);
    expect(await (await enter()).browser.me()).toMatchObject({ username: "boss-3" });
    expect((await adminOf(person))?.id).not.toBe((await adminOf(another))?.id);
  });

  test("who was removed does not come in again until an owner lets them", async () => {
    const person = somebody();
    const { browser } = await enter();
    const name = `person${count}`;
    await removeAdmin(app.system, name);
    expect(await browser.me()).toBe(401);
    const stopped = await enter();
    expect(stopped.end).toBe(said("removed"));
    expect(await app.lastAudit("auth.admin_login")).toMatchObject({ result: "failed", detail: { username: name } });
    const owner = confirming(await app.admin());
    const { body } = await owner.call("GET", "/removed-admins");
    const entry = body.data.items.find(({ subject }: { subject: string }) => subject === person.subject);
    expect(entry).toMatchObject({ username: name, issuer: provider.issuer });
    expect((await owner.call("DELETE", `/removed-admins/${entry.id}`)).body).toEqual({
      data: { status: "readmitted" },
    });
    expect(await app.lastAudit("admin.readmit")).toMatchObject({
      actor: "admin",
      detail: { username: name, subject: person.subject },
    });
    expect((await owner.call("DELETE", `/removed-admins/${entry.id}`)).status).toBe(404);
    expect((await enter()).end).toBe(done());
    expect(await adminOf(person)).toMatchObject({ username: name });
  });

  test("nor do they by leave of an owner who is removed before they come", async () => {
    const person = somebody();
    await enter();
    await removeAdmin(app.system, `person${count}`);
    const { id } = await addAdmin(app.system, `lenient-${count}`, "lenient@example.org", ADMIN_PASSWORD);
    const owner = app.anonymous();
    await owner.call("POST", "/auth/admin/login", { username: `lenient-${count}`, password: ADMIN_PASSWORD });
    const { items } = (await owner.call("GET", "/removed-admins")).body.data;
    const entry = items.find(({ subject }: { subject: string }) => subject === person.subject);
    const answer = await owner.call("DELETE", `/removed-admins/${entry.id}`, { password: ADMIN_PASSWORD });
    expect(answer.status).toBe(200);
    await removeAdmin(app.system, id);
    expect((await enter()).end).toBe(said("removed"));
  });

  test("of two first logins at the same instant is one", async () => {
    const person = somebody();
    const both = await Promise.all([enter(), enter()]);
    expect(both.map(({ end }) => end)).toEqual([done(), done()]);
    expect(await app.db.select().from(ssoIdentities).where(eq(ssoIdentities.subject, person.subject))).toHaveLength(1);
  });

  test("counts as an owner who can log in, is active, and gets no link that sets a password", async () => {
    somebody();
    await enter();
    const name = `person${count}`;
    const owner = confirming(await app.admin());
    const { body } = await owner.call("GET", "/admins?page_size=100");
    expect(body.data.items.find(({ username }: { username: string }) => username === name)).toMatchObject({
      ...{ status: "active", sso: true },
    });
    await app.anonymous().call("POST", "/auth/admin/forgot", { username: name });
    expect((await app.lastAudit("auth.admin_forgot")).result).toBe("failed");
    const { id } = body.data.items.find(({ username }: { username: string }) => username === name);
    await owner.call("PATCH", `/admins/${id}`, { email: "elsewhere@example.org" });
    expect((await app.mails("elsewhere@example.org")).map(({ text }) => text.includes("/reset"))).toEqual([false]);
    const wrong = { username: name, password: "" };
    expect((await app.anonymous().call("POST", "/auth/admin/login", wrong)).status).toBe(401);
  });

  test("gets a password at the shell, for the day on which the provider is away", async () => {
    somebody();
    await enter();
    await setAdminPassword(app.system, `person${count}`, "eleven candles under warm sand");
    const body = { username: `person${count}`, password: "eleven candles under warm sand" };
    expect((await app.anonymous().call("POST", "/auth/admin/login", body)).status).toBe(200);
    // And single sign-on goes on.
    expect((await enter()).end).toBe(done());
  });
});

describe("the session", () => {
  test("is one like any other: it ends with its cookie, and leaves nothing", async () => {
    somebody();
    const { browser } = await enter();
    const before = (await app.db.select().from(sessions)).length;
    const cookie = `__Host-uam_session=${browser.jars.get(APP)?.get("__Host-uam_session")}`;
    const client = app.anonymous();
    client.cookie = cookie;
    expect((await client.call("POST", "/auth/logout")).status).toBe(200);
    expect((await app.db.select().from(sessions)).length).toBe(before - 1);
  });
});
