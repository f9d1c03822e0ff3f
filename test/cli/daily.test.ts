import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { describeConfig, readConfig } from "../../src/config/config.ts";
import { uploadKey } from "../../src/domain/keys/keys.ts";
import { bunRuntime } from "../../src/runtime/bun.ts";
import { openServices } from "../../src/server/compose.ts";
import { silentLog } from "../../src/shared/log.ts";
import { sshKeys } from "../../src/store/schema.ts";
import { createTestCli, type TestCli } from "../support/cli.ts";
import { freshKey } from "../support/keys.ts";

let cli: TestCli;
beforeAll(async () => {
  cli = await createTestCli();
  await cli.run(["user", "create", "alice", "--email", "alice@example.org"]);
  await storeKey("laptop");
  await storeKey("red");
});
afterAll(() => cli.close());

/** Uploads a key as a user would; the command line cannot. */
async function storeKey(name: string): Promise<void> {
  const config = readConfig(cli.variables, { isRoot: false, currentDirectory: "/" });
  const { services, close } = await openServices(config, silentLog, { lifetime: "command", machine: bunRuntime });
  const context = { ...services, actor: { type: "user", name: "alice", ip: "" }, requestId: "" } as const;
  const key = await uploadKey(context, 1, { name, publicKey: freshKey() });
  // An older version accepted names that reverse the direction of writing.
  if (name === "red") await services.db.update(sshKeys).set({ name: "\u202ered" }).where(eq(sshKeys.id, key.id));
  await close();
}

describe("uam key", () => {
  test("list shows keys, and their names cannot drive the terminal", async () => {
    const { code, stdout } = await cli.run(["key", "list", "alice"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^1 {3}laptop {5}ssh-ed25519 {2}256 {3}SHA256:\S{43} {2}2/m);
    expect(stdout).toContain("\\u202ered  ssh");
    expect(stdout).not.toContain("\u202e");
  });

  test("revoke revokes once, and only keys of that user", async () => {
    await cli.run(["user", "create", "bob", "--email", "bob@example.org"]);
    expect((await cli.run(["key", "revoke", "bob", "1"])).code).toBe(1);
    expect(await cli.json(["key", "revoke", "alice", "1"])).toMatchObject({ id: 1, status: "revoked" });
    const again = await cli.run(["key", "revoke", "alice", "1"]);
    expect([again.code, again.stderr]).toEqual([1, "uam: There is no such key, or it is already revoked\n"]);
    expect((await cli.json(["key", "list", "alice"])).items).toHaveLength(1);
    const { items } = await cli.json(["audit", "list", "--action", "key.revoke", "--resource-id", "1"]);
    expect(items.map((row: { result: string; actor: string }) => [row.result, row.actor])).toEqual([
      ["failed", "olga"],
      ["success", "olga"],
      ["failed", "olga"],
    ]);
  });
});

describe("uam key free", () => {
  test("revokes the key with that fingerprint, and names its holder", async () => {
    const [key] = (await cli.json(["key", "list", "alice"])).items;
    const { code, stdout, stderr } = await cli.run(["key", "free", key.fingerprint]);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^username +alice\nid +2\n/)]);
    expect(stderr).toEndWith("alice no longer has this key; its owner can upload it now.\n");
    expect((await cli.json(["key", "list", "alice"])).items).toEqual([]);
    const again = await cli.run(["key", "free", key.fingerprint]);
    expect([again.code, again.stderr]).toEqual([1, `uam: No active key has the fingerprint ${key.fingerprint}\n`]);
    expect((await cli.run(["key", "free", "laptop"])).stderr).toContain("as ssh-keygen -l prints it");
    const [record] = (await cli.json(["audit", "list", "--action", "key.revoke", "--resource-id", "2"])).items;
    expect(record).toMatchObject({ actor_type: "cli", actor: "olga", result: "success" });
  });
});

