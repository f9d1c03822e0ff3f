/** uam user disable and delete for several users, with real accounts. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createTestCli, type TestCli } from "../../../support/cli.ts";
import { describeOnHost } from "../../../support/host-account.ts";
import { startSleeper } from "../../../support/sleeper.ts";

const NAMES = ["tsev1", "tsev2", "tsev3", "tsev4", "tsev5", "tsev6"] as const;
const GONE = "tsev3";

describeOnHost("several users on a real host", () => {
  let cli: TestCli;
  beforeAll(async () => {
    removeLeftovers();
    cli = await createTestCli({ UAM_HOST_MODE: "direct", UAM_UID_RANGE: "79100-79199" });
    for (const name of NAMES) {
      const made = await cli.run(["user", "create", name, "--email", "t@example.org", "--supervisor", "Bo"]);
      expect([name, made.code, made.stderr]).toEqual([name, 0, expect.stringContaining(`${name} has no key yet: `)]);
    }
  });
  afterAll(async () => {
    await cli?.close();
    removeLeftovers();
  });

  test("are disabled four at a time, processes included; an account that is missing is reported", async () => {
    const children = await Promise.all([1, 6].map((n) => startSleeper(uidOf(`tsev${n}`))));
    const ended = children.map((child) => new Promise((resolve) => child.on("exit", (_, signal) => resolve(signal))));
    expect(spawnSync("/usr/sbin/userdel", ["-f", `ext_${GONE}`]).status).toBe(0);
    const { code, stdout, stderr } = await cli.run(["user", "disable", "--supervisor", "Bo", "--yes"]);
    const others = NAMES.filter((name) => name !== GONE);
    expect([code, stdout.trim().split("\n").sort()]).toEqual([1, others.map((name) => `${name}: disabled`)]);
    expect(stderr).toMatch(new RegExp(`^Disabled 5 of 6 users\\.\nFailed for ${GONE}: .*ext_${GONE}.*\n$`));
    expect(await Promise.all(ended)).toEqual(["SIGKILL", "SIGKILL"]);
    for (const name of others) expect([name, expiryOf(name)]).toEqual([name, "1"]);
  });

  test("are deleted, and their accounts and homes are gone", async () => {
    const { code, stderr } = await cli.run(["user", "delete", ...NAMES, "--yes"]);
    expect([code, stderr]).toEqual([0, "Deleted 6 users.\n"]);
    for (const name of NAMES)
      expect([name, expiryOf(name), existsSync(`/home/ext_${name}`)]).toEqual([name, undefined, false]);
  });
});

function uidOf(name: string): number {
  return Number(spawnSync("/usr/bin/id", ["-u", `ext_${name}`], { encoding: "utf8" }).stdout);
}

/** The expiry date of the account in days; undefined where there is none. */
function expiryOf(name: string): string | undefined {
  const line = readFileSync("/etc/shadow", "utf8")
    .split("\n")
    .find((one) => one.startsWith(`ext_${name}:`));
  return line?.split(":")[7];
}

function removeLeftovers(): void {
  for (const name of NAMES) spawnSync("/usr/sbin/userdel", ["-rf", "--", `ext_${name}`], { stdio: "ignore" });
}
