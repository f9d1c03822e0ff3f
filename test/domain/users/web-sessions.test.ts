/** An administrator ends an external user's sessions with the service: by hand, by another address, by enabling them. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { printCode, voidCodes } from "../../../src/domain/auth/codes/otp.ts";
import { MINUTE } from "../../../src/shared/time/clock.ts";
import { otpCodes } from "../../../src/store/schema-auth.ts";
import { type Client, createTestApp, loginUser, type TestApp } from "../../support/app.ts";
import { freshKey } from "../../support/keys.ts";
import { untilWaiting } from "../../support/waiting.ts";

let app: TestApp;
let admin: Client;
let count = 0;

beforeAll(async () => {
  app = await createTestApp();
  admin = await app.admin();
});
afterAll(() => app.close());

async function person() {
  const username = `person-${++count}`;
  return { username, ...(await app.user(username)) };
}

const upload = (client: Client) => client.call("POST", "/me/keys", { name: "Late", public_key: freshKey() });

describe("DELETE /users/:id/web-sessions", () => {
  test("ends all sessions of the user and nobody else's, on record, and voids a code", async () => {
    const [{ id, username, client }, other] = [await person(), await person()];
    app.clock.advance(2 * MINUTE);
    const second = await loginUser(app.system, app.app, username);
    app.clock.advance(2 * MINUTE);
    const { code } = await printCode(app.system, username);
    const answer = await admin.call("DELETE", `/users/${id}/web-sessions`);
    expect([answer.status, answer.body.data]).toEqual([200, { status: "ended", sessions: 2 }]);
    for (const ended of [client, second]) expect((await upload(ended)).status).toBe(401);
    expect((await app.anonymous().call("POST", "/auth/otp/login", { username, code })).status).toBe(401);
    expect((await upload(other.client)).status).toBe(201);
    expect(await app.lastAudit("user.end_sessions")).toMatchObject({
      ...{ actorType: "admin", actor: "admin", result: "success", resourceType: "user", resourceId: String(id) },
      ...{ subjectId: id, detail: { username, sessions: 2 } },
    });
    app.clock.advance(2 * MINUTE);
    expect((await upload(await loginUser(app.system, app.app, username))).status).toBe(201);
  });

  test("is 404 for nobody, which is recorded", async () => {
    expect((await admin.call("DELETE", "/users/999999/web-sessions")).status).toBe(404);
    expect(await app.lastAudit("user.end_sessions")).toMatchObject({ result: "failed", resourceId: "999999" });
    expect((await admin.call("DELETE", `/users/${"9".repeat(30)}/web-sessions`)).status).toBe(404);
    expect(await app.lastAudit("user.end_sessions")).toMatchObject({ resourceId: "9".repeat(30) });
  });

  test("a login that is under way leaves no session behind", async () => {
    for (let round = 0; round < 5; round++) {
      const { id, username } = await person();
      app.clock.advance(2 * MINUTE);
      const { code } = await printCode(app.system, username);
      const late = app.anonymous();
      const login = late.call("POST", "/auth/otp/login", { username, code });
      const [{ status }, ended] = await Promise.all([login, admin.call("DELETE", `/users/${id}/web-sessions`)]);
      expect([200, 401]).toContain(status);
      expect(ended.status).toBe(200);
      // One that came before was counted; none outlives it.
      if (status === 200) expect([200, 401]).toContain((await late.call("GET", "/auth/me")).status);
      expect((await admin.call("DELETE", `/users/${id}/web-sessions`)).status).toBe(200);
      if (status === 200) expect((await late.call("GET", "/auth/me")).status).toBe(401);
    }
  });
});

describe("a session from before", () => {
  test("is not there any more once the user was disabled, given another address, and enabled", async () => {
    const { id, client } = await person();
    expect((await admin.call("POST", `/users/${id}/disable`)).status).toBe(200);
    expect((await upload(client)).status).toBe(409);
    expect((await admin.call("PATCH", `/users/${id}`, { email: "new@example.org" })).status).toBe(200);
    expect((await admin.call("POST", `/users/${id}/enable`)).status).toBe(200);
    expect((await upload(client)).status).toBe(401);
  });

  test("ends with another address alone, and with enabling alone; not with another purpose", async () => {
    const [moved, enabled, same] = [await person(), await person(), await person()];
    await admin.call("PATCH", `/users/${moved.id}`, { email: "moved@example.org" });
    expect((await moved.client.call("GET", "/auth/me")).status).toBe(401);
    await admin.call("POST", `/users/${enabled.id}/disable`);
    expect((await enabled.client.call("GET", "/auth/me")).status).toBe(200);
    await admin.call("POST", `/users/${enabled.id}/enable`);
    expect((await enabled.client.call("GET", "/auth/me")).status).toBe(401);
    const { email } = (await admin.call("GET", `/users/${same.id}`)).body.data;
    await admin.call("PATCH", `/users/${same.id}`, { purpose: "Tests", email });
    expect((await same.client.call("GET", "/auth/me")).status).toBe(200);
  });

  test("stays where the host refuses to enable", async () => {
    const { id, client } = await person();
    await admin.call("POST", `/users/${id}/disable`);
    app.host.failing.add("openAccount");
    expect((await admin.call("POST", `/users/${id}/enable`)).status).toBe(500);
    app.host.failing.clear();
    expect((await upload(client)).status).toBe(409);
  });
});

describe("a code from before", () => {
  test("is void though it was being stored at that moment, as the first of its name", async () => {
    const username = "first-of-its-name";
    const [stored, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const sending = app.db.transaction(async (tx) => {
      await tx.insert(otpCodes).values({ username, codeHash: "a hash", expiresAt: new Date("2100-01-01T00:00:00Z") });
      stored.resolve();
      await goOn.promise;
    });
    await stored.promise;
    const isVoid = voidCodes(app.db, [username]);
    await untilWaiting(app.db);
    goOn.resolve();
    await Promise.all([sending, isVoid]);
    const [row] = await app.db.select().from(otpCodes).where(eq(otpCodes.username, username));
    expect(row?.codeHash).toBeNull();
  });

  test("opens nothing of another user who is given the name of one who was deleted", async () => {
    const { id, username } = await person();
    app.clock.advance(2 * MINUTE);
    const { code } = await printCode(app.system, username);
    expect((await admin.call("DELETE", `/users/${id}`)).status).toBe(200);
    const next = { username, email: "next@example.org", supervisor: "Bo", purpose: "Tests" };
    expect((await admin.call("POST", "/users", next)).status).toBe(201);
    expect((await app.anonymous().call("POST", "/auth/otp/login", { username, code })).status).toBe(401);
    app.clock.advance(2 * MINUTE);
    const { code: own } = await printCode(app.system, username);
    expect((await app.anonymous().call("POST", "/auth/otp/login", { username, code: own })).status).toBe(200);
  });
});
