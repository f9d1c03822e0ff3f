/** The audit log's export with the filters of the list: the same records, oldest first, in both formats. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { auditRecord } from "../../../src/server/audit-records.ts";
import { openDatabase } from "../../../src/store/client.ts";
import { type Client, createTestApp, type TestApp } from "../../support/app.ts";
import { busyDraft, fillAuditLog, seededRandom } from "../../support/audit-log.ts";
import { parseCsv } from "../../support/csv.ts";

type Row = ReturnType<typeof auditRecord> & { readonly subject: number | null };

/** More than two blocks, of one actor and of one user too. */
const ROWS = 8000;
const BUSIEST = 3;
const START = new Date("2026-01-01T00:00:00.000Z");
const TEXT = 'say "hi"; =1+1\u2028Ünïcödé 🖥';

let app: TestApp;
let admin: Client;
let rows: readonly Row[];

beforeAll(async () => {
  app = await createTestApp();
  const superuser = openDatabase(app.superuser, 1);
  const busy = busyDraft(seededRandom(7), START, 250);
  await fillAuditLog(superuser.db, ROWS, (index) => {
    const draft = busy(index);
    if (index % 3 > 0) return { ...draft, actor: "admin0", subjectId: BUSIEST };
    return index % 7 > 0 ? draft : { ...draft, actor: TEXT, detail: JSON.stringify({ username: "ann", err: TEXT }) };
  });
  await superuser.close();
  rows = (await app.auditRows()).map((row) => ({ ...auditRecord(row), subject: row.subjectId }));
  admin = await app.admin();
});
afterAll(() => app.close());

async function exported(query: string) {
  const answer = await admin.call("GET", `/audit/export?${query}`);
  expect(answer.status).toBe(200);
  return answer;
}

/** The records of the filled log: what the test does is recorded after them. */
function filled(text: string) {
  const records = text === "" ? [] : text.trimEnd().split("\n");
  return records.map((line) => JSON.parse(line)).filter(({ id }) => id <= ROWS);
}

const SINCE = new Date(START.getTime() + 1000 * 250);
const UNTIL = new Date(START.getTime() + 6999 * 250);
const isBetween = ({ created_at }: Row) => created_at >= SINCE.toISOString() && created_at <= UNTIL.toISOString();

const FILTERS: readonly (readonly [string, (row: Row) => boolean])[] = [
  ["", () => true],
  ["actor=admin0", ({ actor }) => actor === "admin0"],
  ["action=user.create", ({ action }) => action === "user.create"],
  ["resource_type=user&actor=admin0", ({ actor, resource_type }) => actor === "admin0" && resource_type === "user"],
  ["resource_type=user&resource_id=9", ({ resource_type: type, resource_id: id }) => type === "user" && id === "9"],
  [`user_id=${BUSIEST}`, ({ subject }) => subject === BUSIEST],
  [`user_id=${BUSIEST}&actor=admin0`, ({ subject, actor }) => subject === BUSIEST && actor === "admin0"],
  [`since=${SINCE.toISOString()}&until=${UNTIL.toISOString()}`, isBetween],
  [
    `user_id=${BUSIEST}&since=${SINCE.toISOString()}&until=${UNTIL.toISOString()}`,
    (row) => row.subject === BUSIEST && isBetween(row),
  ],
  [`actor=${encodeURIComponent(TEXT)}`, ({ actor }) => actor === TEXT],
  ["result=failed", ({ result }) => result === "failed"],
  [
    `result=success&user_id=${BUSIEST}&actor=admin0`,
    ({ result, subject, actor }) => result === "success" && subject === BUSIEST && actor === "admin0",
  ],
  ["result=failed&q=ann", ({ result, detail }) => result === "failed" && detail.includes('"ann"')],
  ["actor=nobody", () => false],
  ["user_id=99999999999999999999", () => false],
];

describe("GET /audit/export", () => {
  test.each(FILTERS)("of %j has what matches, oldest first, as lines of JSON and as CSV", async (query, matches) => {
    const expected = rows.filter(matches).map(({ subject: _, ...record }) => record);
    const { headers, text } = await exported(`${query}&format=jsonl`);
    expect(headers.get("content-type")).toBe("application/jsonl; charset=utf-8");
    expect(filled(text)).toEqual(expected);
    const ids = parseCsv((await exported(query)).text)
      .slice(1)
      .map(([id]) => Number(id));
    expect(ids.filter((id) => id <= ROWS)).toEqual(expected.map(({ id }) => id));
  });

  test("records its filters by the names of the API", async () => {
    await exported(
      "user_id=3&action=user.create&resource_type=user&result=failed&format=jsonl&until=2026-01-01T00:00:00Z",
    );
    expect((await app.lastAudit("audit.export")).detail).toMatchObject({
      ...{ format: "jsonl", user_id: 3, action: "user.create", resource_type: "user", result: "failed" },
      until: "2026-01-01T00:00:00.000Z",
    });
  });

  test("has the whole trail of somebody who was deleted", async () => {
    const { body } = await admin.call("POST", "/users", { username: "gone", email: "gone@example.org" });
    await admin.call("DELETE", `/users/${body.data.id}`);
    const { text } = await exported(`user_id=${body.data.id}&format=jsonl`);
    const trail = text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(trail.filter(({ id }) => id > ROWS).map(({ action }) => action)).toEqual(["user.create", "user.delete"]);
  });

  test.each(["format=xml", "action=none", "result=none", "user_id=x", "actr=x", "since=yesterday"])(
    "of %s is refused, and not recorded",
    async (query) => {
      const before = await app.auditRows("audit.export");
      expect((await admin.call("GET", `/audit/export?${query}`)).status).toBe(400);
      expect(await app.auditRows("audit.export")).toHaveLength(before.length);
    },
  );
});
