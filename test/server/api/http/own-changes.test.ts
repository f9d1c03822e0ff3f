/** An external user who changes again and again fills neither the audit log nor what receives it, and can take access away all the same. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { MOST_OWN_CHANGES } from "../../../../src/server/api/http/own-changes.ts";
import { MOST_REFUSED } from "../../../../src/server/api/http/refused-changes.ts";
import { MINUTE } from "../../../../src/shared/time/clock.ts";
import { type Client, createTestApp, loginUser, type TestApp } from "../../../support/app.ts";
import { freshKey } from "../../../support/keys.ts";

let t: TestApp;
let admin: Client;

beforeAll(async () => {
  t = await createTestApp({}, { mostRefused: MOST_REFUSED, mostOwnChanges: MOST_OWN_CHANGES });
  admin = await t.admin();
});
beforeEach(() => t.clock.advance(2 * MINUTE));
afterAll(() => t.close());

async function withKey(username: string) {
  const { id, client } = await t.user(username);
  const made = await client.call("POST", "/me/keys", { name: "first", public_key: freshKey() });
  return { id, client, key: made.body.data.id as number };
}
const rename = (client: Client, key: number, n = 0) => client.call("PATCH", `/me/keys/${key}`, { name: `key ${n}` });
const records = async () => (await t.auditRows()).length;

describe("what an external user changes", () => {
  test("are 60 in a minute over all sessions, then 429 until it is over, on one record", async () => {
    const { client, key } = await withKey("renamer");
    t.clock.advance(2 * MINUTE);
    const other = await loginUser(t.system, t.app, "renamer");
    const before = await records();
    for (let n = 0; n < 60; n++) expect((await rename(n % 2 === 0 ? client : other, key, n)).status).toBe(200);
    t.clock.advance(20_000);
    for (const asking of [client, other]) {
      const { status, headers } = await rename(asking, key);
      expect([status, headers.get("uam-error"), headers.get("retry-after")]).toEqual([429, "rate.changes", "40"]);
    }
    expect((await client.call("POST", "/me/extension", { days: 1, reason: "more" })).status).toBe(429);
    // What only reads goes on, and administrators as well.
    expect((await client.call("GET", "/me/keys")).status).toBe(200);
    expect((await admin.call("POST", "/users", { username: "meanwhile", email: "m@example.org" })).status).toBe(201);
    expect(await records()).toBe(before + 60 + 1);
    t.clock.advance(40_000);
    expect((await rename(client, key)).status).toBe(200);
    expect(await t.auditRows("auth.changes_refused")).toHaveLength(1);
    expect(await t.lastAudit("auth.changes_refused")).toMatchObject({
      ...{ actorType: "user", actor: "renamer", result: "failed" },
      detail: { username: "renamer", refused: 3, err: "Too many changes in a minute" },
    });
  });

  test("many at once are no more than that", async () => {
    const { client, key } = await withKey("hurried");
    t.clock.advance(2 * MINUTE);
    const before = await records();
    const answers = await Promise.all(Array.from({ length: 200 }, (_, n) => rename(client, key, n)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(60);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(140);
    expect(await records()).toBe(before + 60);
  });

  test("leaves what takes access away: revoking, logging out, and the account's own lock", async () => {
    const { client, key } = await withKey("careful");
    t.clock.advance(2 * MINUTE);
    const other = await loginUser(t.system, t.app, "careful");
    t.clock.advance(2 * MINUTE);
    for (let n = 0; n < 60; n++) expect((await rename(client, key, n)).status).toBe(200);
    expect((await rename(client, key)).status).toBe(429);
    expect((await client.call("DELETE", `/me/keys/${key}`)).status).toBe(200);
    expect((await other.call("POST", "/auth/logout")).status).toBe(200);
    expect((await client.call("POST", "/me/lock")).status).toBe(200);
  });

  test("counts what was done, and not what was refused", async () => {
    const { client, key } = await withKey("mistaken");
    t.clock.advance(2 * MINUTE);
    for (let n = 0; n < 59; n++) expect((await rename(client, key, n)).status).toBe(200);
    for (let n = 0; n < 5; n++) expect((await client.call("PATCH", `/me/keys/${key}`, { name: "" })).status).toBe(400);
    expect((await rename(client, key)).status).toBe(200);
    expect((await rename(client, key)).status).toBe(429);
  });

  test("of administrators is not counted", async () => {
    const { id } = await t.user("changed");
    for (let n = 0; n < 80; n++) {
      expect((await admin.call("PATCH", `/users/${id}`, { purpose: `purpose ${n}` })).status).toBe(200);
    }
  });
});
