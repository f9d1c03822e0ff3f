import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { applyPlan, type Outcome } from "../../src/install/apply.ts";
import { planInstall, planUninstall } from "../../src/install/install.ts";
import { processLimit } from "../../src/install/limits.ts";
import { describePlan, type PlaceFile, type Step } from "../../src/install/plan.ts";
import type { InstallSettings } from "../../src/install/settings.ts";
import { sshdSaid } from "../support/sshd-recordings.ts";

const top = mkdtempSync(join(tmpdir(), "uam-test-install-"));
const source = join(top, "built-uam");
let root = "";
writeFileSync(source, "program");
beforeEach(() => {
  root = mkdtempSync(join(top, "root-"));
});
afterAll(() => rmSync(top, { recursive: true, force: true }));

const isRoot = process.getuid?.() === 0;
const settings: InstallSettings = {
  mode: "direct",
  source,
  homeBase: "/home",
  authorizedKeysFile: "%h/.ssh/authorized_keys",
  sudoers: "uam ALL=(root) NOPASSWD: /usr/bin/true\n",
  sshUnit: "ssh.service",
  processes: 500,
};

async function apply(steps: readonly Step[]): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = [];
  await applyPlan(steps, { root, report: (_, outcome) => outcomes.push(outcome) });
  return outcomes;
}

function filesOf(directory: string): readonly string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1))
    .sort();
}

function commands(steps: readonly Step[]): readonly string[] {
  return steps.flatMap((step) => (step.kind === "command" ? [step.argv.join(" ")] : []));
}

/** A file of this test's owner, checked on the real path. */
function checked(path: string, check: PlaceFile["check"], keep = false): PlaceFile {
  const owned = { mode: 0o600, owner: "root", group: "root" };
  return { ...owned, kind: "file", path, content: "new\n", keep, ...(check === undefined ? {} : { check }) };
}