describe("uam access --at", () => {
  test("says that a date means its end, where that is not over", async () => {
    const { code, stderr } = await cli.run(["access", "--at", "2999-12-30"]);
    expect([code, stderr]).toEqual([2, expect.stringContaining("--at lies in the future (2999-12-30T23:59:59.999Z)")]);
    expect((await cli.run(["access", "--at", "1s"])).code).toBe(0);
  });
});

describe("uam audit list", () => {
  test("prints newest first", async () => {
    const { stdout } = await cli.run(["audit", "list", "--page-size", "1", "--action", "user.create"]);
    expect(stdout).toMatch(/^ID {2}TIME +ACTOR +ACTION +RESOURCE +RESULT +IP +DETAIL\n/);
    expect(stdout).toMatch(
      / cli:olga {2}user\.create {2}user 2 {4}success {2}- {3}\{"username":"bob","email":"bob@example\.org","expire_at":"[-\d]+T[:.\d]+Z"\}\n$/,
    );
  });

  test("filters by actor and by time, both ends included", async () => {
    const { items } = await cli.json(["audit", "list"]);
    const [newest] = items;
    const period = ["--since", newest.created_at, "--until", newest.created_at];
    expect((await cli.json(["audit", "list", ...period])).items).toContainEqual(newest);
    expect((await cli.json(["audit", "list", "--actor", "nobody"])).total).toBe(0);
    const day = items.at(-1).created_at.slice(0, 10);
    for (const since of ["7d", "1h", day]) {
      expect((await cli.json(["audit", "list", "--since", since])).total).toBe(items.length);
      expect((await cli.json(["audit", "list", "--since", since, "--until", "2020-01-01"])).total).toBe(0);
    }
    expect((await cli.json(["audit", "list", "--until", "1h"])).total).toBe(0);
    const bob = ["audit", "list", "--action", "user.create", "--user"];
    expect((await cli.json([...bob, "bob"])).items).toMatchObject([{ resource_id: "2" }]);
    expect(await cli.json([...bob, "ext_bob"])).toEqual(await cli.json([...bob, "2"]));
    expect((await cli.json([...bob, "4711"])).total).toBe(0);
    expect((await cli.run([...bob, "nobody"])).stderr).toEndWith("give the id of a user who was deleted\n");
    expect((await cli.json(["audit", "list", "--until", "2020-01-01t00:00:00+01:00"])).total).toBe(0);
  });

  test("names the id of the last user who had the name", async () => {
    expect((await cli.run(["user", "create", "gone", "--email", "gone@example.org"])).code).toBe(0);
    const disabled = await cli.run(["user", "disable", "gone"]);
    expect(disabled.stdout).toMatch(/^hours +always$/m);
    const [, id = ""] = /^id +(\d+)$/m.exec(disabled.stdout) ?? [];
    expect((await cli.run(["user", "delete", "gone", "--yes"])).code).toBe(0);
    for (const name of ["gone", "ext_gone"]) {
      const { code, stderr } = await cli.run(["audit", "list", "--user", name]);
      expect([code, stderr]).toEqual([1, expect.stringContaining(`: the last one of that name had ${id}\n`)]);
    }
    expect((await cli.json(["audit", "list", "--user", id])).total).toBe(3);
  });
});

