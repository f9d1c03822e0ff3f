import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createTestCli, type TestCli } from "../../../support/cli.ts";

let cli: TestCli;
beforeAll(async () => {
  cli = await createTestCli();
});
afterAll(() => cli.close());

const create = (name: string, ...options: string[]) =>
  cli.json(["user", "create", name, "--email", `${name}@example.org`, ...options]);

describe("uam sponsor", () => {
  test("list says who answers for how many; users get one by --sponsor", async () => {
    expect(await create("alice", "--sponsor", "Bo@example.com")).toMatchObject({ sponsor_email: "bo@example.com" });
    await create("bob");
    expect(await cli.json(["user", "update", "bob", "--sponsor", "eva@example.com"])).toMatchObject({
      sponsor_email: "eva@example.com",
    });
    const { stdout } = await cli.run(["sponsor", "list"]);
    expect(stdout).toMatch(/^EMAIL +USERS +LAST ANSWER +MAIL\nbo@example.com +1 +- +ok\neva@example.com +1 +- +ok\n/);
    expect((await cli.json(["sponsor", "list"])).items[0]).toEqual({
      ...{ email: "bo@example.com", users: 1, last_answer_at: null, undeliverable: false },
    });
  });

  test("move says what it would do, and does it", async () => {
    const { stdout } = await cli.run(["sponsor", "move", "bo@example.com", "eva@example.com", "--preview"]);
    expect(stdout).toContain("eva@example.com answers for 1 user of bo@example.com, and gets a mail: alice.");
    const done = await cli.run(["sponsor", "move", "bo@example.com", "eva@example.com"]);
    expect([done.code, done.stderr]).toEqual([0, "eva@example.com answers for 1 user of bo@example.com now.\n"]);
    expect((await cli.json(["sponsor", "list"])).items).toMatchObject([{ email: "eva@example.com", users: 2 }]);
    const own = await cli.run(["sponsor", "move", "eva@example.com", "alice@example.org"]);
    expect([own.code, own.stderr]).toEqual([
      ...[1, "uam: alice@example.org is the address of alice, and nobody is their own sponsor\n"],
    ]);
  });
});
