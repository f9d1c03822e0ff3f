import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { addAdmin } from "../../../src/domain/auth/administrators/add-admin.ts";
import { listAdmins, removeAdmin, updateAdmin } from "../../../src/domain/auth/administrators/admin-changes.ts";
import type { AdminRole } from "../../../src/shared/product/statuses.ts";
import { DAY, HOUR } from "../../../src/shared/time/clock.ts";
import { admins, resetTokens, sessions } from "../../../src/store/schema-auth.ts";
import { ADMIN_PASSWORD, type Client, confirming, createTestApp, type TestApp } from "../../support/app.ts";
import { untilWaiting } from "../../support/waiting.ts";

const NEW_PASSWORD = "eleven candles under warm sand";
const MISSING = 999_999;

let app: TestApp;
let owner: Client;
let count = 0;

beforeAll(async () => {
  app = await createTestApp({ UAM_SESSION_TTL: "30d" });
  owner = confirming(await app.admin());
});
afterAll(() => app.close());
beforeEach(() => app.clock.advance(HOUR));

interface Made {
  readonly id: number;
  readonly username: string;
  readonly email: string;
}

async function made(role: AdminRole = "owner"): Promise<Made> {
  const username = `chief-${++count}`;
  const email = `${username}@example.org`;
  return { ...(await addAdmin(app.system, username, email, ADMIN_PASSWORD, role)), username, email };
}

async function login({ username }: { readonly username: string }, password = ADMIN_PASSWORD): Promise<Client> {
  const client = confirming(app.anonymous());
  const { status } = await client.call("POST", "/auth/admin/login", { username, password });
  if (status !== 200) throw new Error(`login of ${username}: ${status}`);
  return client;
}

async function invited(role: AdminRole = "operator"): Promise<Made & { readonly token: string }> {
  const username = `guest-${++count}`;
  const email = `${username}@example.org`;
  const { status, body } = await owner.call("POST", "/admins", { username, email, role });
  expect(status).toBe(201);
  return { id: body.data.id, username, email, token: await mailedToken(email) };
}

async function mailedToken(email: string): Promise<string> {
  const mail = (await app.mails(email)).findLast(({ text }) => text.includes("/reset#"));
  return /^ *http:\/\/127\.0\.0\.1:8080\/reset#([A-Za-z0-9_-]{43})$/m.exec(mail?.text ?? "")?.[1] ?? "no link";
}

async function sent(email: string) {
  return (await app.mails(email)).filter(({ status }) => status !== "dropped");
}

async function setPassword(token: string, password = NEW_PASSWORD): Promise<number> {
  return (await app.anonymous().call("POST", "/auth/admin/reset", { token, new_password: password })).status;
}

async function recordOf(username: string) {
  return (await listAdmins(app.system)).find((entry) => entry.username === username);
}

describe("GET /admins", () => {
  test("lists each with role, last login and status, newest first, in pages", async () => {
    const first = await made("reviewer");
    const second = await invited("auditor");
    await login(first);
    const at = app.clock.now().toISOString();
    const { body } = await owner.call("GET", "/admins?page_size=2");
    expect(body.data.total).toBe((await listAdmins(app.system)).length);
    const common = { created_at: at, last_login_at: null, sso: false, passkeys: 0, totp: false, factor_missing: false };
    expect(body.data.items).toEqual([
      { ...common, id: second.id, username: second.username, email: second.email, role: "auditor", status: "invited" },
      {
        ...{ ...common, id: first.id, username: first.username, email: first.email },
        ...{ role: "reviewer", status: "active", last_login_at: at },
      },
    ]);
    expect((await owner.call("GET", "/admins?page=99999999999999999999")).body.data.items).toEqual([]);
    expect((await owner.call("GET", `/admins?page=${body.data.total}&page_size=1`)).body.data.items).toHaveLength(1);
  });
});