describe("planInstall", () => {
  test("planInstall() creates the accounts first, and reloads systemd and sshd last", () => {
    expect(commands(planInstall(settings))).toEqual([
      "systemd-sysusers /etc/sysusers.d/uam.conf",
      "systemctl try-reload-or-restart ssh.service",
      "systemctl daemon-reload",
      "systemctl enable uam.service",
      "systemctl try-restart uam.service",
    ]);
  });

  test("planInstall() checks sudoers before it takes effect, and removes a leftover of sudo mode in direct mode", () => {
    const find = (mode: "direct" | "sudo") =>
      planInstall({ ...settings, mode }).find((step) => "path" in step && step.path === "/etc/sudoers.d/uam");
    expect(find("sudo")).toMatchObject({
      kind: "file",
      mode: 0o440,
      check: { kind: "draft", argv: ["visudo", "-c", "-f"] },
    });
    expect(find("direct")).toEqual({ kind: "remove", path: "/etc/sudoers.d/uam" });
    expect(() => planInstall({ ...settings, mode: "sudo", sudoers: undefined })).toThrow("install with --mode direct");
  });

  test("planInstall() leaves a packaged program where it is, and sshd alone if there is none", () => {
    const steps = planInstall({ ...settings, source: "/usr/bin/uam", sshUnit: undefined });
    expect(steps.some((step) => step.kind === "copy")).toBe(false);
    expect(describePlan(steps)).toContain("ExecStart=/usr/bin/uam serve");
    expect(describePlan(steps)).not.toContain("sshd_config.d");
  });

  test("planInstall() removes a copy that would hide the package's program, once the service runs the package's", () => {
    const copy = "/usr/local/bin/uam";
    const steps = planInstall({ ...settings, source: "/usr/bin/uam", copyToReplace: copy });
    expect(steps.slice(-2)).toEqual([
      { kind: "command", argv: ["systemctl", "try-restart", "uam.service"], when: "changed", mayFail: false },
      { kind: "remove", path: copy },
    ]);
  });

  test("planInstall() makes in direct mode what sshd and sudo include of profiles, before sshd reads of it", () => {
    const steps = planInstall(settings).flatMap((step) => ("path" in step ? [step.path] : []));
    const made = ["/etc/uam-profiles", "/etc/uam-profiles/sudo.d", "/etc/ssh/sshd_config.d/50-uam.conf"];
    expect(steps.filter((path) => made.includes(path))).toEqual(made);
    expect(describePlan(planInstall({ ...settings, mode: "sudo" }))).not.toContain("directory  /etc/uam-profiles");
  });

  test("the drop-in shuts out who has a profile, after what profiles allow and before what all accounts get", () => {
    const step = planInstall(settings).find(
      (one) => "path" in one && one.path.endsWith("/sshd_config.d/50-uam.conf"),
    ) as PlaceFile;
    const lines = step.content.split("\n");
    const [first, last] = ["    Include /etc/uam-profiles/sshd.conf", "Match User ext_* Group uam-profile"].map(
      (line) => lines.indexOf(line),
    ) as [number, number];
    const all = lines.lastIndexOf("Match User ext_*");
    // Groups are looked through for accounts of ours only.
    expect(lines[first - 1]).toBe("Match User ext_*");
    expect(first).toBeGreaterThan(0);
    expect([last > first, all > last]).toEqual([true, true]);
    expect(step.content.split("\n").slice(last, all).join()).toMatch(
      /PubkeyAuthentication no.*ForceCommand \/bin\/false/,
    );
  });

  test("planInstall() gives the service in sudo mode its own data, and its configuration read-only", () => {
    const owners = planInstall({ ...settings, mode: "sudo" }).flatMap((step) =>
      step.kind === "directory" || (step.kind === "file" && step.keep)
        ? [[step.path, step.owner, step.group, step.mode]]
        : [],
    );
    expect(owners).toEqual([
      ["/etc/uam", "root", "uam", 0o750],
      ["/var/lib/uam", "uam", "uam", 0o711],
      ["/var/lib/uam-jobs", "root", "root", 0o700],
      ["/var/cache/uam", "uam", "uam", 0o711],
      ["/etc/uam/uam.env", "root", "uam", 0o640],
      ["/etc/ssh/uam-revoked-keys", "root", "root", 0o644],
    ]);
  });
});

describe("the limit of processes", () => {
  test("planInstall() limits what the marked accounts may start, in both modes", () => {
    for (const mode of ["direct", "sudo"] as const) {
      const step = planInstall({ ...settings, mode }).find(
        (candidate) => "path" in candidate && candidate.path === "/etc/security/limits.d/50-uam.conf",
      );
      expect(step).toMatchObject({ kind: "file", mode: 0o644, owner: "root", keep: false });
      const lines = step?.kind === "file" ? step.content.split("\n").filter((line) => !line.startsWith("#")) : [];
      expect(lines).toEqual(["@uam-ext - nproc 500", ""]);
    }
  });

  test("processLimit() is a sixteenth of what the host can run, within bounds, and there is always one", () => {
    expect([3700, 16_000, 4_194_304, 100].map((processes) => processLimit(processes))).toEqual([231, 1000, 1000, 128]);
    expect(processLimit()).toBeGreaterThanOrEqual(128);
  });
});

describe("the file of revoked keys", () => {
  test("planInstall() creates it before sshd's configuration names it, and planUninstall() leaves it", () => {
    const paths = planInstall(settings).flatMap((step) => (step.kind === "file" ? [step.path] : []));
    const [made, told] = ["/etc/ssh/uam-revoked-keys", "/etc/ssh/sshd_config.d/50-uam.conf"].map((path) =>
      paths.indexOf(path),
    );
    expect([made !== undefined && made >= 0, told === (made ?? 0) + 1]).toEqual([true, true]);
    const removed = planUninstall({ source, sshUnit: "ssh.service", accounts: [] });
    expect(JSON.stringify(removed)).not.toContain("uam-revoked-keys");
  });
});

