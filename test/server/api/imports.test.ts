/** POST /users/import, over HTTP. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { removeAdmin } from "../../../src/domain/auth/administrators/admin-changes.ts";
import { MINUTE } from "../../../src/shared/time/clock.ts";
import { type Client, createTestApp, type TestApp } from "../../support/app.ts";

let app: TestApp;
let admin: Client;

beforeAll(async () => {
  app = await createTestApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  app.clock.advance(MINUTE);
  admin = await app.admin();
});

const CSV = { "content-type": "text/csv; charset=utf-8" };
const post = async (query: string, file: string, headers: Record<string, string> = CSV) =>
  await admin.call("POST", `/users/import${query}`, file, headers);
const isThere = async (username: string) =>
  (await admin.call("GET", `/users?q=${username}`)).body.data.items.length > 0;

describe("POST /users/import", () => {
  test("says what it would do, and does nothing", async () => {
    const records = (await app.auditRows()).length;
    const { status, body } = await post(
      "?preview=true",
      "username,email,id\r\npreview,p@example.org,7\r\n_,x@example.org,8",
    );
    expect(status).toBe(200);
    expect(body.data).toEqual({
      ...{ preview: true, users: 2, ignored: ["id"], good: 1 },
      items: [{ line: 2, username: "preview", email: "p@example.org", expire_at: expect.any(String) }],
      faults: {
        ...{ existing: 0, faulty: 1, total: 1 },
        items: [
          { line: 3, column: "username", error: expect.stringMatching(/^The username/), reason: "request.invalid" },
        ],
      },
    });
    expect(await isThere("preview")).toBe(false);
    expect(await app.auditRows()).toHaveLength(records);
  });

  test("reads what an export of users has written, to the letter", async () => {
    const fields = {
      ...{ username: "round-trip", email: "r@example.org", full_name: "'t Hooft; '=1", supervisor: '=Bo, "B"' },
      ...{ purpose: "'", note: "+46; -1", source_networks: ["192.0.2.0/24", "2001:db8::/32"] },
    };
    const made = await admin.call("POST", "/users", { ...fields, ttl_days: 7 });
    const before = (await admin.call("GET", `/users/${made.body.data.id}`)).body.data;
    const { text } = await admin.call("GET", "/users/export?q=round-trip");
    await admin.call("DELETE", `/users/${made.body.data.id}`);
    const { body } = await post("", text);
    expect(body.data).toMatchObject({ created: 1, faults: { total: 0 } });
    const after = (await admin.call("GET", `/users/${body.data.items[0].id}`)).body.data;
    expect(after).toEqual({ ...before, id: after.id, created_at: after.created_at, updated_at: after.updated_at });
  });

  test("creates all, none, or the good ones", async () => {
    const file = "username,email\none,one@example.org\n_,x@example.org\n";
    const refused = await post("", file);
    expect(refused.status).toBe(400);
    expect(refused.body.error).toMatch(/^Nobody was imported: line 3, username: /);
    expect(await isThere("one")).toBe(false);
    const good = await post("?only_good=true", file);
    expect(good.body.data).toMatchObject({ created: 1, users: 2, faults: { faulty: 1 } });
    expect(good.body.data.items).toMatchObject([{ username: "one" }]);
    const again = await post("?only_good=true", file);
    expect(again.body.data).toMatchObject({ created: 0, faults: { existing: 1, faulty: 1 } });
    const taken = await post("", "username,email\none,one@example.org\n");
    expect(taken.status).toBe(400);
    expect(taken.headers.get("uam-error")).toBe("user.taken");
  });

  test("takes a file larger than other bodies, and none beyond five MiB", async () => {
    const line = `_,x@example.org,${"x".repeat(900)}\n`;
    const large = await post("?preview=true", `username,email,purpose\n${line.repeat(4000)}`);
    expect(large.body.data).toMatchObject({ users: 4000, faults: { faulty: 4000, total: 4000 } });
    expect((await post("", "x".repeat(5 * 1024 * 1024 + 1))).status).toBe(413);
  });

  test.each(["application/json", "text/plain", "multipart/form-data; boundary=x"])("refuses %s", async (type) => {
    const { status, body } = await post("", "username,email\nty,t@example.org\n", { "content-type": type });
    expect(status).toBe(400);
    expect(body.error).toBe("The body must be a CSV file with the header Content-Type: text/csv");
  });

  test("refuses what looks like an option, and an empty file", async () => {
    expect((await post("?onlygood=true", "username,email\n")).body.error).toContain("Did you mean only_good?");
    expect((await post("", "")).body.error).toBe("The file is empty");
  });

  test("of two files at once one is imported, and the other is told to wait or finds its users there", async () => {
    const file = "username,email\ntwice,t@example.org\n";
    const both = await Promise.all([post("", file), post("", file)]);
    expect(both.map(({ status }) => status).toSorted()[0]).toBe(200);
    const other = both.find(({ status }) => status !== 200);
    expect([400, 409, 429]).toContain(other?.status ?? 0);
    expect(
      (await app.auditRows("user.create")).filter(
        ({ detail, result }) => detail.includes('"twice"') && result === "success",
      ),
    ).toHaveLength(1);
  });

  test("creates nobody once the caller is removed, and keeps those made before", async () => {
    const host = app.host.createAccount;
    let made = 0;
    app.host.createAccount = async (account) => {
      await host(account);
      if (++made === 2) await removeAdmin(app.system, "admin", "even-the-last").catch(() => {});
    };
    const { status, body } = await post(
      "",
      `username,email\n${[1, 2, 3, 4].map((n) => `gone-${n},g@example.org\n`).join("")}`,
    );
    expect(status).toBe(401);
    expect(body.error).toMatch(/^1 of 4 users were imported, and stay\./);
    expect([...app.host.accounts.keys()].filter((name) => name.startsWith("ext_gone-"))).toEqual(["ext_gone-1"]);
  });
});
