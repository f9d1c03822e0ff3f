import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { createPasswordHasher } from "../../../src/domain/auth/administrators/passwords.ts";
import { printCode, sendCode } from "../../../src/domain/auth/codes/otp.ts";
import { UamError } from "../../../src/shared/errors.ts";
import { HOUR, MINUTE } from "../../../src/shared/time/clock.ts";
import { outbox } from "../../../src/store/schema.ts";
import { loginLimits, sessions } from "../../../src/store/schema-auth.ts";
import { ADMIN_PASSWORD, type Client, createTestApp, type TestApp } from "../../support/app.ts";

let app: TestApp;
let admin: Client;
let count = 0;

beforeAll(async () => {
  app = await createTestApp({ UAM_RATE_LIMIT: "off" });
});
afterAll(() => app.close());
beforeEach(async () => {
  count++;
  app.clock.advance(HOUR);
  admin = await app.admin();
});

async function person() {
  const username = `login-${count}`;
  await admin.call("POST", "/users", { username, email: `${username}@example.org` });
  return username;
}

function login(username: string, code: string, client = app.anonymous()) {
  return client.call("POST", "/auth/otp/login", { username, code });
}

function loginAdmin(username: string, password: string, at = app) {
  return at.anonymous().call("POST", "/auth/admin/login", { username, password });
}

const other = (code: string) => String((Number(code) + 1) % 100_000_000).padStart(8, "0");

