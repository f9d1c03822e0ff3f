/** Ending a company: nobody of it has access any more, whatever happens on the way, and nobody is given any. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { endCompany, finishEndings } from "../../../src/domain/companies/ending.ts";
import { createUser } from "../../../src/domain/users/users.ts";
import { companies } from "../../../src/store/schema-companies.ts";
import { type Answer, type Client, createTestApp, type TestApp } from "../../support/app.ts";

let app: TestApp;
let admin: Client;
let count = 0;

beforeAll(async () => {
  app = await createTestApp();
  admin = await app.admin();
});
afterAll(() => app.close());

const fresh = (what: string) => `${what}-${++count}`;
const reasonOf = ({ status, headers }: Answer) => `${status} ${headers.get("uam-error")}`;

async function company(users: number) {
  const { id, name } = (await admin.call("POST", "/companies", { name: fresh("Lindqvist") })).body.data;
  const made = [];
  for (let n = 0; n < users; n++) {
    const username = fresh("user");
    made.push(await createUser(app.system, { username, email: `${username}@example.org`, companyId: id }));
  }
  return { id: id as number, name: name as string, users: made };
}

const end = (id: number, query = "") => admin.call("POST", `/companies/${id}/end${query}`);
const statusOf = async (id: number) => (await admin.call("GET", `/companies/${id}`)).body.data.status;
const isOpen = (username: string) => app.host.accounts.get(`ext_${username}`)?.open;
const statuses = async (id: number) =>
  (await admin.call("GET", `/users?company=${id}`)).body.data.items.map(({ status }: { status: string }) => status);

describe("endCompany()", () => {
  test("first says whom it would concern, and changes nothing by that", async () => {
    const { id, name, users } = await company(3);
    const { body } = await end(id, "?preview=true");
    expect(body.data).toMatchObject({ preview: true, users: 3, host: [] });
    expect(body.data.effects[0]).toBe(
      `3 users of ${name} can no longer log in, and get a mail: ${users.map(({ username }) => username).join(", ")}.`,
    );
    expect([await statusOf(id), await statuses(id)]).toEqual(["active", ["active", "active", "active"]]);
  });

  test("disables everybody of it and nobody else, each on record, and answers how far it is", async () => {
    const { id, name, users } = await company(6);
    const other = await company(1);
    const { body } = await end(id);
    expect(body.data).toEqual({
      status: "ended",
      users: { total: 6, closed: 6, owed: 0 },
      effective_by: app.clock.now().toISOString(),
    });
    expect(users.map(({ username }) => isOpen(username))).toEqual(users.map(() => false));
    expect(await statuses(other.id)).toEqual(["active"]);
    expect(await app.lastAudit("company.end")).toMatchObject({
      ...{ resourceId: String(id), actor: "admin", result: "success", detail: { name, users: 6 } },
    });
    const records = (await app.auditRows("user.disable")).slice(-6);
    expect(new Set(records.map(({ actor, result }) => `${actor} ${result}`))).toEqual(new Set(["admin success"]));
    expect(JSON.parse(records[0]?.detail ?? "")).toMatchObject({ reason: "company", status: "disabled" });
  });

  test("is no end twice: asking again goes on, and answers the same", async () => {
    const { id } = await company(1);
    const [one, two] = await Promise.all([end(id), end(id)]);
    expect([one.status, two.status]).toEqual([200, 200]);
    const ends = (await app.auditRows("company.end")).filter(({ resourceId }) => resourceId === String(id));
    expect(ends).toHaveLength(1);
    const disabled = (await app.auditRows("user.disable")).length;
    expect((await end(id)).body.data).toMatchObject({ status: "ended", users: { total: 1, closed: 1, owed: 0 } });
    expect((await app.auditRows("user.disable")).length).toBe(disabled);
  });

  test("that was cut short is finished by the minute's job, in the name of who asked", async () => {
    const { id, users } = await company(3);
    const asked = { status: "ending", askedByType: "token", askedBy: "nightly", askedByOwner: "owner" } as const;
    await app.db.update(companies).set(asked).where(eq(companies.id, id));
    const refused = await admin.call("PATCH", `/users/${users[0]?.id}`, { company_id: null });
    expect(reasonOf(refused)).toBe("409 company.ended");
    expect(reasonOf(await admin.call("POST", `/companies/${id}/resume`))).toBe("409 state.conflict");
    await finishEndings(app.services);
    expect([await statusOf(id), await statuses(id)]).toEqual(["ended", ["disabled", "disabled", "disabled"]]);
    expect(await app.lastAudit("user.disable")).toMatchObject({ actorType: "token", actor: "nightly" });
  });

  test("is not over while the host still has something to do, and everybody is disabled all the same", async () => {
    const { id, users } = await company(2);
    const shut = app.host.shutAccount;
    app.host.shutAccount = async () => ({ refused: false, owed: ["The account is still open"] });
    try {
      expect((await end(id)).body.data).toEqual({
        status: "ending",
        users: { total: 2, closed: 2, owed: 2 },
        effective_by: null,
      });
    } finally {
      app.host.shutAccount = shut;
    }
    expect(await statuses(id)).toEqual(["disabled", "disabled"]);
    expect(users).toHaveLength(2);
  });

  test("goes on for who is left if one account is not as it should be", async () => {
    const { id, users } = await company(3);
    app.host.accounts.delete(`ext_${users[1]?.username}`);
    expect((await end(id)).body.data).toMatchObject({ status: "ended", users: { total: 3, closed: 3, owed: 0 } });
  });

  test("lets nobody in beside it: who is created at the same moment is refused or ended", async () => {
    const { id } = await company(2);
    const creating = Array.from({ length: 4 }, () => {
      const username = fresh("late");
      return admin.call("POST", "/users", { username, email: `${username}@example.org`, company_id: id });
    });
    const [, ...made] = await Promise.all([end(id), ...creating]);
    for (const answer of made) expect(["201 null", "409 company.ended"]).toContain(reasonOf(answer));
    await endCompany(app.system, id);
    expect(new Set(await statuses(id))).toEqual(new Set(["disabled"]));
  });
});

describe("a company that has ended", () => {
  test("gives nobody access, by any way, until it is resumed, which opens nobody", async () => {
    const { id, users } = await company(1);
    const [{ id: userId, username } = { id: 0, username: "" }] = users;
    const outsider = await createUser(app.system, { username: fresh("other"), email: "other@example.org" });
    await end(id);
    const tries = [
      () => admin.call("POST", "/users", { username: fresh("new"), email: "new@example.org", company_id: id }),
      () => admin.call("PATCH", `/users/${outsider.id}`, { company_id: id }),
      ...["", "?preview=true"].flatMap((query) => [
        () => admin.call("POST", `/users/${userId}/enable${query}`),
        () => admin.call("POST", `/users/${userId}/extend${query}`, { days: 3 }),
      ]),
    ];
    for (const attempt of tries) expect(reasonOf(await attempt())).toBe("409 company.ended");
    expect((await admin.call("POST", `/companies/${id}/resume`)).body.data.status).toBe("active");
    expect(await app.lastAudit("company.resume")).toMatchObject({ result: "success", resourceId: String(id) });
    expect([isOpen(username), await statuses(id)]).toEqual([false, ["disabled"]]);
    expect((await admin.call("POST", `/users/${userId}/enable`)).status).toBe(200);
    expect((await admin.call("POST", `/companies/${id}/resume`)).status).toBe(200);
  });
});
