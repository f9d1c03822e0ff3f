import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { sql } from "drizzle-orm";
import { createExportPlaces } from "../../../src/domain/exports/places.ts";
import { exportUsers } from "../../../src/domain/exports/users.ts";
import { deleteUser } from "../../../src/domain/users/users.ts";
import { userFile } from "../../../src/server/listed-user-record.ts";
import { unguarded } from "../../../src/shared/text/csv-cell.ts";
import { type Client, createTestApp, type TestApp } from "../../support/app.ts";
import { parseCsv } from "../../support/csv.ts";

let app: TestApp;
let admin: Client;

/** More than two blocks. */
const MANY = 1200;

const HOSTILE = {
  username: "mallory",
  email: "=cmd@example.org",
  full_name: "=HYPERLINK(0)",
  supervisor: "'@ O'Neill, \"Bo\"",
  purpose: "x;=1+1; -2",
  note: "-1",
  source_networks: ["192.0.2.0/24", "2001:db8::/32"],
};

beforeAll(async () => {
  app = await createTestApp();
  admin = await app.admin();
  for (const username of ["ann", "bob", "cem"]) {
    await admin.call("POST", "/users", { username, email: `${username}@example.org`, supervisor: "Bo" });
  }
  const { body } = await admin.call("POST", "/users", HOSTILE);
  await admin.call("POST", "/users", { username: "doe", email: "doe@example.org", ttl_days: 1 });
  await admin.call("POST", `/users/${body.data.id}/disable`, {});
});
afterAll(() => app.close());

async function exported(query = "", headers: Record<string, string> = {}) {
  const answer = await admin.call("GET", `/users/export${query}`, undefined, headers);
  expect(answer.status).toBe(200);
  return answer;
}

async function listed(query = "") {
  return (await admin.call("GET", `/users?page_size=500${query.replace("?", "&")}`)).body.data.items;
}

/** The records of a CSV file by the names in its header, as imported. */
function rowsOf(text: string): Record<string, string>[] {
  const [header = [], ...rows] = parseCsv(text);
  return rows.map((row) => Object.fromEntries(header.map((name, index) => [name, unguarded(row[index] ?? "")])));
}

function jsonLines(text: string) {
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
}

