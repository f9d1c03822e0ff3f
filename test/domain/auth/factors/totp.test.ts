import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { Secret, TOTP } from "otpauth";
import { addAdmin } from "../../../../src/domain/auth/administrators/add-admin.ts";
import { setAdminPassword } from "../../../../src/domain/auth/administrators/admin-changes.ts";
import { HOUR, MINUTE } from "../../../../src/shared/time/clock.ts";
import { totpSecrets } from "../../../../src/store/schema-passkeys.ts";
import { ADMIN_PASSWORD, type Client, createTestApp, type TestApp } from "../../../support/app.ts";
import { addPasskeyTo, PASSKEY_ORIGIN } from "../../../support/authenticator.ts";

const STEP = 30_000;

let app: TestApp;
let count = 0;

beforeAll(async () => {
  app = await createTestApp({ UAM_BASE_URL: PASSKEY_ORIGIN });
});
afterAll(() => app.close());
beforeEach(() => app.clock.advance(HOUR));

async function made(at = app) {
  const username = `holder-${++count}`;
  const { id } = await addAdmin(at.system, username, `${username}@example.org`, ADMIN_PASSWORD);
  return { id, username };
}

async function login({ username }: { readonly username: string }, more: object = {}, at = app) {
  const client = at.anonymous();
  const answer = await client.call("POST", "/auth/admin/login", { username, password: ADMIN_PASSWORD, ...more });
  return { client, ...answer, reason: answer.headers.get("uam-error") };
}

/** The code that the app shows, on a phone whose clock is that many milliseconds off. */
function shown(secret: string, off = 0, at = app): string {
  return new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: at.clock.now().getTime() + off });
}

const begin = (client: Client) => client.call("POST", "/auth/totp/begin", { password: ADMIN_PASSWORD });

async function holder(at = app) {
  const self = await made(at);
  const { client } = await login(self, {}, at);
  const { secret, ticket } = (await begin(client)).body.data;
  const added = await client.call("POST", "/auth/totp", { ticket, code: shown(secret, 0, at) });
  expect(added.status).toBe(201);
  at.clock.advance(STEP);
  return { ...self, client, secret: secret as string };
}

describe("setting up an authenticator app", () => {
  test("gives a secret once, in three forms, and stores it sealed when a code confirms it, on record and mailed", async () => {
    const { id, username } = await made();
    const { client } = await login({ username });
    const records = (await app.auditRows()).length;
    const { secret, uri, picture, ticket } = (await begin(client)).body.data;
    expect(secret).toMatch(/^[A-Z2-7]{32}$/);
    expect(uri).toBe(
      `otpauth://totp/localhost:${username}?issuer=localhost&secret=${secret}&algorithm=SHA1&digits=6&period=30`,
    );
    expect(picture).toMatch(/^<svg xmlns="http:\/\/www.w3.org\/2000\/svg"[^<]*>/);
    expect(await app.auditRows()).toHaveLength(records);
    expect((await client.call("GET", "/auth/totp")).body.data.added).toBe(false);
    const wrong = await client.call("POST", "/auth/totp", { ticket, code: shown(secret, 10 * MINUTE) });
    expect([wrong.status, wrong.headers.get("uam-error")]).toEqual([400, "totp.wrong"]);
    const typed = shown(secret).replace(/^(...)/, "$1 ");
    const added = await client.call("POST", "/auth/totp", { ticket, code: typed });
    expect([added.status, added.body.data]).toEqual([
      201,
      { added: true, created_at: app.clock.now().toISOString(), last_used_at: null },
    ]);
    expect(await app.lastAudit("auth.totp_add")).toMatchObject({ result: "success", detail: { username } });
    expect((await app.mails(`${username}@example.org`)).at(-1)?.text).toContain("the authenticator app");
    const [row] = await app.db.select().from(totpSecrets).where(eq(totpSecrets.adminId, id));
    const sealed = Buffer.from(row?.sealed ?? []);
    expect(sealed.includes(Buffer.from(Secret.fromBase32(secret).bytes))).toBe(false);
    expect(JSON.stringify(await app.auditRows())).not.toContain(secret);
    const { items } = (await client.call("GET", "/admins")).body.data;
    expect(items.find((admin: { username: string }) => admin.username === username)).toMatchObject({ totp: true });
    const again = await begin(client);
    expect([again.status, again.headers.get("uam-error")]).toEqual([409, "totp.taken"]);
  });

  test("needs the password or a passkey, in the same session, within five minutes, once", async () => {
    const self = await made();
    const { client } = await login(self);
    expect((await client.call("POST", "/auth/totp/begin", { password: "wrong" })).status).toBe(403);
    expect((await client.call("POST", "/auth/totp/begin", {})).status).toBe(400);
    const other = (await login(self)).client;
    const { secret, ticket } = (await begin(client)).body.data;
    const confirm = (by: Client) => by.call("POST", "/auth/totp", { ticket, code: shown(secret) });
    const stolen = await confirm(other);
    expect([stolen.status, stolen.headers.get("uam-error")]).toEqual([400, "totp.expired"]);
    const both = await Promise.all([confirm(client), confirm(client)]);
    expect(both.map(({ status }) => status).sort()).toEqual([201, 400]);
    expect((await client.call("DELETE", "/auth/totp", { password: ADMIN_PASSWORD })).status).toBe(200);
    expect((await confirm(client)).status).toBe(400);
    const late = (await begin(client)).body.data;
    app.clock.advance(5 * MINUTE);
    const after = { ticket: late.ticket, code: shown(late.secret) };
    expect((await client.call("POST", "/auth/totp", after)).status).toBe(400);
    expect(await app.lastAudit("auth.totp_add")).toMatchObject({ result: "failed" });
    const passkey = await addPasskeyTo(client, ADMIN_PASSWORD);
    const asked = (await client.call("GET", "/auth/passkeys/challenge")).body.data.passkey;
    const by = await client.call("POST", "/auth/totp/begin", { passkey: passkey.answer(asked) });
    expect(by.status).toBe(200);
  });

  test("is undone by its owner, and at the shell, on record", async () => {
    const { username, client, secret } = await holder();
    expect((await client.call("DELETE", "/auth/totp", { password: ADMIN_PASSWORD })).body.data).toEqual({
      status: "removed",
    });
    expect(await app.lastAudit("auth.totp_remove")).toMatchObject({ result: "success", detail: { username } });
    expect((await client.call("DELETE", "/auth/totp", { password: ADMIN_PASSWORD })).status).toBe(404);
    expect((await login({ username }, { code: shown(secret) })).status).toBe(200);
    const other = await holder();
    const { removed } = await setAdminPassword(app.system, other.username, ADMIN_PASSWORD);
    expect(removed).toEqual(["the authenticator app"]);
    expect(await app.lastAudit("auth.totp_remove")).toMatchObject({
      ...{ actorType: "cli", detail: { username: other.username } },
    });
    expect((await login(other)).status).toBe(200);
  });
});

