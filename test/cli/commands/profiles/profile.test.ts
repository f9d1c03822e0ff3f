import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { openDatabase } from "../../../../src/store/client.ts";
import { createTestCli, type TestCli } from "../../../support/cli.ts";
import { createTestClock } from "../../../support/clock.ts";
import { insertHost } from "../../../support/host-rows.ts";

let cli: TestCli;
beforeAll(async () => {
  cli = await createTestCli();
});
afterAll(() => cli.close());

const said = async (...args: string[]) => {
  const { code, stderr } = await cli.run(args);
  return [code, stderr];
};

describe("uam profile", () => {
  test("add makes one, show and list have it in words, update changes it", async () => {
    const sftp = ["--kind", "sftp", "--directory", "/data/acme", "--umask", "027", "--idle", "15m"];
    const made = await cli.json(["profile", "add", "drop", ...sftp]);
    expect(made).toMatchObject({
      ...{ name: "drop", kind: "sftp", directory: "/data/acme", read_only: false, umask: "027", idle: "15m" },
      ...{ forwarding: false, second_factor: "none", users: 0 },
    });
    expect(await cli.json(["profile", "show", "drop"])).toEqual(made);
    expect(await cli.json(["profile", "show", String(made.id)])).toEqual(made);
    expect((await cli.run(["profile", "show", "drop"])).stdout).toMatch(
      /^means +may copy files to and from \/data\/acme, nothing else$/m,
    );
    const { stdout } = await cli.run(["profile", "list"]);
    expect(stdout).toMatch(/^ID +NAME +USERS +SECOND FACTOR +WHO HAS IT\n\d+ +drop +0 +- +may copy files to and from/);
    const changed = await cli.json(["profile", "update", "drop", "--read-only", "yes", "--idle", "none"]);
    expect(changed).toEqual({ ...made, read_only: true, idle: null });
  });

  test("forwarding is an answer or targets, and lists are replaced", async () => {
    const targets = ["--target", "db1.example.org:5432", "--target", "db2.example.org:5432"];
    const { targets: both } = await cli.json(["profile", "add", "tunnel", "--kind", "forward", ...targets]);
    expect(both).toEqual(["db1.example.org:5432", "db2.example.org:5432"]);
    const one = await cli.json(["profile", "update", "tunnel", "--target", "db2.example.org:5432"]);
    expect(one.targets).toEqual(["db2.example.org:5432"]);
    const shell = ["profile", "add", "shell", "--kind", "shell", "--forwarding", "no", "--second-factor", "verified"];
    expect(await cli.json(shell)).toMatchObject({ forwarding: false, second_factor: "verified" });
    const some = await cli.json(["profile", "update", "shell", "--forwarding", "db1.example.org:5432"]);
    expect(some.forwarding).toEqual(["db1.example.org:5432"]);
  });

  test("what it cannot do is said in a sentence, and changes nothing", async () => {
    const before = await cli.json(["profile", "list"]);
    expect(await said("profile", "add", "drop", "--kind", "shell")).toEqual([
      ...[1, "uam: There is a profile named drop\n"],
    ]);
    expect(await said("profile", "add", "evil", "--kind", "sftp", "--directory", "/data\nMatch all")).toEqual([
      ...[1, expect.stringContaining("uam: directory is a path from the root")],
    ]);
    expect(await said("profile", "add", "evil", "--kind", "sftp")).toEqual([
      ...[1, "uam: A profile of the kind sftp needs directory\n"],
    ]);
    expect(await said("profile", "update", "drop", "--command", "deploy")).toEqual([
      ...[1, "uam: A profile of the kind sftp has no command\n"],
    ]);
    expect(await said("profile", "update", "drop")).toEqual([
      ...[2, "uam: Nothing to change: give what the profile is to allow; --help has the options.\n"],
    ]);
    expect((await cli.run(["profile", "add", "evil", "--kind", "rbash"])).code).toBe(2);
    expect(await said("profile", "add", "none", "--kind", "shell")).toEqual([
      ...[1, 'uam: No profile can be called "none": that is the word for having none\n'],
    ]);
    expect(await said("profile", "show", "nobodys")).toEqual([1, 'uam: There is no profile named "nobodys"\n']);
    expect(await cli.json(["profile", "list"])).toEqual(before);
  });

  test("users and groups of hosts have one, and none again", async () => {
    const create = ["user", "create", "alice", "--email", "alice@example.org", "--profile", "drop"];
    expect((await cli.json(create)).profile).toBe("drop");
    const preview = await cli.run(["user", "update", "alice", "--profile", "tunnel", "--preview"]);
    expect(preview.stdout).toStartWith("alice may open connections to db2.example.org:5432, nothing else.\n");
    expect((await cli.json(["user", "show", "alice"])).profile).toBe("drop");
    expect(await said("user", "update", "alice", "--profile", "nobodys")).toEqual([
      ...[1, 'uam: There is no profile named "nobodys"\n'],
    ]);
    expect((await cli.json(["user", "update", "alice", "--profile", "none"])).profile).toBeNull();
    expect((await cli.json(["host", "group", "create", "web", "--profile", "drop"])).profile).toBe("drop");
    const lifted = await cli.run(["host", "group", "update", "web", "--profile", "none", "--preview"]);
    expect(lifted.stdout).toBe("Whoever has the group web may do on its hosts what their own profile says.\n");
    expect((await cli.json(["host", "group", "update", "web", "--profile", "tunnel"])).profile).toBe("tunnel");
    expect((await cli.json(["host", "group", "update", "web", "--profile", "none"])).profile).toBeNull();
  });

  test("--preview of update says who has it, and remove only deletes one that nobody has", async () => {
    await cli.run(["user", "update", "alice", "--profile", "drop"]);
    const preview = await cli.run(["profile", "update", "drop", "--directory", "/data/other", "--preview"]);
    expect(preview.stdout).toStartWith("Who has the profile drop may read files in /data/other, nothing else.\n");
    expect((await cli.json(["profile", "show", "drop"])).directory).toBe("/data/acme");
    const used = "uam: The profile drop is in use by 1 user; give them another first\n";
    expect(await said("profile", "remove", "drop", "--preview")).toEqual([1, used]);
    expect(await said("profile", "remove", "drop")).toEqual([1, used]);
    expect((await cli.run(["profile", "remove", "tunnel", "--preview"])).stdout).toContain(
      "The profile tunnel is deleted.",
    );
    expect((await cli.run(["profile", "remove", "tunnel"])).stderr).toEndWith("Deleted the profile tunnel.\n");
    expect(await said("profile", "remove", "tunnel")).toEqual([1, 'uam: There is no profile named "tunnel"\n']);
    expect(await cli.json(["profile", "remove", "shell"])).toEqual({ status: "deleted" });
  });

  test("try --host tries nothing, and says what that host says of the profile, and what to run there", async () => {
    const { db, close } = openDatabase({ url: cli.variables.UAM_DATABASE_URL ?? "" }, 1);
    for (const name of ["held", "unheld"]) await cli.json(["profile", "add", name, "--kind", "shell"]);
    const app = { db, clock: createTestClock() };
    const problem = { name: "unheld", state: "problem", problem: "sshd gives PermitOpen any" };
    await insertHost(app, "web1", { profiles: JSON.stringify([{ name: "held", state: "applied" }, problem]) });
    await insertHost(app, "web2");
    await close();
    const tried = (profile: string, host: string) => said("profile", "try", profile, "--host", host);
    const sentence = (profile: string, host: string, rest: string) => [
      ...[
        1,
        `uam: Nothing was tried: only root of ${host} can, with uam profile try ${profile} there. ${host} ${rest}\n`,
      ],
    ];
    expect(await tried("held", "web1")).toEqual(sentence("held", "web1", "says that it holds held"));
    expect(await tried("unheld", "web1")).toEqual(
      sentence("unheld", "web1", "says that it does not hold unheld: sshd gives PermitOpen any"),
    );
    expect(await tried("held", "web2")).toEqual(sentence("held", "web2", "has not said whether it holds held"));
    expect((await tried("none-such", "web1"))[0]).toBe(1);
    expect((await tried("held", "web9"))[1]).toContain("web9");
  });
});

test("completion offers profiles by name", async () => {
  expect((await cli.run(["completion", "bash", "profile", "show", "dr"])).stdout).toContain("drop");
});
