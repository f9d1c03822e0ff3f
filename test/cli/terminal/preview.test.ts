import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createTestCli, type TestCli } from "../../support/cli.ts";

let cli: TestCli;
beforeAll(async () => {
  cli = await createTestCli();
  await cli.run(["user", "create", "alice", "--email", "alice@example.org"]);
});
afterAll(() => cli.close());

async function untouched<T>(work: () => Promise<T>): Promise<T> {
  const state = async () =>
    JSON.stringify([
      await cli.json(["user", "list"]),
      await cli.json(["audit", "list"]),
      await cli.json(["setting", "list"]),
    ]);
  const before = await state();
  const result = await work();
  expect(await state()).toBe(before);
  return result;
}

describe("uam user --preview", () => {
  test("disable says what ends, and the commands that a dry run would log, and does nothing", async () => {
    const { code, stdout, stderr } = await untouched(() => cli.run(["user", "disable", "alice", "--preview"]));
    expect([code, stderr]).toEqual([0, "Nothing was changed.\n"]);
    expect(stdout).toStartWith(
      "alice can no longer log in.\nEvery SSH session, process and scheduled job of ext_alice ends.\nCrontab, at jobs and lingering are removed, and enabling does not give them back.\nTheir browsers stay logged in to the pages until they are signed out, to read them and to revoke keys.\nalice@example.org gets a mail.\n\nOn the host:\n",
    );
    expect(stdout).toMatch(/\n {2}would run: \/usr\/sbin\/usermod .*ext_alice\n/);
    const logged = (await cli.run(["user", "disable", "alice"])).stderr;
    const planned = [...stdout.matchAll(/ {2}would run.*: (.*)/g)].map(([, argv = ""]) => argv.split(" "));
    expect(planned.length).toBeGreaterThan(1);
    for (const argv of planned) expect(logged).toContain(JSON.stringify(argv));
    expect(stdout).toContain('  would write: path="/home/ext_alice/.ssh/authorized_keys" owner=');
    await cli.run(["user", "enable", "alice"]);
  });

  test("enable, extend and delete print the API's record with --json; deleting does not ask", async () => {
    const enable = await untouched(() => cli.json(["user", "enable", "alice", "--preview"]));
    expect(enable).toMatchObject({ preview: true, status: "active" });
    const extend = await untouched(() => cli.json(["user", "extend", "alice", "--days", "5", "--preview"]));
    expect(extend.effects[0]).toStartWith("alice keeps access until ");
    const remove = await untouched(() => cli.json(["user", "delete", "alice", "--preview"]));
    expect(remove).toMatchObject({ preview: true, status: "deleted", expire_at: null });
    expect(remove.host.join("\n")).toContain("/usr/sbin/userdel -- ext_alice");
  });

  test("refuses what the command itself refuses", async () => {
    const { code, stderr } = await cli.run(["user", "disable", "nobody", "--preview"]);
    expect([code, stderr]).toEqual([1, expect.stringContaining("There is no user")]);
  });
});

describe("uam setting --preview", () => {
  test("set and unset say what a value would mean, and leave it", async () => {
    const { code, stdout } = await untouched(() =>
      cli.run(["setting", "set", "policy.recycle_period", "10d", "--preview"]),
    );
    expect([code, stdout]).toEqual([0, expect.stringContaining("Users are deleted 10d after they expired.\n")]);
    expect(await untouched(() => cli.json(["setting", "unset", "policy.default_ttl", "--preview"]))).toMatchObject({
      key: "policy.default_ttl",
      deletes: { users: 0, audit_records: 0 },
      effects: ["policy.default_ttl is 90d already."],
    });
    expect((await cli.run(["setting", "set", "policy.default_ttl", "soon", "--preview"])).code).toBe(1);
  });
});
