/** `?preview=true`: what a request would do, and that it does nothing. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { sql } from "drizzle-orm";
import { DAY } from "../../../src/shared/time/clock.ts";
import { type Client, createTestApp, type TestApp } from "../../support/app.ts";
import { freshKey } from "../../support/keys.ts";

let app: TestApp;
let admin: Client;
let alice: { readonly id: number; readonly client: Client };

beforeAll(async () => {
  app = await createTestApp();
  admin = await app.admin();
  alice = await app.user("alice");
  for (const name of ["laptop", "desktop"]) {
    await alice.client.call("POST", "/me/keys", { name, public_key: freshKey() });
  }
});
afterAll(() => app.close());

/** Every row of every table, but for what each request of a session itself leaves, and the host. */
async function everything(besides = "sessions"): Promise<string> {
  const tables = await app.db.execute<{ name: string }>(
    sql`select tablename as name from pg_tables where schemaname = 'public' and tablename !~ ${`^(${besides})`} order by 1`,
  );
  const rows = [];
  for (const { name } of tables) {
    rows.push([name, await app.db.execute(sql`select t::text as row from ${sql.identifier(name)} t order by 1`)]);
  }
  return JSON.stringify([rows, [...app.host.accounts], app.host.calls]);
}

/** The answer to a request with `?preview=true`, which has changed nothing. */
async function preview(method: string, path: string, body?: unknown) {
  const before = await everything();
  const answer = await admin.call(method, `${path}?preview=true`, body);
  expect(await everything()).toBe(before);
  return answer;
}

describe("POST /users/:id/disable?preview=true", () => {
  test("says who can no longer log in, what ends, and what changes on the host", async () => {
    const { body } = await preview("POST", `/users/${alice.id}/disable`);
    expect(body.data).toMatchObject({
      preview: true,
      status: "disabled",
      effects: [
        "alice can no longer log in.",
        "2 keys stop working: laptop, desktop.",
        "Every SSH session, process and scheduled job of ext_alice ends.",
        "Crontab, at jobs and lingering are removed, and enabling does not give them back.",
        "Their browsers stay logged in to the pages until they are signed out, to read them and to revoke keys.",
        "alice@example.org gets a mail.",
      ],
      host: ["would shutAccount ext_alice"],
    });
    expect((await admin.call("GET", `/users/${alice.id}`)).body.data.status).toBe("active");
  });

  test("promises no mail for a user who is disabled already", async () => {
    const { id } = await app.user("twice");
    await admin.call("POST", `/users/${id}/disable`);
    const { body } = await preview("POST", `/users/${id}/disable`);
    expect(body.data.effects).toEqual(["twice is disabled already; the account on the host is shut once more."]);
    const mails = (await app.mails("twice@example.org")).length;
    await admin.call("POST", `/users/${id}/disable`);
    expect((await app.mails("twice@example.org")).length).toBe(mails);
  });
});

describe("POST /users/:id/enable?preview=true", () => {
  test("says until when, which keys, and that there is a mail, as it then happens", async () => {
    const { id, client } = await app.user("back");
    await client.call("POST", "/me/keys", { name: "laptop", public_key: freshKey() });
    await admin.call("POST", `/users/${id}/disable`);
    const { expire_at } = (await admin.call("GET", `/users/${id}`)).body.data;
    const { body } = await preview("POST", `/users/${id}/enable`);
    expect(body.data).toEqual({
      preview: true,
      status: "active",
      expire_at,
      effects: [
        `back can log in again, until ${expire_at.slice(0, 16).replace("T", " ")} UTC.`,
        "1 key works again: laptop.",
        "back@example.org gets a mail.",
      ],
      host: ["would openAccount ext_back"],
    });
  });

  test("says that a user without a key has to upload one", async () => {
    const { id } = await app.user("keyless");
    await admin.call("POST", `/users/${id}/disable`);
    const { body } = await preview("POST", `/users/${id}/enable`);
    expect(body.data.effects).toContain("No key is stored: keyless has to upload one first.");
  });
});

describe("POST /users/:id/extend?preview=true", () => {
  test("has the expiry that the extension then has", async () => {
    const { body } = await preview("POST", `/users/${alice.id}/extend`, { days: 30 });
    expect(body.data.effects).toHaveLength(2);
    expect(body.data.effects[0]).toMatch(/^alice keeps access until .* UTC, instead of .* UTC\.$/);
    expect(body.data.host).toEqual(["would openAccount ext_alice"]);
    const extended = await admin.call("POST", `/users/${alice.id}/extend`, { days: 30 });
    expect(extended.body.data).toMatchObject({ expire_at: body.data.expire_at });
  });

  test("takes no body for the default, and opens no disabled account", async () => {
    const { id } = await app.user("closed");
    await admin.call("POST", `/users/${id}/disable`);
    const { body } = await preview("POST", `/users/${id}/extend`);
    expect(body.data).toMatchObject({ status: "disabled", host: [] });
    expect(body.data.effects[0]).toMatch(/^The account of closed is kept until .*, but stays disabled\.$/);
  });
});