describe("POST /admins", () => {
  test("mails a link that sets the password, and stores only its hash; until then nobody can log in", async () => {
    const guest = await invited();
    expect(guest.token).toMatch(/^.{43}$/);
    expect(await recordOf(guest.username)).toMatchObject({ status: "invited", role: "operator", lastLoginAt: null });
    expect(JSON.stringify(await app.db.select().from(resetTokens))).not.toContain(guest.token);
    expect(JSON.stringify(await app.auditRows())).not.toContain(guest.token);
    for (const password of ["", "null", ADMIN_PASSWORD]) await expect(login(guest, password)).rejects.toThrow("401");
    expect(await setPassword(guest.token)).toBe(200);
    expect(await setPassword(guest.token)).toBe(400);
    const client = await login(guest, NEW_PASSWORD);
    expect((await client.call("GET", "/auth/me")).body.data).toMatchObject({ role: "operator", id: guest.id });
    expect(await recordOf(guest.username)).toMatchObject({ status: "active" });
  });

  test("is on record with who did it, never the link", async () => {
    const guest = await invited("reviewer");
    expect(await app.lastAudit("admin.create")).toMatchObject({
      ...{ actorType: "admin", actor: "admin", resourceType: "admin", resourceId: String(guest.id), result: "success" },
      detail: { username: guest.username, email: guest.email, role: "reviewer" },
    });
  });

  test("makes an owner where no role is given", async () => {
    const answer = await owner.call("POST", "/admins", { username: "whole", email: "whole@example.org" });
    expect(answer.body.data).toMatchObject({ role: "owner", status: "invited" });
  });

  test("the link is valid for 72 hours, and a forgotten password replaces it", async () => {
    const late = await invited();
    app.clock.advance(3 * DAY);
    expect(await setPassword(late.token)).toBe(400);
    await app.anonymous().call("POST", "/auth/admin/forgot", { username: late.username });
    const mail = (await app.mails(late.email)).at(-1);
    const token = /\b[A-Za-z0-9_-]{43}\b/.exec(mail?.text ?? "")?.[0] ?? "";
    expect(await setPassword(token)).toBe(200);

    const punctual = await invited();
    app.clock.advance(3 * DAY - 1);
    expect(await setPassword(punctual.token)).toBe(200);
  });

  test("nobody who only knows the name voids or shortens it", async () => {
    const guest = await invited();
    const mails = (await sent(guest.email)).length;
    for (let n = 0; n < 3; n++) {
      const answer = await app.anonymous().call("POST", "/auth/admin/forgot", { username: guest.username });
      expect([answer.status, answer.body]).toEqual([200, { data: { status: "sent" } }]);
      expect(await app.lastAudit("auth.admin_forgot")).toMatchObject({
        ...{ result: "failed", detail: { username: guest.username, err: expect.stringContaining("invitation") } },
      });
      app.clock.advance(HOUR);
    }
    // Not even mail of it: that would be nobody's who was asked.
    expect(await sent(guest.email)).toHaveLength(mails);
    app.clock.advance(2 * DAY);
    expect(await setPassword(guest.token)).toBe(200);
    // From then on it is a password like any other.
    await app.anonymous().call("POST", "/auth/admin/forgot", { username: guest.username });
    expect(await sent(guest.email)).toHaveLength(mails + 1);
  });

  test("refuses a taken name, a name and an address that cannot be, and a role that is none", async () => {
    const { username, email } = await made();
    const status = async (body: object) => (await owner.call("POST", "/admins", body)).status;
    expect(await status({ username, email })).toBe(409);
    expect(await status({ username: "Not Valid", email })).toBe(400);
    expect(await status({ username: "valid", email: "x" })).toBe(400);
    expect(await status({ username: "valid", email, role: "king" })).toBe(400);
    expect((await app.lastAudit("admin.create")).result).toBe("failed");
  });

  test("of two at once with one name one is made", async () => {
    const body = { username: "twins", email: "twins@example.org", role: "auditor" };
    const answers = await Promise.all([owner.call("POST", "/admins", body), owner.call("POST", "/admins", body)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409]);
    expect(await app.mails("twins@example.org")).toHaveLength(1);
  });

  test("nothing that administrators are told goes to one who is invited", async () => {
    const guest = await invited("owner");
    await app.anonymous().call("POST", "/approvals", { username: "newcomer", email: "newcomer@example.org" });
    expect(await app.mails("admin@example.org")).toContainEqual(
      expect.objectContaining({ subject: "Access application from newcomer" }),
    );
    expect(await app.mails(guest.email)).toHaveLength(1);
  });
});

