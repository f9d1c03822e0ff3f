import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { GROUPS } from "../../src/cli/commands.ts";
import { createTestCli, type TestCli } from "../support/cli.ts";

const COMMANDS = {
  user: ["list", "show", "create", "update", "disable", "enable", "extend", "delete", "rebuild"],
  key: ["list", "revoke", "free"],
  approval: ["list", "approve", "reject"],
  audit: ["list", "export"],
  setting: ["list", "set", "unset"],
  admin: ["add", "list", "passwd", "remove"],
  mail: ["test"],
  otp: [],
  lock: [],
  serve: [],
  reconcile: [],
  migrate: [],
  config: [],
  healthcheck: [],
  version: [],
} as const;

let cli: TestCli;
beforeAll(async () => {
  cli = await createTestCli();
});
afterAll(() => cli.close());

describe("runProgram()", () => {
  test("--help names every command and the exit codes", async () => {
    const { code, stdout, stderr } = await cli.run(["--help"]);
    expect([code, stderr]).toEqual([0, ""]);
    for (const name of [...Object.keys(COMMANDS), "completion"])
      expect(stdout).toMatch(new RegExp(`^ {2}${name} +\\S`, "m"));
    expect(stdout).toContain("78 configuration");
    expect(stdout).not.toMatch(/ $/m);
  });

  test("-h is --help, on every level", async () => {
    for (const args of [[], ["user"], ["user", "create"], ["serve"]]) {
      const short = await cli.run([...args, "-h"]);
      expect([args, short.code, short.stderr]).toEqual([args, 0, ""]);
      expect(short).toEqual(await cli.run([...args, "--help"]));
    }
  });

  test("every command has help, on every level", async () => {
    for (const [name, subcommands] of Object.entries(COMMANDS)) {
      const group = await cli.run([name, "--help"]);
      expect([name, group.code, group.stdout.includes(`Usage: uam ${name}`)]).toEqual([name, 0, true]);
      for (const subcommand of subcommands) {
        expect(group.stdout).toMatch(new RegExp(`^ {2}${subcommand} +\\S`, "m"));
        const { code, stdout } = await cli.run([name, subcommand, "--help"]);
        expect([subcommand, code, stdout.includes(`Usage: uam ${name} ${subcommand}`)]).toEqual([subcommand, 0, true]);
      }
      expect(GROUPS.has(name)).toBe(subcommands.length > 0);
    }
  });

  test("serve --help lists all variables", async () => {
    const { stdout } = await cli.run(["serve", "--help"]);
    expect(stdout).toContain("  UAM_LISTEN\n      address and port, or unix:/path, to listen on [127.0.0.1:8080]\n");
    expect(stdout.match(/^ {2}UAM_/gm)?.length).toBeGreaterThan(35);
  });

  test("no command at all is a mistake in usage, answered with help", async () => {
    for (const args of [[], ["user"]]) {
      const { code, stdout, stderr } = await cli.run(args);
      expect([code, stdout]).toEqual([2, ""]);
      expect(stderr).toContain("Usage: uam");
    }
  });

  test("mistakes in usage are a sentence on standard error and exit 2", async () => {
    const mistakes = {
      "usr list": 'There is no command "uam usr". Did you mean "uam user"?',
      "user crate bob": 'There is no command "uam user crate". Did you mean "uam user create"?',
      "user ls": 'There is no command "uam user ls". Did you mean "uam user list"?',
      "key rm 3": 'There is no command "uam key rm". Did you mean "uam key revoke"?',
      helpp: 'There is no command "uam helpp". Did you mean "uam help"?',
      "help disable": 'There is no command "uam disable". Did you mean "uam user disable"?',
      frobnicate: 'There is no command "uam frobnicate".\n',
      "user frob\u009bnicate": 'There is no command "uam user frob?nicate".\n',
      "user list --stats disabled": 'uam user list has no option "--stats". Did you mean --status?',
      "user list --pag=2": 'uam user list has no option "--pag". Did you mean --page?',
      "user create bob --email --ttl 3 --ttl 4": 'uam user create has no option "--ttl". Did you mean --ttl-days?',
      "--hlp": 'uam has no option "--hlp". Did you mean --help?',
      "user list --page 0": '`--page`: Expected a value greater than or equal to 1, but got "0".',
      "user list --page-size 501": '`--page-size`: Expected a value less than or equal to 500, but got "501".',
      "user list --status gone": '`--status`: Expected one of "active", "disabled", and "expired", but got "gone".',
      "user create bob": "Missing option `--email`.",
      "user extend bob --days 3651": "`--days`: The number of days must be a whole number from 1 to 3650",
      "user extend bob --days 0": "`--days`: The number of days must be a whole number from 1 to 3650",
      "user create bob --ttl-days 0 --email b@example.org": "`--ttl-days`: The number of days must be a whole number",
      "approval approve 1 --ttl-days 0": "`--ttl-days`: The number of days must be a whole number from 1 to 3650",
      "key revoke bob x": "`KEYID`: Expected a valid integer, but got",
      "audit list --since 2026-02-30T00:00:00Z": '`--since`: "2026-02-30T00:00:00Z" is not a time such as',
      "healthcheck --wait 5": "`--wait`: Not a duration such as",
      lock: "Expected a `NAME`",
    };
    for (const [line, sentence] of Object.entries(mistakes)) {
      const { code, stdout, stderr } = await cli.run(line.split(" "));
      expect([line, code, stdout]).toEqual([line, 2, ""]);
      expect(stderr).toContain(`uam: ${sentence}`);
      expect(stderr).toEndWith("Try uam --help, or uam COMMAND --help.\n");
    }
  });

  test("faults of the configuration are all named, with exit 78", async () => {
    const variables = { ...cli.variables, UAM_LISTEN: "nowhere", UAM_MAX_KEYS: "many" };
    for (const args of [["user", "list"], ["config"], ["healthcheck"], ["lock", "bob"], ["reconcile"]]) {
      const { code, stdout, stderr } = await cli.run(args, { variables });
      expect([args, code, stdout]).toEqual([args, 78, ""]);
      expect(stderr).toStartWith("uam: the configuration has faults:\n");
      expect(stderr).toContain("UAM_LISTEN must be ADDRESS:PORT");
      expect(stderr).toContain("UAM_MAX_KEYS is not a whole number");
    }
  });

  test("what only opening shows to be wrong is a fault of the configuration too", async () => {
    const file = join(cli.dataDir, "no.pem");
    const variables = {
      ...cli.variables,
      UAM_SMTP_URL: "smtp://mail.example.org/?tls=maybe",
      UAM_MAIL_FROM: "uam@example.org",
      UAM_TLS_CERT: file,
      UAM_TLS_KEY: file,
      UAM_TERMS_FILE: file,
      UAM_BRAND_LOGO: file,
    };
    const { code, stderr } = await cli.run(["serve"], { variables });
    expect(code).toBe(78);
    expect(stderr.split("\n").slice(1, -1)).toEqual([
      "  UAM_SMTP_URL: The SMTP URL has tls=maybe; it must be required, optional or none",
      `  UAM_TLS_CERT, UAM_TLS_KEY: UAM_TLS_CERT names a file that cannot be read: ${file}`,
      `  UAM_TERMS_FILE: ${file} cannot be read: ENOENT: no such file or directory, open '${file}'`,
      `  UAM_BRAND_LOGO: ${file} cannot be read`,
    ]);
  });

  test("a failed system call is one sentence, without a stack trace", async () => {
    const { UAM_DATABASE_URL: _, ...rest } = cli.variables;
    const variables = { ...rest, UAM_DATA_DIR: "/dev/null/uam" };
    expect(await cli.run(["migrate"], { variables })).toEqual({
      code: 1,
      stdout: "",
      stderr: "uam: ENOTDIR: not a directory, mkdir '/dev/null/uam'\n",
    });
  });

  test("told to stop, a command that only reads gives up, and one that changes something finishes", async () => {
    const stopped = { untilStopped: () => Promise.resolve() };
    expect(await cli.run(["user", "list"], stopped)).toEqual({
      code: 1,
      stdout: "",
      stderr: "uam: Stopped before it was done\n",
    });
    expect((await cli.run(["setting", "set", "policy.recycle_period", "20d"], stopped)).code).toBe(0);
    expect((await cli.run(["user", "create", "finished", "--email", "f@example.org"], stopped)).code).toBe(0);
  });

  test("version and help need no configuration", async () => {
    const variables = { UAM_LISTEN: "nowhere" };
    const version = await cli.run(["version"], { variables });
    expect(version).toMatchObject({ code: 0, stderr: "" });
    expect(await cli.run(["--version"], { variables })).toEqual(version);
    expect((await cli.run(["help", "user"], { variables })).code).toBe(0);
  });
});