describe("DELETE /users/:id?preview=true", () => {
  test("says what is gone for good, and leaves it", async () => {
    const { body } = await preview("DELETE", `/users/${alice.id}`);
    expect(body.data).toMatchObject({ status: "deleted", expire_at: null, host: ["would removeAccount ext_alice"] });
    expect(body.data.effects.slice(0, 2)).toEqual([
      "alice is deleted for good; the audit records stay.",
      "The host account ext_alice and its home directory are deleted, with everything in it.",
    ]);
  });

  test("says so where the host account is missing, or is another's", async () => {
    const { id } = await app.user("lost");
    const account = app.host.accounts.get("ext_lost");
    app.host.accounts.delete("ext_lost");
    const missing = (await preview("DELETE", `/users/${id}`)).body.data;
    expect([missing.status, missing.effects[1]]).toEqual(["deleted", expect.stringContaining("already gone")]);
    app.host.accounts.set("ext_lost", { uid: 1, open: true, expireAt: account?.expireAt ?? new Date(), file: [] });
    const foreign = (await preview("DELETE", `/users/${id}`)).body.data;
    expect([foreign.status, foreign.effects[0]]).toEqual(["disabled", expect.stringContaining("is left alone")]);
  });
});

describe("PATCH /users/:id?preview=true", () => {
  test("says what other hours do, and is refused as the change itself would be", async () => {
    const { id } = await app.user("timed");
    const { expire_at } = (await admin.call("GET", `/users/${id}`)).body.data;
    const windows = [{ days: ["mon"], from: "08:00", to: "08:01" }];
    const { body } = await preview("PATCH", `/users/${id}`, { hours: { zone: "UTC", windows } });
    expect(body.data).toMatchObject({
      id,
      preview: true,
      status: "active",
      expire_at,
      access_changes_at: expect.any(String),
    });
    expect(body.data.effects[0]).toBe("Access of timed is open only within mon 08:00-08:01 UTC.");
    const refused = await preview("PATCH", `/users/${id}`, { hours: { zone: "Mars/Base", windows } });
    expect([refused.status, refused.body.error]).toEqual([400, expect.stringContaining("Not a time zone")]);
  });
});

describe("?preview=true", () => {
  test("is refused as the request itself is, without a record", async () => {
    const { id } = await app.user("refused");
    const expired = (await app.user("over")).id;
    await app.db.execute(sql`update users set expire_at = ${new Date(app.clock.now().getTime() - 500 * DAY).toISOString()}
      where id = ${expired}`);
    app.host.accounts.delete("ext_refused");
    const cases: readonly (readonly [string, string, unknown?])[] = [
      ["POST", "/users/999999/disable"],
      ["POST", "/users/999999/enable"],
      ["POST", "/users/999999/extend"],
      ["DELETE", "/users/999999"],
      ["POST", "/users/x/disable"],
      ["POST", `/users/${id}/disable`],
      ["POST", `/users/${id}/enable`],
      ["POST", `/users/${id}/extend`, { days: 1 }],
      ["POST", `/users/${id}/extend`, { days: -1 }],
      ["POST", `/users/${id}/extend`, { days: "many" }],
      ["POST", `/users/${id}/extend`, "{broken"],
      ["POST", `/users/${expired}/disable`],
      ["POST", `/users/${expired}/enable`],
      ["POST", `/users/${expired}/extend`],
      ["PUT", "/settings", { key: "policy.audit_retention", value: "1d" }],
      ["PUT", "/settings", { key: "policy.default_ttl", value: "soon" }],
      ["PUT", "/settings", { key: "policy.nothing", value: "1d" }],
      ["DELETE", "/settings/policy.nothing"],
    ];
    for (const [method, path, body] of cases) {
      const asked = await preview(method, path, body);
      const real = await admin.call(method, path, body);
      expect([path, asked.status, asked.body]).toEqual([path, real.status, real.body]);
      expect(asked.status).toBeGreaterThanOrEqual(400);
      expect(asked.headers.get("uam-error")).toBe(real.headers.get("uam-error"));
    }
  });

  test("is asked of administrators only", async () => {
    const before = await everything();
    expect((await app.anonymous().call("DELETE", `/users/${alice.id}?preview=true`)).status).toBe(401);
    expect((await alice.client.call("DELETE", `/users/${alice.id}?preview=true`)).status).toBe(403);
    expect(await everything()).toBe(before);
  });

  test.each([
    "preview",
    "preview=",
    "preview=yes",
    "preview=TRUE",
    "preview=1",
    "prewiev=true",
    "preview=true&preview=true",
  ])("spelt as %s never does the thing itself", async (query) => {
    const { status, body } = await admin.call("POST", `/users/${alice.id}/disable?${query}`);
    expect([status, body.error]).toEqual([400, expect.any(String)]);
    expect((await admin.call("GET", `/users/${alice.id}`)).body.data.status).toBe("active");
  });

  test("=false is the request itself", async () => {
    const { id } = await app.user("really");
    const { body } = await admin.call("POST", `/users/${id}/disable?preview=false`);
    expect(body).toEqual({ data: { status: "disabled" } });
  });

  test("waits for nobody who is changing the user, and keeps nobody waiting", async () => {
    const { id } = await app.user("busy");
    await app.db.transaction(async (tx) => {
      await tx.execute(sql`select 1 from users where id = ${id} for update`);
      expect((await admin.call("POST", `/users/${id}/disable?preview=true`)).status).toBe(200);
    });
  });

  test("tells a key's name as it is, whatever it says", async () => {
    const { id, client } = await app.user("odd");
    const name = `<b>"; drop table users; --`;
    await client.call("POST", "/me/keys", { name, public_key: freshKey() });
    const { body } = await preview("POST", `/users/${id}/disable`);
    expect(body.data.effects).toContain(`1 key stops working: ${name}.`);
  });
});

