import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { asServiceUser, belongsToService, unitUser } from "../../../../src/cli/commands/service/service-user.ts";
import { commandsFor } from "../../../../src/host/execute/sudo-rules.ts";
import { renderUnit } from "../../../../src/install/unit.ts";
import { testAccount, testSettings } from "../../../support/host-account.ts";

const top = mkdtempSync(join(tmpdir(), "uam-test-service-user-"));
afterAll(() => rmSync(top, { recursive: true, force: true }));

const settings = { source: "/usr/bin/uam", homeBase: "/home", authorizedKeysFile: "%h/.ssh/authorized_keys" };

describe("unitUser", () => {
  test("unitUser() reads the unit that was installed and what an administrator added to it", () => {
    const unit = join(top, "uam.service");
    expect(unitUser(unit)).toBeUndefined();
    writeFileSync(unit, renderUnit({ ...settings, mode: "direct" }));
    expect(unitUser(unit)).toBeUndefined();
    writeFileSync(unit, renderUnit({ ...settings, mode: "sudo" }));
    expect(unitUser(unit)).toBe("uam");
    mkdirSync(`${unit}.d`);
    writeFileSync(join(`${unit}.d`, "local.conf"), "[Service]\nUser=other\n");
    expect(unitUser(unit)).toBe("other");
    writeFileSync(join(`${unit}.d`, "zz.conf"), "[Service]\nUser=root\n");
    expect(unitUser(unit)).toBeUndefined();
  });
});

describe("belongsToService", () => {
  test("belongsToService() is true for what needs the service's data, and false for what concerns the host", () => {
    for (const args of [
      ["admin", "add"],
      ["user", "list"],
      ["serve"],
      ["completion", "bash"],
      ["backup", "x"],
      ["lock", "a"],
      // The mail log is the service's.
      ["mail", "test", "a@example.org"],
      ["otp", "a"],
      ["host", "list"],
      ["host", "lock", "sessions"],
    ]) {
      expect([args, belongsToService(args)]).toEqual([args, true]);
    }
    for (const args of [
      ["install", "--mode", "sudo"],
      ["uninstall"],
      ["sudoers"],
      ["doctor"],
      ["--help"],
      ["sweep", "20000"],
      ["host", "sessions", "ext_alice", "20000", "uam-ext"],
      ["host", "end-session", "ext_alice", "20000", "uam-ext", "12345678"],
      ["host", "logins", "00"],
      ["host", "refusals", "ext_alice", "4000"],
      ["host", "keep-jobs", "ext_alice", "20000"],
      ["host", "forget-jobs"],
      ["user", "jobs", "alice"],
      [],
    ]) {
      expect([args, belongsToService(args)]).toEqual([args, false]);
    }
  });

  test("belongsToService() is false for whatever the service runs of this program as root", () => {
    const program = ["/usr/bin/uam"];
    const account = { ...testAccount(), name: "ext_alice", uid: 20_000 };
    const rest = { mark: "0123456789abcdef", below: "mnt", names: account.name, session: "123450000678", place: "00" };
    const commands = commandsFor(testSettings(), { account, ...rest }, { program });
    const own = commands.filter(({ as, argv }) => as === "root" && argv[0] === program[0]);
    expect(own.length).toBeGreaterThan(4);
    for (const { argv } of own) expect([argv, belongsToService(argv.slice(1))]).toEqual([argv, false]);
  });
});

describe("asServiceUser", () => {
  const variables = {
    ...{ UAM_LOG_LEVEL: "debug", TERM: "xterm", LC_ALL: "C", PATH: "/root/bin", HOME: "/root", SUDO_USER: "mallory" },
    ...{ BUN_OPTIONS: "--preload=/tmp/x", LD_PRELOAD: "/tmp/x.so", PGHOST: "elsewhere", SSH_AUTH_SOCK: "/tmp/agent" },
  };
  const given = { program: "/usr/bin/uam", args: ["key", "list", "a b"], variables };

  test("asServiceUser() passes the arguments unchanged, and only harmless variables", () => {
    expect(asServiceUser("uam", { ...given, operator: { name: "uid -1", uid: -1 } })).toEqual({
      argv: [
        "/usr/bin/setpriv",
        "--pdeathsig=TERM",
        "--reuid=uam",
        "--regid=uam",
        "--init-groups",
        "--",
        "/usr/bin/uam",
        "key",
        "list",
        "a b",
      ],
      env: {
        ...{ UAM_LOG_LEVEL: "debug", TERM: "xterm", LC_ALL: "C" },
        PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        ...{ HOME: "/var/lib/uam", USER: "uam", LOGNAME: "uam" },
      },
    });
  });

  test("asServiceUser() passes on the operator, and nobody else", () => {
    const { env } = asServiceUser("uam", { ...given, operator: { name: "alice", uid: 1000 } });
    expect([env.SUDO_USER, env.SUDO_UID]).toEqual(["alice", "1000"]);
    const root = asServiceUser("uam", { ...given, operator: { name: "root", uid: 0 } }).env;
    expect([root.SUDO_USER, root.SUDO_UID]).toEqual(["root", "0"]);
  });
});
