/** Profiles by a real sshd: what it says, what it does, and what is left of more. */

import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { readAccounts } from "../../../src/host/account.ts";
import { COMMANDS_DIRECTORY, groupOf } from "../../../src/host/profiles/names.ts";
import type { Account, Host, HostKey } from "../../../src/protocol/host.ts";
import type { HostProfile } from "../../../src/protocol/profile.ts";
import {
  base,
  directHost,
  GROUP,
  NAME,
  prepareHost,
  RUN,
  run,
  running,
  sshd,
  stored,
  UID,
} from "../../support/direct-host.ts";
import { describeOnHost } from "../../support/host-account.ts";
import { forgetProfiles, profiledSettings, profiledSshd, profilePathsIn } from "../../support/profiled-host.ts";
import { startSleeper } from "../../support/sleeper.ts";
import { PATIENT } from "../../support/sshd.ts";
import { until } from "../../support/until.ts";

const named = (kind: string): string => `t${RUN}-${kind}`;
const COMMAND = join(COMMANDS_DIRECTORY, named("program"));

describeOnHost("profiles in direct mode", () => {
  prepareHost(profiledSshd);

  // As the units have it.
  let umask = 0;
  beforeAll(() => {
    umask = process.umask(0o077);
  });
  afterAll(() => void process.umask(umask));

  let host: Host;
  let made: { readonly path: string; readonly key: HostKey } | undefined;
  const shell: HostProfile = { name: named("shell"), kind: "shell", secondFactor: "none" };
  const sftp = (): HostProfile => ({
    ...{ name: named("sftp"), kind: "sftp", secondFactor: "none", directory: join(base, "drop") },
  });
  const forward: HostProfile = { name: named("db"), kind: "forward", targets: ["127.0.0.1:9"], secondFactor: "none" };
  const command: HostProfile = {
    ...{ name: named("command"), kind: "command", command: named("program"), secondFactor: "none" },
  };
  const all = (): readonly HostProfile[] => [shell, sftp(), forward, command];
  const applied = (profiles: readonly HostProfile[]) =>
    profiles.map(({ name }) => ({ name, state: "applied" as const }));
  const account = (profile: HostProfile | undefined): Account =>
    stored({ keys: made === undefined ? [] : [made.key], profile: profile?.name });
  const says = (command: string, input = ""): string => {
    const options = ["-F", "none", "-o", "BatchMode=yes", "-o", "StrictHostKeyChecking=no", "-o", "LogLevel=ERROR"];
    const to = ["-o", "UserKnownHostsFile=/dev/null", "-i", made?.path ?? "", "-p", String(sshd.port)];
    const { stdout } = spawnSync("ssh", [...options, ...PATIENT, ...to, `${NAME}@127.0.0.1`, command], {
      encoding: "utf8",
      input,
    });
    return stdout;
  };
  const groups = (): readonly string[] =>
    [...readAccounts().groups].flatMap(([name, { members }]) => (members.has(NAME) ? [name] : [])).sort();
  const homeUid = (): number => statSync(join(base, NAME)).uid;
  async function open(profile: HostProfile | undefined): Promise<void> {
    await host.createAccount(account(profile));
    await host.openAccount(account(profile));
  }

  beforeEach(async () => {
    made ??= sshd.makeKey(81);
    mkdirSync(COMMANDS_DIRECTORY, { recursive: true });
    chmodSync(COMMANDS_DIRECTORY, 0o755);
    writeFileSync(COMMAND, '#!/bin/sh\necho "asked: $SSH_ORIGINAL_COMMAND"\n');
    chmodSync(COMMAND, 0o755);
    host = await directHost(profiledSettings(base, sshd.config));
    expect(await host.holdProfiles(all(), "give")).toEqual(applied(all()));
  });
  afterAll(() => {
    rmSync(COMMAND, { force: true });
    forgetProfiles(...["shell", "sftp", "db", "command"].map(named));
  });

  test("accounts without a profile are as they were", async () => {
    await open(undefined);
    expect(groups()).toEqual([GROUP]);
    expect(says("echo $0")).not.toBe("");
    expect(await host.reconcile([account(undefined)], true)).toEqual([]);
  });

  test("each kind lets its accounts do what it says", async () => {
    await open(shell);
    expect(groups()).toEqual([GROUP, groupOf(shell.name), "uam-profile"].sort());
    expect([says("echo hello"), homeUid()]).toEqual(["hello\n", UID]);
    await host.narrowProfile(account(command));
    await host.openAccount(account(command));
    expect(says("cat /etc/passwd")).toBe("asked: cat /etc/passwd\n");
    // With a place for its files at once: nothing opens an account that is open already.
    const place = join(base, "drop", NAME);
    mkdirSync(place);
    chownSync(place, UID + 1, UID + 1);
    const others = `${place} belongs to the uid ${UID + 1}: move it away`;
    expect(await host.narrowProfile(account(sftp()))).toEqual({ refused: true, owed: [others] });
    rmSync(place, { recursive: true });
    expect(await host.narrowProfile(account(sftp()))).toEqual({ refused: true, owed: [] });
    expect(says("echo hello")).not.toContain("hello");
    const own = statSync(place);
    expect([own.uid, own.mode & 0o7777]).toEqual([UID, 0o700]);
    expect(sftpOf(`put ${sshd.config} put`).status).toBe(0);
    expect(readFileSync(join(place, "put"), "utf8")).toBe(readFileSync(sshd.config, "utf8"));
    await host.narrowProfile(account(forward));
    await host.openAccount(account(forward));
    expect([says("echo hello"), sftpOf("pwd").status === 0]).toEqual(["", false]);
    expect(await host.reconcile([account(forward)], true)).toEqual([]);
  });

  function sftpOf(commands: string): { readonly status: number | null } {
    const options = ["-F", "none", "-o", "BatchMode=yes", "-o", "StrictHostKeyChecking=no", "-o", "LogLevel=ERROR"];
    const to = ["-o", "UserKnownHostsFile=/dev/null", "-i", made?.path ?? "", "-P", String(sshd.port)];
    return spawnSync("sftp", ["-b", "-", ...options, ...PATIENT, ...to, `${NAME}@127.0.0.1`], {
      input: `${commands}\n`,
    });
  }

  test("what was planted with a shell runs in no narrower profile", async () => {
    await open(shell);
    const plant = (path: string, text: string) => {
      mkdirSync(join(base, NAME, path, ".."), { recursive: true });
      writeFileSync(join(base, NAME, path), text);
      chownSync(join(base, NAME, path), UID, UID);
    };
    plant(".bashrc", "echo planted\n");
    plant(".ssh/rc", "echo planted\n");
    plant(".ssh/environment", "BASH_ENV=/tmp/x\n");
    plant(".pam_environment", "PLANTED DEFAULT=planted\n");
    expect(says("true")).toBe("planted\n");
    // By its number: what is left of the login would count for it.
    await startSleeper(UID);
    expect(await host.narrowProfile(account(command))).toEqual({ refused: true, owed: [] });
    expect([running(), homeUid()]).toEqual([0, 0]);
    await host.openAccount(account(command));
    expect(says("x")).toBe("asked: x\n");
    // Back to a shell, the home is theirs again.
    await host.openAccount(account(shell));
    expect([homeUid(), says("true")]).toEqual([UID, "planted\n"]);
  });

  test("an account that is in no profile's group, or whose profile is in no file, gets in nowhere", async () => {
    await open(shell);
    run("usermod", "-G", `${GROUP},uam-profile`, NAME);
    expect(says("echo in")).toBe("");
    expect(await host.reconcile([account(shell)], false)).toMatchObject([{ kind: "profile", repaired: true }]);
    expect(says("echo in")).toBe("in\n");
    const file = join(profilePathsIn(base).directory, "sshd.conf");
    const text = readFileSync(file, "utf8");
    rmSync(file);
    const other = await directHost(profiledSettings(base, sshd.config));
    await other.holdProfiles([{ ...forward, name: named("other") }], "take");
    expect(says("echo in")).toBe("");
    await expect(host.openAccount(account(shell))).rejects.toThrow("does not hold the profile");
    expect(await host.holdProfiles(all(), "give")).toEqual(applied(all()));
    expect([readFileSync(file, "utf8") === text, readAccounts().groups.has(groupOf(named("other")))]).toEqual([
      true,
      false,
    ]);
  });

  test("a group that somebody gave or took is put right, and what was begun with more ends", async () => {
    await open(forward);
    run("usermod", "-G", `${GROUP},users`, NAME);
    const session = sshd.open(NAME, made?.path ?? "", "sleep 8282");
    await until(() => running() > 0);
    const drifts = await host.reconcile([account(forward)], false);
    expect(drifts.map(({ kind, repaired }) => [kind, repaired])).toEqual([["profile", true]]);
    expect([groups().includes("users"), running()]).toEqual([false, 0]);
    session.kill();
  });

  test("the host's own block that comes first is found: what gives is taken back, what takes is said", async () => {
    await open(forward);
    const own = join(base, "sshd_config.d/10-own.conf");
    writeFileSync(own, "Match User ext_*\n    PermitOpen any\n");
    const file = join(profilePathsIn(base).directory, "sshd.conf");
    const before = readFileSync(file, "utf8");
    try {
      const wider = all().map((one) => (one === forward ? { ...one, targets: ["127.0.0.1:10"] } : one));
      const [state] = (await host.holdProfiles(wider, "give")).filter(({ name }) => name === forward.name);
      expect(state).toMatchObject({ state: "problem", problem: expect.stringContaining("PermitOpen any instead of") });
      expect(readFileSync(file, "utf8")).toBe(before);
      await expect(host.openAccount(account(forward))).rejects.toThrow("PermitOpen any");
      const taken = await host.holdProfiles(wider, "take");
      expect(taken.map((one) => one.state)).toEqual(["applied", "applied", "problem", "applied"]);
      expect(readFileSync(file, "utf8")).toContain("PermitOpen 127.0.0.1:10");
    } finally {
      rmSync(own);
    }
    expect(await host.holdProfiles(all(), "give")).toEqual(applied(all()));
  });

  test("a program or a directory that is not root's alone shuts its profile, with a sentence", async () => {
    chmodSync(COMMAND, 0o777);
    const problem = async (profile: HostProfile) => {
      const state = (await host.holdProfiles([profile], "give"))[0];
      return state?.state === "problem" ? state.problem : state?.state;
    };
    expect(await problem(command)).toContain("can be changed by others than root");
    await expect(host.createAccount(account(command))).rejects.toThrow("can be changed by others");
    rmSync(COMMAND);
    symlinkSync("/bin/true", COMMAND);
    expect(await problem(command)).toBe("applied");
    rmSync(COMMAND);
    expect(await problem(command)).toContain("does not exist");
    mkdirSync(join(base, "open"), { mode: 0o777 });
    chmodSync(join(base, "open"), 0o777);
    expect(await problem({ ...sftp(), directory: join(base, "open") })).toContain("writable by users other than");
    symlinkSync("/etc", join(base, "link"));
    expect(await problem({ ...sftp(), directory: join(base, "link") })).toContain("a link to it");
    expect(await problem({ ...shell, groups: ["docker"] })).toContain("does not allow the group docker");
    expect(await problem({ ...shell, sudo: ["none"] })).toContain("does not exist");
    const homes = await directHost({ ...profiledSettings(base, sshd.config), authorizedKeysFile: "%h/.ssh/keys" });
    expect(await homes.holdProfiles([forward], "give")).toMatchObject([
      { problem: expect.stringContaining("--move-keys") },
    ]);
  });

  test("sudo's rules are the profile's, and end with it", async () => {
    const { directory, templates, groups: allowed } = profilePathsIn(base);
    const included = `/etc/sudoers.d/uam-t${RUN}`;
    const may = () => spawnSync("sudo", ["-l", "-U", NAME], { encoding: "utf8" }).stdout.includes("/usr/bin/id");
    const admin: HostProfile = { ...shell, sudo: ["ids"], groups: ["users"] };
    const [problem] = await host.holdProfiles([admin], "give");
    expect(problem).toMatchObject({ problem: expect.stringContaining("does not allow the group users") });
    mkdirSync(templates, { recursive: true });
    writeFileSync(allowed, "# ours\nusers\nroot\n");
    writeFileSync(join(templates, "ids"), "%ACCOUNT% ALL=(root) NOPASSWD: /usr/bin/id");
    expect(await host.holdProfiles([admin, command], "give")).toMatchObject([
      { problem: expect.stringContaining(`@includedir ${directory}/sudo.d`) },
      { state: "applied" },
    ]);
    writeFileSync(included, `@includedir ${directory}/sudo.d\n`, { mode: 0o440 });
    try {
      expect(await host.holdProfiles([admin, command], "give")).toEqual(applied([admin, command]));
      await open(admin);
      expect([may(), groups().includes("users")]).toEqual([true, true]);
      writeFileSync(join(templates, "ids"), "%ACCOUNT% ALL=(root NOPASSWD: /usr/bin/id");
      expect(await host.holdProfiles([admin, command], "give")).toMatchObject([
        { problem: expect.stringContaining("The sudo template ids is not valid") },
        { state: "applied" },
      ]);
      expect(may()).toBe(false);
      writeFileSync(join(templates, "ids"), "%ACCOUNT% ALL=(root) NOPASSWD: /usr/bin/id");
      expect(await host.holdProfiles([admin, command], "give")).toEqual(applied([admin, command]));
      await host.narrowProfile(account(command));
      expect([may(), groups().includes("users")]).toEqual([false, false]);
    } finally {
      rmSync(included);
    }
  });

  test("two at once, and one that was ended in between, leave what was wanted last", async () => {
    const other = await directHost(profiledSettings(base, sshd.config));
    const wider = all().map((one) => (one === shell ? { ...shell, forwarding: true } : one));
    const results = await Promise.all([host.holdProfiles(all(), "take"), other.holdProfiles(wider, "give")]);
    expect(results).toEqual([applied(all()), applied(wider)]);
    // A process that ended before it told sshd: the file says what sshd does not do yet.
    const file = join(profilePathsIn(base).directory, "sshd.conf");
    await open(forward);
    writeFileSync(join(profilePathsIn(base).directory, ".draft"), "Match Use");
    writeFileSync(file, readFileSync(file, "utf8").replace("PermitOpen 127.0.0.1:9", "PermitOpen any"));
    expect(await host.holdProfiles(all(), "take")).toEqual(applied(all()));
    expect(readFileSync(file, "utf8")).not.toContain("PermitOpen any\n    PermitListen none");
  });

  test("an sshd that cannot read a block keeps the others, and without the Include nothing counts as held", async () => {
    const elsewhere = { ...profilePathsIn(base), directory: join(base, "elsewhere") };
    const other = await directHost({ ...profiledSettings(base, sshd.config), profilePaths: elsewhere });
    expect(await other.holdProfiles([shell], "give")).toMatchObject([
      { problem: expect.stringContaining("uam install") },
    ]);
    expect(existsSync(join(elsewhere.directory, ".draft"))).toBe(false);
    const broken = join(base, "sshd_config.d/90-broken.conf");
    writeFileSync(broken, "NoSuchSetting yes\n");
    try {
      const wider = [{ ...shell, maxSessions: 3 }];
      expect(await host.holdProfiles(wider, "give")).toMatchObject([
        { problem: expect.stringContaining("NoSuchSetting") },
      ]);
    } finally {
      rmSync(broken);
    }
  });
});
