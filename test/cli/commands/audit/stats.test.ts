import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createTestCli, type TestCli } from "../../../support/cli.ts";

let cli: TestCli;
beforeAll(async () => {
  cli = await createTestCli();
  await cli.run(["user", "create", "alice", "--email", "alice@example.org", "--ttl-days", "5"]);
});
afterAll(() => cli.close());

describe("uam stats", () => {
  test("prints the figures as a table, and the API's record with --json", async () => {
    const { code, stdout } = await cli.run(["stats"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^FIGURE +NUMBER\ntotal +1\nactive +1\ndisabled +0\nexpired +0\nexpiring_soon +1\npending_approvals +0\n$/,
    );
    expect(await cli.json(["stats"])).toMatchObject({ total: 1, expiring_soon: [{ username: "alice" }] });
  });

  test("prints a line for each day that is known", async () => {
    const { stdout } = await cli.run(["stats", "--days", "30"]);
    expect(stdout).toMatch(/^DATE +ACTIVE +DISABLED +EXPIRED +CHANGES +FAILED\n\d{4}-\d\d-\d\d +1 +0 +0 +1 +0\n$/);
    expect(await cli.json(["stats", "--days", "7"])).toMatchObject({ days: 7, states: [{ active: 1 }] });
    expect((await cli.run(["stats", "--days", "6"])).code).toBe(2);
  });
});