describe("loginWithCode()", () => {
  test("opens a session once", async () => {
    const username = await person();
    const { code } = await printCode(app.system, username);
    expect(code).toMatch(/^\d{8}$/);
    const client = app.anonymous();
    const answer = await login(username, code, client);
    expect(answer.status).toBe(200);
    expect(answer.headers.get("set-cookie")).toMatch(/^__Host-uam_session=[A-Za-z0-9_-]{43}; /);
    for (const part of ["HttpOnly", "Secure", "SameSite=Strict", "Path=/", "Max-Age=43200"]) {
      expect(answer.headers.get("set-cookie")).toContain(part);
    }
    const me = await client.call("GET", "/auth/me");
    expect(me.body.data).toEqual({
      user_type: "user",
      id: expect.any(Number),
      username,
      email: `${username}@example.org`,
    });
    expect(answer.body).toEqual(me.body);
    expect((await login(username, code)).status).toBe(401);
  });

  test("of 50 simultaneous logins with one code one wins", async () => {
    const username = await person();
    const { code } = await printCode(app.system, username);
    const answers = await Promise.all(Array.from({ length: 50 }, () => login(username, code)));
    expect(answers.filter((answer) => answer.status === 200)).toHaveLength(1);
  });

  test("of 60 simultaneous wrong guesses five are evaluated, then the name is locked for 15 minutes", async () => {
    const username = await person();
    const { code } = await printCode(app.system, username);
    const answers = await Promise.all(Array.from({ length: 60 }, () => login(username, other(code))));
    expect(answers.filter((answer) => answer.status === 401)).toHaveLength(5);
    const locked = answers.filter((answer) => answer.status === 429);
    expect(locked).toHaveLength(55);
    expect(Number(locked[0]?.headers.get("retry-after"))).toBe(15 * 60);
    expect((await login(username, code)).status).toBe(429);
    await expect(printCode(app.system, username)).rejects.toMatchObject({ code: "limited" });
    app.clock.advance(15 * MINUTE);
    const fresh = await printCode(app.system, username);
    expect((await login(username, fresh.code)).status).toBe(200);
  });

  test("accepts a code with spaces and dashes, for the account's name too", async () => {
    const username = await person();
    const { code } = await printCode(app.system, ` ext_${username} `);
    const typed = ` ${code.slice(0, 3)}-${code.slice(3, 5)}\u2013${code.slice(5, 7)}\u00a0${code.slice(7)} `;
    expect((await login(`ext_${username}\t`, typed)).status).toBe(200);
  });

  test.each([
    ["a name with a control character", "ann\u0007", "12345678"],
    ["a name that shows nothing", "\u200b", "12345678"],
    ["a prefix without a name", "ext_", "12345678"],
    ["an empty code", "ann", " "],
    ["a code with an override", "ann", "1234\u202e5678"],
  ])("refuses %s with 400", async (_case, username, code) => {
    expect((await login(username, code)).status).toBe(400);
  });

  test("counts wrong answers across codes until one is right", async () => {
    const username = await person();
    const wrong = async (count: number) => {
      const { code } = await printCode(app.system, username);
      const statuses: number[] = [];
      for (let n = 0; n < count; n++) statuses.push((await login(username, other(code))).status);
      app.clock.advance(MINUTE);
      return { code, statuses };
    };
    expect((await wrong(4)).statuses).toEqual([401, 401, 401, 401]);
    expect((await wrong(3)).statuses).toEqual([401, 429, 429]);
    app.clock.advance(14 * MINUTE);
    const { code } = await printCode(app.system, username);
    expect((await login(username, code)).status).toBe(200);
    app.clock.advance(MINUTE);
    expect((await wrong(4)).statuses).toEqual([401, 401, 401, 401]);
    expect((await login(username, (await printCode(app.system, username)).code)).status).toBe(200);
  });

  test.each([["a user"], ["nobody"]])(
    "each further five wrong answers to %s double the wait, up to an hour",
    async (who) => {
      const username = who === "nobody" ? `nobody-${count}` : await person();
      for (const minutes of [15, 30, 60, 60]) {
        await sendCode(app.system, username, await app.captcha());
        // One in ten million that it is this one.
        for (let n = 0; n < 5; n++) expect((await login(username, "00000000")).status).toBe(401);
        const locked = await login(username, "00000000");
        expect([locked.status, locked.headers.get("retry-after")]).toEqual([429, String(minutes * 60)]);
        app.clock.advance(minutes * MINUTE - 1000);
        await expect(sendCode(app.system, username, await app.captcha())).rejects.toMatchObject({ code: "limited" });
        expect((await login(username, "00000000")).status).toBe(429);
        app.clock.advance(1000);
      }
    },
  );

  test("of simultaneous guesses for two codes in turn five are evaluated in all", async () => {
    const username = await person();
    const first = await printCode(app.system, username);
    for (let n = 0; n < 3; n++) await login(username, other(first.code));
    app.clock.advance(MINUTE);
    const second = await printCode(app.system, username);
    const answers = await Promise.all(Array.from({ length: 30 }, () => login(username, other(second.code))));
    expect(answers.filter((answer) => answer.status === 401)).toHaveLength(2);
    expect((await login(username, second.code)).status).toBe(429);
  });

  test("a code is void once the name was locked, however long codes are valid", async () => {
    const patient = await createTestApp({ UAM_OTP_TTL: "1h" });
    await (await patient.admin()).call("POST", "/users", { username: "ann", email: "ann@example.org" });
    const { code } = await printCode(patient.system, "ann");
    for (let n = 0; n < 5; n++) await login("ann", other(code), patient.anonymous());
    patient.clock.advance(15 * MINUTE);
    expect((await login("ann", code, patient.anonymous())).status).toBe(401);
    await patient.close();
  });

  test("the last answer allowed unlocks the name if it is right", async () => {
    const username = await person();
    const { code } = await printCode(app.system, username);
    for (let n = 0; n < 4; n++) await login(username, other(code));
    expect((await login(username, code)).status).toBe(200);
    app.clock.advance(MINUTE);
    expect((await login(username, (await printCode(app.system, username)).code)).status).toBe(200);
  });

  test("a code that could not be evaluated does not count as wrong, and lifts the lock that it claimed", async () => {
    const hasher = createPasswordHasher({}, { password: 256, code: 256 });
    let isBusy = false;
    const verifyCode = async (hash: string, code: string) => {
      if (isBusy) throw new UamError("limited", "The service is busy", { retryAfter: 5 });
      return await hasher.verifyCode(hash, code);
    };
    const busy = await createTestApp({}, {}, { ...hasher, verifyCode });
    await (await busy.admin()).call("POST", "/users", { username: "ann", email: "ann@example.org" });
    const { code } = await printCode(busy.system, "ann");
    for (let n = 0; n < 4; n++) await login("ann", other(code), busy.anonymous());
    isBusy = true;
    for (let n = 0; n < 3; n++) expect((await login("ann", code, busy.anonymous())).status).toBe(429);
    const counted = await busy.db.select().from(loginLimits).where(eq(loginLimits.kind, "code"));
    expect(counted).toMatchObject([{ username: "ann", failures: 4, lockedUntil: null }]);
    isBusy = false;
    expect((await login("ann", code, busy.anonymous())).status).toBe(200);
    await busy.close();
  });

  test("refuses a code after ten minutes, and the code of a user who was disabled", async () => {
    const username = await person();
    const first = await printCode(app.system, username);
    app.clock.advance(10 * MINUTE);
    expect((await login(username, first.code)).status).toBe(401);
    const second = await printCode(app.system, username);
    const id = (await admin.call("GET", "/users?page_size=1")).body.data.items[0].id;
    await admin.call("POST", `/users/${id}/disable`);
    expect((await login(username, second.code)).status).toBe(401);
  });

  test("replaces the session that the request came with", async () => {
    const username = await person();
    const client = app.anonymous();
    await login(username, (await printCode(app.system, username)).code, client);
    const old = app.anonymous();
    old.cookie = client.cookie;
    app.clock.advance(MINUTE);
    await login(username, (await printCode(app.system, username)).code, client);
    expect((await old.call("GET", "/auth/me")).status).toBe(401);
    expect((await client.call("GET", "/auth/me")).status).toBe(200);
  });
});

