import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { openDatabase } from "../../../../src/store/client.ts";
import { approvals } from "../../../../src/store/schema.ts";
import { createTestCli, type TestCli } from "../../../support/cli.ts";

let cli: TestCli;
beforeAll(async () => {
  cli = await createTestCli();
});
afterAll(() => cli.close());

describe("uam user create --on-request, uam access", () => {
  test("give the rule, show it, change it, and clear it", async () => {
    const create = ["user", "create", "alice", "--email", "alice@example.org", "--on-request"];
    const wrong = await cli.run([...create, "boss:4h"]);
    expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining("Not a rule such as self:4h")]);
    expect((await cli.run([...create, "self:4h"])).code).toBe(0);
    expect((await cli.run(["user", "show", "alice"])).stdout).toMatch(/^on_request +self:4h$/m);
    expect(await cli.json(["user", "show", "alice"])).toMatchObject({
      ...{ access: "on_request", on_request: { rule: "self", max_hours: 4 } },
    });
    expect((await cli.json(["user", "hours", "alice"])).windows).toEqual([]);
    expect((await cli.run(["user", "update", "alice", "--on-request", "none"])).code).toBe(0);
    expect(await cli.json(["user", "show", "alice"])).toMatchObject({ access: "open", on_request: null });
    expect((await cli.run(["access", "end", "alice"])).stderr).toContain("need not ask");
    expect((await cli.run(["user", "update", "alice", "--on-request", "review:8h"])).code).toBe(0);
  });

  test("say that nothing waits, and end nothing without failing", async () => {
    for (const decision of [
      ["allow", "alice"],
      ["refuse", "alice", "--reason", "no"],
    ]) {
      const { code, stderr } = await cli.run(["access", ...decision]);
      expect([code, stderr]).toEqual([1, expect.stringContaining("No request for access of alice waits")]);
    }
    expect(await cli.json(["access", "end", "alice"])).toMatchObject({ access: "on_request" });
    expect((await cli.run(["access", "--at", "2026-01-01"])).code).toBe(0);
  });

  test("decide about the request that waits", async () => {
    const { id: userId, username, email } = await cli.json(["user", "show", "alice"]);
    const { db, close } = openDatabase({ url: cli.variables.UAM_DATABASE_URL ?? "" }, 1);
    const asked = { userId, username, email, hours: 2, createdAt: new Date() };
    await db.insert(approvals).values({ kind: "access_request", ...asked });
    await close();
    expect((await cli.run(["approval", "list"])).stdout).toContain("access_request, 2h");
    expect(await cli.json(["access", "allow", "alice"])).toMatchObject({ access: "open" });
    expect(await cli.json(["access", "end", "alice"])).toMatchObject({ access: "on_request" });
  });
});
