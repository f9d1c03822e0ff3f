import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { addAdmin } from "../../../../src/domain/auth/administrators/add-admin.ts";
import { listAdmins, removeAdmin, setAdminPassword } from "../../../../src/domain/auth/administrators/admin-changes.ts";
import { hashToken } from "../../../../src/domain/auth/sessions/sessions.ts";
import { HOUR, shift } from "../../../../src/shared/time/clock.ts";
import { resetTokens } from "../../../../src/store/schema-auth.ts";
import { ADMIN_PASSWORD, createTestApp, type TestApp } from "../../../support/app.ts";
import { testSlow } from "../../../support/thorough.ts";

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp();
});
afterAll(() => app.close());

const NEW_PASSWORD = "eleven candles under warm sand";

describe("setAdminPassword()", () => {
  test("ends the sessions, clears the lock and replaces the password", async () => {
    const client = await app.admin();
    for (let i = 0; i < 5; i++) {
      await app.anonymous().call("POST", "/auth/admin/login", { username: "admin", password: "wrong" });
    }
    const login = (password: string) =>
      app.anonymous().call("POST", "/auth/admin/login", { username: "admin", password });
    expect((await login(ADMIN_PASSWORD)).status).toBe(429);
    await setAdminPassword(app.system, "admin", NEW_PASSWORD);
    expect((await client.call("GET", "/auth/me")).status).toBe(401);
    expect((await login(ADMIN_PASSWORD)).status).toBe(401);
    expect((await login(NEW_PASSWORD)).status).toBe(200);
  });

  test("voids a pending reset mail", async () => {
    const [admin] = await listAdmins(app.system);
    const expiresAt = shift(app.clock.now(), HOUR);
    await app.db.insert(resetTokens).values({ adminId: admin?.id ?? 0, tokenHash: hashToken("mailed"), expiresAt });
    await setAdminPassword(app.system, "admin", NEW_PASSWORD);
    const reset = { token: "mailed", new_password: ADMIN_PASSWORD };
    expect((await app.anonymous().call("POST", "/auth/admin/reset", reset)).status).toBe(400);
    expect(await app.db.select().from(resetTokens)).toEqual([]);
  });

  testSlow("does not deadlock with logins and reset mails of the same name", async () => {
    for (let round = 0; round < 15; round++) {
      app.clock.advance(HOUR);
      const mailed = app.anonymous().call("POST", "/auth/admin/forgot", { username: "admin" });
      const credentials = { username: "admin", password: NEW_PASSWORD };
      const login = app.anonymous().call("POST", "/auth/admin/login", credentials);
      await setAdminPassword(app.system, "admin", NEW_PASSWORD);
      expect((await mailed).status).toBe(200);
      expect([200, 401]).toContain((await login).status);
    }
  });

  test("refuses a weak password and an unknown name", async () => {
    await expect(setAdminPassword(app.system, "admin", "short")).rejects.toMatchObject({ code: "invalid" });
    await expect(setAdminPassword(app.system, "nobody", NEW_PASSWORD)).rejects.toMatchObject({ code: "not_found" });
  });
});

describe("removeAdmin()", () => {
  test("ends the sessions of the administrator who is removed", async () => {
    await addAdmin(app.system, "temp", "t@example.org", NEW_PASSWORD);
    const client = app.anonymous();
    await client.call("POST", "/auth/admin/login", { username: "temp", password: NEW_PASSWORD });
    expect((await client.call("GET", "/auth/me")).status).toBe(200);
    await removeAdmin(app.system, "temp");
    expect((await client.call("GET", "/auth/me")).status).toBe(401);
  });

  test("of two simultaneous removals one leaves the last administrator", async () => {
    await addAdmin(app.system, "other", "o@example.org", NEW_PASSWORD);
    const outcomes = await Promise.allSettled([removeAdmin(app.system, "admin"), removeAdmin(app.system, "other")]);
    expect(outcomes.map((outcome) => outcome.status).sort()).toEqual(["fulfilled", "rejected"]);
    expect(await listAdmins(app.system)).toHaveLength(1);
  });
});

describe("every change of an administrator is on record", () => {
  const records = async () =>
    (await app.auditRows())
      .filter(({ action }) => action.startsWith("admin."))
      .map((row) => ({ ...row, detail: JSON.parse(row.detail) }));

  test("addAdmin(), setAdminPassword() and removeAdmin() name the administrator and who did it, never the password", async () => {
    const before = (await records()).length;
    const { id } = await addAdmin(app.system, "olaf", "olaf@example.org", ADMIN_PASSWORD);
    await setAdminPassword(app.system, "olaf", NEW_PASSWORD);
    await removeAdmin(app.system, "olaf");
    const found = (await records()).slice(before);
    const common = {
      actorType: "cli",
      actor: "operator",
      resourceType: "admin",
      resourceId: String(id),
      result: "success",
    };
    expect(found).toMatchObject([
      { ...common, action: "admin.create", detail: { username: "olaf", email: "olaf@example.org" } },
      { ...common, action: "admin.update", detail: { username: "olaf", changed: "password" } },
      { ...common, action: "admin.remove", detail: { username: "olaf", email: "olaf@example.org" } },
    ]);
    expect(JSON.stringify(found)).not.toContain(NEW_PASSWORD);
    expect(JSON.stringify(found)).not.toContain("argon2");
  });

  test("a change that was refused is recorded as failed", async () => {
    const before = (await records()).length;
    await expect(addAdmin(app.system, "weak", "w@example.org", "short")).rejects.toThrow();
    await addAdmin(app.system, "twice", "t@example.org", ADMIN_PASSWORD);
    await expect(addAdmin(app.system, "twice", "t@example.org", ADMIN_PASSWORD)).rejects.toMatchObject({
      code: "conflict",
    });
    await expect(setAdminPassword(app.system, "nobody", NEW_PASSWORD)).rejects.toThrow();
    await expect(removeAdmin(app.system, "nobody")).rejects.toThrow();
    expect(
      (await records())
        .slice(before)
        .map(({ action, result, resourceId, detail }) => [action, result, resourceId, typeof detail.err]),
    ).toEqual([
      ["admin.create", "failed", "", "string"],
      ["admin.create", "success", expect.any(String), "undefined"],
      ["admin.create", "failed", "", "string"],
      ["admin.update", "failed", "", "string"],
      ["admin.remove", "failed", "", "string"],
    ]);
  });
});
