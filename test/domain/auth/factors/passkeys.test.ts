import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { addAdmin } from "../../../../src/domain/auth/administrators/add-admin.ts";
import { removeAdmin, setAdminPassword } from "../../../../src/domain/auth/administrators/admin-changes.ts";
import { purgeTickets } from "../../../../src/domain/auth/codes/tickets.ts";
import { MAX_PASSKEYS } from "../../../../src/domain/auth/factors/passkeys.ts";
import { HOUR, MINUTE } from "../../../../src/shared/time/clock.ts";
import { passkeys, usedTickets } from "../../../../src/store/schema-passkeys.ts";
import { ADMIN_PASSWORD, type Client, createTestApp, type TestApp } from "../../../support/app.ts";
import {
  type Amiss,
  addPasskeyTo,
  makePasskey,
  PASSKEY_ORIGIN,
  type SoftPasskey,
} from "../../../support/authenticator.ts";

let app: TestApp;
let count = 0;

beforeAll(async () => {
  app = await createTestApp({ UAM_BASE_URL: PASSKEY_ORIGIN });
});
afterAll(() => app.close());
beforeEach(() => app.clock.advance(HOUR));

const REFUSED = "The passkey was not accepted; try again, or log in another way";

async function made(at = app) {
  const username = `keeper-${++count}`;
  const { id } = await addAdmin(at.system, username, `${username}@example.org`, ADMIN_PASSWORD);
  return { id, username };
}

async function login({ username }: { readonly username: string }, more: object = {}, at = app) {
  const client = at.anonymous();
  const answer = await client.call("POST", "/auth/admin/login", { username, password: ADMIN_PASSWORD, ...more });
  return { client, ...answer };
}

/** An administrator with one passkey, in the session that added it. */
async function keeper({ counts = false, at = app }: { readonly counts?: boolean; readonly at?: TestApp } = {}) {
  const self = await made(at);
  const { client } = await login(self, {}, at);
  const passkey = await addPasskeyTo(client, ADMIN_PASSWORD, { counts });
  return { ...self, client, passkey };
}

const challenge = async (at = app) => (await at.anonymous().call("GET", "/auth/passkey/challenge")).body.data;

async function enter(passkey: SoftPasskey, amiss?: Amiss, at = app) {
  const client = at.anonymous();
  const answer = await client.call("POST", "/auth/passkey/login", {
    passkey: passkey.answer(await challenge(at), amiss),
  });
  return { client, ...answer };
}

