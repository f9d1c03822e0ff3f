/** What the audit log says about requests, and who may read it. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { HOUR } from "../../../src/shared/time/clock.ts";
import { type Client, CODE_COOLDOWN, confirming, createTestApp, type TestApp } from "../../support/app.ts";
import { freshKey } from "../../support/keys.ts";
import { apiDocument } from "../../support/openapi.ts";

let app: TestApp;
let admin: Client;
let count = 0;

beforeAll(async () => {
  app = await createTestApp({ UAM_SESSION_TTL: "30d" });
  admin = await app.admin();
});
afterAll(() => app.close());

async function person() {
  app.clock.advance(CODE_COOLDOWN);
  const username = `person-${++count}`;
  return { username, ...(await app.user(username)) };
}

async function addKey(client: Client): Promise<number> {
  const { body } = await client.call("POST", "/me/keys", { name: "laptop", public_key: freshKey() });
  return body.data.id;
}

const actionsOf = (items: { action: string; result: string }[]) => items.map((row) => `${row.action} ${row.result}`);

describe("GET /audit?user_id=", () => {
  test("finds everything that concerns a user, whoever did it, deleted or not", async () => {
    const { id, client, username } = await person();
    const other = await person();
    await addKey(client);
    await addKey(other.client);
    await admin.call("POST", `/users/${id}/extend`, { days: 3 });
    await admin.call("DELETE", `/users/${id}`);
    const { body } = await admin.call("GET", `/audit?user_id=${id}`);
    expect(actionsOf(body.data.items)).toEqual([
      "user.delete success",
      "user.extend success",
      "key.create success",
      "auth.otp_login success",
      "auth.otp_send success",
      "user.create success",
    ]);
    expect(body.data.total).toBe(6);
    const keys = await admin.call("GET", `/audit?user_id=${id}&resource_type=ssh_key&actor=${username}`);
    expect(actionsOf(keys.body.data.items)).toEqual(["key.create success"]);
    const page = await admin.call("GET", `/audit?user_id=${id}&page=3&page_size=2`);
    expect([page.body.data.total, actionsOf(page.body.data.items)]).toEqual([
      6,
      ["auth.otp_send success", "user.create success"],
    ]);
  });

  test("is digits, else 400; one that nobody can have finds nothing", async () => {
    for (const id of ["x", "-1", "1.5", "1e3", "0x1"]) {
      expect((await admin.call("GET", `/audit?user_id=${id}`)).status).toBe(400);
    }
    for (const id of ["0", "999999999", "9".repeat(40)]) {
      expect((await admin.call("GET", `/audit?user_id=${id}`)).body.data).toEqual({ total: 0, items: [] });
    }
  });
});

describe("GET /me/audit", () => {
  test("shows addresses only for what the caller did", async () => {
    const { id, client } = await person();
    await addKey(client);
    await admin.call("POST", `/users/${id}/extend`, { days: 3 });
    const { items } = (await client.call("GET", "/me/audit")).body.data;
    const shown = items.map(({ action, actor_type, ip }: Record<string, string>) => [action, actor_type, ip]);
    expect(shown).toEqual([
      ["user.extend", "admin", ""],
      ["key.create", "user", "192.0.2.1"],
      ["auth.otp_login", "user", "192.0.2.1"],
      ["auth.otp_send", "cli", ""],
      ["user.create", "admin", ""],
    ]);
    const whole = (await admin.call("GET", `/audit?user_id=${id}`)).body.data.items;
    expect(whole[0].ip).toBe("192.0.2.1");
  });

  test("is 401 once the user is deleted", async () => {
    const { id, client } = await person();
    await admin.call("DELETE", `/users/${id}`);
    expect((await client.call("GET", "/me/audit")).status).toBe(401);
  });
});

describe("reading the log", () => {
  /** Who has read it, oldest first. */
  const reads = async () =>
    (await app.auditRows())
      .filter(({ action }) => action === "audit.read")
      .map(({ actorType, actor }) => [actorType, actor]);
  const now = () => app.clock.now().toISOString();
  const PATHS = () => ["/audit?page_size=1", "/audit?action=user.create", `/access?at=${now()}`];

  test("is on record after it, once for each session and hour", async () => {
    app.clock.advance(HOUR);
    const since = now();
    const auditor = await app.admin();
    const before = await reads();
    const first = await auditor.call("GET", `/audit?action=audit.read&since=${since}`);
    expect(first.body.data.total).toBe(0);
    for (const path of PATHS()) expect((await auditor.call("GET", path)).status).toBe(200);
    const second = await auditor.call("GET", `/audit?action=audit.read&since=${since}`);
    expect(second.body.data.items).toEqual([
      expect.objectContaining({ resource_type: "", resource_id: "", detail: "{}", result: "success", ip: "192.0.2.1" }),
    ]);
    const other = await app.admin();
    await other.call("GET", `/access?at=${now()}`);
    app.clock.advance(HOUR);
    await auditor.call("GET", "/audit?page_size=1");
    expect((await reads()).slice(before.length)).toEqual(Array(3).fill(["admin", "admin"]));
  });

  test("by a token is recorded as its own, for its owner", async () => {
    const machine = { name: "siem", role: "auditor", days: 30, networks: [] };
    const { token } = (await confirming(admin).call("POST", "/tokens", machine)).body.data;
    for (const path of PATHS()) {
      const answer = await app.anonymous().call("GET", path, undefined, { authorization: `Bearer ${token}` });
      expect(answer.status).toBe(200);
    }
    expect((await reads()).filter(([type]) => type === "token")).toEqual([["token", "siem"]]);
    expect(await app.lastAudit("audit.read")).toMatchObject({ detail: { owner: "admin" } });
  });

  test("is one record, however many requests come at once", async () => {
    const auditor = await app.admin();
    const before = await reads();
    await Promise.all(Array.from({ length: 20 }, () => auditor.call("GET", "/audit?page_size=1")));
    expect((await reads()).slice(before.length)).toEqual([["admin", "admin"]]);
  });

  test("makes none where nothing of others is shown", async () => {
    const { client } = await person();
    const auditor = await app.admin();
    const before = await reads();
    expect((await client.call("GET", "/me/audit")).status).toBe(200);
    expect((await auditor.call("GET", "/audit?page=x")).status).toBe(400);
    expect((await auditor.call("GET", "/access?at=2099-01-01T00:00:00Z")).status).toBe(400);
    expect((await client.call("GET", "/audit")).status).toBe(403);
    expect(await reads()).toEqual(before);
  });

  test("shows nothing while that cannot be recorded, and is recorded by the next", async () => {
    const auditor = await app.admin();
    const before = await reads();
    await app.alter(`create function unread() returns trigger language plpgsql as
      'begin if new.action = ''audit.read'' then raise exception ''no''; end if; return new; end'`);
    await app.alter("create trigger unread before insert on audit for each row execute function unread()");
    const refused = await auditor.call("GET", "/audit?page_size=1");
    expect([refused.status, refused.headers.get("uam-error")]).toEqual([500, "audit.unrecorded"]);
    expect(refused.body.data).toBeUndefined();
    await app.alter("drop trigger unread on audit");
    expect((await auditor.call("GET", "/audit?page_size=1")).status).toBe(200);
    expect((await reads()).slice(before.length)).toEqual([["admin", "admin"]]);
  });
});

