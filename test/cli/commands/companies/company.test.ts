import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createTestCli, type TestCli } from "../../../support/cli.ts";

let cli: TestCli;
beforeAll(async () => {
  cli = await createTestCli();
});
afterAll(() => cli.close());

const create = (name: string, ...options: string[]) =>
  cli.json(["user", "create", name, "--email", `${name}@example.org`, ...options]);

describe("uam company", () => {
  test("add makes one, show and list have it, update changes it", async () => {
    const limits = [
      "--max-users",
      "2",
      "--contract-end",
      "2099-06-30",
      "--network",
      "192.0.2.0/24",
      "--sponsor",
      "bo@example.org",
    ];
    const made = await cli.json(["company", "add", "Lindqvist AB", ...limits]);
    expect(made).toMatchObject({
      ...{ name: "Lindqvist AB", max_users: 2, contract_end: "2099-06-30T23:59:59.999Z", max_ttl_days: null },
      ...{ source_networks: ["192.0.2.0/24"], sponsor_email: "bo@example.org", status: "active", users: 0 },
    });
    expect(await cli.json(["company", "show", "Lindqvist AB"])).toEqual(made);
    expect(await cli.json(["company", "show", String(made.id)])).toEqual(made);
    const { stdout } = await cli.run(["company", "list"]);
    expect(stdout).toMatch(/^ID +NAME +STATUS +USERS +CONTRACT ENDS\n1 +Lindqvist AB +active +0 of 2 +2099-06-30/);
    expect((await cli.json(["company", "list", "--search", "LINDQ"])).items).toEqual([made]);
    expect((await cli.json(["company", "list", "--search", "nobody"])).total).toBe(0);
    const changed = await cli.json([
      ...["company", "update", "Lindqvist AB", "--contract-end", "none", "--network", "any", "--max-ttl-days", "30"],
    ]);
    expect(changed).toMatchObject({ contract_end: null, source_networks: [], max_ttl_days: 30, max_users: 2 });
  });

  test("users come from one by name or id, and are listed", async () => {
    await create("alice", "--company", "Lindqvist AB", "--manager", "yes");
    await create("bob", "--ttl-days", "10");
    expect(await cli.json(["user", "update", "bob", "--company", "1"])).toMatchObject({
      company_id: 1,
      manager: false,
    });
    const full = await cli.run(["user", "create", "carol", "--email", "c@example.org", "--company", "1"]);
    expect([full.code, full.stderr]).toEqual([
      ...[1, "uam: Lindqvist AB has all of its 2 users; delete one, or let it have more\n"],
    ]);
    const listed = await cli.json(["company", "users", "Lindqvist AB"]);
    expect(listed.items.map(({ username }: { username: string }) => username)).toEqual(["bob", "alice"]);
    expect((await cli.json(["user", "list", "--company", "Lindqvist AB"])).total).toBe(2);
    expect(await cli.json(["user", "update", "alice", "--company", ""])).toMatchObject({
      company_id: null,
      manager: false,
    });
  });

  test("update asks before it takes something from users, and says what", async () => {
    const narrower = ["company", "update", "Lindqvist AB", "--network", "192.0.2.0/24"];
    const preview = await cli.run([...narrower, "--preview"]);
    expect(preview.stdout).toBe("1 user of Lindqvist AB: access from fewer networks: bob.\n");
    const { code, stderr } = await cli.run(narrower);
    expect([code, stderr]).toEqual([
      ...[2, "uam: Narrowing a company needs --yes if there is no terminal to ask at.\n"],
    ]);
    let question = "";
    const no = await cli.run(narrower, {
      ask: async (asked) => {
        question = asked;
        return "n";
      },
    });
    expect([no.code, question]).toEqual([1, "Take this from 1 user? [y/N] "]);
    expect((await cli.json(["user", "show", "bob"])).source_networks).toEqual([]);
    expect(await cli.json([...narrower, "--yes"])).toMatchObject({ narrowing: false });
    expect((await cli.json(["user", "show", "bob"])).source_networks).toEqual(["192.0.2.0/24"]);
  });

  test("end asks first, disables everybody, and resume opens nobody", async () => {
    const { code, stderr } = await cli.run(["company", "end", "Lindqvist AB"]);
    expect([code, stderr]).toEqual([2, "uam: Ending a company needs --yes if there is no terminal to ask at.\n"]);
    const preview = await cli.run(["company", "end", "Lindqvist AB", "--preview"]);
    expect(preview.stdout).toStartWith("1 user of Lindqvist AB can no longer log in, and gets a mail: bob.\n");
    const no = await cli.run(["company", "end", "Lindqvist AB"], { ask: async () => "n" });
    expect([no.code, no.stderr]).toEqual([1, "Nothing was changed.\n"]);
    const done = await cli.run(["company", "end", "Lindqvist AB", "--yes"]);
    expect(done.code).toBe(0);
    expect(done.stderr).toMatch(/Lindqvist AB is ended: 1 of 1 user without access\. True on every host by \S+Z\.\n$/);
    const refused = await cli.run(["user", "enable", "bob"]);
    expect([refused.code, refused.stderr]).toEqual([
      ...[1, "uam: Lindqvist AB has ended, and nobody of it is given access; resume the company first\n"],
    ]);
    await cli.run(["company", "resume", "Lindqvist AB"]);
    expect((await cli.json(["user", "show", "bob"])).status).toBe("disabled");
  });

  test("what it cannot do is said in a sentence", async () => {
    const used = await cli.run(["company", "delete", "Lindqvist AB"]);
    expect([used.code, used.stderr]).toEqual([
      ...[1, "uam: 1 user comes from Lindqvist AB; delete them, or give them another company, first\n"],
    ]);
    expect((await cli.run(["company", "show", "nobody"])).stderr).toBe('uam: There is no company named "nobody"\n');
    const none = await cli.run(["company", "update", "Lindqvist AB"]);
    expect([none.code, none.stderr]).toEqual([2, "uam: Nothing to change: give --name or a limit.\n"]);
    expect((await cli.run(["company", "add", "x", "--max-users", "0"])).code).toBe(2);
    expect((await cli.run(["company", "add", "x", "--contract-end", "7d"])).code).toBe(2);
    await cli.run(["user", "update", "bob", "--company", ""]);
    expect((await cli.run(["company", "delete", "Lindqvist AB"])).stderr).toBe("Deleted the company Lindqvist AB.\n");
  });
});
