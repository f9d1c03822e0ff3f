/** uam user hosts on a real host: the account there is taken away, and given again. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { readConfig } from "../../../../src/config/config.ts";
import { uploadKey } from "../../../../src/domain/keys/keys.ts";
import { bunRuntime } from "../../../../src/runtime/bun.ts";
import { openServices } from "../../../../src/server/compose.ts";
import { silentLog } from "../../../../src/shared/log.ts";
import { openDatabase } from "../../../../src/store/client.ts";
import { createTestCli, type TestCli } from "../../../support/cli.ts";
import { createTestClock } from "../../../support/clock.ts";
import { describeOnHost } from "../../../support/host-account.ts";
import { insertHost } from "../../../support/host-rows.ts";
import { freshKey } from "../../../support/keys.ts";
import { startSleeper } from "../../../support/sleeper.ts";

const NAME = "tmover";
const ACCOUNT = `ext_${NAME}`;
const HOME = `/home/${ACCOUNT}`;

describeOnHost("uam user hosts on a real host", () => {
  let cli: TestCli;
  beforeAll(async () => {
    removeLeftovers();
    // Waiting for a host without an agent would be waiting in vain.
    cli = await createTestCli({ UAM_HOST_MODE: "direct", UAM_UID_RANGE: "58820-58829", UAM_FLEET_WAIT: "1s" });
    expect(await cli.run(["user", "create", NAME, "--email", "t@example.org"])).toMatchObject({ code: 0 });
    const { db, close } = openDatabase({ url: cli.variables.UAM_DATABASE_URL ?? "" }, 1);
    await insertHost({ db, clock: createTestClock() }, "web1");
    await close();
    await storeKey();
  });
  afterAll(async () => {
    await cli?.close();
    removeLeftovers();
  });

  async function storeKey(): Promise<void> {
    const config = readConfig(cli.variables, { isRoot: true, currentDirectory: "/" });
    const { services, close } = await openServices(config, silentLog, { lifetime: "command", machine: bunRuntime });
    const context = { ...services, actor: { type: "user", name: NAME, ip: "" }, requestId: "" } as const;
    await uploadKey(context, 1, { name: "laptop", publicKey: freshKey() });
    await close();
  }

  test("takes the account with its home and processes, and gives it with the same uid and keys", async () => {
    const uid = uidOf();
    const keys = readFileSync(`${HOME}/.ssh/authorized_keys`, "utf8");
    writeFileSync(`${HOME}/left-behind`, "");
    const sleeper = await startSleeper(uid);
    const ended = once(sleeper, "exit");

    const taken = await cli.run(["user", "hosts", NAME, "--set", "web1"]);
    expect([taken.code, taken.stderr]).toEqual([0, ""]);
    expect(uidOf()).toBeNaN();
    expect(existsSync(HOME)).toBe(false);
    expect((await ended)[0]).not.toBe(0);
    expect(await cli.run(["reconcile", "--check"])).toMatchObject({ code: 0 });
    expect((await cli.json(["user", "show", NAME])).status).toBe("active");
    // Nothing makes it again.
    await storeKey();
    await cli.run(["reconcile"]);
    expect(uidOf()).toBeNaN();

    const given = await cli.run(["user", "hosts", NAME, "--set", "@default,web1"]);
    expect([given.code, given.stderr]).toEqual([0, ""]);
    expect(uidOf()).toBe(uid);
    expect(readFileSync(`${HOME}/.ssh/authorized_keys`, "utf8").startsWith(keys.trimEnd())).toBe(true);
    expect(readFileSync(`${HOME}/.ssh/authorized_keys`, "utf8").trimEnd().split("\n").length).toBeGreaterThan(
      keys.trimEnd().split("\n").length,
    );
    expect(readdirSync(HOME)).not.toContain("left-behind");
    expect([statSync(HOME).uid, statSync(HOME).mode & 0o7777]).toEqual([uid, 0o700]);
    expect(await cli.run(["reconcile", "--check"])).toMatchObject({ code: 0 });
  }, 180_000);

  test("takes over nothing that has the account's name", async () => {
    expect((await cli.run(["user", "hosts", NAME, "--set", "web1"])).code).toBe(0);
    expect(spawnSync("/usr/sbin/useradd", ["-M", "-u", "58891", ACCOUNT]).status).toBe(0);
    const { code, stderr } = await cli.run(["user", "hosts", NAME, "--set", "@default"]);
    expect([code, stderr]).toEqual([1, expect.stringContaining(`or a home directory named ${ACCOUNT}`)]);
    expect(uidOf()).toBe(58891);
    expect((await cli.json(["user", "hosts", NAME])).groups).toEqual([]);
  }, 180_000);
});

function uidOf(): number {
  return Number.parseInt(spawnSync("/usr/bin/id", ["-u", ACCOUNT], { encoding: "utf8" }).stdout, 10);
}

function removeLeftovers(): void {
  spawnSync("/usr/sbin/userdel", ["-rf", "--", ACCOUNT]);
  spawnSync("/bin/rm", ["-rf", HOME]);
}