describe("sendCode() and printCode()", () => {
  test("share one cooldown of a minute where mail is sent", async () => {
    const place = await withAnn({ UAM_SMTP_URL: "smtp://192.0.2.1", UAM_MAIL_FROM: "uam@example.org" });
    await sendCode(place.system, "ann", await place.captcha());
    await expect(printCode(place.system, "ann")).rejects.toMatchObject({ code: "limited", retryAfter: 60 });
    place.clock.advance(MINUTE);
    await printCode(place.system, "ann");
    await place.close();
  });

  test("where none is sent, a code is printed at once, and begins the cooldown anew", async () => {
    const place = await withAnn({});
    await sendCode(place.system, "ann", await place.captcha());
    place.clock.advance(MINUTE / 2);
    const { code } = await printCode(place.system, "ann");
    place.clock.advance(MINUTE / 2);
    // Whoever presses the button once more does not make it void.
    await expect(sendCode(place.system, "ann", await place.captcha())).rejects.toMatchObject({ retryAfter: 30 });
    expect((await login("ann", code, place.anonymous())).status).toBe(200);
    await place.close();
  });

  async function withAnn(variables: Record<string, string>) {
    const place = await createTestApp(variables);
    await (await place.admin()).call("POST", "/users", { username: "ann", email: "ann@example.org" });
    return place;
  }

  test("treat an unknown name like a known one, but queue no mail", async () => {
    const username = await person();
    await sendCode(app.system, username, await app.captcha());
    await sendCode(app.system, `nobody-${count}`, await app.captcha());
    await expect(sendCode(app.system, `nobody-${count}`, await app.captcha())).rejects.toMatchObject({
      code: "limited",
      retryAfter: 60,
    });
    const mails = await app.db.select().from(outbox).orderBy(outbox.id);
    expect(mails.at(-2)).toMatchObject({ status: "queued", recipient: `${username}@example.org` });
    expect(mails.at(-2)?.text).toMatch(/\b\d{8}\b/);
    expect(mails.at(-1)).toMatchObject({ status: "dropped", recipient: "", text: "", html: "" });
    const [row] = (await app.auditRows("auth.otp_send")).slice(-2);
    expect(row).toMatchObject({ result: "failed" });
  });
});