describe("main.ts", () => {
  test("loads no package before it knows the command, and then the parser alone, so that it starts fast", () => {
    expect(packagesOf("main.ts")).toEqual([]);
    expect(packagesOf("cli/parsed.ts")).toEqual(["@optique/core"]);
  });

  test("the service loads the packages that every service needs; what it does not use stays out of memory", () => {
    expect(packagesOf("cli/commands/service/serve.ts")).toEqual([
      "@valibot/to-json-schema",
      "croner",
      "drizzle-orm",
      "elysia",
      "fastest-levenshtein",
      "ipaddr.js",
      "p-limit",
      "postgres",
      "valibot",
    ]);
  });
});

/** The packages that a module loads before it runs, sorted. */
function packagesOf(module: string): readonly string[] {
  const packages = new Set<string>();
  const seen = new Set<string>();
  const waiting = [join(import.meta.dir, "../../src", module)];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (seen.has(path) || !path.endsWith(".ts")) continue;
    seen.add(path);
    const { imports } = new Bun.Transpiler({ loader: "ts" }).scan(readFileSync(path));
    for (const { kind, path: target } of imports) {
      if (kind !== "import-statement") continue;
      const local = join(dirname(path), target);
      if (target.startsWith(".")) waiting.push(existsSync(local) ? local : "");
      else if (!/^(node|bun):/.test(target)) packages.add(/^(@[^/]+\/)?[^/]+/.exec(target)?.[0] ?? target);
    }
  }
  expect(seen.size).toBeGreaterThan(5);
  return [...packages].sort();
}