describe("adding a passkey", () => {
  test("takes the password again, is recorded and mailed, and is listed", async () => {
    const { username, client, passkey } = await keeper();
    expect(await app.lastAudit("auth.passkey_add")).toMatchObject({
      ...{ actorType: "admin", actor: username, result: "success", resourceType: "", resourceId: "" },
      detail: { username, name: "Laptop", passkey: passkey.recordId },
    });
    expect((await client.call("GET", "/auth/passkeys")).body.data).toEqual({
      items: [
        {
          ...{ id: passkey.recordId, name: "Laptop", backed_up: false, last_used_at: null },
          created_at: expect.any(String),
        },
      ],
    });
    const [mail] = (await app.mails(`${username}@example.org`)).slice(-1);
    expect(mail?.subject).toContain("A new way to log in");
    expect(mail?.text).toContain("the passkey Laptop");
    expect((await app.db.select().from(passkeys).where(eq(passkeys.id, passkey.recordId)))[0]?.transports).toEqual([
      "internal",
    ]);
  });

  test("a wrong password is 403, on record, and counts as a failed login; nothing at all is 400", async () => {
    const self = await made();
    const { client } = await login(self);
    const wrong = await client.call("POST", "/auth/passkeys/begin", { password: "wrong" });
    expect([wrong.status, wrong.headers.get("uam-error")]).toEqual([403, "password.wrong"]);
    expect(await app.lastAudit("auth.passkey_add")).toMatchObject({ result: "failed", actor: self.username });
    expect((await client.call("POST", "/auth/passkeys/begin", {})).status).toBe(400);
    expect((await client.call("POST", "/auth/passkeys/begin", { password: 7 })).status).toBe(400);
    for (let n = 0; n < 4; n++) await client.call("POST", "/auth/passkeys/begin", { password: "wrong" });
    expect((await client.call("POST", "/auth/passkeys/begin", { password: ADMIN_PASSWORD })).status).toBe(429);
    expect((await login(self)).status).toBe(429);
  });

  test("a passkey that one has confirms as well, in this session only and once", async () => {
    const { client, passkey, username } = await keeper();
    const elsewhere = (await enter(passkey)).client;
    const { body } = await client.call("GET", "/auth/passkeys/challenge");
    expect(body.data.passkey.allowCredentials).toEqual([
      { type: "public-key", id: passkey.id, transports: ["internal"] },
    ]);
    const confirmation = { passkey: passkey.answer(body.data.passkey) };
    const stolen = await elsewhere.call("POST", "/auth/passkeys/begin", confirmation);
    expect([stolen.status, stolen.headers.get("uam-error")]).toEqual([401, "login.passkey_wrong"]);
    expect((await client.call("POST", "/auth/passkeys/begin", confirmation)).status).toBe(200);
    expect((await client.call("POST", "/auth/passkeys/begin", confirmation)).status).toBe(401);
    const both = { ...confirmation, password: ADMIN_PASSWORD };
    expect((await client.call("POST", "/auth/passkeys/begin", both)).status).toBe(400);
    expect(await app.lastAudit("auth.passkey_add")).toMatchObject({ result: "failed", detail: { username } });
  });

  test("somebody else's passkey confirms nothing", async () => {
    const [one, other] = [await keeper(), await keeper()];
    const { body } = await one.client.call("GET", "/auth/passkeys/challenge");
    const confirmation = { passkey: other.passkey.answer(body.data.passkey) };
    expect((await one.client.call("POST", "/auth/passkeys/begin", confirmation)).status).toBe(401);
  });

  const AMISS: readonly (readonly [string, Amiss & { readonly format?: string }])[] = [
    ["another origin", { origin: "https://evil.example" }],
    ["another port", { origin: "http://localhost:9090" }],
    ["another host's passkey", { rpId: "evil.example" }],
    ["an authenticator that did not verify its user", { verified: false }],
    ["an absent user", { present: false }],
    ["an answer to a login", { type: "webauthn.get" }],
    ["another challenge", { challenge: "AAAA" }],
    ["another site's frame", { crossOrigin: true }],
    ["an attestation that nobody asked for", { format: "android-safetynet" }],
  ];
  test.each(AMISS)("%s is 400, on record", async (_, amiss) => {
    const { client } = await login(await made());
    const { body } = await client.call("POST", "/auth/passkeys/begin", { password: ADMIN_PASSWORD });
    const { answer } = makePasskey(body.data, amiss);
    const refused = await client.call("POST", "/auth/passkeys", { name: "Laptop", passkey: answer });
    expect([refused.status, refused.headers.get("uam-error")]).toEqual([400, "passkey.invalid"]);
    expect(await app.lastAudit("auth.passkey_add")).toMatchObject({ result: "failed" });
    expect((await client.call("GET", "/auth/passkeys")).body.data.items).toEqual([]);
  });

  test("a challenge is for its session, for five minutes, and once, also for two at once", async () => {
    const self = await made();
    const [here, there] = [(await login(self)).client, (await login(self)).client];
    const begin = async () => (await here.call("POST", "/auth/passkeys/begin", { password: ADMIN_PASSWORD })).body.data;
    const add = (client: Client, asked: Parameters<typeof makePasskey>[0]) =>
      client.call("POST", "/auth/passkeys", { name: "k", passkey: makePasskey(asked).answer });
    const asked = await begin();
    expect((await add(there, asked)).status).toBe(400);
    const both = await Promise.all([add(here, asked), add(here, asked)]);
    expect(both.map(({ status }) => status).sort()).toEqual([201, 400]);
    const old = await begin();
    app.clock.advance(5 * MINUTE);
    expect((await add(here, old)).status).toBe(400);
    const used = await app.db.select().from(usedTickets);
    expect(used.length).toBeGreaterThan(0);
    await purgeTickets(app.services);
    expect(await app.db.select().from(usedTickets)).toEqual([]);
  });

  test("a login's challenge adds nothing, and one for adding opens nothing", async () => {
    const { client, passkey } = await keeper();
    const { rpId, ...request } = await challenge();
    const forged = { ...request, rp: { id: rpId }, user: { id: passkey.handle } };
    const added = await client.call("POST", "/auth/passkeys", { name: "k", passkey: makePasskey(forged).answer });
    expect(added.status).toBe(400);
    const begun = (await client.call("POST", "/auth/passkeys/begin", { password: ADMIN_PASSWORD })).body.data;
    const opened = await app.anonymous().call("POST", "/auth/passkey/login", {
      passkey: passkey.answer({ challenge: begun.challenge, rpId: begun.rp.id }),
    });
    expect(opened.status).toBe(401);
  });

  test("a session that is ended at the shell meanwhile leaves no way back in", async () => {
    const self = await made();
    const { client } = await login(self);
    const asked = (await client.call("POST", "/auth/passkeys/begin", { password: ADMIN_PASSWORD })).body.data;
    const answer = { name: "k", passkey: makePasskey(asked).answer };
    const [added] = await Promise.all([
      client.call("POST", "/auth/passkeys", answer),
      setAdminPassword(app.system, self.username, "eleven candles under warm sand"),
    ]);
    expect([201, 401]).toContain(added.status);
    expect(await app.db.select().from(passkeys).where(eq(passkeys.adminId, self.id))).toEqual([]);
  });

  test("the same passkey twice, one too many and a bad name are refused", async () => {
    const { client, id } = await keeper();
    const begin = async () =>
      (await client.call("POST", "/auth/passkeys/begin", { password: ADMIN_PASSWORD })).body.data;
    const { answer, passkey } = makePasskey(await begin());
    expect((await client.call("POST", "/auth/passkeys", { name: "", passkey: answer })).status).toBe(400);
    expect((await client.call("POST", "/auth/passkeys", { name: "x".repeat(65), passkey: answer })).status).toBe(400);
    expect((await client.call("POST", "/auth/passkeys", { name: "one", passkey: answer })).status).toBe(201);
    const again = makePasskey(await begin());
    await app.db.update(passkeys).set({ credentialId: again.answer.id }).where(eq(passkeys.credentialId, passkey.id));
    const taken = await client.call("POST", "/auth/passkeys", { name: "two", passkey: again.answer });
    expect([taken.status, taken.headers.get("uam-error")]).toEqual([409, "passkey.taken"]);
    const filler = { adminId: id, name: "f", publicKey: Buffer.alloc(1), counter: 0, backedUp: false };
    const rows = Array.from({ length: MAX_PASSKEYS - 2 }, (_, n) => ({
      ...{ ...filler, credentialId: `filler-${count}-${n}`, createdAt: app.clock.now() },
    }));
    const last = makePasskey(await begin());
    await app.db.insert(passkeys).values(rows);
    expect((await client.call("POST", "/auth/passkeys", { name: "l", passkey: last.answer })).status).toBe(409);
    const full = await client.call("POST", "/auth/passkeys/begin", { password: ADMIN_PASSWORD });
    expect([full.status, full.headers.get("uam-error")]).toEqual([409, "passkey.limit"]);
  });
});

