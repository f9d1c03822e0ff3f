import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { addAdmin } from "../../../../src/domain/auth/administrators/add-admin.ts";
import { loginAdmin } from "../../../../src/domain/auth/administrators/admin-login.ts";
import { purgeResetTokens } from "../../../../src/domain/auth/administrators/admin-reset.ts";
import { HOUR, MINUTE } from "../../../../src/shared/time/clock.ts";
import { openDatabase } from "../../../../src/store/client.ts";
import { loginLimits, resetTokens, sessions } from "../../../../src/store/schema-auth.ts";
import { ADMIN_PASSWORD, createTestApp, type TestApp } from "../../../support/app.ts";
import { untilWaiting } from "../../../support/waiting.ts";

const NEW_PASSWORD = "nine kettles under a green moon";

let app: TestApp;
let count = 0;
let name: string;

beforeAll(async () => {
  app = await createTestApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  app.clock.advance(HOUR);
  name = `keeper-${++count}`;
  await addAdmin(app.system, name, `${name}@example.org`, ADMIN_PASSWORD);
});

function forgot(username = name) {
  return app.anonymous().call("POST", "/auth/admin/forgot", { username });
}

function reset(token: string, password = NEW_PASSWORD) {
  return app.anonymous().call("POST", "/auth/admin/reset", { token, new_password: password });
}

function login(password: string) {
  return app.anonymous().call("POST", "/auth/admin/login", { username: name, password });
}

async function mailedToken(): Promise<string> {
  const mail = (await app.mails(`${name}@example.org`)).at(-1);
  return /^ +([A-Za-z0-9_-]{43})$/m.exec(mail?.text ?? "")?.[1] ?? "no token in the mail";
}

async function askForToken(): Promise<string> {
  expect((await forgot()).body).toEqual({ data: { status: "sent" } });
  return await mailedToken();
}

describe("forgotPassword()", () => {
  test("mails a token, names the service's address, and stores only its hash", async () => {
    const token = await askForToken();
    const [mail] = await app.mails(`${name}@example.org`);
    expect(mail?.text).toContain(app.config.baseUrl);
    expect(mail?.expiresAt).toEqual(new Date(app.clock.now().getTime() + 30 * MINUTE));
    expect(JSON.stringify(await app.db.select().from(resetTokens))).not.toContain(token);
    expect(JSON.stringify(await app.auditRows())).not.toContain(token);
    expect(await app.lastAudit("auth.admin_forgot")).toMatchObject({
      result: "success",
      actorType: "anonymous",
      resourceType: "",
      resourceId: "",
      detail: { username: name },
    });
  });

  test("answers an unknown name the same, queues a decoy and does not record the name", async () => {
    const known = await forgot();
    const unknown = await forgot("my secret password");
    expect(unknown.status).toBe(known.status);
    expect(unknown.text).toBe(known.text);
    expect([...unknown.headers.keys()]).toEqual([...known.headers.keys()]);
    expect((await app.mails()).at(-1)).toMatchObject({ recipient: "", status: "dropped", text: "", html: "" });
    const row = await app.lastAudit("auth.admin_forgot");
    expect(row).toMatchObject({ result: "failed", detail: { err: expect.any(String) } });
    expect(JSON.stringify(row)).not.toContain("secret");
  });

  test("sends one mail a minute for a name, and answers the same meanwhile", async () => {
    await Promise.all([forgot(), forgot(), forgot(), forgot()]);
    expect(await app.mails(`${name}@example.org`)).toHaveLength(1);
    const first = await mailedToken();
    app.clock.advance(MINUTE - 1);
    expect((await forgot()).status).toBe(200);
    expect(await mailedToken()).toBe(first);
    app.clock.advance(1);
    await forgot();
    expect(await app.mails(`${name}@example.org`)).toHaveLength(2);
  });

  test("voids the token before", async () => {
    const first = await askForToken();
    app.clock.advance(MINUTE);
    const second = await askForToken();
    expect(second).not.toBe(first);
    expect((await reset(first)).status).toBe(400);
    expect((await reset(second)).status).toBe(200);
  });
});