describe("a password, once there is an app", () => {
  test("opens a session with a code beside it, on record with the way", async () => {
    const { username, secret } = await holder();
    expect(await login({ username })).toMatchObject({ status: 401, reason: "login.second_factor" });
    const second = await app.anonymous().call("POST", "/auth/admin/second", { username, password: ADMIN_PASSWORD });
    expect(second.body.data).toEqual({ passkey: null, totp: true });
    const { status, client } = await login({ username }, { code: shown(secret) });
    expect(status).toBe(200);
    expect(await app.lastAudit("auth.admin_login")).toMatchObject({ detail: { username, way: "password+totp" } });
    const { last_used_at } = (await client.call("GET", "/auth/totp")).body.data;
    expect(last_used_at).toBe(app.clock.now().toISOString());
  });

  test.each([-STEP, 0, STEP])("takes a code of a clock that is %i ms off", async (off) => {
    const self = await holder();
    app.clock.advance(STEP);
    expect((await login(self, { code: shown(self.secret, off) })).status).toBe(200);
  });

  test.each([-2 * STEP, 2 * STEP])("takes none of a clock that is %i ms off", async (off) => {
    const self = await holder();
    app.clock.advance(2 * STEP);
    expect(await login(self, { code: shown(self.secret, off) })).toMatchObject({
      ...{ status: 401, reason: "login.code_wrong" },
    });
  });

  test("takes each code once, also of two at once, and none that is older than the last", async () => {
    const self = await holder();
    app.clock.advance(STEP);
    const older = shown(self.secret, -STEP);
    const code = shown(self.secret);
    const both = await Promise.all([login(self, { code }), login(self, { code })]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 401]);
    expect((await login(self, { code: older })).status).toBe(401);
    app.clock.advance(STEP);
    expect((await login(self, { code })).status).toBe(401);
    expect((await login(self, { code: shown(self.secret) })).status).toBe(200);
    // The clock is set back: what was used stays used.
    app.clock.advance(-STEP);
    expect((await login(self, { code: shown(self.secret) })).status).toBe(401);
    app.clock.advance(STEP);
  });

  test("the code that set the app up does not log in", async () => {
    const self = await made();
    const { client } = await login(self);
    const { secret, ticket } = (await begin(client)).body.data;
    const code = shown(secret);
    expect((await client.call("POST", "/auth/totp", { ticket, code })).status).toBe(201);
    expect((await login(self, { code })).status).toBe(401);
  });

  test("wrong codes lock the codes, longer each time, and are mailed; the password is not locked by them", async () => {
    const { username, secret } = await holder();
    const address = `${username}@example.org`;
    const before = (await app.mails(address)).length;
    for (let n = 0; n < 5; n++) {
      expect(await login({ username }, { code: "000000" })).toMatchObject({ status: 401, reason: "login.code_wrong" });
    }
    const mails = (await app.mails(address)).slice(before);
    expect(mails.map(({ subject }) => subject)).toEqual(["Somebody may know your password for localhost"]);
    const locked = await login({ username }, { code: shown(secret) });
    expect([locked.status, locked.reason, locked.headers.get("retry-after")]).toEqual([429, "login.locked", "900"]);
    expect((await login({ username })).reason).toBe("login.second_factor");
    app.clock.advance(15 * MINUTE);
    for (let n = 0; n < 5; n++) await login({ username }, { code: "000000" });
    expect((await login({ username }, { code: shown(secret) })).headers.get("retry-after")).toBe("1800");
    app.clock.advance(30 * MINUTE);
    expect((await login({ username }, { code: shown(secret) })).status).toBe(200);
    for (let n = 0; n < 4; n++) await login({ username }, { code: "000000" });
    app.clock.advance(STEP);
    expect((await login({ username }, { code: shown(secret) })).status).toBe(200);
  });

  test("of many wrong codes at once at most the limit is looked at, and without the password none", async () => {
    const { username } = await holder();
    const answers = await Promise.all(Array.from({ length: 12 }, () => login({ username }, { code: "000000" })));
    expect(answers.filter(({ reason }) => reason === "login.code_wrong").length).toBeLessThanOrEqual(5);
    const other = await holder();
    const body = { username: other.username, password: "wrong wrong wrong", code: "000000" };
    expect((await app.anonymous().call("POST", "/auth/admin/login", body)).headers.get("uam-error")).toBe(
      "login.wrong",
    );
    expect((await login(other, { code: shown(other.secret) })).status).toBe(200);
  });

  test.each(["", "12345", "1234567", "abcdef", "１２３４５６", "9".repeat(64)])("%p is a wrong code", async (code) => {
    const self = await holder();
    expect((await login(self, { code })).status).toBe(401);
  });

  test("a secret that was copied to another's row, or sealed with another key, cannot be read, and says what helps", async () => {
    const [one, two] = [await holder(), await holder()];
    const [row] = await app.db.select().from(totpSecrets).where(eq(totpSecrets.adminId, one.id));
    await app.db
      .update(totpSecrets)
      .set({ sealed: row?.sealed ?? Buffer.alloc(0) })
      .where(eq(totpSecrets.adminId, two.id));
    const answer = await login(two, { code: shown(one.secret) });
    expect([answer.status, answer.body.error]).toEqual([500, expect.stringContaining("uam admin passwd")]);
  });
});