describe("loginAdmin()", () => {
  test("locks the name after five failures, even for the right password, and unknown names the same way", async () => {
    for (const username of ["admin", `unknown-${count}`]) {
      for (let attempt = 0; attempt < 5; attempt++)
        expect((await loginAdmin(username, "wrong wrong wrong")).status).toBe(401);
      const locked = await loginAdmin(username, ADMIN_PASSWORD);
      expect(locked.status).toBe(429);
      expect(Number(locked.headers.get("retry-after"))).toBe(15 * 60);
    }
    app.clock.advance(15 * MINUTE);
    expect((await loginAdmin("admin", ADMIN_PASSWORD)).status).toBe(200);
  });

  test("of 20 simultaneous wrong guesses five are evaluated", async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => loginAdmin(`flood-${count}`, "wrong wrong wrong")),
    );
    expect(answers.filter((answer) => answer.status === 401)).toHaveLength(5);
  });

  test("a password that could not be evaluated is not a failure", async () => {
    const busy = await createTestApp({}, {}, createPasswordHasher({ concurrency: 1, maxQueue: 0 }));
    await busy.admin();
    // On a busy machine the second may come when the first is done.
    for (let round = 0, refused = 0; refused < 6; round++) {
      const both = await Promise.all([1, 2].map(() => loginAdmin("admin", ADMIN_PASSWORD, busy)));
      const statuses = both.map(({ status }) => status).sort();
      if (statuses[1] === 429) refused++;
      expect(round).toBeLessThan(200);
      expect(statuses).toEqual([200, statuses[1] === 429 ? 429 : 200]);
    }
    const [lock] = await busy.db.select().from(loginLimits);
    expect(lock).toMatchObject({ kind: "password", username: "admin", failures: 0, lockedUntil: null });
    await busy.close();
  });

  test("records success and failure, but never an unknown name", async () => {
    await loginAdmin(`my password ${count}`, "wrong wrong wrong");
    expect(JSON.stringify((await app.auditRows("auth.admin_login")).at(-1))).not.toContain("my password");
    await loginAdmin("admin", "wrong wrong wrong");
    expect((await app.auditRows("auth.admin_login")).at(-1)).toMatchObject({
      // A caller who does not know the password is not the administrator.
      actorType: "anonymous",
      actor: "anonymous",
      result: "failed",
      resourceType: "",
    });
    expect((await app.lastAudit("auth.admin_login")).detail.username).toBe("admin");
    await loginAdmin("admin", ADMIN_PASSWORD);
    expect(await app.lastAudit("auth.admin_login")).toMatchObject({
      ...{ actorType: "admin", actor: "admin", result: "success", detail: { username: "admin" } },
    });
  });
});

describe("sessions", () => {
  test("end after twelve hours and by logout, which clears the cookie", async () => {
    const client = await app.admin();
    const stolen = app.anonymous();
    stolen.cookie = client.cookie;
    expect((await client.call("POST", "/auth/logout")).body).toEqual({ data: { status: "logged_out" } });
    expect(client.cookie).toBe("");
    expect((await stolen.call("GET", "/auth/me")).status).toBe(401);
    const again = await app.admin();
    app.clock.advance(12 * HOUR);
    expect((await again.call("GET", "/auth/me")).status).toBe(401);
  });

  test("are stored as hashes only", async () => {
    const client = await app.admin();
    const token = client.cookie.split("=")[1] ?? "";
    const rows = await app.db.select().from(sessions);
    expect(rows.some((row) => Buffer.from(row.tokenHash).toString("base64url") === token)).toBe(false);
    expect(JSON.stringify(rows)).not.toContain(token);
  });
});
