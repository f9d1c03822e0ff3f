import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readConfig } from "../../../../src/config/config.ts";
import { bunRuntime } from "../../../../src/runtime/bun.ts";
import { openServices } from "../../../../src/server/compose.ts";
import { silentLog } from "../../../../src/shared/log.ts";
import { ssoIdentities } from "../../../../src/store/schema-sso.ts";
import { createTestCli, type TestCli } from "../../../support/cli.ts";

let cli: TestCli;
beforeAll(async () => {
  cli = await createTestCli();
  const config = readConfig(cli.variables, { isRoot: false, currentDirectory: "/" });
  const { services, close } = await openServices(config, silentLog, { lifetime: "command", machine: bunRuntime });
  const issuer = "https://login.example.org/realms/staff";
  const createdAt = new Date("2026-11-20T08:00:00.000Z");
  const row = { issuer, adminId: null, createdAt };
  await services.db.insert(ssoIdentities).values([
    { ...row, subject: "248289761001", username: "alice" },
    { ...row, subject: "248289761002", username: "bob" },
  ]);
  await close();
});
afterAll(() => cli.close());

describe("uam admin", () => {
  test("removed lists who does not come in again, and readmit lets one in", async () => {
    const { code, stdout } = await cli.run(["admin", "removed"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^ID +USERNAME +SUBJECT +ISSUER +CAME\n2 +bob +248289761002 +https:.*\n1 +alice +248289761001 +https:/,
    );
    const readmitted = await cli.run(["admin", "readmit", "1"]);
    expect([readmitted.code, readmitted.stderr]).toEqual([
      0,
      expect.stringContaining("alice may come in again by single sign-on.\n"),
    ]);
    expect((await cli.json(["admin", "removed"])).items.map(({ username }: { username: string }) => username)).toEqual([
      "bob",
    ]);
    const [record] = (await cli.json(["audit", "list", "--action", "admin.readmit"])).items;
    expect(record).toMatchObject({ actor_type: "cli", actor: "olga", result: "success" });
    expect(JSON.parse(record.detail)).toMatchObject({ username: "alice", subject: "248289761001" });
  });

  test("readmit refuses a number that nobody has, and what is none", async () => {
    const { code, stderr } = await cli.run(["admin", "readmit", "1"]);
    expect([code, stderr]).toEqual([
      1,
      "uam: Nobody with the number 1 was removed; uam admin removed lists those who were\n",
    ]);
    expect((await cli.run(["admin", "readmit", "alice"])).code).toBe(2);
    expect((await cli.run(["admin", "readmit", "0"])).code).toBe(2);
  });
});