describe("UAM_ADMIN_LOGIN with an app", () => {
  test("second-factor: the app is one, and the last one stays", async () => {
    const at = await createTestApp({ UAM_BASE_URL: PASSKEY_ORIGIN, UAM_ADMIN_LOGIN: "second-factor" });
    const { client, username, secret } = await holder(at);
    expect((await client.call("GET", "/users")).status).toBe(200);
    expect((await client.call("DELETE", "/auth/totp", { password: ADMIN_PASSWORD })).headers.get("uam-error")).toBe(
      "factor.last",
    );
    const entered = await login({ username }, { code: shown(secret, 0, at) }, at);
    expect([entered.status, entered.body.data.needs]).toEqual([200, undefined]);
    await addPasskeyTo(client, ADMIN_PASSWORD);
    expect((await client.call("DELETE", "/auth/totp", { password: ADMIN_PASSWORD })).status).toBe(200);
    await at.close();
  });

  test("passkey: the app is asked for until there is a passkey, and opens nothing but setting one up", async () => {
    const at = await createTestApp({ UAM_BASE_URL: PASSKEY_ORIGIN, UAM_ADMIN_LOGIN: "passkey" });
    const { username, secret } = await holder(at);
    expect((await login({ username }, {}, at)).reason).toBe("login.second_factor");
    const entered = await login({ username }, { code: shown(secret, 0, at) }, at);
    expect(entered.body.data.needs).toBe("passkey");
    expect((await entered.client.call("GET", "/users")).status).toBe(403);
    await at.close();
  });
});

describe("RFC 6238", () => {
  test.each([
    [59, "287082"],
    [1111111109, "081804"],
    [1111111111, "050471"],
    [1234567890, "005924"],
    [2000000000, "279037"],
    [20000000000, "353130"],
  ])("at %i s the code of its appendix B is right", async (seconds, code) => {
    const secret = new Secret({ buffer: new TextEncoder().encode("12345678901234567890").buffer });
    expect(new TOTP({ secret }).validate({ token: code, timestamp: seconds * 1000, window: 0 })).toBe(0);
  });
});
