/** What lists take in their queries: pages, empty and unknown values, ranges of time, and filters by status. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { DAY, shift } from "../../../src/shared/time/clock.ts";
import { type Client, createTestApp, type TestApp } from "../../support/app.ts";

let app: TestApp;
let admin: Client;
let user: Client;

beforeAll(async () => {
  app = await createTestApp({ UAM_SESSION_TTL: "30d" });
  admin = await app.admin();
  user = (await app.user("lister")).client;
  await app.anonymous().call("POST", "/approvals", { username: "hopeful", email: "h@example.org" });
});
afterAll(() => app.close());

/** Every list that has pages, and who may read it. */
const LISTS = ["/users", "/approvals", "/audit", "/me/audit"] as const;

function ask(path: string) {
  return (path.startsWith("/me") ? user : admin).call("GET", path);
}

describe("pages", () => {
  test.each([...LISTS])("%s past its end is empty, however many digits the page has", async (path) => {
    // The first read of the audit log is a record of its own.
    await ask(path);
    const { total } = (await ask(path)).body.data;
    expect(total).toBeGreaterThan(0);
    for (const page of ["1000000000", `1${"0".repeat(18)}`, "9".repeat(40), "9".repeat(400)]) {
      expect((await ask(`${path}?page=${page}&page_size=500`)).body).toEqual({ data: { total, items: [] } });
    }
  });

  test.each([...LISTS])("%s accepts leading zeros", async (path) => {
    const { body } = await ask(`${path}?page=${"0".repeat(20)}1&page_size=001`);
    expect(body.data.items).toHaveLength(1);
  });

  test.each([
    ["page=0", "page must be a whole number of at least 1"],
    ["page=000", "page must be a whole number of at least 1"],
    ["page=+1", "page must be a whole number of at least 1"],
    ["page=1e3", "page must be a whole number of at least 1"],
    ["page_size=0", "page_size must be a whole number of at least 1"],
    ["page_size=501", "page_size must be at most 500"],
    [`page_size=${"9".repeat(400)}`, "page_size must be at most 500"],
  ])("%s is 400 and says why", async (query, error) => {
    const answer = await admin.call("GET", `/users?${query}`);
    expect([answer.status, answer.body]).toEqual([400, { error }]);
  });
});

test("/approvals are listed newest first, or oldest first", async () => {
  await app.anonymous().call("POST", "/approvals", { username: "later", email: "h@example.org" });
  const names = async (query: string) =>
    (await ask(`/approvals?${query}`)).body.data.items.map(({ username }: { username: string }) => username);
  expect(await names("")).toEqual(["later", "hopeful"]);
  expect(await names("sort=-created_at")).toEqual(["later", "hopeful"]);
  expect(await names("sort=created_at")).toEqual(["hopeful", "later"]);
  expect(await names("sort=created_at&status=pending&page_size=1&page=2")).toEqual(["later"]);
});

describe("empty parameters", () => {
  test.each([
    ["/users", "page=&page_size=&status=&supervisor=&last_used=&silent_for="],
    ["/users", "status"],
    ["/users", "page=&page=1&&status="],
    ["/approvals", "status=&page="],
    ["/audit", "actor=&action=&resource_type=&resource_id=&since=&until=&page="],
    ["/me/audit", "page=&page_size="],
    // They count as absent, so they are not misspelled either.
    ["/users", "stauts="],
  ])("%s?%s is as without them", async (path, query) => {
    expect((await ask(`${path}?${query}`)).body.data).toEqual((await ask(path)).body.data);
  });

  test("the export takes them too", async () => {
    expect((await admin.call("GET", "/audit/export?since=&until=")).status).toBe(200);
  });

  test("leave the others as they were sent", async () => {
    await admin.call("POST", "/users", { username: "cared-for", email: "c@example.org", supervisor: "Bo & 100% = 1" });
    const { body } = await admin.call("GET", "/users?status=&supervisor=Bo+%26+100%25%20=%201&page=");
    expect(body.data.items.map((found: { username: string }) => found.username)).toEqual(["cared-for"]);
  });
});

