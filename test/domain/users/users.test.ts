import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { extendUser } from "../../../src/domain/users/extend.ts";
import { updateUser } from "../../../src/domain/users/update.ts";
import { createUser, deleteUser, disableUser } from "../../../src/domain/users/users.ts";
import { DAY, MINUTE } from "../../../src/shared/time/clock.ts";
import { type Client, createTestApp, type TestApp } from "../../support/app.ts";
import { freshKey } from "../../support/keys.ts";

let app: TestApp;
let admin: Client;
let count = 0;

beforeAll(async () => {
  app = await createTestApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  count++;
  app.clock.advance(MINUTE + 1000);
  app.host.failing.clear();
  admin = await app.admin();
});

async function create(fields: Record<string, unknown> = {}) {
  return await admin.call("POST", "/users", { username: `person-${count}`, email: "p@example.org", ...fields });
}

async function lastAudit() {
  const row = (await app.auditRows()).at(-1);
  return { ...row, detail: JSON.parse(row?.detail ?? "{}") };
}

describe("createUser()", () => {
  test("stores the user, creates the account and records it", async () => {
    const answer = await create({ ttl_days: 2, supervisor: "Ann", purpose: "audit" });
    expect(answer.status).toBe(201);
    const expireAt = new Date(app.clock.now().getTime() + 2 * DAY).toISOString();
    expect(answer.body).toEqual({
      data: { id: expect.any(Number), username: `person-${count}`, status: "active", expire_at: expireAt },
    });
    expect(app.host.accounts.get(`ext_person-${count}`)).toMatchObject({ open: true, file: [] });
    const read = await admin.call("GET", `/users/${answer.body.data.id}`);
    expect(read.body.data).toEqual({
      id: answer.body.data.id,
      username: `person-${count}`,
      host_account: `ext_person-${count}`,
      email: "p@example.org",
      full_name: "",
      supervisor: "Ann",
      purpose: "audit",
      note: "",
      source_networks: [],
      company_id: null,
      manager: false,
      sponsor_email: "",
      profile: null,
      status: "active",
      expire_at: expireAt,
      ...{ starts_at: null, hours: null, hours_end: "sessions", on_request: null },
      ...{ access: "open", access_changes_at: null },
      disabled_at: null,
      welcome: "sent",
      created_at: app.clock.now().toISOString(),
      updated_at: app.clock.now().toISOString(),
    });
    expect(await lastAudit()).toMatchObject({
      action: "user.create",
      actorType: "admin",
      actor: "admin",
      resourceType: "user",
      resourceId: String(answer.body.data.id),
      detail: { username: `person-${count}` },
      result: "success",
    });
  });

  test("uses the default time to live for 0 and for none", async () => {
    const expected = new Date(app.clock.now().getTime() + 90 * DAY).toISOString();
    expect((await create({ ttl_days: 0 })).body.data.expire_at).toBe(expected);
    expect((await create({ username: `other-${count}` })).body.data.expire_at).toBe(expected);
  });

  test.each([
    [{ username: "ext_bob" }],
    [{ username: "Bob" }],
    [{ username: "-bob" }],
    [{ username: "a".repeat(29) }],
    [{ username: "../../etc" }],
    [{ username: "bob\n" }],
    [{ email: "no address" }],
    [{ email: "a@b.example, c@d.example" }],
    [{ ttl_days: 3651 }],
    [{ ttl_days: -1 }],
    [{ ttl_days: 1.5 }],
    [{ ttl_days: "7" }],
    [{ purpose: "a\u0007b" }],
    [{ purpose: "a\u202eb" }],
    [{ supervisor: "\u200b" }],
    [{ purpose: "x".repeat(1001) }],
    [{ supervisor: "x".repeat(129) }],
    [{ supervisor: null }],
  ])("refuses %p with 400 and changes nothing", async (fields) => {
    const before = app.host.calls.length;
    const answer = await create(fields);
    expect(answer.status).toBe(400);
    expect(answer.body).toEqual({ error: expect.any(String) });
    expect(app.host.calls.length).toBe(before);
    expect((await admin.call("GET", `/users?supervisor=nobody-${count}`)).body.data.total).toBe(0);
  });

  test("stores texts trimmed and in NFC, and those of spaces as empty", async () => {
    const texts = { email: ` p${count}@example.org\n`, supervisor: "  Zoe\u0308 ", purpose: " \t " };
    // Called without the API, whose document says how an address looks.
    const user = await createUser(app.system, { username: `texts-${count}`, ...texts });
    expect(user).toMatchObject({ email: `p${count}@example.org`, supervisor: "Zo\u00eb", purpose: "" });
    const changed = await updateUser(app.system, user.id, { purpose: " Cafe\u0301 ", supervisor: "  " });
    expect(changed).toMatchObject({ supervisor: "", purpose: "Caf\u00e9" });
  });

  test("refuses a taken username with 409", async () => {
    await create();
    expect((await create()).status).toBe(409);
    expect(await lastAudit()).toMatchObject({
      action: "user.create",
      resourceId: "",
      result: "failed",
      detail: { username: `person-${count}` },
    });
  });

  test("refuses a name that the host has with 409", async () => {
    app.host.accounts.set(`ext_person-${count}`, { uid: 4, open: true, expireAt: new Date(0), file: [] });
    expect((await create()).status).toBe(409);
    expect(app.host.accounts.get(`ext_person-${count}`)?.uid).toBe(4);
  });

  test("answers a host that refuses with 400, stores nothing and removes what was begun", async () => {
    app.host.failing.add("createAccount");
    const answer = await create();
    expect(answer.status).toBe(400);
    expect(app.host.calls.at(-1)).toBe(`removeAccount ext_person-${count}`);
    app.host.failing.clear();
    expect((await create()).status).toBe(201);
  });

  test("never gives a uid twice", async () => {
    const made = await create();
    const first = app.host.accounts.get(`ext_person-${count}`)?.uid ?? 0;
    await admin.call("DELETE", `/users/${made.body.data.id}`);
    await create();
    expect(app.host.accounts.get(`ext_person-${count}`)?.uid).toBeGreaterThan(first);
  });

  test("of 10 simultaneous creates of one name one wins", async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => create()));
    expect(answers.filter((answer) => answer.status === 201)).toHaveLength(1);
    expect(answers.filter((answer) => answer.status === 409)).toHaveLength(9);
  });
});