describe("planUninstall", () => {
  test("planUninstall() keeps sshd's configuration while there are accounts, and never removes data", () => {
    const paths = (accounts: readonly string[]) =>
      planUninstall({ source: "/usr/local/bin/uam", sshUnit: "ssh.service", accounts }).flatMap((step) =>
        step.kind === "remove" ? [step.path] : [],
      );
    const always = ["/etc/systemd/system/uam.service", "/etc/sudoers.d/uam", "/etc/sysusers.d/uam.conf"];
    const limits = "/etc/security/limits.d/50-uam.conf";
    expect(paths(["ext_anna"])).toEqual([...always, limits, "/usr/local/bin/uam"]);
    const sshd = ["/etc/ssh/sshd_config.d/50-uam.conf", "/etc/uam-profiles/sshd.conf"];
    expect(paths([])).toEqual([...always, ...sshd, limits, "/usr/local/bin/uam"]);
  });
});

describe("describePlan", () => {
  test("describePlan() shows every command and the whole text of every file", () => {
    const steps = planInstall({ ...settings, mode: "sudo" });
    const text = describePlan(steps);
    for (const line of commands(steps)) expect(text).toContain(`run        ${line}`);
    for (const step of steps) {
      if (step.kind !== "file") continue;
      for (const line of step.content.trim().split("\n")) expect(text).toContain(`    | ${line}`);
    }
  });
});

