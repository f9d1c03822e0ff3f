/** "This was not me": users shut their own account, whatever fails on the way. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { and, eq } from "drizzle-orm";
import { accountOf } from "../../../src/domain/accounts/account.ts";
import { listClosings } from "../../../src/domain/accounts/closings.ts";
import { findUser, type User } from "../../../src/domain/accounts/find-user.ts";
import { printCode, sendCode } from "../../../src/domain/auth/codes/otp.ts";
import { finishClosings } from "../../../src/domain/lifecycle/finish-closings.ts";
import { expireDue } from "../../../src/domain/lifecycle/lifecycle.ts";
import { HOUR, MINUTE } from "../../../src/shared/time/clock.ts";
import { closings, users } from "../../../src/store/schema.ts";
import { sessions } from "../../../src/store/schema-auth.ts";
import { type Client, createTestApp, loginUser, type TestApp } from "../../support/app.ts";
import { freshKey } from "../../support/keys.ts";

let app: TestApp;
let admin: Client;
let me: Client;
let name: string;
let id: number;
let count = 0;

beforeAll(async () => {
  app = await createTestApp({ UAM_SESSION_TTL: "30d", UAM_CONTACT: "help@example.org" });
});
afterAll(() => app.close());
beforeEach(async () => {
  app.host.failing.clear();
  app.clock.advance(2 * HOUR);
  await app.db.delete(closings);
  admin = await app.admin();
  name = `lock-${++count}`;
  ({ id, client: me } = await app.user(name));
});

const account = () => app.host.accounts.get(`ext_${name}`);
const row = () => findUser(app.db, id) as Promise<User>;
const lock = (client = me) => client.call("POST", "/me/lock");
const finish = () => finishClosings(app.services);
const records = async () =>
  (await app.auditRows("user.lock")).filter(({ subjectId }) => subjectId === id).map((record) => record.result);
const openSessions = async () =>
  await app.db
    .select()
    .from(sessions)
    .where(and(eq(sessions.userType, "user"), eq(sessions.principalId, id)));
const told = async (recipient: string) =>
  (await app.mails(recipient)).filter(({ subject }) => /shut their account|is shut|is disabled/.test(subject));
const toldOfThis = async () => (await told("admin@example.org")).filter(({ subject }) => subject.includes(`${name} `));

async function another(): Promise<Client> {
  app.clock.advance(MINUTE);
  return await loginUser(app.system, app.app, name);
}

describe("lockOwnAccount()", () => {
  test("shuts the account, ends every session of the user, and clears the cookie", async () => {
    await me.call("POST", "/me/keys", { name: "k", public_key: freshKey() });
    const thief = await another();
    const bystander = await app.user(`by-${name}`);
    const answer = await lock();
    expect([answer.status, answer.body]).toEqual([200, { data: { status: "disabled" } }]);
    expect(answer.headers.get("set-cookie")).toMatch(/^__Host-uam_session=;.*Max-Age=0/i);
    expect(account()).toMatchObject({ open: false, file: [] });
    expect(await row()).toMatchObject({ status: "disabled", disabledAt: app.clock.now() });
    expect(await openSessions()).toEqual([]);
    expect((await thief.call("GET", "/me")).status).toBe(401);
    expect((await bystander.client.call("GET", "/me")).status).toBe(200);
    expect(await listClosings(app.db)).toEqual([]);
    expect(await app.lastAudit("user.lock")).toMatchObject({
      actorType: "user",
      actor: name,
      resourceId: String(id),
      subjectId: id,
      ip: "192.0.2.1",
      result: "success",
      detail: { username: name, status: "disabled" },
    });
  });

  test("tells the administrators who, when and from where, and the user, once each", async () => {
    await lock();
    const [mail, ...more] = await toldOfThis();
    expect(more).toEqual([]);
    for (const part of [`ext_${name}`, `${name}@example.org`, "192.0.2.1", "UTC", "/admin/users/"]) {
      expect(mail?.text).toContain(part);
    }
    const [own, ...others] = await told(`${name}@example.org`);
    expect(others).toEqual([]);
    expect(own?.text).toContain("192.0.2.1");
    expect(own?.text).toContain("help@example.org");
  });

  test("voids a code that is under way: it opens nothing, even once the account is enabled again", async () => {
    app.clock.advance(MINUTE);
    const { code } = await printCode(app.system, name);
    await lock();
    await admin.call("POST", `/users/${id}/enable`);
    const answer = await app.anonymous().call("POST", "/auth/otp/login", { username: name, code });
    expect(answer.status).toBe(401);
    expect((await (await another()).call("GET", "/me")).status).toBe(200);
    expect(account()?.open).toBe(true);
  });

  test("is undone by an administrator alone: more time does not, and nobody logs in meanwhile", async () => {
    await lock();
    app.clock.advance(MINUTE);
    const mails = (await app.mails(`${name}@example.org`)).length;
    await sendCode(app.system, name, await app.captcha());
    expect((await app.mails(`${name}@example.org`)).filter(({ status }) => status === "queued")).toHaveLength(mails);
    await admin.call("POST", `/users/${id}/extend`, { days: 1 });
    expect([(await row()).status, account()?.open]).toEqual(["disabled", false]);
    expect((await admin.call("POST", `/users/${id}/enable`)).body.data.status).toBe("active");
  });

  test("is 409 for a user who is disabled already: nothing changes, and the session stays", async () => {
    await admin.call("POST", `/users/${id}/disable`);
    const before = await row();
    const { status, body } = await lock();
    expect([status, body]).toEqual([409, { error: `${name} is disabled already` }]);
    expect(await row()).toEqual(before);
    expect(await openSessions()).toHaveLength(1);
    expect(await toldOfThis()).toEqual([]);
    expect(await records()).toEqual(["failed"]);
  });

  test("of two at the same moment one does it, and the other changes nothing", async () => {
    const clients = [me, await another(), await another()];
    const answers = await Promise.all(clients.map((client) => lock(client)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const { status } of answers) expect([200, 401, 409]).toContain(status);
    expect(await openSessions()).toEqual([]);
    expect(await toldOfThis()).toHaveLength(1);
    expect((await records()).filter((result) => result === "success")).toHaveLength(1);
    expect((await lock()).status).toBe(401);
  });

  test("keeps an expired user from being opened by more time", async () => {
    await app.db.update(users).set({ expireAt: app.clock.now() }).where(eq(users.id, id));
    expect((await lock()).body).toEqual({ data: { status: "expired" } });
    expect(await openSessions()).toEqual([]);
    await (await app.admin()).call("POST", `/users/${id}/extend`, { days: 1 });
    expect([(await row()).status, account()?.open]).toEqual(["disabled", false]);
    expect(await toldOfThis()).toHaveLength(1);
  });

  test("is 404 for a user who was deleted, and 401 without a session", async () => {
    await admin.call("DELETE", `/users/${id}`);
    expect((await lock()).status).toBe(404);
    expect((await app.anonymous().call("POST", "/me/lock")).status).toBe(401);
  });

  test.each(["missing", "foreign"])("stores it, and ends the sessions, where the account is %s", async (kind) => {
    if (kind === "missing") app.host.accounts.delete(`ext_${name}`);
    else app.host.accounts.set(`ext_${name}`, { uid: 1, open: true, expireAt: new Date(), file: [] });
    const { status } = await lock();
    expect(status).toBe(200);
    expect((await row()).status).toBe("disabled");
    expect(await openSessions()).toEqual([]);
    expect((await app.lastAudit("user.lock")).detail).toMatchObject({ host: kind, status: "disabled" });
    if (kind === "foreign") expect(account()).toMatchObject({ uid: 1, open: true });
  });
});

describe("a lock that the host refuses", () => {
  test("ends the sessions and stores the user as disabled all the same; the rest is owed and finished", async () => {
    app.host.failing.add("shutAccount");
    const answer = await lock();
    expect(answer.status).toBe(500);
    expect(answer.body.error).toContain("the host may still let them in until this is done");
    expect((await row()).status).toBe("disabled");
    expect(await openSessions()).toEqual([]);
    expect((await toldOfThis())[0]?.text).toContain("The host refused: shutAccount");
    expect((await told(`${name}@example.org`))[0]?.text).toContain("keeps trying");
    expect(await records()).toEqual(["failed"]);
    app.host.failing.clear();
    app.clock.advance(MINUTE);
    await finish();
    expect(account()).toMatchObject({ open: false, file: [] });
    expect(await listClosings(app.db)).toEqual([]);
    expect(await toldOfThis()).toHaveLength(1);
  });
});

describe("a lock that the database cannot store", () => {
  /** The database refuses every record: what was done cannot be committed, as where the process dies before it. */
  async function withoutCommit<T>(work: () => Promise<T>): Promise<T> {
    await app.alter("alter function audit_append rename to audit_append_away");
    try {
      return await work();
    } finally {
      await app.alter("alter function audit_append_away rename to audit_append");
    }
  }

  test("has ended the sessions, opens nothing, and is finished and mailed in the name of the user", async () => {
    const thief = await another();
    const answer = await withoutCommit(lock);
    expect(answer.status).toBe(500);
    expect(answer.body.error).toContain(`The access of ${name} is being taken away`);
    expect(await openSessions()).toEqual([]);
    expect((await thief.call("GET", "/me/keys")).status).toBe(401);
    expect((await row()).status).toBe("active");
    expect((await accountOf(app.db, await row(), app.clock.now())).open).toBe(false);
    expect(await toldOfThis()).toEqual([]);
    // Nor does a fresh code let anybody in before it is finished.
    app.clock.advance(MINUTE);
    const { code } = await printCode(app.system, name);
    const login = await app.anonymous().call("POST", "/auth/otp/login", { username: name, code });
    expect(login.status).toBe(401);
    await Promise.all([finish(), finish()]);
    expect((await row()).status).toBe("disabled");
    expect(await listClosings(app.db)).toEqual([]);
    expect(await toldOfThis()).toHaveLength(1);
    expect(await app.lastAudit("user.lock")).toMatchObject({ actorType: "user", actor: name, result: "success" });
  });

  test("is not ended by more time", async () => {
    await withoutCommit(lock);
    expect((await admin.call("POST", `/users/${id}/extend`, { days: 1 })).status).toBe(500);
    await finish();
    expect([(await row()).status, account()?.open]).toEqual(["disabled", false]);
  });

  test("is not ended by more time for an expired user either", async () => {
    await app.db.update(users).set({ status: "expired", expireAt: app.clock.now() }).where(eq(users.id, id));
    await withoutCommit(lock);
    expect((await admin.call("POST", `/users/${id}/extend`, { days: 1 })).status).toBe(500);
    expect((await admin.call("POST", `/users/${id}/extend?preview=true`, { days: 1 })).status).toBe(500);
    await finish();
    await admin.call("POST", `/users/${id}/extend`, { days: 1 });
    expect([(await row()).status, account()?.open]).toEqual(["disabled", false]);
  });

  test("is not ended by an administrator who has not heard of it, and opens the account once more", async () => {
    await withoutCommit(lock);
    for (const query of ["", "?preview=true"]) {
      const answer = await admin.call("POST", `/users/${id}/enable${query}`);
      expect([answer.status, answer.headers.get("uam-error")]).toEqual([409, "user.disabling"]);
    }
    await finish();
    expect([(await row()).status, account()?.open]).toEqual(["disabled", false]);
    expect(await toldOfThis()).toHaveLength(1);
    expect((await admin.call("POST", `/users/${id}/enable`)).status).toBe(200);
    expect([(await row()).status, account()?.open]).toEqual(["active", true]);
  });

  test("is still finished where the account expires meanwhile and the host refuses", async () => {
    await withoutCommit(lock);
    app.host.failing.add("endProcesses");
    await app.db.update(users).set({ expireAt: app.clock.now() }).where(eq(users.id, id));
    await expireDue(app.system, { now: app.clock.now(), holdUntil: undefined });
    app.host.failing.clear();
    app.clock.advance(HOUR);
    await finish();
    expect(await row()).toMatchObject({ status: "expired", disabledAt: expect.any(Date) });
    expect(await records()).toContain("success");
    expect(await toldOfThis()).toHaveLength(1);
    await (await app.admin()).call("POST", `/users/${id}/extend`, { days: 1 });
    expect([(await row()).status, account()?.open]).toEqual(["disabled", false]);
  });

  test("a process that dies right after the note leaves sessions to the next start, and no longer", async () => {
    const note = { userId: id, kind: "shut", action: "user.lock", actorType: "user", actor: name } as const;
    const now = app.clock.now();
    await app.db.insert(closings).values({ ...note, begunAt: now, dueAt: now });
    expect(await openSessions()).toHaveLength(1);
    await finishClosings(app.services, "all");
    expect(await openSessions()).toEqual([]);
    expect((await row()).status).toBe("disabled");
    expect(await records()).toEqual(["success"]);
  });
});

describe("a login at the same moment", () => {
  test("has no session afterwards, however the two interleave", async () => {
    for (let round = 0; round < 12; round++) {
      app.clock.advance(MINUTE);
      const { code } = await printCode(app.system, name);
      const login = app.anonymous().call("POST", "/auth/otp/login", { username: name, code });
      if (round % 3 > 0) await new Promise((resolve) => setTimeout(resolve, round));
      await Promise.all([login, lock()]);
      expect(await openSessions()).toEqual([]);
      await admin.call("POST", `/users/${id}/enable`);
      me = await another();
    }
  });
});