describe("a failed login", () => {
  test("with a wrong code is anonymous, names the user, and is in that user's own trail", async () => {
    const { id, username, client } = await person();
    await app.anonymous("203.0.113.9").call("POST", "/auth/otp/login", { username, code: "00000000" });
    expect(await app.lastAudit("auth.otp_login")).toMatchObject({
      ...{ actorType: "anonymous", actor: "anonymous", subjectId: id, result: "failed", ip: "203.0.113.9" },
      detail: { username },
    });
    const [newest] = (await client.call("GET", "/me/audit")).body.data.items;
    expect(newest).toMatchObject({ action: "auth.otp_login", actor: "anonymous", result: "failed", ip: "" });
  });

  test("for a name that nobody has leaves the name out: it may be a password", async () => {
    const secret = "correct-horse-battery";
    await app.anonymous().call("POST", "/auth/otp/login", { username: secret, code: "00000000" });
    await app.anonymous().call("POST", "/auth/otp/send", { username: secret, ...(await captcha()) });
    await app.anonymous().call("POST", "/auth/admin/login", { username: secret, password: "x" });
    expect(JSON.stringify(await app.auditRows())).not.toContain(secret);
  });

  test("of a disabled user is named all the same", async () => {
    const { id, username } = await person();
    await admin.call("POST", `/users/${id}/disable`);
    app.clock.advance(CODE_COOLDOWN);
    await app.anonymous().call("POST", "/auth/otp/send", { username, ...(await captcha()) });
    expect(await app.lastAudit("auth.otp_send")).toMatchObject({
      ...{ actorType: "anonymous", subjectId: id, result: "failed", detail: { username } },
    });
  });

  async function captcha() {
    const { captchaId, answer } = await app.captcha();
    return { captcha_id: captchaId, captcha_code: answer };
  }
});

describe("an attempt on somebody else's key", () => {
  test.each([
    ["PATCH", { name: "mine" }],
    ["PATCH", { name: 7 }],
    ["DELETE", undefined],
  ])("%s %j is in the trail of the key's owner, in the name of whoever tried", async (method, body) => {
    const owner = await person();
    const key = await addKey(owner.client);
    const thief = await person();
    const { status } = await thief.client.call(method, `/me/keys/${key}`, body);
    expect([400, 404]).toContain(status);
    const action = method === "PATCH" ? "key.rename" : "key.revoke";
    const [newest] = (await owner.client.call("GET", "/me/audit")).body.data.items;
    expect(newest).toMatchObject({ action, actor: thief.username, resource_id: String(key), result: "failed", ip: "" });
  });
});