describe.if(isRoot)("applyPlan", () => {
  test("applyPlan() is idempotent, and never overwrites an edited environment file", async () => {
    const steps = planInstall(settings);
    await apply(steps);
    const environment = `${root}/etc/uam/uam.env`;
    expect(statSync(environment).mode & 0o7777).toBe(0o640);
    expect(statSync(`${root}/usr/local/bin/uam`).mode & 0o7777).toBe(0o755);
    writeFileSync(environment, "UAM_HOST_MODE=dry-run\n");
    const again = await apply(steps);
    expect(again.filter((outcome) => outcome === "changed")).toEqual([]);
    expect(readFileSync(environment, "utf8")).toBe("UAM_HOST_MODE=dry-run\n");
    await apply(planUninstall({ source, sshUnit: undefined, accounts: [] }));
    expect(existsSync(`${root}/etc/systemd/system/uam.service`)).toBe(false);
    expect(existsSync(environment)).toBe(true);
  });

  test("applyPlan() corrects owner and mode if only they differ", async () => {
    const steps = planInstall(settings);
    await apply(steps);
    const unit = `${root}/etc/systemd/system/uam.service`;
    rmSync(unit);
    writeFileSync(unit, readFileSync(join(root, "/etc/uam/uam.env")), { mode: 0o666 });
    await apply(steps);
    expect(statSync(unit).mode & 0o7777).toBe(0o644);
    expect(readFileSync(unit, "utf8")).toStartWith("[Unit]");
  });

  test("applyPlan() places no file whose draft is rejected, and takes back one that is rejected in place", async () => {
    const path = join(root, "etc/file");
    mkdirSync(dirname(path));
    const run = (step: Step) => applyPlan([step], { root: "", report: () => {} });
    for (const kind of ["draft", "placed"] as const) {
      await expect(run(checked(path, { kind, argv: ["/bin/false"] }))).rejects.toThrow(`rejects ${path}`);
      expect(readdirSync(dirname(path))).toEqual([]);
      writeFileSync(path, "old\n", { mode: 0o600 });
      await expect(run(checked(path, { kind, argv: ["/bin/false"] }))).rejects.toThrow(`rejects ${path}`);
      expect([readFileSync(path, "utf8"), readdirSync(dirname(path))]).toEqual(["old\n", ["file"]]);
      rmSync(path);
    }
    const expectation = {
      kind: "placed",
      argv: ["/bin/echo", sshdSaid("10.6", "default")],
      expect: [{ setting: "RevokedKeys", value: "/etc/wanted", remedy: "Do this" }],
    } as const;
    await expect(run(checked(path, expectation))).rejects.toThrow("Do this");
    expect(existsSync(path)).toBe(false);
  });

  test("applyPlan() asks sshd with -G where a socket starts it and nobody has connected yet", async () => {
    const [path, sshd] = [join(root, "file"), join(root, "sshd")];
    const missing = "echo 'Missing privilege separation directory: /run/sshd' >&2; exit 255";
    writeFileSync(
      sshd,
      `#!/bin/sh\ntest "$1 $2" = "-T -G" || { ${missing}; }\ncat <<'END'\n${sshdSaid("10.0", "installed")}END\n`,
    );
    chmodSync(sshd, 0o755);
    const expected = { setting: "PermitUserRC", value: "no", remedy: "Do this" };
    const check = { kind: "placed", argv: [sshd, "-T"], expect: [expected] } as const;
    await applyPlan([checked(path, check)], { root: "", report: () => {} });
    expect(existsSync(path)).toBe(true);
  });

  test("applyPlan() of a first installation leaves nothing behind when a step fails, and of a later one what it did", async () => {
    const steps = [...planInstall(settings), checked("/etc/last", undefined)];
    mkdirSync(join(root, "etc/last"), { recursive: true });
    mkdirSync(join(root, "etc/ssh/sshd_config.d"), { recursive: true });
    const dropIn = join(root, "etc/ssh/sshd_config.d/50-uam.conf");
    writeFileSync(dropIn, "# as it was left\n");
    const before = filesOf(root);
    const options = { root, report: () => {} };
    await expect(applyPlan(steps, { ...options, isFirst: true })).rejects.toThrow("is not a file");
    expect(filesOf(root)).toEqual(before);
    expect(readFileSync(dropIn, "utf8")).toBe("# as it was left\n");
    expect(existsSync(join(root, "var/lib/uam"))).toBe(false);
    await expect(applyPlan(steps, options)).rejects.toThrow("is not a file");
    expect(filesOf(root)).toContain("etc/uam/uam.env");
  });

  test("applyPlan() returns what takes it back, and keeps a directory that something else was put into", async () => {
    const takeBack = await applyPlan(planInstall(settings), { root, report: () => {} });
    writeFileSync(join(root, "var/lib/uam/theirs"), "");
    await takeBack();
    expect(filesOf(root)).toEqual(["var/lib/uam/theirs"]);
  });

  test("applyPlan() undoes commands of a first installation, and repeats those that told others of a change", async () => {
    const log = join(root, "log");
    const note = (what: string) => ["/bin/sh", "-c", `echo ${what} >> ${log}`];
    const steps: Step[] = [
      checked(join(root, "file"), undefined),
      { kind: "command", argv: note("reload"), when: "changed", mayFail: false },
      { kind: "command", argv: note("enable"), when: "always", mayFail: false, undo: note("disable") },
      { kind: "command", argv: ["/bin/false"], when: "always", mayFail: false, undo: note("never") },
    ];
    await expect(applyPlan(steps, { root: "", report: () => {}, isFirst: true })).rejects.toThrow("failed");
    expect(readFileSync(log, "utf8")).toBe("reload\nenable\ndisable\nreload\n");
    expect(existsSync(join(root, "file"))).toBe(false);
  });

  test("applyPlan() empties a directory, follows no link in it, and leaves it there", async () => {
    const path = join(root, "keys");
    const outside = join(root, "outside");
    mkdirSync(join(path, "ext_a/deep"), { recursive: true });
    mkdirSync(outside);
    writeFileSync(join(outside, "file"), "kept");
    symlinkSync(outside, join(path, "link"));
    for (const expected of ["changed", "unchanged"] as const) {
      expect(await apply([{ kind: "empty", path: "/keys" }])).toEqual([expected]);
      expect([readdirSync(path), readdirSync(outside)]).toEqual([[], ["file"]]);
    }
    expect(await apply([{ kind: "empty", path: "/missing" }])).toEqual(["unchanged"]);
  });

  test("applyPlan() refuses a directory in a file's place", async () => {
    const path = join(root, "file");
    mkdirSync(path);
    await expect(applyPlan([checked(path, undefined)], { root: "", report: () => {} })).rejects.toThrow(
      "is not a file",
    );
  });
});
