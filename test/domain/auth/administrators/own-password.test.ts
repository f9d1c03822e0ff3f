import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { addAdmin } from "../../../../src/domain/auth/administrators/add-admin.ts";
import type { AdminRole } from "../../../../src/shared/product/statuses.ts";
import { HOUR, MINUTE } from "../../../../src/shared/time/clock.ts";
import { resetTokens } from "../../../../src/store/schema-auth.ts";
import { ADMIN_PASSWORD, type Client, createTestApp, type TestApp } from "../../../support/app.ts";

const NEW_PASSWORD = "eleven candles under warm sand";

let app: TestApp;
let count = 0;

beforeAll(async () => {
  app = await createTestApp();
});
afterAll(() => app.close());
beforeEach(() => app.clock.advance(HOUR));

async function made(role: AdminRole = "owner") {
  const username = `chief-${++count}`;
  const { id } = await addAdmin(app.system, username, `${username}@example.org`, ADMIN_PASSWORD, role);
  return { id, username };
}

async function login({ username }: { readonly username: string }, password = ADMIN_PASSWORD): Promise<Client> {
  const client = app.anonymous();
  const { status } = await client.call("POST", "/auth/admin/login", { username, password });
  if (status !== 200) throw new Error(`login of ${username}: ${status}`);
  return client;
}

describe("changeOwnPassword()", () => {
  const change = (client: Client, password: string, next = NEW_PASSWORD) =>
    client.call("POST", "/auth/admin/password", { password, new_password: next });

  test("changes the password, keeps this session and ends the others, on record", async () => {
    const self = await made("auditor");
    const [here, elsewhere] = [await login(self), await login(self)];
    await app.anonymous().call("POST", "/auth/admin/forgot", { username: self.username });
    const answer = await change(here, ADMIN_PASSWORD);
    expect([answer.status, answer.body]).toEqual([200, { data: { status: "changed" } }]);
    expect((await here.call("GET", "/auth/me")).status).toBe(200);
    expect((await elsewhere.call("GET", "/auth/me")).status).toBe(401);
    expect(await app.db.select().from(resetTokens).where(eq(resetTokens.adminId, self.id))).toEqual([]);
    await expect(login(self)).rejects.toThrow("401");
    await login(self, NEW_PASSWORD);
    const row = await app.lastAudit("auth.admin_password");
    expect(row).toMatchObject({
      ...{ actorType: "admin", actor: self.username, resourceType: "", resourceId: "", result: "success" },
      detail: { username: self.username },
    });
    expect(JSON.stringify(row)).not.toContain("argon2");
  });

  test("a wrong current password is 403 and counts as a failed login", async () => {
    const self = await made();
    const client = await login(self);
    for (let n = 0; n < 5; n++) {
      const answer = await change(client, "wrong");
      expect([answer.status, answer.body.error]).toEqual([403, "The current password is wrong"]);
    }
    const locked = await change(client, ADMIN_PASSWORD);
    expect([locked.status, Number(locked.headers.get("retry-after")) > 0]).toEqual([429, true]);
    await expect(login(self)).rejects.toThrow("429");
    app.clock.advance(16 * MINUTE);
    expect((await change(client, ADMIN_PASSWORD)).status).toBe(200);
    await login(self, NEW_PASSWORD);
  });

  test("of many guesses at once at most the limit is evaluated", async () => {
    const client = await login(await made());
    const answers = await Promise.all(Array.from({ length: 20 }, () => change(client, "wrong")));
    expect(answers.filter(({ status }) => status === 403)).toHaveLength(5);
  });

  test("a password that is not allowed is 400, and no guess", async () => {
    const client = await login(await made());
    for (let n = 0; n < 6; n++) expect((await change(client, "wrong", "short")).status).toBe(400);
    expect((await client.call("POST", "/auth/admin/password", { password: 7 })).status).toBe(400);
    expect(await app.lastAudit("auth.admin_password")).toMatchObject({ result: "failed", actorType: "admin" });
    expect((await change(client, ADMIN_PASSWORD)).status).toBe(200);
  });

  test("of two changes at once one holds", async () => {
    const self = await made();
    const [one, two] = [await login(self), await login(self)];
    const answers = await Promise.all([
      change(one, ADMIN_PASSWORD, NEW_PASSWORD),
      change(two, ADMIN_PASSWORD, "twelve ladders behind old barns"),
    ]);
    // The other's session was ended, before its guard or after.
    expect(answers.map(({ status }) => status).sort()[0]).toBe(200);
    expect([401, 403]).toContain(answers.map(({ status }) => status).sort()[1] ?? 0);
    const kept = answers[0]?.status === 200 ? NEW_PASSWORD : "twelve ladders behind old barns";
    await login(self, kept);
  });
});