describe("PATCH /admins/:id", () => {
  test("a new address is told to both, and a link mailed to the old one is void", async () => {
    const { id, username, email } = await made();
    await app.anonymous().call("POST", "/auth/admin/forgot", { username });
    const old = /\b[A-Za-z0-9_-]{43}\b/.exec((await app.mails(email)).at(-1)?.text ?? "")?.[0] ?? "";
    const { body } = await owner.call("PATCH", `/admins/${id}`, { email: `${username}@new.example.org` });
    expect(body.data).toMatchObject({ id, username, email: `${username}@new.example.org`, role: "owner" });
    expect((await app.mails(email)).at(-1)).toMatchObject({ subject: expect.stringContaining("goes elsewhere") });
    const [told] = await app.mails(`${username}@new.example.org`);
    expect(told?.text).toMatch(/Changed by: +admin\n/);
    expect(await setPassword(old)).toBe(400);
    expect(await app.lastAudit("admin.update")).toMatchObject({
      ...{ actorType: "admin", actor: "admin", resourceId: String(id), result: "success" },
      detail: { username, email: `${username}@new.example.org`, old_email: email },
    });
  });

  test("one who is invited is invited again at the new address", async () => {
    const guest = await invited();
    const email = `right-${guest.email}`;
    await owner.call("PATCH", `/admins/${guest.id}`, { email });
    expect(await setPassword(guest.token)).toBe(400);
    expect(await setPassword(await mailedToken(email))).toBe(200);
  });

  test("the same address again mails nobody", async () => {
    const { id, email } = await made();
    expect((await owner.call("PATCH", `/admins/${id}`, { email })).status).toBe(200);
    expect(await app.mails(email)).toEqual([]);
  });

  test("a demotion is on record with who did it, and the old role", async () => {
    const { id, username } = await made("operator");
    expect((await owner.call("PATCH", `/admins/${id}`, { role: "auditor" })).body.data.role).toBe("auditor");
    expect(await app.lastAudit("admin.update")).toMatchObject({
      ...{ actorType: "admin", actor: "admin", resourceType: "admin", resourceId: String(id) },
      detail: { username, role: "auditor", old_role: "operator" },
    });
  });

  test("refuses a bad address and an unknown id, on record with the name", async () => {
    const { id, username } = await made();
    expect((await owner.call("PATCH", `/admins/${id}`, { email: "x" })).status).toBe(400);
    expect(await app.lastAudit("admin.update")).toMatchObject({ result: "failed", detail: { username } });
    // Refused by its shape, before any operation; there is also a user with the id 1.
    await app.user("namesake");
    expect((await owner.call("PATCH", `/admins/${id}`, { role: 7 })).status).toBe(400);
    expect(await app.lastAudit("admin.update")).toMatchObject({
      ...{ result: "failed", resourceType: "admin", resourceId: String(id), subjectId: null },
      detail: { username, err: expect.any(String) },
    });
    const missing = await owner.call("PATCH", `/admins/${MISSING}`, { role: "auditor" });
    expect([missing.status, missing.body.error]).toEqual([404, `There is no administrator ${MISSING}`]);
  });
});