describe("disableUser() and enableUser()", () => {
  test("empty the file and restore it from the stored keys", async () => {
    const { id, client } = await app.user(`switch-${count}`);
    const key = await client.call("POST", "/me/keys", { name: "k", public_key: freshKey() });
    const account = app.host.accounts.get(`ext_switch-${count}`);
    expect((await admin.call("POST", `/users/${id}/disable`)).body).toMatchObject({ data: { status: "disabled" } });
    expect(account).toMatchObject({ open: false, file: [] });
    expect(await lastAudit()).toMatchObject({ action: "user.disable", detail: { status: "disabled" } });
    expect((await admin.call("GET", `/users/${id}`)).body.data.disabled_at).toBe(app.clock.now().toISOString());
    expect((await admin.call("POST", `/users/${id}/enable`)).body).toMatchObject({ data: { status: "active" } });
    expect(account).toMatchObject({ open: true, file: [key.body.data.fingerprint] });
  });

  test("are refused with 409 for an expired user and for a missing account", async () => {
    const id = (await create({ ttl_days: 1 })).body.data.id;
    app.host.accounts.delete(`ext_person-${count}`);
    for (const verb of ["disable", "enable"])
      expect((await admin.call("POST", `/users/${id}/${verb}`)).status).toBe(409);
    app.clock.advance(DAY);
    admin = await app.admin();
    for (const [verb, instead] of [
      ["disable", "has no access already; to remove the account, delete the user"],
      ["enable", "extend the account instead"],
    ]) {
      const { status, body } = await admin.call("POST", `/users/${id}/${verb}`);
      expect([status, body.error]).toEqual([409, expect.stringContaining(instead ?? "")]);
    }
  });

  test("disable holds whatever the host refuses, says what is left to do, and is recorded as failed", async () => {
    const id = (await create()).body.data.id;
    app.host.failing.add("emptyFile");
    const answer = await admin.call("POST", `/users/${id}/disable`);
    expect(answer.status).toBe(500);
    expect(answer.body.error).toBe(
      `person-${count} is disabled, and cannot log in. Left to do, and tried again until it is done: The host refused: emptyFile of ext_person-${count}`,
    );
    expect((await admin.call("GET", `/users/${id}`)).body.data.status).toBe("disabled");
    expect(app.host.accounts.get(`ext_person-${count}`)?.open).toBe(false);
    expect(await lastAudit()).toMatchObject({
      action: "user.disable",
      result: "failed",
      detail: { status: "disabled" },
    });
  });

  test("enable leaves the user as it was when the host refuses", async () => {
    const id = (await create()).body.data.id;
    await admin.call("POST", `/users/${id}/disable`);
    app.host.failing.add("openAccount");
    expect((await admin.call("POST", `/users/${id}/enable`)).status).toBe(500);
    expect((await admin.call("GET", `/users/${id}`)).body.data.status).toBe("disabled");
    expect(app.host.accounts.get(`ext_person-${count}`)?.open).toBe(false);
    expect(await lastAudit()).toMatchObject({ action: "user.enable", result: "failed" });
  });
});