describe("resetPassword()", () => {
  test("sets the password, ends all sessions and lifts the lock", async () => {
    const client = app.anonymous();
    await client.call("POST", "/auth/admin/login", { username: name, password: ADMIN_PASSWORD });
    expect((await client.call("GET", "/auth/me")).status).toBe(200);
    for (let n = 0; n < 5; n++) await login("wrong wrong wrong");
    expect((await login(ADMIN_PASSWORD)).status).toBe(429);
    const answer = await reset(await askForToken());
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ data: { status: "reset" } });
    expect((await client.call("GET", "/auth/me")).status).toBe(401);
    expect(await app.db.select().from(sessions).where(eq(sessions.username, name))).toHaveLength(0);
    expect((await login(ADMIN_PASSWORD)).status).toBe(401);
    expect((await login(NEW_PASSWORD)).status).toBe(200);
    expect(await app.lastAudit("auth.admin_reset")).toMatchObject({
      result: "success",
      actorType: "admin",
      actor: name,
      resourceType: "",
    });
    expect(JSON.stringify(await app.auditRows())).not.toContain(NEW_PASSWORD);
  });

  test("accepts a token once, even in 10 simultaneous resets", async () => {
    const token = await askForToken();
    const answers = await Promise.all(Array.from({ length: 10 }, (_, n) => reset(token, `${NEW_PASSWORD} ${n}`)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 9 }, () => 400)]);
    const works = await Promise.all(answers.map((_, n) => login(`${NEW_PASSWORD} ${n}`)));
    const won = answers.findIndex(({ status }) => status === 200);
    expect(works[won]?.status === 200 || works[won]?.status === 429).toBe(true);
  });

  test.each([["short"], ["x".repeat(257)], ["passwordpassword"], ["NAME and fifteen more"]])(
    "refuses the password %j with 400 and keeps the token",
    async (password) => {
      const token = await askForToken();
      const answer = await reset(token, password.replace("NAME", name));
      expect(answer.status).toBe(400);
      expect(answer.body.error).toContain("password");
      expect(await app.lastAudit("auth.admin_reset")).toMatchObject({ result: "failed" });
      expect((await login(ADMIN_PASSWORD)).status).toBe(200);
      expect((await reset(token)).status).toBe(200);
    },
  );

  test.each([[""], ["x"], ["A".repeat(43)], ["\u0000"], ["\ud800".repeat(20)]])(
    "refuses the token %j with 400",
    async (token) => {
      expect((await reset(token)).status).toBe(400);
    },
  );

  test("refuses a token after 30 minutes, and purgeResetTokens() forgets it", async () => {
    const token = await askForToken();
    app.clock.advance(30 * MINUTE - 1);
    await purgeResetTokens(app.services);
    expect((await app.db.select().from(resetTokens)).length).toBeGreaterThan(0);
    app.clock.advance(1);
    expect((await reset(token)).status).toBe(400);
    await purgeResetTokens(app.services);
    expect(await app.db.select().from(resetTokens)).toHaveLength(0);
  });
});

describe("a login with the old password at the same time", () => {
  test("leaves no session behind", async () => {
    const token = await askForToken();
    const opened = openDatabase(app.connection, 1);
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    let holding: Promise<void> | undefined;
    const hasher = {
      ...app.services.hasher,
      // From when the password was found right, the login waits for a row that it needs later.
      verify: async (hash: string, password: string) => {
        const isRight = await app.services.hasher.verify(hash, password);
        const held = Promise.withResolvers<void>();
        holding = opened.db.transaction(async (tx) => {
          await tx.select().from(loginLimits).where(eq(loginLimits.username, name)).for("update");
          held.resolve();
          await released;
        });
        await held.promise;
        return isRight;
      },
    };
    const anonymous = { type: "anonymous", name: "anonymous", ip: "" } as const;
    const login = loginAdmin({ ...app.services, hasher, actor: anonymous, requestId: "" }, name, {
      password: ADMIN_PASSWORD,
    });
    await untilWaiting(app.db, 1);
    const answer = reset(token);
    await untilWaiting(app.db, 2);
    release();
    await holding;
    expect((await answer).status).toBe(200);
    const { principal } = await login;
    const left = await app.db.select().from(sessions).where(eq(sessions.principalId, principal.id));
    expect(left).toEqual([]);
    await opened.close();
  });
});
