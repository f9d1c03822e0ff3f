/** uam approval, setting and audit export. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { eq } from "drizzle-orm";
import { writeNewFile } from "../../src/cli/terminal/new-file.ts";
import { readConfig } from "../../src/config/config.ts";
import { submitApplication } from "../../src/domain/approvals/approvals.ts";
import { requestExtension } from "../../src/domain/approvals/extensions.ts";
import type { Context } from "../../src/domain/operation/context.ts";
import { bunRuntime } from "../../src/runtime/bun.ts";
import { openServices } from "../../src/server/compose.ts";
import { silentLog } from "../../src/shared/log.ts";
import { approvals } from "../../src/store/schema.ts";
import { createTestCli, type TestCli } from "../support/cli.ts";

/** Root in a container may not be allowed to mount. */
const canMount = spawnSync("unshare", ["--mount", "mount", "-t", "tmpfs", "none", "/mnt"]).status === 0;

let cli: TestCli;
beforeAll(async () => {
  cli = await createTestCli();
  for (const name of ["ann", "ben", "cem"]) await apply(name);
});
afterAll(() => cli.close());

/** Applies as anyone can over HTTP. */
async function apply(username: string): Promise<void> {
  await asServed({ type: "anonymous", name: "anonymous", ip: "" }, async (context) => {
    await submitApplication(context, { username, email: `${username}@example.org` });
    // As stored by a version that did not refuse it yet.
    await context.db.update(approvals).set({ purpose: "\u202etest" }).where(eq(approvals.username, "cem"));
  });
}

/** Asks for more time as a user can over HTTP. */
async function ask(username: string, days: number): Promise<number> {
  const { id } = await cli.json(["user", "show", username]);
  return await asServed({ type: "user", name: username, ip: "" }, async (context) => {
    return (await requestExtension(context, id, { days, reason: "More tests" })).id;
  });
}

async function asServed<T>(actor: Context["actor"], work: (context: Context) => Promise<T>): Promise<T> {
  const config = readConfig(cli.variables, { isRoot: false, currentDirectory: "/" });
  const { services, close } = await openServices(config, silentLog, { lifetime: "command", machine: bunRuntime });
  try {
    return await work({ ...services, actor, requestId: "" });
  } finally {
    await close();
  }
}

