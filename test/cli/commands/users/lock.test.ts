import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { CliEnvironment } from "../../../../src/cli/terminal/environment.ts";
import { createTestCli, type TestCli } from "../../../support/cli.ts";

let cli: TestCli;
beforeAll(async () => {
  cli = await createTestCli();
  for (const name of ["alice", "bob", "carol"])
    await cli.run(["user", "create", name, "--email", `${name}@example.org`]);
});
afterAll(() => cli.close());

const withoutDatabase = () => ({
  variables: { ...cli.variables, UAM_DATABASE_URL: "postgres://uam@127.0.0.1:1/uam" },
});
const journalled = () => readdirSync(cli.dataDir).filter((name) => name.startsWith("lock-"));
const disablings = async () => (await cli.json(["audit", "list", "--action", "user.disable"])).items;

describe("uam lock", () => {
  test("with the database there it is an ordinary disabling", async () => {
    const { code, stderr } = await cli.run(["lock", "alice"]);
    expect(code).toBe(0);
    expect(stderr).toEndWith("The lock is recorded, and the user is disabled.\n");
    expect((await cli.json(["user", "show", "alice"])).status).toBe("disabled");
    expect(await disablings()).toMatchObject([
      { actor: "olga", resource_id: "1", detail: '{"username":"alice","status":"disabled"}' },
    ]);
    expect(journalled()).toEqual([]);
  });

  test("without the database it is journalled, reported by --check, and recorded by reconcile", async () => {
    const { code, stderr } = await cli.run(["lock", "ext_bob"], withoutDatabase());
    expect(code).toBe(0);
    expect(stderr).toMatch(/^The database cannot be reached now \(.*\): the lock will be recorded when/m);
    const [file] = journalled();
    expect(statSync(join(cli.dataDir, file ?? "")).mode & 0o777).toBe(0o600);
    const check = await cli.run(["reconcile", "--check"]);
    expect(check.code).toBe(1);
    expect(check.stdout).toContain("ext_bob");
    expect((await cli.run(["reconcile"])).code).toBe(0);
    expect((await cli.json(["user", "show", "bob"])).status).toBe("disabled");
    expect(await disablings()).toHaveLength(2);
    expect(journalled()).toEqual([]);
  });

  test("fails for a name that no user has, and the failure is recorded", async () => {
    const { code, stderr } = await cli.run(["lock", "zoe"]);
    expect(code).toBe(1);
    // In a dry run no account was locked, and the log must not say so.
    expect(stderr).toBe("uam: There is no user named zoe\n");
    expect((await disablings())[0]).toMatchObject({ result: "failed", resource_id: "" });
  });

  test("refuses an invalid name before it checks anything", async () => {
    const { code, stderr } = await cli.run(["lock", "../x"], withoutDatabase());
    expect(code).toBe(1);
    expect(stderr).toStartWith("uam: The username must be");
    expect(journalled()).toEqual([]);
  });

  test("disables at once if nothing can be journalled, and says so if that fails too", async () => {
    const file = join(cli.dataDir, "file");
    writeFileSync(file, "");
    const UAM_AUDIT_KEY_FILE = join(cli.dataDir, "audit.key");
    const lock = (variables: CliEnvironment["variables"]) =>
      cli.run(["lock", "carol"], { variables: { ...variables, UAM_DATA_DIR: file, UAM_AUDIT_KEY_FILE } });
    const { code, stderr } = await lock(withoutDatabase().variables);
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^uam: The lock could not be written to .*, and the user could not be disabled: The database cannot be/m,
    );
    expect((await lock(cli.variables)).code).toBe(0);
    expect((await cli.json(["user", "show", "carol"])).status).toBe("disabled");
    rmSync(file);
  });
});