describe("GET /users/export", () => {
  test("is CSV named after the day, with a byte order mark, and a column for each field of a record", async () => {
    const { headers, text } = await exported();
    expect(headers.get("content-type")).toBe("text/csv; charset=utf-8");
    const day = app.clock.now().toISOString().slice(0, 10);
    expect(headers.get("content-disposition")).toBe(`attachment; filename="users-${day}.csv"`);
    expect(headers.get("cache-control")).toBe("no-store");
    const items = await listed();
    expect(parseCsv(text)[0]).toEqual(Object.keys(items[0]));
    const expected = items.map((item: object) =>
      Object.fromEntries(
        Object.entries(item).map(([key, value]) => [key, Array.isArray(value) ? value.join(" ") : String(value ?? "")]),
      ),
    );
    expect(rowsOf(text)).toEqual(expected);
  });

  test("lets no text begin as a formula, and gives it back exactly", async () => {
    const { text } = await exported("?q=mallory");
    const [, cells = []] = parseCsv(text);
    for (const cell of cells) expect(cell).not.toMatch(/^[=+@-]|;\s*[=+@-]/);
    const { source_networks: networks, ...texts } = HOSTILE;
    expect(rowsOf(text)[0]).toMatchObject({ ...texts, source_networks: networks.join(" ") });
  });

  test.each([
    ["?format=jsonl", {}],
    ["", { accept: "application/jsonl" }],
    ["", { accept: "application/x-ndjson, */*;q=0.1" }],
  ])("with %j and %j is the list's records as lines of JSON", async (query, accept) => {
    const { headers, text } = await exported(query, accept);
    expect(headers.get("content-type")).toBe("application/jsonl; charset=utf-8");
    expect(headers.get("content-disposition")).toEndWith('.jsonl"');
    expect(jsonLines(text)).toEqual(await listed());
  });

  test.each(["*/*", "text/html,application/xhtml+xml,*/*;q=0.8", "application/json", "text/csv", ""])(
    "with Accept: %j is CSV",
    async (accept) => {
      expect((await exported("", { accept })).headers.get("content-type")).toStartWith("text/csv");
    },
  );

  test("with an unknown format, or two, is refused, and nothing is recorded", async () => {
    const before = await app.auditRows();
    expect((await admin.call("GET", "/users/export?format=xlsx")).status).toBe(400);
    const accept = { accept: "application/jsonl" };
    const both = await admin.call("GET", "/users/export?format=csv", undefined, accept);
    expect([both.status, both.body.error]).toEqual([
      400,
      "format=csv and Accept: application/jsonl ask for two formats; send one",
    ]);
    expect((await admin.call("GET", "/users/export?silent_for=soon")).status).toBe(400);
    expect((await admin.call("GET", "/users/export?stauts=active")).status).toBe(400);
    expect((await app.auditRows()).filter(({ action }) => action !== "user.export")).toHaveLength(
      before.filter(({ action }) => action !== "user.export").length,
    );
  });

  test.each([
    "?status=disabled",
    "?status=active&supervisor=Bo&sort=-username",
    "?q=EXAMPLE&sort=expire_at",
    "?last_used=never&silent_for=1s",
    "?q=nobody%20at%20all",
  ])("of %s has what the list has, in its order", async (query) => {
    const names = (rows: readonly { username?: string }[]) => rows.map(({ username }) => username ?? "");
    expect(names(rowsOf((await exported(query)).text))).toEqual(names(await listed(query)));
  });

  test("is what an import reads: whoever was deleted comes back as they were", async () => {
    const [before] = await listed("?q=mallory");
    await admin.call("POST", `/users/${before.id}/enable`, {});
    const { text } = await exported();
    await admin.call("DELETE", `/users/${before.id}`);
    const imported = await admin.call("POST", "/users/import?only_good=true", text, { "content-type": "text/csv" });
    expect(imported.body.data).toMatchObject({ created: 1, faults: { faulty: 0 } });
    const { username, email, full_name, supervisor, purpose, note, source_networks, expire_at } = before;
    const same = { username, email, full_name, supervisor, purpose, note, source_networks, expire_at };
    const [after] = await listed("?q=mallory");
    expect(after).toMatchObject(same);
    await admin.call("POST", `/users/${after.id}/disable`, {});
  });

  test("is on record with its filters before it begins; HEAD is not", async () => {
    await exported("?status=active&q=ann&format=jsonl");
    const { detail, ...record } = await app.lastAudit("user.export");
    expect(record).toMatchObject({ actor: "admin", resourceType: "user", resourceId: "", result: "success" });
    expect(detail).toEqual({ format: "jsonl", status: "active", q: "ann" });
    const before = (await app.auditRows("user.export")).length;
    expect((await admin.call("HEAD", "/users/export")).status).toBe(200);
    expect(await app.auditRows("user.export")).toHaveLength(before);
  });

  test("that fails before it begins is recorded as failed, and frees its place", async () => {
    await app.alter("alter table users rename column note to note_gone");
    const answers = [];
    for (let n = 0; n < 3; n++) answers.push(await admin.call("GET", "/users/export"));
    await app.alter("alter table users rename column note_gone to note");
    expect(answers.map(({ status }) => status)).toEqual([500, 500, 500]);
    expect(await app.lastAudit("user.export")).toMatchObject({ result: "failed", detail: { err: expect.any(String) } });
    await exported();
  });

  test("without a record there is no export", async () => {
    await app.alter("alter table audit rename column ip to ip_gone");
    const answer = await admin.call("GET", "/users/export");
    await app.alter("alter table audit rename column ip_gone to ip");
    expect([answer.status, answer.text.includes("mallory")]).toEqual([500, false]);
    await exported();
  });
});

describe("exportUsers()", () => {
  test("spans blocks, and leaves out who is deleted meanwhile", async () => {
    await app.db.execute(sql`
      insert into users (username, email, supervisor, status, expire_at, created_at, updated_at)
      select 'many' || n, 'many@example.org', 'many', 'active', now() + interval '1 year', now(), now()
      from generate_series(1, ${MANY}) n`);
    await admin.call("POST", "/users", { username: "last", email: "last@example.org", supervisor: "many" });
    const filter = { supervisor: "many", sort: "created_at" } as const;
    const file = await exportUsers(app.system, filter, userFile("csv"), createExportPlaces(1));
    const { body } = await admin.call("GET", "/users?q=last@example.org");
    await deleteUser(app.system, body.data.items[0].id);
    const rows = rowsOf(await new Response(file).text());
    expect(rows.map(({ username }) => username)).toEqual(Array.from({ length: MANY }, (_, n) => `many${n + 1}`));
  });
});
