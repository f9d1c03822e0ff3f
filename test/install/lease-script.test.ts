/** What the end of a lease does to what would start programs of accounts: with files below a directory of the test's own. */

import { afterAll, beforeEach, expect, test } from "bun:test";
import { spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
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
import { join } from "node:path";
import process from "node:process";
import { endOf, type LeaseEnds, writeLease } from "../../src/agent/lease.ts";
import { renderLeaseUnit } from "../../src/install/agent-unit.ts";
import { LEASE_SCRIPT, quotedLeaseScript } from "../../src/install/lease-script.ts";
import { describeSlowIf } from "../support/thorough.ts";
import { until } from "../support/until.ts";

const top = mkdtempSync(join(tmpdir(), "uam-test-lease-"));
afterAll(() => rmSync(top, { recursive: true, force: true }));

const CRONTABS = "var/spool/cron/crontabs";
const AT = "var/spool/cron/atjobs";
const LINGER = "var/lib/systemd/linger";
const OWNER = process.getuid?.() === 0 ? 61_111 : (process.getuid?.() ?? 0);
/** As systemd reads it. */
const QUOTED = quotedLeaseScript().slice(1, -1).replaceAll("%%", "%").replaceAll("$$", "$").replaceAll("\\\\", "\\");

let root: string;
let directory: string;

beforeEach(() => {
  root = mkdtempSync(join(top, "root-"));
  directory = join(root, "run");
  for (const place of [CRONTABS, AT, LINGER, "etc", "run"]) mkdirSync(join(root, place), { recursive: true });
  // No account of that name or uid is on this machine.
  writeFileSync(join(root, "etc/passwd"), `root:x:0:0::/root:/bin/sh\next_tnobody:x:${OWNER}:${OWNER}::/:/bin/sh\n`);
  put(CRONTABS, "ext_tnobody", "crontab");
  put(CRONTABS, "alice", "crontab of somebody else");
  put(LINGER, "ext_tnobody");
  put(LINGER, "alice");
  put(AT, "a0000101c0ffee", "job");
  put(AT, ".SEQ", "1");
});

function put(place: string, name: string, text = ""): void {
  const path = join(root, place, name);
  writeFileSync(path, text);
  if (process.getuid?.() === 0) chownSync(path, OWNER, OWNER);
}

function run(script: string, ...more: readonly string[]): void {
  const ran = spawnSync("/bin/sh", ["-c", script, "sh", directory, ...more], { encoding: "utf8" });
  expect(ran).toMatchObject({ status: 0, stdout: "", stderr: "" });
}

function found(): readonly (readonly string[])[] {
  return [CRONTABS, LINGER, AT].map((place) => readdirSync(join(root, place)).sort());
}

function leaseOf(milliseconds: number | null, ends: LeaseEnds = "logins"): void {
  writeLease({ directory, target: "/none" }, "lease", { ...endOf({ boot: 0, wall: 0 }, milliseconds, 0), ends });
}

const THERE = [
  ["alice", "ext_tnobody"],
  ["alice", "ext_tnobody"],
  [".SEQ", "a0000101c0ffee"],
];
const AWAY = [
  [".uam-ext_tnobody", "alice"],
  [".uam-ext_tnobody", "alice"],
  [".SEQ", ".uam-a0000101c0ffee"],
];

// It works on spools that only root can fill.
describeSlowIf(process.getuid?.() === 0).each([
  ["as it is written", LEASE_SCRIPT],
  ["as systemd reads it", QUOTED],
])("the script, %s", (_, script) => {
  test("takes crontabs, at jobs and lingering of accounts away while there is no lease, and gives them back", () => {
    for (const ends of ["logins", "sessions"] as const) {
      leaseOf(null, ends);
      run(script, root);
      expect(found()).toEqual(THERE);
      leaseOf(1, ends);
      run(script, root);
      run(script, root);
      expect(found()).toEqual(AWAY);
    }
    leaseOf(null);
    run(script, root);
    expect(found()).toEqual(THERE);
    expect(readFileSync(join(root, CRONTABS, "ext_tnobody"), "utf8")).toBe("crontab");
  });

  test("ends a lingering manager by systemd where the kernel's groups are elsewhere", () => {
    const bin = join(root, "bin");
    const asked = join(root, "asked");
    mkdirSync(bin);
    writeFileSync(join(bin, "id"), `#!/bin/sh\necho ${OWNER}\n`, { mode: 0o755 });
    for (const [active, kills] of [
      [3, []],
      [0, [`kill --signal=SIGKILL user@${OWNER}.service`]],
    ] as const) {
      const text = `#!/bin/sh\n[ "$2" = is-active ] && exit ${active}\necho "$*" >>${asked}\n`;
      writeFileSync(join(bin, "systemctl"), text, { mode: 0o755 });
      writeFileSync(asked, "");
      leaseOf(1);
      run(`PATH=${bin}:$PATH; ${script}`, root);
      // In the first pass and in the last.
      expect([...new Set(readFileSync(asked, "utf8").split("\n").filter(Boolean))]).toEqual([...kills]);
    }
  });

  test("does so after a boot, when there is no directory yet, and lets the newer one win", () => {
    rmSync(directory, { recursive: true });
    run(script, root);
    expect(found()).toEqual(AWAY);
    put(CRONTABS, "ext_tnobody", "newer");
    run(script, root);
    expect(found()).toEqual(AWAY);
    expect(readFileSync(join(root, CRONTABS, ".uam-ext_tnobody"), "utf8")).toBe("newer");
    put(CRONTABS, "ext_tnobody", "newest");
    leaseOf(null);
    run(script, root);
    expect(found()).toEqual(THERE);
    expect(readFileSync(join(root, CRONTABS, "ext_tnobody"), "utf8")).toBe("newest");
  });

  test("stops at jobs by their modes before it renames any, and gives those back as well", () => {
    const path = (name: string) => join(root, AT, name);
    const jobs = Array.from({ length: 300 }, (_, index) => `a${index.toString(16).padStart(5, "0")}01c0ffee`);
    for (const name of jobs) put(AT, name, "job");
    for (const name of jobs) chmodSync(path(name), 0o700);
    put(AT, "b0000201c0ffee", "job of somebody else");
    chmodSync(path("b0000201c0ffee"), 0o700);
    if (process.getuid?.() === 0) chownSync(path("b0000201c0ffee"), OWNER + 1, OWNER + 1);
    // A service manager that ends the script in the middle of that.
    run(script.replace("for pass in first last", "exit 0; for pass in first last"), root);
    expect(jobs.filter((name) => (statSync(path(name)).mode & 0o100) !== 0)).toEqual([]);
    leaseOf(null);
    run(script, root);
    expect(jobs.map((name) => statSync(path(name)).mode & 0o7777)).toEqual(jobs.map(() => 0o700));
    leaseOf(1);
    run(script, root);
    expect(jobs.filter((name) => existsSync(path(name)))).toEqual([]);
    if (process.getuid?.() === 0) expect(statSync(path("b0000201c0ffee")).mode & 0o777).toBe(0o700);
    leaseOf(null);
    run(script, root);
    expect(jobs.map((name) => statSync(path(name)).mode & 0o7777)).toEqual(jobs.map(() => 0o700));
  });

  test.each([
    ["", "0::/init.scope\n"],
    // A booted container, with control groups of version 1 and no view of its own.
    ["/machine.slice/web/payload", "9:name=systemd:/machine.slice/web/payload/init.scope\n8:pids:/\n"],
  ])(
    "ends what a job started under a uid that nobody has, and nothing of anybody else's, below %p",
    async (own, init) => {
      mkdirSync(join(root, "proc/1"), { recursive: true });
      writeFileSync(join(root, "proc/1/cgroup"), init);
      const nobodys = OWNER + 2;
      const others = OWNER + 3;
      writeFileSync(
        join(root, "etc/passwd"),
        `ext_tnobody:x:${OWNER}:${OWNER}::/:/bin/sh\nops:x:${others}:1::/:/bin/sh\n`,
      );
      const started = (uid: number, group: string) => ({
        uid,
        group,
        process: spawn("sleep", ["60"], { stdio: "ignore" }),
      });
      const at = `${own}/system.slice/atd.service`;
      const all = [
        started(OWNER, at),
        started(nobodys, at),
        started(nobodys, `${own}/system.slice/cron.service`),
        // Left alone: containers', another account's, a system account's.
        started(nobodys, "/system.slice/docker-c0ffee.scope"),
        started(nobodys, "/machine.slice/other/payload/system.slice/cron.service"),
        started(nobodys, "/user.slice/user-1000.slice/at/atd.service"),
        started(others, at),
        started(2, at),
      ];
      const tools = join(root, "bin");
      mkdirSync(tools);
      const lines = all.map(({ uid, group, process: { pid } }) => `echo " ${pid} ${uid} ${uid} 0::${group}"`);
      writeFileSync(join(tools, "ps"), `#!/bin/sh\n${lines.join("\n")}\n`, { mode: 0o755 });
      const env = { PATH: `${tools}:/usr/sbin:/usr/bin:/sbin:/bin` };
      const ran = spawnSync("/bin/sh", ["-c", script, "sh", directory, root], { encoding: "utf8", env });
      expect(ran).toMatchObject({ status: 0, stdout: "" });
      await until(() => all.slice(0, 3).every(({ process: { signalCode } }) => signalCode === "SIGKILL"));
      expect(all.slice(3).map(({ process: { signalCode } }) => signalCode)).toEqual(Array(5).fill(null));
      for (const { process } of all) process.kill("SIGKILL");
    },
  );

  test("leaves links and directories, and in a dry run all of it", () => {
    run(script);
    expect(found()).toEqual(THERE);
    for (const place of [CRONTABS, LINGER]) rmSync(join(root, place, "ext_tnobody"));
    mkdirSync(join(root, CRONTABS, "ext_tnobody"));
    symlinkSync("/etc/passwd", join(root, LINGER, "ext_tnobody"));
    run(script, root);
    expect(found().slice(0, 2)).toEqual(THERE.slice(0, 2));
  });
});

test("the unit of a dry run touches nothing but the link", () => {
  expect(renderLeaseUnit("direct")).toMatch(/ sh \/run\/uam-agent ""$/m);
  expect(renderLeaseUnit("dry-run")).toMatch(/ sh \/run\/uam-agent$/m);
});
