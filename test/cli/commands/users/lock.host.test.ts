/** uam lock on a real account, with the database down. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { IDENTITY_FILE } from "../../../../src/agent/paths.ts";
import { lockAsRoot } from "../../../../src/cli/commands/users/lock-as-root.ts";
import { bunRuntime } from "../../../../src/runtime/bun.ts";
import { createTestCli, type TestCli } from "../../../support/cli.ts";
import { describeOnHost } from "../../../support/host-account.ts";
import { startSleeper } from "../../../support/sleeper.ts";

const NAME = "tlock";
const ACCOUNT = `ext_${NAME}`;
const FOREIGN = "ext_tforeign";

describeOnHost("uam lock on a real host", () => {
  let cli: TestCli;
  let uid: number;
  beforeAll(async () => {
    removeLeftovers();
    cli = await createTestCli({ UAM_HOST_MODE: "direct", UAM_UID_RANGE: "78700-78799" });
    const made = await cli.run(["user", "create", NAME, "--email", "t@example.org"]);
    expect(made).toMatchObject({ code: 0 });
    uid = Number(spawnSync("/usr/bin/id", ["-u", ACCOUNT], { encoding: "utf8" }).stdout);
  });
  afterAll(async () => {
    await cli?.close();
    removeLeftovers();
  });

  const withoutDatabase = (more: Record<string, string> = {}) => ({
    variables: { ...cli.variables, UAM_DATABASE_URL: "postgres://uam@127.0.0.1:1/uam", ...more },
  });

  test("shuts the account and ends its processes without the database", async () => {
    const child = await startSleeper(uid);
    const ended = new Promise((resolve) => child.on("exit", (_, signal) => resolve(signal)));
    const { code, stderr } = await cli.run(["lock", NAME], withoutDatabase());
    expect(code).toBe(0);
    expect(stderr).toStartWith(`The account ${ACCOUNT} is shut.\nThe database cannot be reached now`);
    expect(await ended).toBe("SIGKILL");
    expect(shadowOf(ACCOUNT)[7]).toBe("1");
  });

  test("reconcile records it and leaves the account shut", async () => {
    expect((await cli.run(["reconcile", "--check"])).code).toBe(1);
    await cli.run(["reconcile"]);
    expect(shadowOf(ACCOUNT)[7]).toBe("1");
    expect((await cli.json(["user", "show", NAME])).status).toBe("disabled");
    expect((await cli.json(["audit", "list", "--action", "user.disable"])).items).toMatchObject([
      { actor_type: "cli", actor: "olga", result: "success" },
    ]);
    expect(await cli.run(["reconcile", "--check"])).toMatchObject({ code: 0 });
  });

  test("leaves accounts alone that are not ours, missing, or outside the uid range", async () => {
    expect(spawnSync("/usr/sbin/useradd", ["-M", "-u", "78750", FOREIGN]).status).toBe(0);
    const foreign = await cli.run(["lock", "tforeign"], withoutDatabase());
    expect([foreign.code, foreign.stderr]).toEqual([
      1,
      `uam: The account ${FOREIGN} was not created by uam (group uam-ext): it is left alone\n`,
    ]);
    expect(shadowOf(FOREIGN)[7]).toBe("");
    expect((await cli.run(["lock", "tnobody"], withoutDatabase())).stderr).toBe(
      "uam: The host has no account ext_tnobody\n",
    );
    const elsewhere = await cli.run(["lock", NAME], withoutDatabase({ UAM_UID_RANGE: "78000-78001" }));
    expect(elsewhere.stderr).toContain("outside UAM_UID_RANGE");
  });

  test("shuts an account that somebody took out of the group, by what is stored; without the database it leaves it alone", async () => {
    expect((await cli.run(["user", "enable", NAME])).code).toBe(0);
    expect(spawnSync("/usr/bin/gpasswd", ["-d", ACCOUNT, "uam-ext"]).status).toBe(0);
    const blind = await cli.run(["lock", NAME], withoutDatabase());
    expect([blind.code, blind.stderr]).toEqual([
      1,
      `uam: The account ${ACCOUNT} was not created by uam (group uam-ext): it is left alone\n`,
    ]);
    expect(shadowOf(ACCOUNT)[7]).not.toBe("1");
    const { code, stderr } = await cli.run(["lock", NAME]);
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: `The account ${ACCOUNT} is shut.\nThe lock is recorded, and the user is disabled.\n`,
    });
    expect(shadowOf(ACCOUNT)[7]).toBe("1");
    expect((await cli.json(["user", "show", NAME])).status).toBe("disabled");
    expect((await cli.run(["reconcile"])).code).toBe(0);
  });

  test("root shuts an account of sudo mode itself, whatever became of sudo, and passes on what is to be recorded", async () => {
    await cli.run(["user", "enable", NAME]);
    const said: string[] = [];
    const environment = {
      variables: { ...cli.variables, UAM_HOST_MODE: "sudo" },
      ...{ currentDirectory: cli.dataDir, isRoot: true, invocation: "uam", operator: "olga", isTerminal: false },
      ...{ columns: undefined, runtime: bunRuntime, out: () => {}, err: (text: string) => void said.push(text) },
      ...{
        outStream: async () => {},
        readStandardInput: async () => "",
        ask: undefined,
        untilStopped: () => new Promise<void>(() => {}),
      },
    };
    expect(await lockAsRoot(["user", "show", NAME], environment)).toEqual(["user", "show", NAME]);
    expect(await lockAsRoot(["lock", "tnobody"], environment)).toEqual(["lock", "tnobody"]);
    expect(said.splice(0).join("")).toContain("The host has no account ext_tnobody");
    const args = await lockAsRoot(["lock", ACCOUNT], environment);
    expect(args).toEqual(["lock", ACCOUNT, "--already-shut", String(uid)]);
    expect(said.splice(0)).toEqual([`The account ${ACCOUNT} is shut.\n`]);
    expect(shadowOf(ACCOUNT)[7]).toBe("1");
    // The service's user may put anything in the place of an agent's files.
    const planted = join(cli.dataDir, IDENTITY_FILE);
    expect(spawnSync("mkfifo", [planted]).status).toBe(0);
    expect(spawnSync("usermod", ["--expiredate", "", ACCOUNT]).status).toBe(0);
    expect(await lockAsRoot(["lock", ACCOUNT], environment)).toEqual(args);
    expect(said.splice(0).join("")).toContain(`${planted} is not a file`);
    expect(shadowOf(ACCOUNT)[7]).toBe("1");
    rmSync(planted);
    // Sudo mode could not give it back.
    expect(statSync(`/home/${ACCOUNT}`).uid).toBe(uid);
    const noted = await cli.run(args, withoutDatabase());
    expect(noted.code).toBe(0);
    expect(noted.stderr).toStartWith("The database cannot be reached now");
    await cli.run(["reconcile"]);
    expect(shadowOf(ACCOUNT)[7]).toBe("1");
    expect((await cli.json(["user", "show", NAME])).status).toBe("disabled");
  });

  test("delete removes the account", async () => {
    expect((await cli.run(["user", "delete", NAME, "--yes"])).code).toBe(0);
    expect(existsSync(`/home/${ACCOUNT}`)).toBe(false);
  });
});

function shadowOf(account: string): readonly string[] {
  const line = readFileSync("/etc/shadow", "utf8")
    .split("\n")
    .find((text) => text.startsWith(`${account}:`));
  return line?.split(":") ?? [];
}

function removeLeftovers(): void {
  for (const account of [ACCOUNT, FOREIGN]) spawnSync("/usr/sbin/userdel", ["-rf", "--", account], { stdio: "ignore" });
}
