import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { existsSync, lstatSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { endOf, enforce, momentOf, readLease, writeLease } from "../../src/agent/lease.ts";
import { type AgentInstallSettings, planAgent, planAgentRemoval } from "../../src/install/agent.ts";
import { renderAgentUnit, renderLeaseTimer, renderLeaseUnit } from "../../src/install/agent-unit.ts";
import { LEASE_SCRIPT } from "../../src/install/lease-script.ts";
import { describePlan } from "../../src/install/plan.ts";
import { systemClock } from "../../src/shared/time/clock.ts";
import { needs } from "../support/tools.ts";

const settings: AgentInstallSettings = {
  ...{
    mode: "direct" as const,
    source: "/usr/local/bin/uam",
    homeBase: "/home",
    sudoers: "uam ALL=(root) /bin/true\n",
  },
  ...{ authorizedKeysFile: "/var/lib/uam/keys/%u/authorized_keys", sshUnit: "ssh.service", processes: 500 },
};
const top = mkdtempSync(join(tmpdir(), "uam-test-agent-"));
afterAll(() => rmSync(top, { recursive: true, force: true }));

describe("planAgent()", () => {
  test("has sshd read the link before anything is sent, and starts the timer, not the agent", () => {
    const steps = planAgent(settings);
    const text = describePlan(steps);
    expect(text).toContain("RevokedKeys /run/uam-agent/revoked-keys");
    const commands = steps.flatMap((step) => (step.kind === "command" ? [step.argv.join(" ")] : []));
    expect(commands).toEqual([
      "systemd-sysusers /etc/sysusers.d/uam.conf",
      "systemctl try-reload-or-restart ssh.service",
      "systemctl daemon-reload",
      "systemctl enable --now uam-agent-lease.timer",
      "systemctl enable uam-agent-lease.service",
      "systemctl enable uam-agent.service",
    ]);
    expect(text).not.toContain("uam-postgres");
    expect(text).toContain("UAM_DATA_DIR=/var/lib/uam-agent");
    expect(text).not.toContain("UAM_SMTP_URL");
    expect(text).toContain("Environment=BUN_JSC_heapGrowthMaxIncrease=1");
  });

  test("in sudo mode the agent's files are its own; a dry run leaves sshd as it is", () => {
    const owners = planAgent({ ...settings, mode: "sudo", authorizedKeysFile: "%h/.ssh/authorized_keys" }).flatMap(
      (step) => (step.kind === "directory" ? [[step.path, step.owner, step.mode]] : []),
    );
    expect(owners).toEqual([
      ["/etc/uam", "root", 0o750],
      ["/var/lib/uam-agent", "uam", 0o700],
      ["/var/lib/uam-jobs", "root", 0o700],
    ]);
    expect(describePlan(planAgent({ ...settings, mode: "dry-run" }))).not.toContain("sshd_config.d");
  });

  test("planAgentRemoval() keeps sshd's configuration and the agent's own while there are accounts", () => {
    const removed = (accounts: readonly string[]) =>
      JSON.stringify(planAgentRemoval({ sshUnit: "ssh.service", accounts }));
    for (const path of ["/etc/ssh/sshd_config.d/50-uam.conf", "/etc/uam/agent.env"]) {
      expect(removed([])).toContain(path);
      expect(removed(["ext_alice"])).not.toContain(path);
    }
  });

  test.if(needs("systemd-analyze"))("systemd understands the units", () => {
    const directory = mkdtempSync(join(top, "units-"));
    const units = {
      "uam-agent.service": renderAgentUnit(settings).replace("ExecStart=/usr/local/bin/uam", "ExecStart=/bin/true"),
      "uam-agent-lease.service": renderLeaseUnit("direct"),
      "uam-agent-lease.timer": renderLeaseTimer(),
    };
    const paths = Object.entries(units).map(([name, text]) => {
      // The manual page need not be installed here.
      writeFileSync(join(directory, name), text.replace(/^Documentation=.*\n/m, ""));
      return join(directory, name);
    });
    const { stderr, status } = spawnSync("systemd-analyze", ["verify", ...paths], { encoding: "utf8" });
    expect([stderr, status]).toEqual(["", 0]);
  });
});

describe("LEASE_SCRIPT", () => {
  let directory: string;
  const path = () => join(directory, "revoked-keys");
  const files = () => ({ directory, target: join(top, "list") });
  beforeEach(() => {
    directory = mkdtempSync(join(top, "run-"));
    symlinkSync(files().target, path());
  });
  /** Whether the link is there after it has run. */
  function run(script = LEASE_SCRIPT): boolean {
    expect(spawnSync("/bin/sh", ["-c", script, "sh", directory], { encoding: "utf8" })).toMatchObject({
      ...{ status: 0, stdout: "", stderr: "" },
    });
    return lstatSync(path(), { throwIfNoEntry: false }) !== undefined;
  }
  const lease = (boot: number, wall: number, name: "lease" | "hold" = "lease") => {
    const now = momentOf(systemClock);
    writeLease(files(), name, { boot: now.boot + boot, wall: now.wall + wall, ends: "logins" });
  };

  test("leaves the link while a lease or a hold lives on both clocks, and removes it otherwise", () => {
    for (const [boot, wall, lives] of [
      [60, 60, true],
      [-1, 60, false],
      [60, -1, false],
    ] as const) {
      for (const name of ["lease", "hold"] as const) {
        enforce(files(), () => ({ boot: 0, wall: 0 }));
        lease(boot, wall, name);
        symlinkIfMissing();
        expect(run()).toBe(lives);
        rmSync(join(directory, name));
      }
    }
  });

  test("without a lease, or with one that says nothing, the link goes", () => {
    expect(run()).toBe(false);
    for (const text of [
      "",
      "x y z\n",
      "99999999999\n",
      "99999999999 $(touch /tmp/x) logins\n",
      "-1 -1 logins\n",
      "1e9 1e9\n",
    ]) {
      symlinkIfMissing();
      writeFileSync(join(directory, "lease"), text);
      expect(run()).toBe(false);
      expect(readLease(files(), "lease")).toBeUndefined();
    }
    mkdirSync(path());
    expect(run()).toBe(false);
  });

  test("a lease without end lives, in the unit's quoting, too", () => {
    writeLease(files(), "lease", { ...endOf({ boot: 0, wall: 0 }, null, 0), ends: "logins" });
    expect(run()).toBe(true);
    const [, quoted = ""] = /ExecStart=\/bin\/sh -c '([^']*)' sh/.exec(renderLeaseUnit("direct")) ?? [];
    // As systemd reads it.
    const script = quoted.replaceAll("%%", "%").replaceAll("$$", "$").replaceAll("\\\\", "\\");
    expect(run(script)).toBe(true);
    lease(-1, -1);
    expect(run(script)).toBe(false);
  });

  test("does nothing where there is no such directory", () => {
    rmSync(directory, { recursive: true });
    expect(run()).toBe(false);
    expect(existsSync(directory)).toBe(false);
  });

  function symlinkIfMissing(): void {
    if (lstatSync(path(), { throwIfNoEntry: false }) === undefined) symlinkSync(files().target, path());
  }
});