test.each([
  "/users?status=gone",
  "/users?status=Active",
  "/users?last_used=always",
  "/approvals?status=open",
  "/audit?action=user.destroy",
  "/audit?resource_type=key",
])("an unknown value of an enumerated filter is 400: %s", async (path) => {
  expect((await admin.call("GET", path)).status).toBe(400);
});

test.each(["0", "0d", "-1d", "30", "soon", "1d1w", "36501d"])(
  "a time to be silent for that is none is 400: %s",
  async (time) => {
    const { status, body } = await admin.call("GET", `/users?silent_for=${time}`);
    expect([status, body.error]).toEqual([400, expect.stringMatching(/duration/i)]);
  },
);

describe("since and until", () => {
  /** How many records there are from the one at `at` on, and up to it, by the text of a time. */
  async function counts(text: string) {
    const encoded = encodeURIComponent(text);
    const [from, to] = [
      await admin.call("GET", `/audit?actor=timed&since=${encoded}`),
      await admin.call("GET", `/audit?actor=timed&until=${encoded}`),
    ];
    const file = await admin.call("GET", `/audit/export?since=${encoded}`);
    return {
      since: from.body.data.total,
      until: to.body.data.total,
      exported: file.text.match(/"timed",auth\.admin_login/g)?.length ?? 0,
    };
  }

  test("are inclusive to the last digit given", async () => {
    app.clock.advance(DAY);
    const moment = shift(new Date(Math.ceil(app.clock.now().getTime() / 1000) * 1000), 904);
    app.clock.advance(moment.getTime() - app.clock.now().getTime());
    const { addAdmin } = await import("../../../src/domain/auth/administrators/add-admin.ts");
    await addAdmin(app.system, "timed", "t@example.org", "seven lanterns over cold water");
    const client = app.anonymous();
    const login = { username: "timed", password: "seven lanterns over cold water" };
    expect((await client.call("POST", "/auth/admin/login", login)).status).toBe(200);
    const [{ created_at: at } = { created_at: "" }] = (await admin.call("GET", "/audit?actor=timed")).body.data.items;
    expect(at).toBe(moment.toISOString());
    const second = at.slice(0, 19);
    const all = { since: 1, until: 1, exported: 1 };
    for (const text of [at, `${second}.904000Z`, `${second}.904000000+00:00`]) expect(await counts(text)).toEqual(all);
    const later = { since: 0, until: 1, exported: 0 };
    for (const text of [`${second}.904999Z`, `${second}.904000001Z`, `${second}.905Z`])
      expect(await counts(text)).toEqual(later);
    expect(await counts(`${second}.903999Z`)).toEqual({ since: 1, until: 0, exported: 1 });
  });
});

describe("a user whose time is up", () => {
  test("reads as expired in records, filters and figures before any job has run", async () => {
    const supervisor = "Watcher";
    const make = async (username: string) =>
      (await admin.call("POST", "/users", { username, email: "w@example.org", supervisor, ttl_days: 1 })).body.data;
    const { id, expire_at: end } = await make("timely");
    const disabled = await make("timely-off");
    await admin.call("POST", `/users/${disabled.id}/disable`);
    const total = async (status: string) =>
      (await admin.call("GET", `/users?supervisor=${supervisor}&status=${status}`)).body.data.total;
    app.clock.advance(new Date(end).getTime() - app.clock.now().getTime() - 1);
    expect([await total("active"), await total("disabled"), await total("expired")]).toEqual([1, 1, 0]);
    expect((await admin.call("GET", `/users/${id}`)).body.data.status).toBe("active");
    app.clock.advance(1);
    expect((await admin.call("GET", `/users/${id}`)).body.data.status).toBe("expired");
    const changed = await admin.call("PATCH", `/users/${id}`, { purpose: "none any more" });
    expect(changed.body.data.status).toBe("expired");
    const { items } = (await admin.call("GET", `/users?supervisor=${supervisor}`)).body.data;
    expect(items.map((user: { status: string }) => user.status)).toContain("expired");
    app.clock.advance(1000);
    expect([await total("active"), await total("disabled"), await total("expired")]).toEqual([0, 0, 2]);
  });
});