describe("logging in with a passkey alone", () => {
  test("opens a session, on record with the way, and asking stores nothing", async () => {
    const { username, passkey } = await keeper();
    const before = await app.auditRows();
    const asked = await challenge();
    expect(asked).toMatchObject({ rpId: "localhost", allowCredentials: [], userVerification: "required" });
    expect(await app.auditRows()).toEqual(before);
    const { status, body, client } = await enter(passkey);
    expect([status, body.data]).toEqual([
      200,
      { user_type: "admin", id: expect.any(Number), username, email: `${username}@example.org`, role: "owner" },
    ]);
    expect((await client.call("GET", "/auth/me")).body.data.username).toBe(username);
    expect(await app.lastAudit("auth.admin_login")).toMatchObject({
      ...{ actorType: "admin", actor: username, result: "success" },
      detail: { username, way: "passkey", name: "Laptop" },
    });
    const { items } = (await client.call("GET", "/auth/passkeys")).body.data;
    expect(items[0].last_used_at).toBe(app.clock.now().toISOString());
  });

  test.each(["ES256", "RS256", "EdDSA"] as const)(
    "works with an authenticator that signs with %s",
    async (algorithm) => {
      const self = await made();
      const passkey = await addPasskeyTo((await login(self)).client, ADMIN_PASSWORD, { algorithm });
      expect((await enter(passkey)).status).toBe(200);
      expect((await enter(passkey, { spoiltSignature: true })).status).toBe(401);
    },
  );

  const AMISS: readonly (readonly [string, Amiss])[] = [
    ["another origin", { origin: "https://evil.example" }],
    ["another host", { rpId: "evil.example" }],
    ["no verification of the user", { verified: false }],
    ["no user present", { present: false }],
    ["a spoilt signature", { spoiltSignature: true }],
    ["an answer to a creation", { type: "webauthn.create" }],
    ["no owner", { handle: null }],
    ["another owner", { handle: "AAAA" }],
    ["a made-up challenge", { challenge: "AAAA" }],
    ["another site's frame", { crossOrigin: true }],
  ];
  test.each(AMISS)("%s is refused in the same words as an unknown passkey", async (_, amiss) => {
    const { username, passkey } = await keeper();
    const refused = await enter(passkey, amiss);
    const stranger = makePasskey({ challenge: "AAAA", rp: { id: "localhost" }, user: { id: "AAAA" } }).passkey;
    const unknown = await enter(stranger);
    expect([refused.status, refused.body.error]).toEqual([401, REFUSED]);
    expect([unknown.status, unknown.body]).toEqual([refused.status, refused.body]);
    expect(unknown.headers.get("uam-error")).toBe(refused.headers.get("uam-error"));
    const rows = (await app.auditRows("auth.admin_login")).slice(-2).map(({ detail, result }) => ({
      ...{ result, detail: JSON.parse(detail) },
    }));
    expect(rows).toEqual([
      { result: "failed", detail: { username, name: "Laptop", way: "passkey", err: REFUSED } },
      { result: "failed", detail: { way: "passkey", err: REFUSED } },
    ]);
  });

  test("an answer works once, also for two at once, and for five minutes", async () => {
    const { passkey } = await keeper();
    const asked = await challenge();
    const body = { passkey: passkey.answer(asked) };
    const send = (sent: object) => app.anonymous().call("POST", "/auth/passkey/login", sent);
    const both = await Promise.all([send(body), send(body), send({ passkey: passkey.answer(asked) })]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 401, 401]);
    expect((await send(body)).status).toBe(401);
    const late = { passkey: passkey.answer(await challenge()) };
    app.clock.advance(5 * MINUTE);
    expect((await send(late)).status).toBe(401);
  });

  test("of a removed passkey and of a removed administrator is refused", async () => {
    const one = await keeper();
    const asked = await challenge();
    expect(
      (await one.client.call("DELETE", `/auth/passkeys/${one.passkey.recordId}`, { password: ADMIN_PASSWORD })).status,
    ).toBe(200);
    const gone = await app.anonymous().call("POST", "/auth/passkey/login", { passkey: one.passkey.answer(asked) });
    expect(gone.status).toBe(401);
    const two = await keeper();
    const body = { passkey: two.passkey.answer(await challenge()) };
    await made();
    await removeAdmin(app.system, two.username);
    expect((await app.anonymous().call("POST", "/auth/passkey/login", body)).status).toBe(401);
    expect(await app.db.select().from(passkeys).where(eq(passkeys.adminId, two.id))).toEqual([]);
  });

  test("works while the name is locked for wrong passwords", async () => {
    const { username, passkey } = await keeper();
    for (let n = 0; n < 5; n++) {
      await app.anonymous().call("POST", "/auth/admin/login", { username, password: "wrong" });
    }
    expect((await login({ username })).status).toBe(429);
    expect((await enter(passkey)).status).toBe(200);
  });

  test("a counter that goes back is refused, recorded and mailed; one that rises is stored", async () => {
    const { username, passkey } = await keeper({ counts: true });
    expect((await enter(passkey)).status).toBe(200);
    expect((await enter(passkey)).status).toBe(200);
    const before = (await app.mails(`${username}@example.org`)).length;
    for (const counter of [1, 2, 0]) {
      const copied = await enter(passkey, { counter });
      expect([copied.status, copied.body.error]).toEqual([401, REFUSED]);
    }
    expect(await app.lastAudit("auth.admin_login")).toMatchObject({
      result: "failed",
      detail: { username, err: "The counter of the passkey went back from 2 to 0: there are two of it" },
    });
    const mails = (await app.mails(`${username}@example.org`)).slice(before);
    expect(mails.map(({ subject }) => subject)).toEqual(Array(3).fill("A passkey for localhost may have been copied"));
    expect((await enter(passkey, { counter: 3 })).status).toBe(200);
    // A spoilt signature says nothing about any counter: nobody else can have it mailed.
    await enter(passkey, { counter: 1, spoiltSignature: true });
    expect(await app.mails(`${username}@example.org`)).toHaveLength(before + 3);
  });

  test("is not possible where browsers use no passkeys, and says why", async () => {
    const plain = await createTestApp();
    const asked = await plain.anonymous().call("GET", "/auth/passkey/challenge");
    expect([asked.status, asked.headers.get("uam-error")]).toEqual([409, "passkey.unavailable"]);
    expect(asked.body.error).toContain("UAM_BASE_URL is http://127.0.0.1:8080");
    const client = await plain.admin();
    expect((await client.call("POST", "/auth/passkeys/begin", { password: ADMIN_PASSWORD })).status).toBe(409);
    await plain.close();
  });
});

