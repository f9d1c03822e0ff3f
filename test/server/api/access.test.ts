/** Who could log in at a moment of the past, over HTTP. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Client, createTestApp, type TestApp } from "../../support/app.ts";
import { parseCsv } from "../../support/csv.ts";
import { freshKey } from "../../support/keys.ts";

let app: TestApp;
let admin: Client;
let then = "";

beforeAll(async () => {
  app = await createTestApp();
  admin = await app.admin();
  for (const name of ["alice", "bob", "carol"]) {
    const { id, client } = await app.user(name);
    if (name !== "carol") await client.call("POST", "/me/keys", { name: "laptop", public_key: freshKey() });
    then = app.clock.now().toISOString();
    app.clock.advance(61_000);
    if (name === "alice") await admin.call("POST", `/users/${id}/disable`);
  }
});
afterAll(() => app.close());

test("pages, and only one host", async () => {
  const whole = await admin.call("GET", `/access?at=${then}`);
  expect(whole.body.data).toMatchObject({
    at: then,
    total: 1,
    unknown: 0,
    items: [{ username: "bob", host: "local" }],
  });
  expect(whole.body.data.items[0].decided_by).toBe("admin");
  const second = await admin.call("GET", `/access?at=${then}&page=2&page_size=1`);
  expect(second.body.data).toMatchObject({ total: 1, items: [] });
  const elsewhere = await admin.call("GET", `/access?at=${then}&host=web1`);
  expect(elsewhere.body.data).toMatchObject({ total: 0, items: [] });
});

test("without a moment, of now; says who was deleted since", async () => {
  const { id } = await app.user("dora");
  await admin.call("DELETE", `/users/${id}`);
  const { body } = await admin.call("GET", "/access");
  expect(body.data).toMatchObject({ at: app.clock.now().toISOString(), items: [{ username: "bob", deleted: false }] });
  const gone = await app.user("eve");
  await gone.client.call("POST", "/me/keys", { name: "laptop", public_key: freshKey() });
  const before = app.clock.now().toISOString();
  app.clock.advance(1000);
  await admin.call("DELETE", `/users/${gone.id}`);
  const { items } = (await admin.call("GET", `/access?at=${before}`)).body.data;
  const named = items.map(({ user_id, username, deleted }: Record<string, unknown>) => [user_id, username, deleted]);
  expect(named).toEqual([
    [expect.any(Number), "bob", false],
    [gone.id, "eve", true],
  ]);
});

test("only one company, by its name", async () => {
  const { id } = (await admin.call("POST", "/companies", { name: "Lindqvist AB" })).body.data;
  const before = app.clock.now().toISOString();
  app.clock.advance(1000);
  const [bob] = (await admin.call("GET", "/users?q=bob")).body.data.items;
  await admin.call("PATCH", `/users/${bob.id}`, { company_id: id });
  const since = app.clock.now().toISOString();
  const found = async (at: string, company: string) => {
    const { body } = await admin.call("GET", `/access?at=${at}&company=${encodeURIComponent(company)}`);
    return body.data.items.map(({ username }: { username: string }) => username);
  };
  expect(await found(since, "Lindqvist AB")).toEqual(["bob"]);
  expect(await found(before, "Lindqvist AB")).toEqual([]);
  expect(await found(since, "Nobody's")).toEqual([]);
});

test("as CSV", async () => {
  const answer = await admin.call("GET", `/access?at=${then}`, undefined, { accept: "text/csv" });
  expect(answer.headers.get("content-type")).toBe("text/csv; charset=utf-8");
  const [columns, ...lines] = parseCsv(answer.text.slice(1));
  expect(columns).toEqual(["username", "host", "until", "fingerprints", "decided_by", "profile"]);
  expect(lines).toEqual([["bob", "local", expect.any(String), expect.stringMatching(/^SHA256:/), "admin", ""]]);
});

test.each([
  ["at=yesterday", "at"],
  ["at=2999-01-01T00:00:00Z", "future"],
])("%p is refused", async (query, why) => {
  const answer = await admin.call("GET", `/access?${query}`);
  expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(why)]);
});