describe("DELETE /admins/:id", () => {
  test("ends their sessions, voids their links, and is on record with who did it", async () => {
    const gone = await made("operator");
    const client = await login(gone);
    await app.anonymous().call("POST", "/auth/admin/forgot", { username: gone.username });
    const answer = await owner.call("DELETE", `/admins/${gone.id}`);
    expect([answer.status, answer.body]).toEqual([200, { data: { status: "deleted" } }]);
    expect((await client.call("GET", "/auth/me")).status).toBe(401);
    expect(await app.db.select().from(sessions).where(eq(sessions.username, gone.username))).toEqual([]);
    expect(await app.db.select().from(resetTokens).where(eq(resetTokens.adminId, gone.id))).toEqual([]);
    await expect(login(gone)).rejects.toThrow("401");
    expect(await app.lastAudit("admin.remove")).toMatchObject({
      ...{ actorType: "admin", actor: "admin", resourceId: String(gone.id), result: "success" },
      detail: { username: gone.username, email: gone.email, role: "operator" },
    });
    expect((await owner.call("DELETE", `/admins/${gone.id}`)).status).toBe(404);
  });

  test("an invitation is withdrawn by it", async () => {
    const guest = await invited();
    expect((await owner.call("DELETE", `/admins/${guest.id}`)).status).toBe(200);
    expect(await setPassword(guest.token)).toBe(400);
  });

  test("an owner may remove themselves while another is there", async () => {
    const leaving = await made();
    const client = await login(leaving);
    expect((await client.call("DELETE", `/admins/${leaving.id}`)).status).toBe(200);
    expect((await client.call("GET", "/auth/me")).status).toBe(401);
  });

  test("at the same instant as a reset of the password there is no deadlock", async () => {
    for (let round = 0; round < 10; round++) {
      const guest = await invited();
      const [set, removed] = await Promise.all([
        setPassword(guest.token),
        owner.call("DELETE", `/admins/${guest.id}`),
        owner.call("PATCH", `/admins/${guest.id}`, { email: `moved-${guest.email}` }),
      ]);
      expect([200, 400]).toContain(set);
      expect(removed.status).toBe(200);
    }
  });
});

describe("the last owner", () => {
  let own: TestApp;
  let chief: Client;
  beforeAll(async () => {
    own = await createTestApp();
    chief = confirming(await own.admin());
  });
  afterAll(() => own.close());

  async function idOf(username: string): Promise<number> {
    const [row] = await own.db.select().from(admins).where(eq(admins.username, username));
    return row?.id ?? 0;
  }

  async function second(): Promise<Client> {
    await addAdmin(own.system, "second", "second@example.org", ADMIN_PASSWORD);
    const client = confirming(own.anonymous());
    await client.call("POST", "/auth/admin/login", { username: "second", password: ADMIN_PASSWORD });
    return client;
  }

  test("can be neither removed nor demoted, whoever else there is", async () => {
    await addAdmin(own.system, "helper", "helper@example.org", ADMIN_PASSWORD, "operator");
    await chief.call("POST", "/admins", { username: "guest", email: "guest@example.org", role: "owner" });
    const id = await idOf("admin");
    const removal = await chief.call("DELETE", `/admins/${id}`);
    const refusal = "admin is the last owner; make another administrator an owner first";
    expect([removal.status, removal.body.error]).toEqual([409, refusal]);
    const demotion = await chief.call("PATCH", `/admins/${id}`, { role: "operator" });
    expect([demotion.status, demotion.body.error]).toEqual([409, refusal]);
    expect(await own.lastAudit("admin.update")).toMatchObject({ result: "failed", detail: { username: "admin" } });
    expect((await chief.call("PATCH", `/admins/${id}`, { role: "owner", email: "a@example.org" })).status).toBe(200);
    expect((await chief.call("GET", "/admins")).status).toBe(200);
  });

  test("stays when two owners demote each other at the same instant", async () => {
    for (let round = 0; round < 20; round++) {
      const other = await second();
      const [first, back] = await Promise.all([idOf("admin"), idOf("second")]);
      const answers = await Promise.all([
        chief.call("PATCH", `/admins/${back}`, { role: "auditor" }),
        other.call("PATCH", `/admins/${first}`, { role: "auditor" }),
      ]);
      // The loser's request may also come after the winner's is done: then its own role does not suffice.
      const statuses = answers.map(({ status }) => status);
      expect(statuses.filter((status) => status === 200)).toHaveLength(1);
      expect([409, 403]).toContain(statuses.find((status) => status !== 200) ?? 0);
      expect(
        (await listAdmins(own.system)).filter((admin) => admin.role === "owner" && admin.status === "active"),
      ).toHaveLength(1);
      await updateAdmin(own.system, "admin", { role: "owner" });
      await removeAdmin(own.system, "second");
    }
  });

  test("stays when two owners remove each other at the same instant", async () => {
    const other = await second();
    const [first, back] = await Promise.all([idOf("admin"), idOf("second")]);
    const answers = await Promise.all([
      chief.call("DELETE", `/admins/${back}`),
      other.call("DELETE", `/admins/${first}`),
    ]);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(
      (await listAdmins(own.system)).filter((admin) => admin.role === "owner" && admin.status === "active"),
    ).toHaveLength(1);
  });
});