describe("a password, once there is a passkey", () => {
  test("does not open a session, and says what is missing; the record says so too", async () => {
    const { username } = await keeper();
    for (let n = 0; n < 7; n++) {
      const alone = await login({ username });
      expect([alone.status, alone.headers.get("uam-error")]).toEqual([401, "login.second_factor"]);
      expect(alone.headers.get("set-cookie")).toBeNull();
      expect(alone.body.error).toContain("needs a passkey.");
    }
    const alone = (await app.auditRows("auth.admin_password_only")).filter(({ detail }) => detail.includes(username));
    expect(alone).toHaveLength(7);
    expect(await app.lastAudit("auth.admin_password_only")).toMatchObject({
      ...{ actorType: "anonymous", result: "failed", ip: "192.0.2.1" },
      detail: { username, err: expect.stringContaining("The password is right") },
    });
    const wrong = await app.anonymous().call("POST", "/auth/admin/login", { username, password: "wrong" });
    expect(wrong.headers.get("uam-error")).toBe("login.wrong");
  });

  test("opens one with the passkey beside it", async () => {
    const { username, passkey } = await keeper();
    const asked = await app.anonymous().call("POST", "/auth/admin/second", { username, password: ADMIN_PASSWORD });
    expect(asked.body.data).toMatchObject({ totp: false, passkey: { allowCredentials: [{ id: passkey.id }] } });
    const second = { passkey: passkey.answer(asked.body.data.passkey, { handle: null }) };
    const both = await Promise.all([login({ username }, second), login({ username }, second)]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 401]);
    const ways = (await app.auditRows("auth.admin_login")).map(({ detail }) => JSON.parse(detail).way);
    expect(ways).toContain("password+passkey");
    // An answer to the second step is no login by itself, nor the other way round.
    const again = await app.anonymous().call("POST", "/auth/admin/second", { username, password: ADMIN_PASSWORD });
    const alone = { passkey: passkey.answer(again.body.data.passkey) };
    expect((await app.anonymous().call("POST", "/auth/passkey/login", alone)).status).toBe(401);
    expect((await login({ username }, { passkey: passkey.answer(await challenge()) })).status).toBe(401);
  });

  test("beside somebody else's passkey does not", async () => {
    const [one, other] = [await keeper(), await keeper()];
    const ask = async (username: string) =>
      (await app.anonymous().call("POST", "/auth/admin/second", { username, password: ADMIN_PASSWORD })).body.data;
    const answers = [
      other.passkey.answer((await ask(one.username)).passkey),
      other.passkey.answer((await ask(other.username)).passkey),
    ];
    for (const passkey of answers) {
      const refused = await login(one, { passkey });
      expect([refused.status, refused.headers.get("uam-error")]).toEqual([401, "login.passkey_wrong"]);
    }
  });

  test("asking what is missing needs the password, and wrong ones lock the name, on record", async () => {
    const { username } = await keeper();
    const ask = (password: string) => app.anonymous().call("POST", "/auth/admin/second", { username, password });
    for (let n = 0; n < 5; n++) expect((await ask("wrong")).status).toBe(401);
    expect((await ask(ADMIN_PASSWORD)).status).toBe(429);
    expect(await app.lastAudit("auth.admin_login")).toMatchObject({ result: "failed", detail: { username } });
    app.clock.advance(16 * MINUTE);
    const records = (await app.auditRows()).length;
    for (let n = 0; n < 7; n++) expect((await ask(ADMIN_PASSWORD)).status).toBe(200);
    expect(await app.auditRows()).toHaveLength(records + 7);
    expect(await app.lastAudit("auth.admin_password_only")).toMatchObject({
      ...{ actorType: "anonymous", result: "success", detail: { username } },
    });
    const plain = await made();
    const none = await app.anonymous().call("POST", "/auth/admin/second", {
      ...{ username: plain.username, password: ADMIN_PASSWORD },
    });
    expect(none.body.data).toEqual({ passkey: null, totp: false });
  });

  test("a reset by mail opens nothing and leaves the passkey; the shell's removes it, on record and mailed", async () => {
    const { username, passkey, client } = await keeper();
    await app.anonymous().call("POST", "/auth/admin/forgot", { username });
    const mail = (await app.mails(`${username}@example.org`)).at(-1);
    const [, token = ""] = /token["']?: ?["']([\w-]+)|reset#([\w-]+)/.exec(mail?.text ?? "") ?? [];
    const found = token === "" ? (/reset#([\w-]+)/.exec(mail?.text ?? "")?.[1] ?? "") : token;
    const reset = await app
      .anonymous()
      .call("POST", "/auth/admin/reset", { token: found, new_password: ADMIN_PASSWORD });
    expect(reset.status).toBe(200);
    expect((await login({ username })).headers.get("uam-error")).toBe("login.second_factor");
    expect((await enter(passkey)).status).toBe(200);
    await setAdminPassword(app.system, username, ADMIN_PASSWORD);
    expect((await client.call("GET", "/auth/me")).status).toBe(401);
    expect((await enter(passkey)).status).toBe(401);
    expect((await login({ username })).status).toBe(200);
    expect(await app.lastAudit("auth.passkey_remove")).toMatchObject({
      ...{ actorType: "cli", result: "success", detail: { username, name: "Laptop", passkey: passkey.recordId } },
    });
    expect((await app.mails(`${username}@example.org`)).at(-1)?.subject).toContain("was removed");
  });
});

describe("one's own passkeys", () => {
  test("are renamed and removed, on record; others' are not found", async () => {
    const { username, client, passkey } = await keeper();
    const path = `/auth/passkeys/${passkey.recordId}`;
    const renamed = await client.call("PATCH", path, { name: " Blue key " });
    expect(renamed.body.data.name).toBe("Blue key");
    expect(await app.lastAudit("auth.passkey_rename")).toMatchObject({
      result: "success",
      detail: { username, passkey: passkey.recordId, name: "Blue key", old_name: "Laptop" },
    });
    expect((await client.call("PATCH", path, { name: "" })).status).toBe(400);
    expect((await client.call("PATCH", path, { name: 7 })).status).toBe(400);
    const other = (await keeper()).client;
    for (const [method, body] of [
      ["PATCH", { name: "x" }] as const,
      ["DELETE", { password: ADMIN_PASSWORD }] as const,
    ]) {
      expect((await other.call(method, path, body)).status).toBe(404);
    }
    const removed = await client.call("DELETE", path, { password: ADMIN_PASSWORD });
    expect([removed.status, removed.body.data]).toEqual([200, { status: "removed" }]);
    expect(await app.lastAudit("auth.passkey_remove")).toMatchObject({
      result: "success",
      detail: { username, passkey: passkey.recordId, name: "Blue key" },
    });
    expect((await app.mails(`${username}@example.org`)).at(-1)?.text).toContain("the passkey Blue key");
    expect((await client.call("DELETE", path, { password: ADMIN_PASSWORD })).status).toBe(404);
    expect((await login({ username })).status).toBe(200);
  });

  test("are counted in the list of administrators", async () => {
    const { username, client } = await keeper();
    const { items } = (await client.call("GET", "/admins")).body.data;
    const record = items.find((admin: { username: string }) => admin.username === username);
    expect(record).toMatchObject({ passkeys: 1, totp: false });
  });
});

describe("UAM_ADMIN_LOGIN", () => {
  const strict = (mode: string) => createTestApp({ UAM_BASE_URL: PASSKEY_ORIGIN, UAM_ADMIN_LOGIN: mode });

  test.each(["second-factor", "passkey"])("%s: a session without one may only set one up", async (mode) => {
    const at = await strict(mode);
    const self = await made(at);
    const { client, status, body } = await login(self, {}, at);
    expect([status, body.data.needs]).toEqual([200, mode]);
    expect((await client.call("GET", "/auth/me")).body.data.needs).toBe(mode);
    for (const [method, path] of [
      ["GET", "/users"],
      ["GET", "/audit"],
      ["POST", "/tokens"],
      ["POST", "/auth/admin/password"],
    ] as const) {
      const refused = await client.call(method, path, method === "POST" ? {} : undefined);
      expect([refused.status, refused.headers.get("uam-error")]).toEqual([403, "login.factor_needed"]);
    }
    const passkey = await addPasskeyTo(client, ADMIN_PASSWORD);
    expect((await client.call("GET", "/auth/me")).body.data).not.toHaveProperty("needs");
    expect((await client.call("GET", "/users")).status).toBe(200);
    const last = await client.call("DELETE", `/auth/passkeys/${passkey.recordId}`, { password: ADMIN_PASSWORD });
    expect([last.status, last.headers.get("uam-error")]).toEqual([409, "factor.last"]);
    expect((await login(self, {}, at)).headers.get("uam-error")).toBe(
      mode === "passkey" ? "login.passkey_only" : "login.second_factor",
    );
    const entered = await enter(passkey, {}, at);
    expect([entered.status, entered.body.data.needs]).toEqual([200, undefined]);
    const other = await addPasskeyTo(client, ADMIN_PASSWORD, { name: "Other" });
    expect(
      (await client.call("DELETE", `/auth/passkeys/${passkey.recordId}`, { password: ADMIN_PASSWORD })).status,
    ).toBe(200);
    expect((await client.call("DELETE", `/auth/passkeys/${other.recordId}`, { password: ADMIN_PASSWORD })).status).toBe(
      409,
    );
    // At the shell all of them go, and the password leads to setting one up again.
    await setAdminPassword(at.system, self.username, ADMIN_PASSWORD);
    expect((await login(self, {}, at)).body.data.needs).toBe(mode);
    await at.close();
  });

  test("the list of administrators says who still has to set one up", async () => {
    const at = await strict("second-factor");
    const [one, other] = [await made(at), await made(at)];
    const { client } = await login(one, {}, at);
    await addPasskeyTo(client, ADMIN_PASSWORD);
    const { items } = (await client.call("GET", "/admins")).body.data;
    const missing = (username: string) =>
      items.find((admin: { username: string }) => admin.username === username)?.factor_missing;
    expect([one, other].map(({ username }) => missing(username))).toEqual([false, true]);
    await at.close();
  });

  test("two removals at once leave one", async () => {
    const at = await strict("second-factor");
    const self = await made(at);
    const { client } = await login(self, {}, at);
    const both = [
      await addPasskeyTo(client, ADMIN_PASSWORD, { name: "a" }),
      await addPasskeyTo(client, ADMIN_PASSWORD, { name: "b" }),
    ];
    const answers = await Promise.all(
      both.map(({ recordId }) => client.call("DELETE", `/auth/passkeys/${recordId}`, { password: ADMIN_PASSWORD })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    await at.close();
  });
});
