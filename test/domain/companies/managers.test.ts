/** Managers of a company: what they see, end and apply for, and that they reach nobody else and give nothing. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { disableUser, enableUser } from "../../../src/domain/users/users.ts";
import { DAY, shift } from "../../../src/shared/time/clock.ts";
import { formatTimestamp } from "../../../src/shared/time/timestamp.ts";
import { users } from "../../../src/store/schema.ts";
import { type Answer, type Client, createTestApp, type TestApp } from "../../support/app.ts";
import { sendSlowly } from "../../support/slow-body.ts";
import { untilWaiting } from "../../support/waiting.ts";

let app: TestApp;
let admin: Client;
let count = 0;

beforeAll(async () => {
  app = await createTestApp();
  admin = await app.admin();
});
afterAll(() => app.close());

const fresh = (what: string) => `${what}-${++count}`;
const inDays = (days: number) => formatTimestamp(shift(app.clock.now(), days * DAY));
const reasonOf = ({ status, headers }: Answer) => `${status} ${headers.get("uam-error")}`;
const isOpen = (username: string) => app.host.accounts.get(`ext_${username}`)?.open;

async function ok(answer: Promise<Answer>) {
  const { status, text, body } = await answer;
  if (status >= 300) throw new Error(text);
  return body.data;
}

const company = async (limits: object = {}): Promise<number> =>
  (await ok(admin.call("POST", "/companies", { name: fresh("Lindqvist"), ...limits }))).id;
const read = (id: number) => ok(admin.call("GET", `/users/${id}`));

async function colleague(companyId: number, isManager = false) {
  const username = fresh("person");
  const { id, client } = await app.user(username);
  await app.db.update(users).set({ companyId, manager: isManager }).where(eq(users.id, id));
  return { id, username, client };
}

async function staffed(limits: object = {}) {
  const id = await company(limits);
  return { id, manager: await colleague(id, true), other: await colleague(id) };
}

const ROUTES = [
  ["GET", "/me/company"],
  ["GET", "/me/company/users"],
  ["POST", "/me/company/users/1/end"],
  ["POST", "/me/company/applications", { username: "late", email: "late@example.org", purpose: "Tests" }],
] as const;

describe("a manager", () => {
  test("sees the company and its people, and nothing of others or of what they may not know", async () => {
    const { manager, other, id } = await staffed({ max_users: 5, sponsor_email: "bo@example.org" });
    await staffed();
    const own = await ok(manager.client.call("GET", "/me/company"));
    expect(own).toEqual({
      ...{ id, name: expect.any(String), status: "active", contract_end: null, max_users: 5, users: 2 },
    });
    const people = await ok(manager.client.call("GET", "/me/company/users"));
    expect(people).toEqual({
      total: 2,
      items: [manager, other].map((person) => ({
        ...{ id: person.id, username: person.username, full_name: "", manager: person === manager, status: "active" },
        ...{ expire_at: expect.any(String), last_login_at: expect.any(String), last_key_use_at: null },
      })),
    });
    expect((await ok(manager.client.call("GET", "/me/company/users?page_size=1&page=2"))).items).toHaveLength(1);
  });

  test("ends the access of somebody of it at once, on record, and cannot give it back", async () => {
    const { manager, other } = await staffed();
    const end = () => manager.client.call("POST", `/me/company/users/${other.id}/end`);
    expect(await ok(end())).toEqual({ status: "disabled", effective_by: app.clock.now().toISOString() });
    expect(isOpen(other.username)).toBe(false);
    expect(await app.lastAudit("user.disable")).toMatchObject({
      ...{ actorType: "user", actor: manager.username, subjectId: other.id, result: "success" },
      detail: { username: other.username, status: "disabled", reason: "ended by a manager of the company" },
    });
    const records = (await app.auditRows("user.disable")).length;
    expect(await ok(end())).toMatchObject({ status: "disabled" });
    expect((await app.auditRows("user.disable")).length).toBe(records);
    for (const route of [`/users/${other.id}/enable`, `/users/${other.id}/extend`]) {
      expect((await manager.client.call("POST", route, { days: 3 })).status).toBe(403);
    }
  });

  test("finds nobody of another company, nor of none, and leaves no trace in their trail", async () => {
    const { manager } = await staffed();
    const { other } = await staffed();
    const { id: free } = await app.user(fresh("free"));
    for (const id of [other.id, free, 999_999]) {
      const tries = [
        manager.client.call("POST", `/me/company/users/${id}/end`),
        manager.client.call("POST", "/me/company/applications", { user_id: id, days: 3, reason: "More" }),
      ];
      for (const attempt of tries) expect(reasonOf(await attempt)).toBe("404 user.missing");
      expect(await app.lastAudit("user.disable")).toMatchObject({ result: "failed", subjectId: null });
      expect(await app.lastAudit("extension.request")).toMatchObject({ result: "failed", subjectId: null });
    }
    expect((await read(other.id)).status).toBe("active");
  });

  test("is told what the host still owes, and the person is disabled all the same", async () => {
    const { manager, other } = await staffed();
    const shut = app.host.shutAccount;
    app.host.shutAccount = async () => ({ refused: false, owed: ["The account is still open"] });
    try {
      expect(reasonOf(await manager.client.call("POST", `/me/company/users/${other.id}/end`))).toBe("500 access.owed");
    } finally {
      app.host.shutAccount = shut;
    }
    expect((await read(other.id)).status).toBe("disabled");
  });

  test("applies for a colleague, who is created within the company if an administrator approves", async () => {
    const { id, manager } = await staffed({ max_ttl_days: 10, source_networks: ["192.0.2.0/24"], max_users: 3 });
    const username = fresh("new");
    const person = {
      username,
      email: `${username}@example.org`,
      full_name: "Åsa Ek",
      purpose: "Tests",
      hours_wish: "Tuesdays, 8 to 18",
    };
    const made = await manager.client.call("POST", "/me/company/applications", person);
    expect([made.status, made.body.data]).toEqual([
      201,
      expect.objectContaining({ ...person, kind: "access", company_id: id, requested_by: manager.username }),
    ]);
    expect(await app.lastAudit("approval.submit")).toMatchObject({ actorType: "user", actor: manager.username });
    await ok(admin.call("POST", `/approvals/${made.body.data.id}/review`, { approve: true }));
    const { items } = await ok(admin.call("GET", `/users?q=${username}`));
    expect(items[0]).toMatchObject({
      ...{ username, company_id: id, manager: false, source_networks: ["192.0.2.0/24"], expire_at: inDays(10) },
    });
    // The last place is taken: the next one is refused as they are approved, and stays pending.
    const late = { ...person, username: fresh("new") };
    const application = await ok(manager.client.call("POST", "/me/company/applications", late));
    const review = (body: object) => admin.call("POST", `/approvals/${application.id}/review`, body);
    expect(reasonOf(await review({ approve: true }))).toBe("409 company.full");
    await ok(admin.call("PATCH", `/companies/${id}`, { max_users: null }));
    expect(reasonOf(await review({ approve: true, ttl_days: 11 }))).toBe("400 company.limit");
    await ok(review({ approve: true, ttl_days: 9 }));
  });

  test("applies for more time for somebody, which is given within the company, and only as long as they are of it", async () => {
    const { id, manager, other } = await staffed();
    const ask = (days: number) =>
      manager.client.call("POST", "/me/company/applications", { user_id: other.id, days, reason: "The tests go on" });
    const asked = await ok(ask(30));
    expect(asked).toMatchObject({
      ...{ kind: "extension", user_id: other.id, days: 30, company_id: id, requested_by: manager.username },
    });
    expect(reasonOf(await ask(5))).toBe("409 extension.pending");
    await ok(admin.call("PATCH", `/users/${other.id}`, { company_id: null }));
    const review = (body: object) => admin.call("POST", `/approvals/${asked.id}/review`, body);
    expect(reasonOf(await review({ approve: true }))).toBe("409 state.conflict");
    await ok(admin.call("PATCH", `/users/${other.id}`, { company_id: id }));
    const { expire_at: before } = await read(other.id);
    await ok(review({ approve: true }));
    expect((await read(other.id)).expire_at).toBe(formatTimestamp(shift(new Date(before), 30 * DAY)));
    await disableUser(app.system, other.id);
    expect(reasonOf(await ask(5))).toBe("409 user.not_active");
  });

  test("is refused what is neither an application nor both, and changes nothing by it", async () => {
    const { manager, other } = await staffed();
    const before = await app.db.$count(users);
    for (const body of [
      ...[{}, { username: "x-y" }, { user_id: other.id, days: 3 }, { user_id: other.id, days: 0, reason: "x" }],
      ...[
        { user_id: 1e300, days: 3, reason: "x" },
        { user_id: -1, days: 3, reason: "x" },
      ],
      { username: fresh("u"), email: "u@example.org", purpose: " " },
      { username: fresh("u"), email: "u@example.org", purpose: "Tests", days: 3 },
      { username: fresh("u"), email: "u@example.org", purpose: "Tests", hours_wish: "x".repeat(201) },
      { username: fresh("u"), email: "u@example.org", purpose: "Tests", hours_wish: "Tue\u0007" },
      { user_id: other.id, days: 3, reason: "x", hours_wish: "Tuesdays" },
      { username: fresh("u"), email: "u@example.org", purpose: "Tests", user_ids: 3 },
    ]) {
      expect((await manager.client.call("POST", "/me/company/applications", body)).status).toBe(400);
    }
    expect(await app.db.$count(users)).toBe(before);
  });

  test("shuts out nobody by many applications, and gives way once their company has ended", async () => {
    const { id, manager } = await staffed();
    const apply = (n: number) =>
      manager.client.call("POST", "/me/company/applications", {
        ...{ username: fresh("many"), email: `many-${n}@example.org`, purpose: "Tests" },
      });
    for (let n = 0; n < 50; n++) expect((await apply(n)).status).toBe(201);
    expect(reasonOf(await apply(50))).toBe("429 application.limit");
    const { status } = await app.anonymous().call("POST", "/approvals", { username: "anyone", email: "a@example.org" });
    expect(status).toBe(201);
    await ok(admin.call("POST", `/companies/${id}/end`));
    app.clock.advance(2 * 60_000);
    expect(reasonOf(await apply(51))).toBe("403 company.not_manager");
    admin = await app.admin();
  });
});

describe("who is no manager", () => {
  test("may do nothing of it: users without a company, of it but no manager, demoted, disabled, expired", async () => {
    const { manager, other, id } = await staffed();
    const { client: free } = await app.user(fresh("free"));
    const refused = async (client: Client) => {
      for (const [method, path, body] of ROUTES)
        expect([path, reasonOf(await client.call(method, path, body))]).toEqual([path, "403 company.not_manager"]);
    };
    await refused(free);
    await refused(other.client);
    await disableUser(app.system, manager.id);
    await refused(manager.client);
    await enableUser(app.system, manager.id);
    const expiring = await colleague(id, true);
    await app.db.update(users).set({ expireAt: app.clock.now() }).where(eq(users.id, expiring.id));
    await refused(expiring.client);
    const demoted = await colleague(id, true);
    await ok(admin.call("PATCH", `/users/${demoted.id}`, { manager: false }));
    await refused(demoted.client);
  });

  test("any more as the request is under way changes nothing: disabled, demoted or moved meanwhile", async () => {
    const losses: ((id: number, companyId: number) => Promise<unknown>)[] = [
      (id) => disableUser(app.system, id),
      (id) => ok(admin.call("PATCH", `/users/${id}`, { manager: false })),
      async (id) => ok(admin.call("PATCH", `/users/${id}`, { company_id: await company(), manager: true })),
    ];
    for (const lose of losses) {
      const { id, manager, other } = await staffed();
      const body = { username: fresh("late"), email: "late@example.org", purpose: "Tests" };
      const path = "/me/company/applications";
      const headers = { cookie: manager.client.cookie };
      const answer = await sendSlowly(app, { method: "POST", path, body, headers }, () => lose(manager.id, id));
      // Of another company they may apply, for that one alone.
      const isMoved = lose === losses[2];
      expect(answer.status, answer.text).toBe(isMoved ? 201 : 403);
      if (isMoved) expect(JSON.parse(answer.text).data.company_id).not.toBe(id);
      const end = await manager.client.call("POST", `/me/company/users/${other.id}/end`);
      expect(end.status).toBe(isMoved ? 404 : 403);
      expect((await read(other.id)).status).toBe("active");
    }
  });

  test("any more as the operation waits for its turn changes nothing, also by another manager at the same instant", async () => {
    const { id, manager, other } = await staffed();
    const second = await colleague(id, true);
    let ending: Promise<Answer> | undefined;
    await app.db.transaction(async (tx) => {
      await tx.select().from(users).where(eq(users.id, other.id)).for("update");
      ending = manager.client.call("POST", `/me/company/users/${other.id}/end`);
      await untilWaiting(app.db);
      await ok(second.client.call("POST", `/me/company/users/${manager.id}/end`));
    });
    expect(reasonOf((await ending) as Answer)).toBe("403 company.not_manager");
    expect([isOpen(other.username), isOpen(manager.username)]).toEqual([true, false]);
    const [one, two] = [await colleague(id, true), await colleague(id, true)];
    const answers = await Promise.all([
      one.client.call("POST", `/me/company/users/${two.id}/end`),
      two.client.call("POST", `/me/company/users/${one.id}/end`),
    ]);
    for (const answer of answers) expect(["200 null", "403 company.not_manager"]).toContain(reasonOf(answer));
    expect([isOpen(one.username), isOpen(two.username)]).toContain(false);
  });
});