describe("an id that is too large for the database", () => {
  const LARGE = "99999999999999999999999";

  test("is recorded as it was sent", async () => {
    const { client } = await person();
    const calls = [
      [admin, "POST", `/users/${LARGE}/disable`, undefined, "user.disable"],
      [admin, "DELETE", `/users/${LARGE}`, undefined, "user.delete"],
      [admin, "PATCH", `/users/${LARGE}`, { purpose: "x" }, "user.update"],
      [admin, "PATCH", `/users/${LARGE}`, { purpose: 7 }, "user.update"],
      [client, "DELETE", `/me/keys/${LARGE}`, undefined, "key.revoke"],
    ] as const;
    for (const [caller, method, path, body, action] of calls) {
      expect([400, 404]).toContain((await caller.call(method, path, body)).status);
      expect(await app.lastAudit(action)).toMatchObject({ resourceId: LARGE, result: "failed" });
    }
    await admin.call("POST", `/approvals/${LARGE}/review`, { approve: true });
    expect((await app.lastAudit("approval.review")).detail).toMatchObject({ application: LARGE });
    await admin.call("DELETE", `/users/${"7".repeat(2000)}`);
    expect((await app.lastAudit("user.delete")).resourceId).toBe("7".repeat(256));
  });
});

const JSON_TYPE = { "content-type": "application/json" };
/** Every route that takes a body from a session, and whose. */
const WITH_BODY = Object.entries(apiDocument.paths).flatMap(([path, operations]) =>
  Object.entries(operations)
    .filter(([, { requestBody, security }]) => requestBody !== undefined && security?.length !== 0)
    .filter(() => !path.startsWith("/agent/"))
    .map(([method]) => [method.toUpperCase(), path, path.startsWith("/me/") ? "user" : "admin"] as const),
);

describe("a request of a session that is refused for its content", () => {
  const BAD = ["{", "[]", '"x"', { username: 7 }, ""] as const;

  test("is recorded like any other failure, with the username where a user was loaded", async () => {
    const { id, username, client } = await person();
    const key = await addKey(client);
    const cases = [
      [admin, "POST", "/users", "user.create", { resourceId: "", subjectId: null }],
      [admin, "PATCH", `/users/${id}`, "user.update", { resourceId: String(id), subjectId: id, detail: { username } }],
      [admin, "PATCH", "/users/999999", "user.update", { resourceId: "999999", subjectId: null }],
      [admin, "POST", `/users/${id}/extend`, "user.extend", { resourceId: String(id), detail: { username } }],
      [client, "POST", "/me/keys", "key.create", { resourceId: "", subjectId: id, detail: { username } }],
      [client, "PATCH", `/me/keys/${key}`, "key.rename", { resourceId: String(key), subjectId: id }],
      [admin, "POST", "/approvals/5/review", "approval.review", { resourceId: "", detail: { application: 5 } }],
      [admin, "PUT", "/settings", "settings.update", { resourceId: "" }],
    ] as const;
    for (const [caller, method, path, action, record] of cases) {
      for (const body of BAD) {
        const before = (await app.auditRows()).length;
        const answer = await caller.call(method, path, body, { "content-type": "application/json" });
        // All of these are optional where users are updated and extended, and unknown names are ignored there.
        if (answer.status === 200 || answer.status === 404) continue;
        expect({ path, body, status: answer.status }).toEqual({ path, body, status: 400 });
        expect((await app.auditRows()).length).toBe(before + 1);
        const found = await app.lastAudit(action);
        expect(found).toMatchObject({ ...record, result: "failed" });
        expect(found.detail.err).toBe(answer.body.error);
      }
    }
    const asText = await admin.call("POST", "/users", "username=x", { "content-type": "text/plain" });
    expect(asText.status).toBe(400);
    expect((await app.lastAudit("user.create")).detail.err).toBe(asText.body.error);
  });

  test.each(WITH_BODY)("is recorded on every route that takes a body: %s %s", async (method, path, needs) => {
    const caller = needs === "user" ? (await person()).client : admin;
    const before = (await app.auditRows()).length;
    const answer = await caller.call(method, path.replaceAll(/\{\w+\}/g, "7"), "{", JSON_TYPE);
    expect(answer.status).toBe(400);
    const [record, ...more] = (await app.auditRows()).slice(before);
    expect(more).toEqual([]);
    expect(record).toMatchObject({ result: "failed", actor: needs === "user" ? expect.any(String) : "admin" });
    expect(JSON.parse(record?.detail ?? "{}").err).toBe(answer.body.error);
    if (path === "/hosts/tokens") expect(record?.action).toBe("host_token.create");
  });

  test("is recorded once, by the operation where that has begun", async () => {
    const before = (await app.auditRows()).length;
    expect((await admin.call("POST", "/users", { username: "_", email: "e@example.org" })).status).toBe(400);
    expect((await app.auditRows()).length).toBe(before + 1);
  });

  test("is not recorded for an invalid path id, nor without the right session", async () => {
    const { client } = await person();
    const before = (await app.auditRows()).length;
    for (const [caller, path, status] of [
      [admin, "/users/x", 400],
      [client, "/users/1", 403],
      [app.anonymous(), "/users/1", 401],
    ] as const) {
      expect((await caller.call("PATCH", path, "{")).status).toBe(status);
    }
    expect((await admin.call("GET", "/users?page=x")).status).toBe(400);
    expect((await app.auditRows()).length).toBe(before);
  });
});
