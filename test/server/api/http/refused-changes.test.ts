/** A session or token whose changes are refused again and again fills neither the audit log nor what receives it. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { MOST_REFUSED } from "../../../../src/server/api/http/refused-changes.ts";
import { MINUTE } from "../../../../src/shared/time/clock.ts";
import { ADMIN_PASSWORD, type Client, createTestApp, loginUser, type TestApp } from "../../../support/app.ts";
import { freshKey } from "../../../support/keys.ts";
import { testSlow } from "../../../support/thorough.ts";

let t: TestApp;
let admin: Client;
let user: Client;

beforeAll(async () => {
  t = await createTestApp({}, { mostRefused: MOST_REFUSED });
  admin = await t.admin();
  ({ client: user } = await t.user("stubborn"));
});
beforeEach(() => t.clock.advance(2 * MINUTE));
afterAll(() => t.close());

const upload = (client: Client) => client.call("POST", "/me/keys", { name: "x", public_key: "no key" });
const failures = async () => (await t.auditRows()).filter(({ result }) => result === "failed").length;

describe("changes that are refused", () => {
  test("are recorded 60 times in a minute; then the session is answered 429 until it is over, on one record", async () => {
    const before = await failures();
    for (let n = 0; n < 60; n++) expect((await upload(user)).status).toBe(400);
    t.clock.advance(20_000);
    for (let n = 0; n < 25; n++) {
      const { status, headers } = await upload(user);
      expect([status, headers.get("uam-error"), headers.get("retry-after")]).toEqual([429, "rate.refused", "40"]);
    }
    // What would be right is refused too, what only reads is not, and nobody else is.
    expect((await user.call("POST", "/auth/logout")).status).toBe(429);
    expect((await user.call("GET", "/me/keys")).status).toBe(200);
    expect((await admin.call("POST", "/users", { username: "meanwhile", email: "m@example.org" })).status).toBe(201);
    expect(await failures()).toBe(before + 60);
    t.clock.advance(40_000);
    expect((await upload(user)).status).toBe(400);
    expect(await failures()).toBe(before + 62);
    expect(await t.auditRows("auth.changes_refused")).toHaveLength(1);
    expect(await t.lastAudit("auth.changes_refused")).toMatchObject({
      ...{ actorType: "user", actor: "stubborn", result: "failed", ip: "192.0.2.1" },
      detail: { username: "stubborn", refused: 26 },
    });
  });

  test("many at once are no more than that, whatever they are refused for", async () => {
    const before = await failures();
    const answers = await Promise.all(
      Array.from({ length: 300 }, (_, n) => (n % 2 === 0 ? upload(user) : user.call("DELETE", "/me/keys/987654321"))),
    );
    const limited = answers.filter(({ status }) => status === 429);
    expect(limited).toHaveLength(240);
    expect(await failures()).toBe(before + 60);
  });

  testSlow("do not count what succeeds, of however many at once", async () => {
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, n) =>
        admin.call("POST", "/users", { username: `many-${n}`, email: `m${n}@example.org` }),
      ),
    );
    expect(answers.filter(({ status }) => status !== 201)).toEqual([]);
  });

  test("count for a token as well, by itself", async () => {
    const made = await admin.call("POST", "/tokens", {
      name: "robot",
      role: "operator",
      days: 1,
      password: ADMIN_PASSWORD,
    });
    if (made.status !== 201) throw new Error(made.text);
    const token = { authorization: `Bearer ${made.body.data.token}` };
    const robot = () => t.anonymous().call("POST", "/users", { username: "Not Valid" }, token);
    for (let n = 0; n < 60; n++) expect((await robot()).status).toBe(400);
    expect((await robot()).status).toBe(429);
    expect((await admin.call("POST", "/users", { username: "Not Valid" })).status).toBe(400);
    t.clock.advance(MINUTE);
    expect((await robot()).status).toBe(400);
    expect(await t.lastAudit("auth.changes_refused")).toMatchObject({ actorType: "token", actor: "robot" });
  });

  testSlow("count for a token together with all that it made, in all generations, and with no other", async () => {
    const wanted = { name: "robot", role: "operator", days: 1 };
    const make = async (by: Client, more: object, headers = {}) => {
      const made = await by.call("POST", "/tokens", { ...wanted, ...more }, headers);
      if (made.status !== 201) throw new Error(made.text);
      return { authorization: `Bearer ${made.body.data.token}` };
    };
    const robot = await make(admin, { password: ADMIN_PASSWORD });
    const child = await make(t.anonymous(), {}, robot);
    const grandchild = await make(t.anonymous(), {}, child);
    const other = await make(admin, { password: ADMIN_PASSWORD });
    const before = await failures();
    const ask = (token: Record<string, string>) =>
      t.anonymous().call("POST", "/users", { username: "Not Valid" }, token);
    for (let n = 0; n < 20; n++)
      for (const token of [robot, child, grandchild]) expect((await ask(token)).status).toBe(400);
    for (const token of [robot, child, grandchild]) expect((await ask(token)).status).toBe(429);
    expect((await ask(other)).status).toBe(400);
    expect(await failures()).toBe(before + 61);
  });

  testSlow(
    "do not count what the service could not do for an administrator, who may have to take access away right then",
    async () => {
      const { id } = await t.user("reopened");
      await admin.call("POST", `/users/${id}/disable`);
      t.host.failing.add("openAccount");
      for (let n = 0; n <= MOST_REFUSED; n++)
        expect((await admin.call("POST", `/users/${id}/enable`)).status).toBe(500);
      t.host.failing.delete("openAccount");
      expect((await admin.call("POST", `/users/${id}/enable`)).status).toBe(200);
      expect((await admin.call("POST", `/users/${id}/disable`)).status).toBe(200);
    },
  );

  testSlow(
    "are bounded for an external user by how many sessions there can be: a login more ends the oldest",
    async () => {
      const { client: first } = await t.user("collector");
      const sessions = [first];
      for (let n = 0; n < 11; n++) {
        t.clock.advance(MINUTE);
        sessions.push(await loginUser(t.system, t.app, "collector"));
      }
      const open = await Promise.all(sessions.map(async (one) => (await one.call("GET", "/auth/me")).status));
      expect(open).toEqual([401, 401, ...Array(10).fill(200)]);
      const before = await failures();
      for (let n = 0; n < 61; n++) await Promise.all(sessions.map(upload));
      expect(await failures()).toBe(before + 600);
      // Nobody else's end with them.
      expect((await user.call("GET", "/auth/me")).status).toBe(200);
      expect((await admin.call("GET", "/auth/me")).status).toBe(200);
    },
  );

  test("count what an external user makes the host refuse, for its home is theirs", async () => {
    const { client } = await t.user("obstinate");
    t.host.failing.add("writeKeys");
    const key = { name: "x", public_key: freshKey() };
    for (let n = 0; n < MOST_REFUSED; n++) expect((await client.call("POST", "/me/keys", key)).status).toBe(500);
    expect((await client.call("POST", "/me/keys", key)).status).toBe(429);
    t.host.failing.delete("writeKeys");
  });
});
