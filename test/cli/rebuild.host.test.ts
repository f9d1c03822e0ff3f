/** uam user rebuild on a real host: an account that somebody removed with userdel. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { readConfig } from "../../src/config/config.ts";
import { uploadKey } from "../../src/domain/keys/keys.ts";
import { bunRuntime } from "../../src/runtime/bun.ts";
import { openServices } from "../../src/server/compose.ts";
import { silentLog } from "../../src/shared/log.ts";
import { createTestCli, type TestCli } from "../support/cli.ts";
import { describeOnHost } from "../support/host-account.ts";
import { freshKey } from "../support/keys.ts";

const NAME = "trebuild";
const ACCOUNT = `ext_${NAME}`;
const HOME = `/home/${ACCOUNT}`;

describeOnHost("uam user rebuild on a real host", () => {
  let cli: TestCli;
  beforeAll(async () => {
    removeLeftovers();
    cli = await createTestCli({ UAM_HOST_MODE: "direct", UAM_UID_RANGE: "58800-58809" });
    expect(await cli.run(["user", "create", NAME, "--email", "t@example.org"])).toMatchObject({ code: 0 });
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

  test("recreates the account after userdel: same uid, empty home, keys as stored", async () => {
    const uid = uidOf();
    const keys = readFileSync(`${HOME}/.ssh/authorized_keys`, "utf8");
    writeFileSync(`${HOME}/left-behind`, "");
    expect(spawnSync("/usr/sbin/userdel", ["--", ACCOUNT]).status).toBe(0);
    expect(existsSync(HOME)).toBe(true);

    const doctor = await cli.run(["doctor"]);
    expect(doctor.stdout).toContain(
      `${ACCOUNT}: the account is missing on the host\n${" ".repeat(24)}-> uam user rebuild ${ACCOUNT} recreates it`,
    );
    const refused = await cli.run(["user", "disable", NAME]);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining(`uam user rebuild ${NAME}`)]);

    expect(await cli.run(["user", "rebuild", NAME])).toMatchObject({ code: 2, stdout: "" });
    const rebuilt = await cli.run(["user", "rebuild", ACCOUNT, "--yes"]);
    expect([rebuilt.code, rebuilt.stderr]).toEqual([0, ""]);
    expect(uidOf()).toBe(uid);
    expect(readFileSync(`${HOME}/.ssh/authorized_keys`, "utf8")).toBe(keys);
    expect(readdirSync(HOME)).not.toContain("left-behind");
    expect([statSync(HOME).uid, statSync(HOME).mode & 0o7777]).toEqual([uid, 0o700]);
    expect(await cli.run(["reconcile", "--check"])).toMatchObject({ code: 0 });
    expect((await cli.json(["audit", "list", "--action", "reconcile.repair"])).items[0]).toMatchObject({
      actor: "olga",
      result: "success",
    });
    expect((await cli.run(["user", "disable", NAME])).code).toBe(0);
  });

  test("refuses an account that exists", async () => {
    const { code, stderr } = await cli.run(["user", "rebuild", NAME, "--yes"]);
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining(`The host account ${ACCOUNT} exists; uam reconcile repairs what is wrong with it`),
    ]);
  });

  test("refuses if another account has the uid by now", async () => {
    const uid = uidOf();
    // Its home is root's while it is shut, and userdel leaves what is not the account's.
    expect(spawnSync("/usr/sbin/userdel", ["--", ACCOUNT]).status).toBe(0);
    rmSync(HOME, { recursive: true });
    expect(spawnSync("/usr/sbin/useradd", ["-M", "-u", String(uid), "ext_tother"]).status).toBe(0);
    const { code, stderr } = await cli.run(["user", "rebuild", NAME, "--yes"]);
    expect([code, stderr]).toEqual([1, expect.stringContaining("left alone")]);
    expect(spawnSync("/usr/bin/id", ["-u", "ext_tother"]).status).toBe(0);
    expect(spawnSync("/usr/bin/id", ["-u", ACCOUNT]).status).toBe(1);
  });
});

function uidOf(): number {
  return Number(spawnSync("/usr/bin/id", ["-u", ACCOUNT], { encoding: "utf8" }).stdout);
}

function removeLeftovers(): void {
  for (const account of [ACCOUNT, "ext_tother"])
    spawnSync("/usr/sbin/userdel", ["-rf", "--", account], { stdio: "ignore" });
  rmSync(HOME, { recursive: true, force: true });
}
