/** uam recycle. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { sql } from "drizzle-orm";
import { readConfig } from "../../../../src/config/config.ts";
import { beat } from "../../../../src/domain/lifecycle/heartbeat.ts";
import { expireDue } from "../../../../src/domain/lifecycle/lifecycle.ts";
import { type Services, systemContext } from "../../../../src/domain/operation/context.ts";
import { bunRuntime } from "../../../../src/runtime/bun.ts";
import { openServices } from "../../../../src/server/compose.ts";
import { silentLog } from "../../../../src/shared/log.ts";
import { createTestCli, type TestCli } from "../../../support/cli.ts";

let cli: TestCli;

beforeAll(async () => {
  cli = await createTestCli();
  for (const name of ["over", "soon"]) await cli.run(["user", "create", name, "--email", `${name}@example.org`]);
  await withService(async (services) => {
    await services.db.execute(sql`update users set expire_at = now() - interval '29 days' where username = 'soon'`);
    await services.db.execute(sql`update users set expire_at = now() - interval '31 days' where username = 'over'`);
    await expireDue(systemContext(services), await beat(services));
  });
}, 180_000);
afterAll(() => cli.close());

async function withService(work: (services: Services) => Promise<void>): Promise<void> {
  const config = readConfig(cli.variables, { isRoot: false, currentDirectory: "/" });
  const { services, close } = await openServices(config, silentLog, { lifetime: "command", machine: bunRuntime });
  await work(services);
  await close();
}

describe("uam recycle", () => {
  test("shows who is due and until when it waits, and changes nothing", async () => {
    expect(await cli.run(["recycle"])).toEqual({ code: 0, stdout: "Due to be recycled: 1\n", stderr: "" });
    await withService(async ({ db }) => {
      await db.execute(sql`update service_state set heartbeat_at = heartbeat_at - interval '3 days'`);
    });
    const { code, stdout, stderr } = await cli.run(["recycle"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Due to be recycled: 1\nNothing is recycled before: 20\d\d-\d\d-\d\dT[\d:.]+Z\n$/);
    expect(stderr).toContain("uam recycle --now ends the wait");
    expect(await cli.json(["recycle"])).toEqual({ due: 1, hold_until: expect.stringMatching(/Z$/) });
  });

  test("--now ends the wait and recycles who is due, recorded as the operator's action", async () => {
    const { code, stderr } = await cli.run(["recycle", "--now"]);
    expect(code).toBe(0);
    expect(stderr).toEndWith("Recycled: 1. Failed: 0.\n");
    const users = await cli.json(["user", "list"]);
    expect(users.items.map((user: { username: string }) => user.username)).toEqual(["soon"]);
    const { items } = await cli.json(["audit", "list", "--action", "lifecycle.recycle"]);
    expect(items).toEqual([expect.objectContaining({ actor_type: "cli", actor: "olga", result: "success" })]);
    expect(await cli.json(["recycle"])).toEqual({ due: 0, hold_until: null });
    await withService(async (services) => expect((await beat(services)).holdUntil).toBeUndefined());
  });
});