describe("settings with ?preview=true", () => {
  const put = (key: string, value: string) => preview("PUT", "/settings", { key, value });

  test("count the users whom a shorter recycle period deletes, and only those", async () => {
    // With 30 days in force and 10 wanted, tomorrow: expired for 5, 9 and a bit, 12 and 40 days by then.
    for (const [n, days] of [4, 8.5, 9.5, 12, 39].entries()) {
      const { id } = await app.user(`aged-${n}`);
      const at = new Date(app.clock.now().getTime() - days * DAY).toISOString();
      await app.db.execute(sql`update users set expire_at = ${at} where id = ${id}`);
    }
    const [before] = (await admin.call("GET", "/settings")).body.data.items.filter(
      ({ key }: { key: string }) => key === "policy.recycle_period",
    );
    const { body } = await put("policy.recycle_period", "10d");
    expect(before.value).toBe("30d");
    expect(body.data).toMatchObject({
      key: "policy.recycle_period",
      value: "10d",
      deletes: { users: 2, audit_records: 0 },
    });
    expect(body.data.at).toBe(new Date(app.clock.now().getTime() + DAY).toISOString());
    expect(body.data.effects).toEqual([
      "Users are deleted 10d after they expired.",
      `This takes effect at ${body.data.at}; until then it can be taken back.`,
      "By then 2 users will be old enough to be deleted for good.",
      "Every administrator gets a mail.",
    ]);
    const real = await admin.call("PUT", "/settings", { key: "policy.recycle_period", value: "10d" });
    expect(real.body.data.pending).toEqual({ value: "10d", at: body.data.at });
    app.clock.advance(DAY / 2);
    admin = await app.admin();
    const again = (await put("policy.recycle_period", "10d")).body.data;
    expect(again.at).toBe(body.data.at);
    expect(again.effects.at(-1)).not.toContain("mail");
    const dropped = (await preview("DELETE", "/settings/policy.recycle_period")).body.data;
    expect(dropped).toMatchObject({ value: "30d", deletes: { users: 0, audit_records: 0 } });
    await admin.call("DELETE", "/settings/policy.recycle_period");
  });

  test("count the audit records that a shorter retention deletes, but none that the database keeps", async () => {
    const [{ records } = { records: 0 }] = await app.db.execute<{ records: number }>(
      sql`select count(*)::int as records from audit`,
    );
    expect((await put("policy.audit_retention", "30d")).body.data.deletes.audit_records).toBe(0);
    app.clock.advance(200 * DAY);
    admin = await app.admin();
    const { deletes, effects } = (await put("policy.audit_retention", "30d")).body.data;
    expect(deletes).toEqual({ users: 0, audit_records: expect.any(Number) });
    expect(deletes.audit_records).toBeGreaterThanOrEqual(Number(records));
    expect(effects.join(" ")).toContain(`${deletes.audit_records} audit records will be old enough`);
    expect((await put("policy.audit_retention", "900d")).body.data.deletes.audit_records).toBe(0);
  });

  test("take a new default at once", async () => {
    const { body } = await put("policy.default_ttl", "60d");
    expect(body.data).toMatchObject({ at: app.clock.now().toISOString(), value: "60d", host: [] });
    expect(body.data.effects).toHaveLength(1);
    expect((await put("policy.default_ttl", "90d")).body.data.effects).toEqual(["policy.default_ttl is 90d already."]);
  });
});

describe("a request that has no preview", () => {
  test.each([
    ["POST", "/users", { username: "nobody", email: "nobody@example.org" }],
    ["DELETE", "/users/:id/keys/1", undefined],
    ["DELETE", "/users/:id/sessions/1618033980012345", undefined],
    ["POST", "/admins", { username: "new-admin", email: "new@example.org" }],
    ["POST", "/auth/logout", undefined],
  ])("is not done for who asks for one: %s %s", async (method, path, body) => {
    for (const value of ["=true", "=false", "=", ""]) {
      const before = await everything("sessions|audit");
      const answer = await admin.call(method, `${path.replace(":id", String(alice.id))}?preview${value}`, body);
      expect([answer.status, answer.body]).toEqual([400, { error: "There is no preview of this request" }]);
      expect(await everything("sessions|audit")).toBe(before);
    }
    // The refusal is on record, like every other for what a request says.
    expect((await admin.call("GET", "/auth/me")).status).toBe(200);
  });

  test("is answered as ever where nothing is changed", async () => {
    expect((await admin.call("GET", "/users?preview=true")).status).toBe(200);
  });
});
