import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createTestCli, type TestCli } from "../../../support/cli.ts";

let cli: TestCli;
beforeAll(async () => {
  cli = await createTestCli();
  await cli.run(["admin", "add", "root-admin", "--email", "root@example.org"]);
  await cli.run(["admin", "add", "reader", "--email", "reader@example.org", "--role", "auditor"]);
});
afterAll(() => cli.close());

const create = (name: string, ...options: readonly string[]) => cli.run(["token", "create", name, ...options]);

describe("uam token", () => {
  test("create prints the token once, alone on standard output", async () => {
    const { code, stdout, stderr } = await create(
      ...(["nightly report", "--role", "auditor", "--days", "90", "--owner", "root-admin"] as const),
      ...["--network", "192.0.2.0/24", "--network", "2001:db8::/32"],
    );
    expect(code).toBe(0);
    expect(stdout).toMatch(/^uam_[0-9A-Za-z]{49}\n$/);
    expect(stderr).toContain("The token nightly report of root-admin has the id 1.");
    expect(stderr).not.toContain(stdout.trim().slice(12));
    const { total, items } = await cli.json(["token", "list"]);
    expect(total).toBe(1);
    expect(items[0]).toMatchObject({
      ...{ id: 1, name: "nightly report", role: "auditor", owner: "root-admin", prefix: stdout.slice(0, 12) },
      ...{ networks: ["192.0.2.0/24", "2001:db8::/32"], status: "active", last_used_at: null },
    });
    expect(JSON.stringify(items)).not.toContain(stdout.trim().slice(12));
  });

  test("create --json has the token beside its record", async () => {
    const made = await cli.json(["token", "create", "x", "--role", "auditor", "--days", "1", "--owner", "reader"]);
    expect(made).toMatchObject({ id: 2, owner: "reader", token: expect.stringMatching(/^uam_/) });
  });

  test.each([
    [
      ["--role", "operator", "--days", "1", "--owner", "reader"],
      "within that of reader, which is auditor; operator is not",
    ],
    [["--role", "auditor", "--days", "1", "--owner", "nobody"], 'There is no administrator named "nobody"'],
    [
      ["--role", "auditor", "--days", "1", "--owner", "reader", "--network", "10.0.0.1/8"],
      "the network itself is 10.0.0.0/8",
    ],
    [["--role", "auditor", "--days", "367", "--owner", "reader"], "366"],
    [["--role", "auditor", "--days", "1"], "--owner"],
  ])("create refuses %j", async (options, sentence) => {
    const { code, stdout, stderr } = await create("x", ...options);
    expect([code === 0, stdout]).toEqual([false, ""]);
    expect(stderr).toContain(sentence);
  });

  test("list is a table", async () => {
    const { stdout } = await cli.run(["token", "list"]);
    expect(stdout).toMatch(/^ID +NAME +OWNER +ROLE +STATUS/);
    expect(stdout).toMatch(/^1 +nightly report +root-admin +auditor +active/m);
  });

  test("revoke shows the record; once revoked it stays so", async () => {
    expect((await cli.run(["token", "revoke", "1"])).stdout).toMatch(/^status +revoked$/m);
    expect((await cli.json(["token", "revoke", "1"])).status).toBe("revoked");
    const missing = await cli.run(["token", "revoke", "77"]);
    expect([missing.code, missing.stderr]).toEqual([1, expect.stringContaining("There is no token 77")]);
    const { items } = await cli.json(["audit", "list", "--action", "token.revoke"]);
    expect(items.map((item: { result: string }) => item.result)).toEqual(["failed", "success"]);
  });
});