describe("extendUser()", () => {
  test("moves the expiry from the later of now and the current expiry", async () => {
    const made = (await create({ ttl_days: 10 })).body.data;
    const answer = await admin.call("POST", `/users/${made.id}/extend`, { days: 5 });
    expect(answer.body.data.expire_at).toBe(new Date(Date.parse(made.expire_at) + 5 * DAY).toISOString());
    expect(await lastAudit()).toMatchObject({ action: "user.extend", detail: { days: 5, old_status: "active" } });
  });

  test("restores an expired user inside the recycle period and refuses one past it with 500", async () => {
    const id = (await create({ ttl_days: 1 })).body.data.id;
    app.clock.advance(5 * DAY);
    admin = await app.admin();
    expect((await admin.call("POST", `/users/${id}/extend`, { days: 1 })).body.data.expire_at).toBe(
      new Date(app.clock.now().getTime() + DAY).toISOString(),
    );
    app.clock.advance(32 * DAY);
    admin = await app.admin();
    expect((await admin.call("POST", `/users/${id}/extend`, { days: 1 })).status).toBe(500);
  });

  test.each([[-1], [3651], [0.5], ["1"], [null]])("refuses %p days with 400", async (days) => {
    const id = (await create()).body.data.id;
    expect((await admin.call("POST", `/users/${id}/extend`, { days })).status).toBe(400);
  });
});

describe("deleteUser()", () => {
  test("removes account, user and keys and keeps the audit", async () => {
    const { id, client } = await app.user(`leaver-${count}`);
    await client.call("POST", "/me/keys", { name: "k", public_key: freshKey() });
    expect((await admin.call("DELETE", `/users/${id}`)).body).toEqual({ data: { status: "deleted" } });
    expect(app.host.accounts.has(`ext_leaver-${count}`)).toBe(false);
    expect((await admin.call("GET", `/users/${id}`)).status).toBe(404);
    expect((await client.call("GET", "/me/keys")).status).toBe(404);
    expect((await client.call("GET", "/auth/me")).status).toBe(401);
    expect((await app.auditRows("key.create")).length).toBeGreaterThan(0);
    expect((await admin.call("DELETE", `/users/${id}`)).status).toBe(404);
  });
});

describe("unchangedSince", () => {
  test("refuses to change a user who was changed since, before the host is touched, and records that", async () => {
    const made = (await create()).body.data;
    const before = (await admin.call("GET", `/users/${made.id}`)).body.data;
    const context = { ...app.services, actor: { type: "cli", name: "olga", ip: "" }, requestId: "" } as const;
    app.clock.advance(1000);
    const after = (await admin.call("PATCH", `/users/${made.id}`, { purpose: "More" })).body.data;
    const account = structuredClone(app.host.accounts.get(`ext_person-${count}`));
    const stale = { unchangedSince: new Date(before.updated_at) };
    const changes = [
      ["user.disable", () => disableUser(context, made.id, stale)],
      ["user.extend", () => extendUser(context, made.id, 5, stale)],
      ["user.delete", () => deleteUser(context, made.id, stale)],
    ] as const;
    for (const [action, change] of changes) {
      await expect(change()).rejects.toMatchObject({ code: "conflict", reason: "user.changed" });
      expect(await lastAudit()).toMatchObject({ action, result: "failed", actor: "olga" });
    }
    expect((await admin.call("GET", `/users/${made.id}`)).body.data).toEqual(after);
    expect(app.host.accounts.get(`ext_person-${count}`)).toEqual(account);
    await disableUser(context, made.id, { unchangedSince: new Date(after.updated_at) });
    expect(await lastAudit()).toMatchObject({ action: "user.disable", result: "success" });
  });
});

describe("listUsers()", () => {
  test("pages newest first, filters, and gives the true total past the end", async () => {
    const supervisor = `list-${count}`;
    for (const name of ["a", "b", "c"]) await create({ username: `${name}-${count}`, supervisor });
    const page = await admin.call("GET", `/users?supervisor=${supervisor}&page=1&page_size=2`);
    expect(page.body.data.total).toBe(3);
    expect(page.body.data.items.map((user: { username: string }) => user.username)).toEqual([
      `c-${count}`,
      `b-${count}`,
    ]);
    expect((await admin.call("GET", `/users?supervisor=${supervisor}&page=9`)).body.data).toEqual({
      total: 3,
      items: [],
    });
    expect((await admin.call("GET", `/users?supervisor=${supervisor}&status=disabled`)).body.data.total).toBe(0);
  });

  test("listUsers() gives each user once, whichever end a page is counted from", async () => {
    const supervisor = `pages-${count}`;
    for (let n = 0; n < 7; n++) await create({ username: `p${n}-${count}`, supervisor });
    for (const size of [1, 2, 3, 4, 7, 8]) {
      const names: string[] = [];
      for (let page = 1; page <= Math.ceil(7 / size); page++) {
        const { body } = await admin.call("GET", `/users?supervisor=${supervisor}&page=${page}&page_size=${size}`);
        names.push(...body.data.items.map((user: { username: string }) => user.username));
      }
      expect(names).toEqual([6, 5, 4, 3, 2, 1, 0].map((n) => `p${n}-${count}`));
    }
  });
});
