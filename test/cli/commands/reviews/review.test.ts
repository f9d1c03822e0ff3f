import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTestCli, type TestCli } from "../../../support/cli.ts";

let cli: TestCli;
beforeAll(async () => {
  cli = await createTestCli();
});
const directory = mkdtempSync(join(tmpdir(), "uam-reviews-"));
afterAll(async () => {
  rmSync(directory, { recursive: true });
  await cli.close();
});

const create = (name: string) => cli.json(["user", "create", name, "--email", `${name}@example.org`]);

describe("uam review", () => {
  test("start, show, answer and close; the report says what the log says", async () => {
    for (const name of ["alice", "bob", "carol"]) await create(name);
    expect((await cli.run(["review", "start", "--preview"])).stdout).toBe(
      "The review would be about 3 users.\nOwners and operators would be asked about 3.\n",
    );
    expect(await cli.json(["review", "list"])).toMatchObject({ total: 0 });
    const { id } = await cli.json(["review", "start", "--days", "7"]);
    expect(await cli.json(["review", "show", String(id)])).toMatchObject({
      ...{ id, scope: "all", status: "open", total: 3, unanswered: 3 },
      items: [{ username: "alice", answer: null, evidence: { status: "active" } }, {}, {}],
    });
    const listed = await cli.run(["review", "list"]);
    expect(listed.stdout).toMatch(
      /^ID +SCOPE +STATUS +BEGUN +DUE +CLOSED +USERS +ENDED +UNANSWERED\n1 +all +open .* - +3 +0 +3\n$/,
    );
    const several = await cli.run(["review", "answer", String(id), "keep", "alice", "bob"]);
    expect([several.code, several.stderr]).toEqual([1, "uam: Several answers at once need a reason\n"]);
    expect(await cli.json(["review", "answer", String(id), "end", "alice", "--reason", "=Left"])).toMatchObject({
      ...{ ended: 1, unanswered: 2, status: "open" },
    });
    expect(await cli.json(["user", "show", "alice"])).toMatchObject({ status: "disabled" });
    const unsure = await cli.run(["review", "close", String(id), "--unanswered", "disable"]);
    expect(unsure.code).toBe(2);
    expect(await cli.json(["review", "close", String(id), "--unanswered", "report"])).toMatchObject({
      ...{ status: "closed", unanswered: 2 },
    });
    for (const format of ["csv", "json"]) {
      const { stdout } = await cli.run(["review", "report", String(id), "--format", format]);
      const file = join(directory, `report.${format}`);
      writeFileSync(file, stdout);
      const sound = await cli.run(["review", "verify", file]);
      expect([sound.stdout, sound.code]).toEqual([
        "Review 1 (closed), 3 users: the report says what the audit log says.\n",
        0,
      ]);
      expect(await cli.run(["review", "report", String(id), "--format", format])).toMatchObject({ stdout });
      const lies = [
        ["Left", "Stayed"],
        ["alice", "alina"],
        ["disabled", "active"],
        ["unanswered", "keep"],
        ["127.0.0.1", "10.0.0.1"],
        ['"created_by"', '"made_by"'],
      ] as const;
      for (const [word, other] of lies) {
        const lie = stdout.replaceAll(word, other).replaceAll(word.replaceAll('"', '""'), other.replaceAll('"', '""'));
        if (lie === stdout) continue;
        writeFileSync(file, lie);
        expect([word, (await cli.run(["review", "verify", file])).code]).toEqual([word, 1]);
      }
    }
    const { stdout } = await cli.run(["review", "report", String(id)]);
    const file = join(directory, "short.csv");
    writeFileSync(file, stdout.replace(/\r\n[^\n]*bob[^\n]*\r\n/, "\r\n"));
    const short = await cli.run(["review", "verify", file]);
    expect([short.code, short.stdout.split("\n")[0]]).toEqual([
      1,
      "The review began with 3 users; these are not exactly those in the report.",
    ]);
  });

  test("one scope at a time", async () => {
    const { code, stderr } = await cli.run(["review", "start", "--group", "default", "--sponsor", "bo@example.org"]);
    expect([code, stderr]).toEqual([2, "uam: Give one of --company, --group and --sponsor.\n"]);
    await create("dora");
    expect(await cli.json(["review", "start", "--group", "default"])).toMatchObject({ scope: { host_group: 1 } });
    expect((await cli.run(["review", "list"])).stdout).toContain(" host group default ");
    expect((await cli.run(["review", "start", "--group", "nowhere"])).code).toBe(1);
  });
});