describe("uam approval", () => {
  test("list shows applications, newest first, by state", async () => {
    const { code, stdout } = await cli.run(["approval", "list", "--status", "pending"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^ID {2}USERNAME {2}KIND {4}STATUS {3}CREATED +EMAIL +SUPERVISOR {2}SPONSOR {2}PURPOSE +REVIEWED BY\n3 {3}cem {7}access/,
    );
    expect(stdout).toContain("\\u202etest");
    expect((await cli.json(["approval", "list", "--status", "rejected"])).total).toBe(0);
  });

  test("approve creates the user and names the reviewer", async () => {
    await cli.json(["company", "add", "Acme"]);
    await cli.json(["profile", "add", "drop", "--kind", "sftp", "--directory", "/data/acme"]);
    const hours = ["--hours", "mon 08:00-18:00 Europe/Berlin"];
    const given = ["--company", "Acme", "--sponsor", "bo@example.org", "--profile", "drop", ...hours];
    expect(await cli.json(["approval", "approve", "1", "--ttl-days", "3", ...given])).toMatchObject({
      username: "ann",
      status: "approved",
      reviewed_by: "olga",
    });
    const user = await cli.json(["user", "show", "ann"]);
    expect(Date.parse(user.expire_at) - Date.parse(user.created_at)).toBe(3 * 86_400_000);
    expect(user).toMatchObject({ company_id: expect.any(Number), sponsor_email: "bo@example.org", profile: "drop" });
    expect((await cli.json(["user", "list", "--sponsor", "bo@example.org"])).total).toBe(1);
    expect((await cli.json(["user", "list", "--sponsor", "none"])).total).toBe(0);
    expect(user.hours.windows).toEqual([{ days: ["mon"], from: "08:00", to: "18:00" }]);
    const again = await cli.run(["approval", "approve", "1"]);
    expect([again.code, again.stderr]).toEqual([1, "uam: The application was already approved\n"]);
  });

  test("approve --no-user creates none", async () => {
    expect((await cli.json(["approval", "approve", "2", "--no-user"])).status).toBe("approved");
    expect((await cli.run(["user", "show", "ben"])).code).toBe(1);
  });

  test("reject needs a reason", async () => {
    expect((await cli.run(["approval", "reject", "3"])).code).toBe(2);
    const { stdout } = await cli.run(["approval", "reject", "3", "--reason", "Not known here."]);
    expect(stdout).toMatch(/^status +rejected$/m);
    expect(stdout).toMatch(/^reason +Not known here\.$/m);
  });
});

describe("uam approval, of requests for more time", () => {
  test("list --kind shows them with their days, approve extends by those or by --ttl-days", async () => {
    const before = await cli.json(["user", "show", "ann"]);
    const first = await ask("ann", 20);
    const { stdout } = await cli.run(["approval", "list", "--kind", "extension"]);
    expect(stdout).toMatch(new RegExp(`^ID .*\\n${first} +ann +extension, 20d +pending +`));
    expect((await cli.json(["approval", "list", "--kind", "access", "--status", "pending"])).total).toBe(0);
    const noUser = await cli.run(["approval", "approve", String(first), "--no-user"]);
    expect([noUser.code, noUser.stderr]).toEqual([1, expect.stringContaining("creates no user")]);
    expect(await cli.json(["approval", "approve", String(first)])).toMatchObject({
      kind: "extension",
      status: "approved",
      reviewed_by: "olga",
    });
    const second = await ask("ann", 20);
    await cli.json(["approval", "approve", String(second), "--ttl-days", "5"]);
    const { expire_at } = await cli.json(["user", "show", "ann"]);
    expect(Date.parse(expire_at) - Date.parse(before.expire_at)).toBe(25 * 86_400_000);
    const third = await ask("ann", 1);
    const rejected = await cli.run(["approval", "reject", String(third), "--reason", "Enough."]);
    expect(rejected.stdout).toMatch(/^status +rejected$/m);
  });
});

describe("uam setting", () => {
  test("set overrides, unset drops, list shows both", async () => {
    expect(await cli.json(["setting", "set", "policy.default_ttl", "2w"])).toEqual({
      key: "policy.default_ttl",
      value: "14d",
      overridden: true,
    });
    expect((await cli.run(["setting", "list"])).stdout).toBe(
      [
        "KEY                     VALUE  OVERRIDDEN",
        "policy.default_ttl      14d    yes",
        "policy.recycle_period   30d    no",
        "policy.audit_retention  365d   no",
        "policy.review_every     off    no",
        "policy.inactive_after   off    no",
        "",
      ].join("\n"),
    );
    expect(await cli.json(["setting", "unset", "policy.default_ttl"])).toMatchObject({
      value: "90d",
      overridden: false,
    });
    const { pending } = await cli.json(["setting", "set", "policy.recycle_period", "10d"]);
    expect(pending).toMatchObject({ value: "10d" });
    expect((await cli.run(["setting", "list"])).stdout).toMatch(
      /^policy\.recycle_period {3}30d {4}yes {9}10d from 20\d\d-/m,
    );
    expect((await cli.run(["setting", "unset", "policy.recycle_period"])).stdout).not.toContain("pending");
    const { items } = await cli.json(["audit", "list", "--action", "settings.update"]);
    expect(items.map((row: { actor: string }) => row.actor)).toEqual(["olga", "olga", "olga", "olga"]);
  });

  test("set refuses invalid durations and unknown keys", async () => {
    expect(await cli.run(["setting", "set", "policy.default_ttl", "0"])).toMatchObject({ code: 1, stdout: "" });
    expect((await cli.run(["setting", "set", "policy.other", "1d"])).code).toBe(2);
  });
});

describe("uam audit list", () => {
  test("--search finds a text in any case, within the other filters", async () => {
    await cli.run(["user", "create", "yara", "--email", "Yara.Odd@example.org"]);
    const found = await cli.json(["audit", "list", "--search", "YARA", "--action", "user.create"]);
    expect(found.total).toBe(1);
    expect((await cli.run(["audit", "list", "--search", "nothing has this"])).stderr).toBe("");
    expect((await cli.run(["audit", "list", "--search", "x".repeat(129)])).code).toBe(1);
  });

  test("--result finds what failed, as the export does", async () => {
    const again = ["user", "create", "wanda", "--email", "wanda@example.org"];
    expect((await cli.run(again)).code).toBe(0);
    expect((await cli.run(again)).code).toBe(1);
    const failed = ["--result", "failed", "--action", "user.create"];
    const { total, items } = await cli.json(["audit", "list", ...failed]);
    expect([total, items[0].result, items[0].action]).toEqual([1, "failed", "user.create"]);
    const { stdout } = await cli.run(["audit", "export", ...failed, "--format", "jsonl"]);
    expect(JSON.parse(stdout)).toEqual(items[0]);
    expect((await cli.run(["audit", "list", "--result", "broken"])).code).toBe(2);
  });
});

describe("uam audit export", () => {
  test("writes the API's CSV to standard output, within the period", async () => {
    const { code, stdout } = await cli.run(["audit", "export"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^\uFEFFid,created_at,actor_type,actor,[^\r]*\r\n1,/);
    const { total, items } = await cli.json(["audit", "list"]);
    // The header, and the records before the export's own.
    expect(items[0]).toMatchObject({
      action: "audit.export",
      actor_type: "cli",
      result: "success",
      detail: '{"format":"csv"}',
    });
    expect(stdout.trim().split("\r\n")).toHaveLength(total);
    const none = await cli.run(["audit", "export", "--until", "2020-01-01T00:00:00Z"]);
    expect(none.stdout.trim().split("\r\n")).toHaveLength(1);
  });

  test("has the filters of the list, and lines of JSON: the trail of a person", async () => {
    await cli.run(["user", "create", "zoe", "--email", "zoe@example.org"]);
    await cli.run(["user", "disable", "zoe", "--yes"]);
    const { code, stdout } = await cli.run(["audit", "export", "--user", "zoe", "--format", "jsonl"]);
    const { items } = await cli.json(["audit", "list", "--user", "zoe"]);
    expect([code, stdout]).toEqual([
      0,
      items
        .map((item: object) => `${JSON.stringify(item)}\n`)
        .reverse()
        .join(""),
    ]);
    expect((await cli.run(["audit", "export", "--user", "nobody-there"])).code).toBe(1);
  });

  test("--output writes a new file that only its owner can read, and never replaces one", async () => {
    const path = join(cli.dataDir, "audit.csv");
    expect(await cli.run(["audit", "export", "--output", path])).toEqual({ code: 0, stdout: "", stderr: "" });
    const content = readFileSync(path, "utf8");
    // What comes after it begins with the record of that export.
    const [, more] = (await cli.run(["audit", "export"])).stdout.split(content);
    expect(more).toMatch(/^\d+,[^,]+,cli,"[^"]+",audit\.export,/);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const again = await cli.run(["audit", "export", "--output", path, "--until", "2020-01-01T00:00:00Z"]);
    expect([again.code, again.stderr]).toEqual([1, `uam: ${path} exists already; choose another name\n`]);
    expect(readFileSync(path, "utf8")).toBe(content);
    const nowhere = await cli.run(["audit", "export", "--output", join(cli.dataDir, "missing/x.csv")]);
    expect(nowhere.stderr).toMatch(/^uam: .*missing\/x\.csv cannot be written: ENOENT/);
  });

  test("--output leaves nothing of an export that failed, and says why it failed", async () => {
    const path = join(cli.dataDir, "broken.csv");
    const gone = Object.assign(new Error("connect ENOENT /run/postgres"), { code: "ENOENT" });
    let pulls = 0;
    const breaking = new ReadableStream<Uint8Array>({
      pull: (controller) => (pulls++ === 0 ? controller.enqueue(Buffer.from("id\r\n")) : controller.error(gone)),
    });
    expect(await writeNewFile(path, breaking).catch((error: unknown) => error)).toBe(gone);
    expect(existsSync(path)).toBe(false);
  });

  test.if(canMount)("--output fails on a full disk, even if a part of the last write fits on it", () => {
    const disk = join(cli.dataDir, "disk");
    mkdirSync(disk);
    const program = `import { writeNewFile } from "${join(import.meta.dir, "../../src/cli/terminal/new-file.ts")}";
      const content = new Blob(["x".repeat(200_000)]).stream();
      await writeNewFile("${disk}/x.csv", content).catch((error) => console.log(error.code));`;
    const script = 'mount -t tmpfs -o size=64k none "$1" && "$2" -e "$3"; ls "$1"';
    // In a mount namespace of its own: the disk disappears with it.
    const argv = ["--mount", "sh", "-c", script, "sh", disk, process.execPath, program];
    const { stdout, stderr } = spawnSync("unshare", argv, { encoding: "utf8" });
    expect([stdout, stderr]).toEqual(["ENOSPC\n", ""]);
  });
});