describe("uam otp", () => {
  test("otp prints the code alone on standard output", async () => {
    const { code, stdout, stderr } = await cli.run(["otp", "alice"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^\d{8}\n$/);
    expect(stderr).toMatch(/^Valid until .*Z, for one login\.\n$/);
    // Where mail is sent: the same user by the host account and by the id, during the cooldown.
    const variables = { ...cli.variables, UAM_SMTP_URL: "smtp://192.0.2.1", UAM_MAIL_FROM: "uam@example.org" };
    for (const name of ["ext_alice", "1", "alice"]) {
      const soon = await cli.run(["otp", name], { variables });
      expect([soon.code, soon.stdout]).toEqual([1, ""]);
      expect(soon.stderr).toStartWith("uam: A code was sent a moment ago for this username; try again in ");
    }
    expect((await cli.run(["otp", "alice"])).code).toBe(0);
  });
});

describe("uam otp at a terminal", () => {
  test("prints the page that has the name and the code filled in, if there are pages", async () => {
    await cli.run(["user", "create", "tina", "--email", "tina@example.org"]);
    await cli.run(["user", "create", "toni", "--email", "toni@example.org"]);
    const shown = await cli.run(["otp", "tina"], { isTerminal: true });
    expect(shown.stderr).toContain(`: http://127.0.0.1:8080/login#tina.${shown.stdout.trim()}\n`);
    const variables = { ...cli.variables, UAM_CONSOLE: "off" };
    expect((await cli.run(["otp", "toni"], { isTerminal: true, variables })).stderr).not.toContain("http");
  });
});

describe("uam reconcile", () => {
  test("finds nothing if the host matches what is stored", async () => {
    for (const args of [["reconcile"], ["reconcile", "--check"]]) {
      const { code, stdout, stderr } = await cli.run(args);
      expect([code, stdout]).toEqual([0, ""]);
      expect(stderr).toContain("The host matches what is stored.\n");
    }
    expect(await cli.json(["reconcile", "--check"])).toEqual({ items: [] });
  });
});

describe("uam migrate", () => {
  test("says that the database is up to date", async () => {
    expect(await cli.run(["migrate"])).toEqual({ code: 0, stdout: "", stderr: "The database is up to date.\n" });
  });
});

describe("uam config", () => {
  test("prints the values in force, and no secret", async () => {
    const variables = {
      ...cli.variables,
      UAM_SMTP_URL: "smtp://u:hunter2@mail.example.org",
      UAM_MAIL_FROM: "a@b.example",
    };
    const { code, stdout } = await cli.run(["config"], { variables });
    expect(code).toBe(0);
    expect(stdout).toContain("UAM_LISTEN=127.0.0.1:8080\n");
    expect(stdout).toContain("UAM_SMTP_URL=(set)\n");
    expect(stdout).toContain("# UAM_TLS_CERT is unset\n");
    expect(stdout).not.toContain("hunter2");
    expect(await cli.json(["config"])).toMatchObject({ UAM_DEFAULT_TTL: "90d", UAM_DATABASE_URL: "(set)" });
  });
});

describe("describeConfig()", () => {
  test("gives every value in the form in which it can be set", () => {
    const surroundings = { isRoot: true, currentDirectory: "/" };
    const unusual = {
      ...{ UAM_LISTEN: "[::1]:1", UAM_SESSION_TTL: "1d12h", UAM_LOCKOUT_PERIOD: "90s", UAM_OTP_TTL: "5m" },
      ...{ UAM_CAPTCHA: "off", UAM_GROUPS: "a,b", UAM_UID_RANGE: "3000-4000", UAM_EXPIRY_REMINDERS: "3,2" },
      ...{ UAM_DEFAULT_TTL: "2w", UAM_RECYCLE_PERIOD: "36h", UAM_AUDIT_RETENTION: "1000d" },
    };
    for (const given of [{}, unusual, { UAM_LISTEN: "unix:/run/uam.sock" }]) {
      const config = readConfig(given, surroundings);
      const set = Object.entries(describeConfig(config)).filter(([, value]) => value !== null);
      expect(readConfig(Object.fromEntries(set) as Record<string, string>, surroundings)).toEqual(config);
    }
  });
});

describe("a database that is not there", () => {
  test("is a failure with a sentence", async () => {
    const variables = { ...cli.variables, UAM_DATABASE_URL: "postgres://uam@127.0.0.1:1/uam" };
    const { code, stdout, stderr } = await cli.run(["user", "list"], { variables });
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(/^uam: The database cannot be reached: .*ECONNREFUSED.*\n$/);
  });
});
