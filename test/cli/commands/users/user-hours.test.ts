import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createTestCli, type TestCli } from "../../../support/cli.ts";

let cli: TestCli;
beforeAll(async () => {
  cli = await createTestCli();
});
afterAll(() => cli.close());

const HOURS = "mon-fri 08:00-12:00,13:00-18:00 Europe/Berlin";

describe("uam user hours", () => {
  test("shows what create and update were given, and when that is", async () => {
    const given = ["--from", "2199-12-01", "--until", "2200-01-01", "--hours", HOURS];
    const { code } = await cli.run(["user", "create", "alice", "--email", "alice@example.org", ...given]);
    expect(code).toBe(1);
    expect((await cli.run(["user", "create", "alice", "--email", "alice@example.org", "--hours", HOURS])).code).toBe(0);
    expect((await cli.run(["user", "show", "alice"])).stdout).toMatch(new RegExp(`^hours +${HOURS}$`, "m"));
    const { hours, zone, windows } = await cli.json(["user", "hours", "alice"]);
    expect([hours, zone]).toEqual([HOURS, "Europe/Berlin"]);
    // In 14 days there are ten working days, of which today may be a part.
    expect(windows.length).toBeGreaterThanOrEqual(19);
    const table = (await cli.run(["user", "hours", "alice"])).stdout.split("\n");
    expect(table.slice(0, 2).map((line) => line.trim())).toEqual([HOURS, expect.stringMatching(/^OPEN FROM +UNTIL$/)]);
    expect((await cli.run(["user", "update", "alice", "--hours", "always"])).code).toBe(0);
    expect((await cli.json(["user", "hours", "alice"])).windows).toHaveLength(1);
  });

  test("shows with --preview what other hours do, and changes nothing", async () => {
    const args = ["user", "update", "alice", "--hours", "mon 08:00-08:01 UTC", "--preview"];
    const { code, stdout, stderr } = await cli.run(args);
    expect([code, stderr]).toEqual([0, "Nothing was changed.\n"]);
    expect(stdout).toContain("Access of alice is open only within mon 08:00-08:01 UTC.");
    expect(await cli.json(args)).toMatchObject({ preview: true, status: "active" });
    expect((await cli.json(["user", "hours", "alice"])).windows).toHaveLength(1);
  });

  test("refuses hours that it cannot read, with an example", async () => {
    const { code, stderr } = await cli.run(["user", "update", "alice", "--hours", "weekdays"]);
    expect(code).toBe(1);
    expect(stderr).toContain('Not hours such as "mon-fri 08:00-18:00 Europe/Berlin"');
  });
});
