/** Who was never there, and who has been silent: by logins to the service and by SSH. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { sql } from "drizzle-orm";
import { noteKeyUse } from "../../../src/domain/keys/last-use.ts";
import { DAY, HOUR, shift } from "../../../src/shared/time/clock.ts";
import { MIGRATIONS } from "../../../src/store/migrations.ts";
import { type Client, createTestApp, loginUser, type TestApp } from "../../support/app.ts";
import { freshKey } from "../../support/keys.ts";

let app: TestApp;
let admin: Client;
let supervisor = "";
let count = 0;

beforeAll(async () => {
  app = await createTestApp({ UAM_SESSION_TTL: "30d" });
  admin = await app.admin();
});
beforeEach(() => {
  supervisor = `silent-${++count}`;
});
afterAll(() => app.close());

/** Somebody who has not logged in; and the same after a login. */
async function create(name: string): Promise<number> {
  const body = { username: `${name}-${count}`, email: "a@example.org", supervisor, ttl_days: 365 };
  return (await admin.call("POST", "/users", body)).body.data.id;
}
const logIn = (name: string) => loginUser(app.system, app.app, `${name}-${count}`);

const listed = async (query = "") =>
  (await admin.call("GET", `/users?supervisor=${supervisor}&sort=username${query}`)).body.data.items as {
    readonly username: string;
    readonly last_login_at: string | null;
    readonly last_key_use_at: string | null;
    readonly active_keys: number;
  }[];
const names = async (query: string) => (await listed(query)).map(({ username }) => username.split("-")[0]);

async function addKey(me: Client) {
  return (await me.call("POST", "/me/keys", { name: "laptop", public_key: freshKey() })).body.data as {
    readonly id: number;
    readonly fingerprint: string;
  };
}

/** A login by SSH now, which the service then reads of. */
async function useKey(name: string, fingerprint: string): Promise<Date> {
  const at = app.clock.now();
  app.host.loginsLogged.push({ account: `ext_${name}-${count}`, fingerprint, at, from: "192.0.2.7" });
  await noteKeyUse(app.services, new AbortController().signal);
  return at;
}

describe("listUsers()", () => {
  test("says when each logged in last, how many keys they have, and when one was used last", async () => {
    await create("never");
    await create("both");
    const at = app.clock.now();
    const me = await logIn("both");
    const [first, second] = [await addKey(me), await addKey(me)];
    app.clock.advance(HOUR);
    const used = await useKey("both", first.fingerprint);
    // A revoked key counts no longer; its use was a use.
    await me.call("DELETE", `/me/keys/${first.id}`);
    expect(second.id).toBeGreaterThan(first.id);
    const facts = (await listed()).map((user) => [user.active_keys, user.last_login_at, user.last_key_use_at]);
    expect(facts).toEqual([
      [1, at.toISOString(), used.toISOString()],
      [0, null, null],
    ]);
  });

  test("finds who was never there, neither here nor by SSH", async () => {
    for (const name of ["a", "b", "c"]) await create(name);
    const me = await logIn("a");
    const { fingerprint } = await addKey(me);
    await logIn("c");
    await app.db.execute(sql`update users set last_login_at = null, seen_at = null where username = ${`a-${count}`}`);
    expect(await names("&last_used=never")).toEqual(["a", "b"]);
    await useKey("a", fingerprint);
    expect(await names("&last_used=never")).toEqual(["b"]);
    expect(await names("&last_used=never&q=b-")).toEqual(["b"]);
    expect(await names("&last_used=never&status=disabled")).toEqual([]);
  });

  test("finds who has been silent, and nobody who is newer than that", async () => {
    await create("a");
    const { fingerprint } = await addKey(await logIn("a"));
    await create("b");
    app.clock.advance(10 * DAY);
    await create("c");
    await logIn("b");
    app.clock.advance(20 * DAY);
    admin = await app.admin();
    // To the moment.
    expect(await names("&silent_for=30d")).toEqual(["a"]);
    expect(await names("&silent_for=30d1s")).toEqual([]);
    expect(await names("&silent_for=20d")).toEqual(["a", "b", "c"]);
    expect(await names("&silent_for=20d&last_used=never")).toEqual(["c"]);
    await useKey("a", fingerprint);
    expect(await names("&silent_for=20d")).toEqual(["b", "c"]);
    // An older line of the log takes nothing back.
    app.host.loginsLogged.push({
      ...{ account: `ext_a-${count}`, fingerprint, at: shift(app.clock.now(), -5 * DAY), from: "192.0.2.7" },
    });
    await noteKeyUse(app.services, new AbortController().signal);
    expect(await names("&silent_for=1d&q=a-")).toEqual([]);
  });

  test("migration 0037 carries over what was known before", async () => {
    await create("a");
    await create("b");
    const { fingerprint } = await addKey(await logIn("a"));
    app.clock.advance(HOUR);
    await useKey("a", fingerprint);
    await create("c");
    await logIn("c");
    const seen = async () =>
      await app.db.execute(sql`select username, seen_at from users where supervisor = ${supervisor} order by id`);
    const before = await seen();
    await app.db.execute(sql`update users set seen_at = null`);
    const carry = MIGRATIONS.find(({ name }) => name === "0037_seen_at")?.sql.split("--> statement-breakpoint")[1];
    await app.db.execute(sql.raw(carry ?? ""));
    expect(await seen()).toEqual(before);
  });
});

describe("listSupervisors()", () => {
  const supervisors = async (query: string) => {
    const { status, body } = await admin.call("GET", `/users/supervisors?${query}`);
    expect(status).toBe(200);
    return body.data.items.map((one: { supervisor: string; users: number }) => [one.supervisor, one.users]);
  };

  test("names those with most users first, by a part of the name in any case, which is no pattern", async () => {
    for (const [name, of] of [
      ["a", "Bo 100%"],
      ["b", "Bo 100%"],
      ["c", "Ädla Bo"],
      ["d", ""],
    ] as const)
      await admin.call("POST", "/users", { username: `${name}-${count}`, email: "a@example.org", supervisor: of });
    expect(await supervisors("q=bo")).toEqual([
      ["Bo 100%", 2],
      ["Ädla Bo", 1],
    ]);
    expect(await supervisors("q=%C3%A4DLA")).toEqual([["Ädla Bo", 1]]);
    expect(await supervisors("q=%25")).toEqual([["Bo 100%", 2]]);
    expect(await supervisors("q=nobody")).toEqual([]);
  });

  test("names at most fifty, and refuses a search that no name could hold", async () => {
    await app.db.execute(sql`
      insert into users (username, email, supervisor, expire_at, created_at, updated_at)
      select 'many' || n, '', 'Many ' || n, now(), now(), now() from generate_series(1, 60) n`);
    expect(await supervisors("q=many")).toHaveLength(50);
    expect(await supervisors("")).toHaveLength(50);
    for (const q of ["%E2%80%AE", "x".repeat(129)])
      expect((await admin.call("GET", `/users/supervisors?q=${q}`)).status).toBe(400);
  });
});
