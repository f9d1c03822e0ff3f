/** A command in another mode than the service's would store what it does not do. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { readConfig } from "../../../src/config/config.ts";
import { noteServiceMode } from "../../../src/domain/hosts/service-mode.ts";
import type { HostKind } from "../../../src/protocol/host.ts";
import { bunRuntime } from "../../../src/runtime/bun.ts";
import { openServices } from "../../../src/server/compose.ts";
import { silentLog } from "../../../src/shared/log.ts";
import { readLocks } from "../../../src/shared/system/lock-journal.ts";
import { createTestCli, type TestCli } from "../../support/cli.ts";

let cli: TestCli;
beforeAll(async () => {
  cli = await createTestCli();
  expect((await cli.run(["user", "create", "alice", "--email", "alice@example.org"])).code).toBe(0);
});
afterAll(() => cli.close());

async function servedAs(mode: HostKind): Promise<void> {
  const config = readConfig(cli.variables, { isRoot: false, currentDirectory: "/" });
  const { services, close } = await openServices(config, silentLog, { lifetime: "command", machine: bunRuntime });
  await noteServiceMode({ ...services, host: { ...services.host, mode } });
  await close();
}

const CHANGES = [
  ["user", "disable", "alice"],
  ["user", "create", "bob", "--email", "bob@example.org"],
  ["reconcile"],
  ["user", "delete", "alice", "--yes"],
];

test.each(["direct", "sudo"] as const)("no command plans what a service in %s mode does", async (mode) => {
  await servedAs(mode);
  // Another service on the database, without a host of its own, changes nothing of that.
  await servedAs("none");
  const before = await cli.json(["audit", "list"]);
  for (const change of CHANGES) {
    const { code, stderr } = await cli.run(change);
    expect([code, stderr]).toEqual([
      1,
      `uam: The service here changes the host (UAM_HOST_MODE=${mode}), and this command would not: give it the same UAM_ variables. To stop changing the host, start the service with UAM_HOST_MODE=dry-run first\n`,
    ]);
  }
  expect(await cli.json(["audit", "list"])).toEqual(before);
  expect((await cli.json(["user", "list"])).total).toBe(1);
});

test("uam lock says that it did not shut the account, and leaves the lock to the service", async () => {
  await servedAs("direct");
  const { code, stderr } = await cli.run(["lock", "alice"]);
  expect([code, stderr]).toEqual([
    1,
    expect.stringContaining("uam: The account is still open: the service here changes"),
  ]);
  expect(readLocks(cli.dataDir, silentLog)).toMatchObject([{ username: "alice" }]);
  expect((await cli.json(["user", "show", "alice"])).status).toBe("active");
  await servedAs("dry-run");
  expect((await cli.run(["reconcile"])).code).toBe(0);
  expect((await cli.json(["user", "show", "alice"])).status).toBe("disabled");
  expect((await cli.run(["user", "enable", "alice"])).code).toBe(0);
});

test("a command is free again once a service has served in dry-run mode", async () => {
  await servedAs("dry-run");
  expect((await cli.run(["user", "disable", "alice"])).code).toBe(0);
});
