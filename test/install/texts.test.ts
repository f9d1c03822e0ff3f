import { afterAll, describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { describeVariables, readConfig } from "../../src/config/config.ts";
import { renderEnvironment } from "../../src/install/environment.ts";
import { readEnvironmentFile } from "../../src/install/environment-file.ts";
import { centralKeyDirectory } from "../../src/install/settings.ts";
import { renderSshdDropIn } from "../../src/install/sshd-drop-in.ts";
import { renderSysusers } from "../../src/install/sysusers.ts";
import { renderUnit } from "../../src/install/unit.ts";
import { needs } from "../support/tools.ts";

const top = mkdtempSync(join(tmpdir(), "uam-test-install-"));
afterAll(() => rmSync(top, { recursive: true, force: true }));

const KEYS = "%h/.ssh/authorized_keys";
const settings = { source: process.execPath, homeBase: "/home", authorizedKeysFile: KEYS };
const hasSshd = needs("sshd") && process.getuid?.() === 0;

/** Values of a directive, in order; what follows # is not one. */
function valuesOf(unit: string, directive: string): readonly string[] {
  return unit
    .split("\n")
    .flatMap((line) => (line.startsWith(`${directive}=`) ? [line.slice(directive.length + 1)] : []));
}

describe("renderUnit", () => {
  const direct = renderUnit({ ...settings, mode: "direct" });
  const sudo = renderUnit({ ...settings, mode: "sudo" });

  test("renderUnit() has what the service needs to be started, stopped, reloaded and watched, in both modes", () => {
    for (const unit of [direct, sudo]) {
      expect(valuesOf(unit, "Type")).toEqual(["notify"]);
      expect(valuesOf(unit, "EnvironmentFile")).toEqual(["/etc/uam/uam.env"]);
      expect(valuesOf(unit, "UnsetEnvironment")).toEqual(["BUN_BE_BUN BUN_OPTIONS"]);
      expect(valuesOf(unit, "KillMode")).toEqual(["mixed"]);
      expect(Number(valuesOf(unit, "TimeoutStopSec")[0])).toBeGreaterThanOrEqual(90);
      expect(valuesOf(unit, "WatchdogSec")).toEqual(["30"]);
      expect(valuesOf(unit, "StateDirectoryMode")).toEqual(["0711"]);
      expect(valuesOf(unit, "RestartPreventExitStatus")).toEqual(["78"]);
      expect(valuesOf(unit, "MemoryDenyWriteExecute")).toEqual([]);
    }
  });

  test("renderUnit() restarts the service forever, except with a broken configuration, and has it killed last", () => {
    for (const unit of [direct, sudo]) {
      expect(valuesOf(unit, "Restart")).toEqual(["always"]);
      expect(valuesOf(unit, "StartLimitIntervalSec")).toEqual(["0"]);
      expect(Number(valuesOf(unit, "OOMScoreAdjust")[0])).toBeLessThanOrEqual(-900);
      expect(Number(valuesOf(unit, "TasksMax")[0])).toBeGreaterThanOrEqual(1024);
    }
  });

  test("renderUnit() lets root end the processes of accounts and abort their mounts, and write nothing else in /sys", () => {
    const paths = valuesOf(direct, "ReadWritePaths").flatMap((value) => value.split(" "));
    expect(paths.filter((path) => path.startsWith("-/sys/"))).toEqual([
      "-/sys/fs/cgroup/user.slice",
      "-/sys/fs/cgroup/unified/user.slice",
      "-/sys/fs/fuse/connections",
    ]);
    for (const directive of ["ProtectControlGroups", "ProtectKernelTunables"])
      expect(valuesOf(direct, directive)).toEqual(["yes"]);
    // The mount and the group must exist when the exemption is made.
    for (const unit of ["user.slice", "sys-fs-fuse-connections.mount"])
      expect(valuesOf(direct, "After")[0]?.split(" ")).toContain(unit);
    expect(valuesOf(sudo, "ReadWritePaths").join(" ")).not.toContain("-/sys/");
  });

  test("renderUnit() executes nothing in homes and temporary directories", () => {
    expect(valuesOf(direct, "Environment")).toEqual(["BUN_JSC_heapGrowthMaxIncrease=1"]);
    expect(valuesOf(direct, "NoExecPaths")).toEqual(["/home /tmp /var/tmp /dev/shm"]);
  });

  test("renderUnit() lets root write homes and accounts, not what would give it more rights", () => {
    expect(valuesOf(direct, "ProtectSystem")).toEqual(["strict"]);
    expect(valuesOf(direct, "ReadWritePaths")[0]).toStartWith("/etc /home -/var/mail");
    for (const unit of [direct, sudo])
      expect(valuesOf(unit, "ReadWritePaths")[0]?.split(" ")).toContain("-/var/lib/uam-jobs");
    for (const path of ["/etc/ssh", "/etc/sudoers.d", "/etc/pam.d", "/etc/systemd", "/etc/cron.d", "/etc/uam"]) {
      expect(valuesOf(direct, "ReadOnlyPaths")[0]?.split(" ")).toContain(`-${path}`);
    }
    expect(valuesOf(direct, "CapabilityBoundingSet")[0]).not.toContain("SYS_ADMIN");
  });

  test("renderUnit() shares no /tmp with the accounts, in neither mode", () => {
    for (const unit of [direct, sudo]) {
      expect(valuesOf(unit, "PrivateTmp")).toEqual(["yes"]);
      expect(valuesOf(unit, "ReadOnlyPaths")).toContain("/tmp /var/tmp");
    }
  });

  test("renderUnit() opens the directory of a layout outside the homes", () => {
    const unit = renderUnit({ ...settings, mode: "direct", authorizedKeysFile: "/srv/keys/%u/authorized_keys" });
    expect(valuesOf(unit, "ReadWritePaths")[0]?.split(" ")).toContain("/srv/keys");
    expect(centralKeyDirectory("/srv/keys/%u/authorized_keys")).toBe("/srv/keys");
    expect(centralKeyDirectory("/srv/%u.keys")).toBe("/srv");
    expect(centralKeyDirectory(KEYS)).toBeUndefined();
  });

  test("renderUnit() sets nothing in sudo mode that implies NoNewPrivileges for a user (systemd.exec(5))", () => {
    const implying =
      /^(PrivateDevices|ProtectKernel\w+|ProtectClock|ProtectHostname|Restrict(Namespaces|Realtime|SUIDSGID|AddressFamilies)|LockPersonality|SystemCall\w+|DynamicUser)=/m;
    expect(sudo).not.toMatch(implying);
    expect(valuesOf(sudo, "NoNewPrivileges")).toEqual(["no"]);
    expect(valuesOf(sudo, "User")).toEqual(["uam"]);
  });

  test.if(needs("systemd-analyze"))("systemd takes the unit, and rates direct mode 3.6 or better", () => {
    const path = join(top, "uam.service");
    // The program is elsewhere here, and manual pages may be missing.
    const verified = direct.replace(/^ExecStart=.*$/m, "ExecStart=/bin/true").replace(/^Documentation=.*\n/m, "");
    writeFileSync(path, verified);
    const verify = spawnSync("systemd-analyze", ["verify", path], { encoding: "utf8" });
    expect(verify.stderr.split("\n").filter((line) => line.includes("uam.service"))).toEqual([]);
    const rate = spawnSync("systemd-analyze", ["security", "--offline=true", "--threshold=36", path], {
      encoding: "utf8",
    });
    expect([rate.status, rate.stdout.trim().split("\n").at(-1)]).toEqual([
      0,
      expect.stringContaining("exposure level"),
    ]);
  });
});

describe("renderEnvironment", () => {
  test("renderEnvironment() names every variable, sets mode and data directory, and is a configuration", () => {
    const path = join(top, "uam.env");
    const text = renderEnvironment("direct");
    writeFileSync(path, text, { mode: 0o640 });
    const read = readEnvironmentFile(path, process.getuid?.() ?? 0);
    expect(read).toEqual({ UAM_HOST_MODE: "direct", UAM_DATA_DIR: "/var/lib/uam" });
    expect(readConfig(read, { isRoot: false, currentDirectory: "/" })).toMatchObject({ hostMode: "direct" });
    for (const name of describeVariables().flatMap((variable) => variable.name.split(", "))) {
      expect(text).toMatch(new RegExp(`^#?${name}=`, "m"));
    }
    // What is commented out is the default: setting it changes nothing.
    const all = text.replace(/^#(UAM_\w+=.+)$/gm, "$1");
    writeFileSync(path, all);
    const given = readEnvironmentFile(path, process.getuid?.() ?? 0);
    const surroundings = { isRoot: false, currentDirectory: "/" };
    expect(readConfig(given, surroundings)).toEqual(readConfig(read, surroundings));
  });

  test("renderEnvironment() shows in its comments no value that could not be copied from there", () => {
    const surroundings = { isRoot: false, currentDirectory: "/" };
    const isTaken = (name: string, value: string) => {
      try {
        readConfig({ [name]: value }, surroundings);
        return true;
      } catch {
        return false;
      }
    };
    const shown: string[] = [];
    for (const [, comment = "", name = ""] of renderEnvironment("sudo").matchAll(/^# (.*)\n#?(UAM_\w+)=/gm)) {
      for (const word of comment.split(/[\s,;()`]+/)) {
        if (word === "" || !isTaken(name, word.toLowerCase()) || /^UAM_|^\d/.test(word)) continue;
        expect([name, word, isTaken(name, word)]).toEqual([name, word, true]);
        shown.push(word);
      }
    }
    for (const value of ["debug", "json", "pretty", "off", "dry-run", "direct", "sudo"]) expect(shown).toContain(value);
  });

  test("readEnvironmentFile() reads quotes as systemd does, and refuses a file that others could have written", () => {
    const path = join(top, "quoted.env");
    const own = process.getuid?.() ?? 0;
    writeFileSync(path, `; note\n# note\n\nA=plain value\nB="with \\"quotes\\""\nC='as $is'\n`, { mode: 0o600 });
    expect(readEnvironmentFile(path, own)).toEqual({ A: "plain value", B: 'with "quotes"', C: "as $is" });
    expect(() => readEnvironmentFile(path, own + 1)).toThrow("must belong to root");
    chmodSync(path, 0o620);
    expect(() => readEnvironmentFile(path, own)).toThrow("must belong to root");
    expect(readEnvironmentFile(join(top, "missing.env"))).toEqual({});
    const broken = join(top, "broken.env");
    writeFileSync(broken, "A=1\nexport B=2\n", { mode: 0o600 });
    expect(() => readEnvironmentFile(broken, own)).toThrow(`${broken} line 2 is not NAME=VALUE`);
  });
});

describe("renderSshdDropIn", () => {
  test.if(hasSshd)("sshd takes the drop-in: one key file, keys only, for ext_ accounts only", () => {
    mkdirSync("/run/sshd", { recursive: true });
    const [config, dropIn, key] = [join(top, "sshd_config"), join(top, "50-uam.conf"), join(top, "host_key")];
    spawnSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", key]);
    writeFileSync(dropIn, renderSshdDropIn("%h/.ssh/authorized_keys"));
    writeFileSync(config, `Include ${dropIn}\nHostKey ${key}\nPermitUserRC yes\nPasswordAuthentication yes\n`);
    const ask = (user: string) => {
      const args = ["-T", "-f", config, "-C", `user=${user},host=localhost,addr=127.0.0.1`];
      const result = spawnSync("/usr/sbin/sshd", args, { encoding: "utf8" });
      expect(result.stderr).toBe("");
      return result.stdout.split("\n");
    };
    const external = ask("ext_probe");
    expect(external).toContain(`authorizedkeysfile ${KEYS}`);
    expect(external).toContain("permituserrc no");
    expect(external).toContain("authenticationmethods publickey");
    expect(external).toContain("trustedusercakeys none");
    expect(external).toContain("revokedkeys /etc/ssh/uam-revoked-keys");
    const other = ask("alice");
    expect(other).toContain("authorizedkeysfile .ssh/authorized_keys .ssh/authorized_keys2");
    expect(other).toContain("permituserrc yes");
  });
});

describe("renderSysusers", () => {
  test("renderSysusers() creates only the accounts that the mode uses", () => {
    const names = (text: string) => [...text.matchAll(/^[ug] (\S+)/gm)].map((match) => match[1]);
    expect(names(renderSysusers("direct"))).toEqual(["uam-ext", "uam-postgres"]);
    expect(names(renderSysusers("sudo"))).toEqual(["uam-ext", "uam"]);
    expect(names(renderSysusers(undefined))).toEqual(["uam-ext", "uam", "uam-postgres"]);
  });
});
