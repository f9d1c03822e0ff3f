import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createTestCli, type TestCli } from "../../../support/cli.ts";

let cli: TestCli;
beforeAll(async () => {
  cli = await createTestCli();
});
afterAll(() => cli.close());

describe("uam admin", () => {
  test("add prints a password once, alone on standard output", async () => {
    const { code, stdout, stderr } = await cli.run(["admin", "add", "root-admin", "--email", "r@example.org"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^\S{20,}\n$/);
    expect(stderr).toContain("The administrator root-admin was added.\n");
    expect(stderr).not.toContain(stdout.trim());
  });

  test("add --password-stdin takes the password and prints none", async () => {
    const { code, stdout } = await cli.run(["admin", "add", "second", "--email", "s@example.org", "--password-stdin"], {
      input: "seven lanterns over cold water\n",
    });
    expect([code, stdout]).toEqual([0, ""]);
  });

  test("add refuses a taken name and a weak password", async () => {
    expect((await cli.run(["admin", "add", "second", "--email", "s@example.org"])).code).toBe(1);
    const weak = await cli.run(["admin", "add", "third", "--email", "s@example.org", "--password-stdin"], {
      input: "x",
    });
    expect(weak.code).toBe(1);
    expect(weak.stderr).toMatch(/^uam: .*15/m);
  });

  test("list shows names and addresses, never a hash", async () => {
    const { stdout } = await cli.run(["admin", "list"]);
    expect(stdout).toMatch(/^1 {3}root-admin {2}r@example\.org {2}owner {2}active {2}0 +\d{4}/m);
    const { items } = await cli.json(["admin", "list"]);
    const columns = [
      ...["id", "username", "email", "role", "passkeys", "totp", "factor_missing", "created_at", "last_login_at"],
      ...["status", "sso", "updated_at"],
    ];
    expect(Object.keys(items[0])).toEqual(columns);
  });

  test("passwd says so in the log, at level warn", async () => {
    const { code, stdout, stderr } = await cli.run(["admin", "passwd", "second"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^\S{20,}\n$/);
    expect(stderr).toMatch(/"level":"WARN".*"username":"second","operator":"olga"/);
    expect((await cli.run(["admin", "passwd", "nobody"])).code).toBe(1);
  });

  test("end-sessions says how many there were", async () => {
    const { code, stderr } = await cli.run(["admin", "end-sessions", "second"]);
    expect([code, stderr]).toEqual([0, "0 sessions of the administrator second were ended.\n"]);
    expect((await cli.run(["admin", "end-sessions", "nobody"])).code).toBe(1);
    const [record] = (await cli.json(["audit", "list", "--action", "admin.end_sessions"])).items;
    expect(record).toMatchObject({ actor_type: "cli", actor: "olga", resource_type: "admin" });
  });

  test("add --role makes no owner, and role changes what they may do", async () => {
    const made = await cli.run(["admin", "add", "reader", "--email", "x@example.org", "--role", "auditor"]);
    expect([made.code, made.stderr]).toEqual([
      0,
      expect.stringContaining("The administrator reader was added as auditor."),
    ]);
    const roleOf = async (name: string) =>
      (await cli.json(["admin", "list"])).items.find((item: { username: string }) => item.username === name).role;
    expect([await roleOf("reader"), await roleOf("second")]).toEqual(["auditor", "owner"]);
    const { code, stderr } = await cli.run(["admin", "role", "reader", "operator"]);
    expect([code, stderr]).toEqual([
      0,
      expect.stringContaining("The administrator reader has the role operator now.\n"),
    ]);
    expect(await roleOf("reader")).toBe("operator");
    expect((await cli.run(["admin", "role", "nobody", "owner"])).code).toBe(1);
    expect((await cli.run(["admin", "role", "reader", "king"])).code).toBe(2);
    const [record] = (await cli.json(["audit", "list", "--action", "admin.update"])).items.slice(-1);
    expect(record).toMatchObject({ actor_type: "cli", actor: "olga" });
    expect((await cli.run(["admin", "remove", "reader"])).code).toBe(0);
  });

  test("role works even without an owner, and says so; remove takes the last owner only with --force", async () => {
    await cli.run(["admin", "role", "second", "reviewer"]);
    const refused = await cli.run(["admin", "remove", "root-admin"]);
    expect([refused.code, refused.stderr]).toEqual([
      1,
      "uam: root-admin is the last owner; make another administrator an owner first, or use --force\n",
    ]);
    const none = await cli.run(["admin", "role", "root-admin", "auditor"]);
    expect([none.code, none.stderr]).toEqual([0, expect.stringContaining('"uam admin role NAME owner"')]);
    const again = await cli.run(["admin", "role", "root-admin", "owner"]);
    expect([again.code, again.stderr]).toEqual([0, expect.not.stringContaining("Nobody")]);
    await cli.run(["admin", "role", "second", "owner"]);
  });

  test("remove takes the last administrator only with --force", async () => {
    expect((await cli.run(["admin", "remove", "second"])).code).toBe(0);
    const refused = await cli.run(["admin", "remove", "root-admin"]);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toBe("uam: root-admin is the last administrator; add another first, or use --force\n");
    expect((await cli.run(["admin", "remove", "root-admin", "--force"])).code).toBe(0);
    expect((await cli.json(["admin", "list"])).items).toEqual([]);
  });
});
