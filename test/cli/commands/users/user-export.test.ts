import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { createTestCli, type TestCli } from "../../../support/cli.ts";
import { parseCsv } from "../../../support/csv.ts";

let cli: TestCli;
beforeAll(async () => {
  cli = await createTestCli();
  for (const name of ["ann", "ben"]) await cli.run(["user", "create", name, "--email", `${name}@example.org`]);
});
afterAll(() => cli.close());

describe("uam user export", () => {
  test("writes who matches, in the order of the list, on record", async () => {
    const { code, stdout, stderr } = await cli.run(["user", "export", "--sort", "username"]);
    expect([code, stderr]).toEqual([0, ""]);
    const [header = [], ...rows] = parseCsv(stdout);
    expect(rows.map((row) => row[header.indexOf("username")])).toEqual(["ann", "ben"]);
    const found = await cli.run(["user", "export", "--search", "BEN@", "--format", "jsonl"]);
    const { items } = await cli.json(["user", "list", "--search", "BEN@"]);
    expect(found.stdout).toBe(`${JSON.stringify(items[0])}\n`);
    const records = await cli.json(["audit", "list", "--action", "user.export"]);
    expect(records.items.map(({ detail }: { detail: string }) => JSON.parse(detail))).toEqual([
      { format: "jsonl", q: "BEN@" },
      { format: "csv", sort: "username" },
    ]);
  });

  test("has the users of a company alone, if asked, as the list does", async () => {
    await cli.run(["company", "add", "Lindqvist AB"]);
    await cli.run(["user", "update", "ben", "--company", "Lindqvist AB"]);
    const { stdout } = await cli.run(["user", "export", "--company", "Lindqvist AB"]);
    expect(parseCsv(stdout).map((row) => row[1])).toEqual(["username", "ben"]);
    const { items } = await cli.json(["user", "list", "--company", "1"]);
    expect(items.map(({ username }: { username: string }) => username)).toEqual(["ben"]);
    const { code, stderr } = await cli.run(["user", "export", "--company", "nobody"]);
    expect([code, stderr]).toEqual([1, 'uam: There is no company named "nobody"\n']);
    await cli.run(["user", "update", "ben", "--company", ""]);
  });

  test("--output writes a new file that only its owner can read, and never replaces one", async () => {
    const path = join(cli.dataDir, "users.csv");
    expect(await cli.run(["user", "export", "--output", path])).toEqual({ code: 0, stdout: "", stderr: "" });
    expect(readFileSync(path, "utf8")).toStartWith("\uFEFFid,username,");
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect((await cli.run(["user", "export", "--output", path])).code).toBe(1);
  });
});