describe("an owner who stops being one while a request of theirs is under way", () => {
  test("changes nothing by it", async () => {
    const [fallen, victim] = [await made(), await made("operator")];
    const client = await login(fallen);
    // The role is taken away after the guard has let the request through: the rows are locked until then.
    await app.db.transaction(async (tx) => {
      await tx.select().from(admins).orderBy(admins.id).for("update");
      const requests = [
        client.call("DELETE", `/admins/${victim.id}`),
        client.call("PATCH", `/admins/${victim.id}`, { role: "owner" }),
        client.call("POST", "/admins", { username: "accomplice", email: "a@example.org" }),
      ];
      await untilWaiting(app.db, requests.length);
      await tx.update(admins).set({ role: "auditor" }).where(eq(admins.id, fallen.id));
      pending = Promise.all(requests);
    });
    const answers = await pending;
    const refusal = "This needs the role owner, which you no longer have";
    expect(answers?.map(({ status, body }) => [status, body.error])).toEqual(Array(3).fill([403, refusal]));
    expect(await recordOf(victim.username)).toMatchObject({ role: "operator" });
    expect(await recordOf("accomplice")).toBeUndefined();
  });
  let pending: Promise<readonly { readonly status: number; readonly body: { readonly error: string } }[]> | undefined;
});

describe("DELETE /admins/:id/sessions", () => {
  test("ends all that are open, on record, and says how many; tokens stay", async () => {
    const other = await made("operator");
    const [one, two] = [await login(other), await login(other)];
    const token = (await one.call("POST", "/tokens", { name: "t", role: "operator", days: 1 })).body.data.token;
    const owner = await login(await made("owner"));
    const answer = await owner.call("DELETE", `/admins/${other.id}/sessions`);
    expect([answer.status, answer.body.data]).toEqual([200, { status: "ended", sessions: 2 }]);
    for (const client of [one, two]) expect((await client.call("GET", "/auth/me")).status).toBe(401);
    const withToken = await app.anonymous().call("GET", "/auth/me", undefined, { authorization: `Bearer ${token}` });
    expect(withToken.status).toBe(200);
    expect(await app.lastAudit("admin.end_sessions")).toMatchObject({
      ...{ resourceType: "admin", resourceId: String(other.id), result: "success" },
      detail: { username: other.username, sessions: 2 },
    });
    expect((await owner.call("DELETE", `/admins/${other.id}/sessions`)).body.data.sessions).toBe(0);
    expect((await owner.call("DELETE", "/admins/999999/sessions")).status).toBe(404);
    expect(await app.lastAudit("admin.end_sessions")).toMatchObject({ result: "failed", resourceId: "999999" });
  });
});
