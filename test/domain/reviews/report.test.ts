/** The report of a review: in columns for people, and refused by `uam review verify` when anything in it is another. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createCompany } from "../../../src/domain/companies/companies.ts";
import { uploadKey } from "../../../src/domain/keys/keys.ts";
import { answerItems } from "../../../src/domain/reviews/answer.ts";
import { closeReview } from "../../../src/domain/reviews/close.ts";
import { reportReview } from "../../../src/domain/reviews/report.ts";
import { type Scope, startReview } from "../../../src/domain/reviews/start.ts";
import { verifyReport } from "../../../src/domain/reviews/verify.ts";
import { createUser } from "../../../src/domain/users/users.ts";
import { reportCsv, reportRecord } from "../../../src/server/review-records.ts";
import { UamError } from "../../../src/shared/errors.ts";
import { csvRecords } from "../../../src/shared/text/csv.ts";
import { csvBeginning, csvLine } from "../../../src/shared/text/csv-cell.ts";
import { DAY, HOUR } from "../../../src/shared/time/clock.ts";
import { createTestApp, type TestApp } from "../../support/app.ts";
import { seededRandom } from "../../support/audit-log.ts";
import { freshKey } from "../../support/keys.ts";
import { isThorough } from "../../support/thorough.ts";

let app: TestApp;
let company: number;
let closed: number;

beforeAll(async () => {
  app = await createTestApp();
  const { system, clock } = app;
  company = (await createCompany(system, { name: "Lindqvist; AB" })).row.id;
  const ids = [];
  for (const name of ["alice", "bob", "carol", "dora"]) {
    const person = {
      username: name,
      email: `${name}@example.org`,
      fullName: `=${name} "Andersson"`,
      companyId: company,
    };
    ids.push((await createUser(system, { ...person, ttlDays: 90 })).id);
  }
  const [alice = 0, bob = 0, carol = 0] = ids;
  for (const name of ["laptop", "desk"]) await uploadKey(system, alice, { name, publicKey: freshKey() });
  closed = (await startReview(system, { scope: { company }, dueDays: 7, unanswered: "report" })).row.id;
  clock.advance(HOUR);
  const answers = [
    { userId: alice, answer: "keep", reason: "Works, on" },
    { userId: bob, answer: "end", reason: "=Left" },
    { userId: carol, answer: "shorten", reason: "Done by then", until: new Date(clock.now().getTime() + 9 * DAY) },
  ] as const;
  for (const answer of answers) await answerItems(system, closed, [answer]);
  clock.advance(HOUR);
  await closeReview(system, closed, "report");
});
afterAll(() => app.close());

const texts = async (id: number) => {
  const report = await reportReview(app.system, id);
  return { csv: reportCsv(report), json: `${JSON.stringify(reportRecord(report), null, 2)}\n` };
};
const faultsOf = async (text: string) => (await verifyReport(app.services, text)).faults;

/** The rows of a CSV by its columns' names. */
function rowsOf(csv: string): readonly Readonly<Record<string, string>>[] {
  const [header = [], ...rows] = [...csvRecords(csv, ",")].map((record) => ("fault" in record ? [] : record.values));
  return rows.map((values) => Object.fromEntries(header.map((name, at) => [name, values[at] ?? ""])));
}

/** Whether verifying refuses the text. */
async function isRefused(text: string): Promise<boolean> {
  try {
    return (await faultsOf(text)).length > 0;
  } catch (error) {
    if (error instanceof UamError && error.code === "invalid") return true;
    throw error;
  }
}

describe("the report as CSV", () => {
  test("has names, keys and their use in columns of their own, and no JSON but what is sealed", async () => {
    const [alice, bob] = rowsOf((await texts(closed)).csv);
    const cells = Object.entries(alice ?? {}).filter(([, value]) => value.includes("{"));
    expect(cells.map(([name]) => name)).toEqual(["evidence"]);
    expect(alice).toMatchObject({
      ...{ scope: "the company Lindqvist; AB", username: "alice", full_name: `'=alice "Andersson"`, answer: "keep" },
      ...{ company: "Lindqvist; AB", hosts: "local", groups: "default", last_key_use: "", logins: "0" },
      keys: expect.stringMatching(/^laptop SHA256:\S+, no use known; desk SHA256:\S+, no use known$/),
    });
    expect(bob).toMatchObject({ answer: "end", reason: "'=Left", status: "active", keys: "", drift: "" });
  });

  test("is sound when it has the columns of before: the scope as JSON, and nothing of the evidence beside it", async () => {
    const { csv } = await texts(closed);
    const rows = rowsOf(csv);
    const columns = [
      ...["review", "scope", "started_at", "due_at", "closed_at", "start_record", "close_record", "head"],
      ...["user_id", "username", "answer", "grace_until", "until", "reason"],
      ...["answered_at", "answered_by_type", "answered_by", "answered_from", "record", "evidence"],
    ];
    const before = (scope: object) =>
      [
        csvBeginning(columns),
        ...rows.map((row) =>
          csvLine(columns.map((name) => (name === "scope" ? JSON.stringify(scope) : unguard(row[name] ?? "")))),
        ),
      ].join("");
    expect(await faultsOf(before({ company }))).toEqual([]);
    expect(await faultsOf(before({ company: company + 1 }))).toEqual([
      `The review's scope_id is ${company} in record ${rows[0]?.start_record}, and not so in the report.`,
    ]);
    expect(await faultsOf(before({ sponsor: "bo@example.org" }))).toHaveLength(1);
  });

  test("a column that says something else than the evidence beside it is named", async () => {
    const { csv } = await texts(closed);
    expect(await faultsOf(csv.replace("no use known", "used today!!"))).toEqual([
      "alice: keys is not what the evidence beside it says.",
    ]);
  });
});

describe("verifyReport()", () => {
  test("finds the report of each scope sound, closed and open", async () => {
    const scopes: readonly Scope[] = ["all", { company }, { hostGroup: 1 }];
    for (const scope of scopes) {
      const { row } = await startReview(app.system, { scope, dueDays: 7, unanswered: "disable" });
      for (const text of Object.values(await texts(row.id))) {
        expect(await verifyReport(app.services, text)).toMatchObject({ faults: [], isClosed: false });
      }
    }
    for (const text of Object.values(await texts(closed))) {
      expect(await verifyReport(app.services, text)).toMatchObject({ faults: [], isClosed: true, users: 4 });
    }
  });

  test("refuses a head whose digits are of another case", async () => {
    for (const text of Object.values(await texts(closed))) {
      const other = text.replaceAll(/(?<=\d:)[0-9a-f]{64}/g, (seal) => seal.toUpperCase());
      expect([other === text, await isRefused(other)]).toEqual([false, true]);
    }
  });

  test.each(["csv", "json"] as const)("refuses %s with one bit flipped, wherever it is", async (format) => {
    const bytes = Buffer.from((await texts(closed))[format]);
    const random = seededRandom(30);
    const missed: string[] = [];
    const apart = isThorough ? 20 : 40;
    for (let at = 0; at < bytes.length; at += 1 + Math.floor(random() * (2 * apart - 1))) {
      const flipped = Buffer.from(bytes);
      flipped[at] = (flipped[at] ?? 0) ^ (1 << Math.floor(random() * 8));
      if (!(await isRefused(flipped.toString("utf8"))))
        missed.push(`${at}: ${flipped.subarray(at - 40, at + 20).toString()}`);
    }
    expect(missed).toEqual([]);
  });
});

function unguard(text: string): string {
  return text.replace(/^'(?==)/, "");
}
