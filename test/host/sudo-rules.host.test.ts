/** The rules of sudo mode against an attacker who took over the service: each of these commands is really tried. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { spawn } from "node:child_process";
import { lstatSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bunRuntime } from "../../src/runtime/bun.ts";
import { describeOnHost } from "../support/host-account.ts";
import type { RemoteHost } from "../support/host-client.ts";
import { describeTree } from "../support/key-file-lab.ts";
import { createSudoLab, NAME, OTHER, run, type SudoLab, shadowOf, stored, UID } from "../support/sudo-lab.ts";
import { until } from "../support/until.ts";

// Real commands, on machines that may be busy with other tests.
setDefaultTimeout(180_000);

let lab: SudoLab;
let host: RemoteHost;
let victim: string;

describeOnHost("the rules of sudo mode against a service that was taken over", () => {
  beforeAll(async () => {
    lab = createSudoLab();
    victim = join(lab.base, "victim");
    mkdirSync(victim);
    writeFileSync(join(victim, "file"), "precious\n");
    host = lab.startHost();
    await host.createAccount(stored());
  });
  afterAll(() => {
    host?.stop();
    lab?.cleanUp();
    lab?.remove();
  });

  const owner = (...argv: readonly string[]) => ["-u", NAME, "--", ...argv];
  const installed = (...target: readonly string[]) =>
    owner("/usr/bin/install", "-T", "-m", "0600", "--", "/dev/stdin", ...target);
  const useradd = (overrides: Readonly<Record<string, string>> = {}): readonly string[] => {
    const value = (key: string, usual: string) => overrides[key] ?? usual;
    const group = overrides.gid ?? value("uid", "58701");
    const range = [`GID_MIN=${group}`, `GID_MAX=${overrides.maxGid ?? group}`];
    const settings = ["SUB_UID_COUNT=0", "SUB_GID_COUNT=0", "HOME_MODE=0700", "UMASK=077", "PASS_MAX_DAYS=-1"];
    return [
      ...["/usr/sbin/useradd", "-m", "-U", "-u", value("uid", "58701"), "-e", value("day", "22000"), "-f", "-1"],
      ...["-G", value("groups", "uam-ext-tsudo"), ...(overrides.extra?.split(" ") ?? [])],
      ...[...range, ...settings, "PASS_MIN_DAYS=-1", "PASS_WARN_AGE=-1"].flatMap((setting) => ["-K", setting]),
      ...["-s", value("shell", "/bin/bash"), "-d", value("home", lab.home(OTHER)), "-p", value("password", "*")],
      ...["--", value("name", OTHER)],
    ];
  };
  const trash = (path: string) => ["/usr/bin/rm", "-rf", "--one-file-system", "--", path];

  const REFUSED: readonly (readonly [string, () => readonly string[]])[] = [
    ["a root shell", () => ["/bin/sh"]],
    ["a login shell", () => ["-i"]],
    ["a shell as the owner", () => ["-u", NAME, "-s"]],
    ["sudoedit of the rules", () => ["-e", "/etc/sudoers"]],
    ["visudo", () => ["/usr/sbin/visudo"]],
    ["install as root", () => ["/usr/bin/install", "-T", "-m", "0600", "--", "/dev/stdin", lab.keys]],
    ["install over sudoers", () => ["/usr/bin/install", "-T", "-m", "0600", "--", "/dev/stdin", "/etc/sudoers"]],
    [
      "install as root by -u",
      () => ["-u", "root", "--", "/usr/bin/install", "-T", "-m", "0600", "--", "/dev/stdin", lab.keys],
    ],
    [
      "install as another user",
      () => ["-u", "nobody", "--", "/usr/bin/install", "-T", "-m", "0600", "--", "/dev/stdin", lab.keys],
    ],
    [
      "install as the service's other uid",
      () => ["-u", "#58750", "--", "/usr/bin/install", "-T", "-m", "0600", "--", "/dev/stdin", lab.keys],
    ],
    [
      "install as root's uid",
      () => ["-u", "#0", "--", "/usr/bin/install", "-T", "-m", "0600", "--", "/dev/stdin", lab.keys],
    ],
    [
      "install as uid -1",
      () => ["-u", "#-1", "--", "/usr/bin/install", "-T", "-m", "0600", "--", "/dev/stdin", lab.keys],
    ],
    ["install with root's group", () => ["-g", "root", ...installed(lab.keys)]],
    ["install with another's group", () => ["-g", "shadow", ...installed(lab.keys)]],
    [
      "the service's own uid with root's group",
      () => ["-g", "root", "--", "/usr/bin/mkdir", "-m", "0700", "--", join(lab.base, ".uam-trash")],
    ],
    ["install of another file", () => installed(join(lab.ssh, "config"))],
    ["install beside the home", () => installed(join(lab.base, "x"))],
    ["install with ..", () => installed(`${lab.home()}/../${NAME}/.ssh/authorized_keys`)],
    ["install below .. of an account", () => installed(`${lab.base}/ext_../.ssh/authorized_keys`)],
    ["install with a wildcard", () => installed(`${lab.base}/ext_*/.ssh/authorized_keys`)],
    ["install from another file", () => owner("/usr/bin/install", "-T", "-m", "0600", "--", "/etc/passwd", lab.keys)],
    ["install with another mode", () => owner("/usr/bin/install", "-T", "-m", "4755", "--", "/dev/stdin", lab.keys)],
    [
      "install with an extra option",
      () => owner("/usr/bin/install", "-T", "-m", "0600", "-o", "root", "--", "/dev/stdin", lab.keys),
    ],
    ["install with an extra file", () => installed(lab.keys, "/etc/passwd")],
    [
      "install with a line break in front",
      () => owner("/usr/bin/install", "x\n-T", "-m", "0600", "--", "/dev/stdin", lab.keys),
    ],
    ["install with a line break at the end", () => installed(`${lab.keys}\n`)],
    ["install with a second line", () => installed(`${lab.keys}\n/etc/passwd`)],
    ["another install", () => owner(join(victim, "install"), "-T", "-m", "0600", "--", "/dev/stdin", lab.keys)],
    ["mkdir as root in a home", () => ["/usr/bin/mkdir", "-m", "0700", "--", lab.ssh]],
    ["mkdir elsewhere as root", () => ["/usr/bin/mkdir", "-m", "0700", "--", "/etc/x"]],
    ["chmod of another mode", () => owner("/usr/bin/chmod", "04755", "--", lab.ssh)],
    ["chmod of a file", () => owner("/usr/bin/chmod", "u+rwx", "--", join(lab.home(), "x"))],
    ["chown", () => ["/usr/bin/chown", "-h", "--", `${NAME}:${NAME}`, "/etc/shadow"]],
    ["cat as the owner", () => owner("/usr/bin/cat", join(lab.home(), "secret"))],
    [
      "dd of another file",
      () =>
        owner(
          "/usr/bin/dd",
          `if=${lab.home()}/secret`,
          "iflag=nofollow,nonblock,fullblock",
          "bs=4194304",
          "count=1",
          "status=none",
        ),
    ],
    [
      "dd that writes",
      () =>
        owner(
          "/usr/bin/dd",
          `if=${lab.keys}`,
          `of=${lab.keys}`,
          "iflag=nofollow,nonblock,fullblock",
          "bs=4194304",
          "count=1",
          "status=none",
        ),
    ],
    [
      "dd as root",
      () => [
        "/usr/bin/dd",
        `if=${lab.keys}`,
        "iflag=nofollow,nonblock,fullblock",
        "bs=4194304",
        "count=1",
        "status=none",
      ],
    ],
    ["useradd with uid 0", () => useradd({ uid: "0" })],
    ["useradd with a uid below the range", () => useradd({ uid: "58699" })],
    ["useradd with a uid above the range", () => useradd({ uid: "58800" })],
    ["useradd with a longer uid", () => useradd({ uid: "587010" })],
    ["useradd with another group's number", () => useradd({ gid: "58702" })],
    ["useradd with root's group", () => useradd({ gid: "0" })],
    ["useradd with a choice of groups", () => useradd({ maxGid: "58799" })],
    ["useradd without the prefix", () => useradd({ name: "backdoor", home: join(lab.base, "backdoor") })],
    ["useradd whose home is another's", () => useradd({ home: lab.home() })],
    ["useradd whose home is root's", () => useradd({ home: "/root" })],
    ["useradd with another group", () => useradd({ groups: "sudo" })],
    ["useradd with one more group", () => useradd({ groups: "uam-ext-tsudo,sudo" })],
    ["useradd with a password", () => useradd({ password: "x" })],
    ["useradd with another shell", () => useradd({ shell: "/bin/sh" })],
    ["useradd with an option more", () => useradd({ extra: "-o" })],
    ["useradd with a name that is an option", () => useradd({ name: "-o" })],
    [
      "useradd with a name too long",
      () => useradd({ name: `ext_${"x".repeat(29)}`, home: lab.home(`ext_${"x".repeat(29)}`) }),
    ],
    ["useradd with a name in capitals", () => useradd({ name: "ext_ROOT", home: lab.home("ext_ROOT") })],
    ["usermod of root", () => ["/usr/sbin/usermod", "-e", "1", "--", "root"]],
    ["usermod of the service", () => ["/usr/sbin/usermod", "-e", "1", "--", "uam-t"]],
    ["usermod that sets a password", () => ["/usr/sbin/usermod", "-e", "1", "-p", "x", "--", NAME]],
    ["usermod that adds to a group", () => ["/usr/sbin/usermod", "-aG", "sudo", "--", NAME]],
    ["usermod that changes the uid", () => ["/usr/sbin/usermod", "-o", "-u", "0", "--", NAME]],
    ["usermod of two", () => ["/usr/sbin/usermod", "-e", "1", "--", NAME, "root"]],
    ["usermod in another root", () => ["/usr/sbin/usermod", "-R", victim, "-e", "1", "--", NAME]],
    ["userdel of root", () => ["/usr/sbin/userdel", "--", "root"]],
    ["userdel with the home", () => ["/usr/sbin/userdel", "-r", "--", NAME]],
    ["chage of root", () => ["/usr/bin/chage", "-m", "-1", "-M", "-1", "-W", "-1", "-I", "-1", "--", "root"]],
    ["groupadd of another group", () => ["/usr/sbin/groupadd", "--system", "--", "wheel"]],
    ["the shadow entry of root", () => ["/usr/bin/getent", "shadow", "root"]],
    ["the shadow entries of all", () => ["/usr/bin/getent", "shadow"]],
    ["the shadow entry of root beside ours", () => ["/usr/bin/getent", "shadow", NAME, "root"]],
    ["another database", () => ["/usr/bin/getent", "gshadow", NAME]],
    ["kill as root", () => ["/usr/bin/kill", "-KILL", "--", "-1"]],
    [
      "kill as root by setpriv",
      () => [
        "/usr/bin/setpriv",
        "--reuid",
        "0",
        "--regid",
        "0",
        "--clear-groups",
        "--",
        "/usr/bin/kill",
        "-KILL",
        "--",
        "-1",
      ],
    ],
    [
      "kill with two uids",
      () => [
        "/usr/bin/setpriv",
        "--reuid",
        "58701",
        "--regid",
        "0",
        "--clear-groups",
        "--",
        "/usr/bin/kill",
        "-KILL",
        "--",
        "-1",
      ],
    ],
    [
      "a shell by setpriv",
      () => ["/usr/bin/setpriv", "--reuid", "58701", "--regid", "58701", "--clear-groups", "--", "/bin/sh"],
    ],
    ["a sweep of root's processes", () => [...bunRuntime.program, "sweep", "0"]],
    ["a sweep of a uid out of the range", () => [...bunRuntime.program, "sweep", "58699"]],
    ["a sweep with an option", () => [...bunRuntime.program, "sweep", "58700", "--help"]],
    ["another command of the program", () => [...bunRuntime.program, "user", "list"]],
    ["the program alone", () => bunRuntime.program],
    ["pkill of root's processes", () => ["/usr/bin/pkill", "-KILL", "-u", "0"]],
    ["pkill of two uids", () => ["/usr/bin/pkill", "-KILL", "-u", "58700,0"]],
    [
      "pkill of another's connections",
      () => ["/usr/bin/pkill", "-KILL", "-U", "0", "-x", "-f", "--", "sshd(-session)?: root .*"],
    ],
    [
      "pkill of all connections",
      () => ["/usr/bin/pkill", "-KILL", "-U", "0", "-x", "-f", "--", "sshd(-session)?: .* .*"],
    ],
    [
      "pkill of the listening sshd",
      () => ["/usr/bin/pkill", "-KILL", "-U", "0", "-x", "-f", "--", `sshd(-session)?: ${NAME}.*`],
    ],
    ["rm of another file", () => ["/usr/bin/rm", "-f", "--", "/etc/passwd"]],
    ["rm of root's crontab", () => ["/usr/bin/rm", "-f", "--", "/var/spool/cron/crontabs/root"]],
    ["rm of a file beside", () => ["/usr/bin/rm", "-f", "--", `/var/mail/${NAME}`, "/etc/passwd"]],
    ["rm of a whole home", () => trash(lab.home())],
    ["rm of all the trash", () => trash(join(lab.base, ".uam-trash"))],
    ["rm out of the trash", () => trash(`${lab.base}/.uam-trash/../victim`)],
    ["rm below what is in the trash", () => trash(`${lab.base}/.uam-trash/${NAME}.0123456789abcdef/../../victim`)],
    [
      "mv of another directory",
      () => ["/usr/bin/mv", "-T", "--", victim, `${lab.base}/.uam-trash/${NAME}.0123456789abcdef`],
    ],
    [
      "mv to another name",
      () => ["/usr/bin/mv", "-T", "--", lab.home(), `${lab.base}/.uam-trash/${OTHER}.0123456789abcdef`],
    ],
    ["mv to another place", () => ["/usr/bin/mv", "-T", "--", lab.home(), `/etc/${NAME}.0123456789abcdef`]],
    [
      "find elsewhere",
      () => ["/usr/bin/find", "/etc", "-mindepth", "1", "-maxdepth", "1", "-type", "f", "-uid", "58700", "-delete"],
    ],
    [
      "find of root's jobs",
      () => [
        "/usr/bin/find",
        "/var/spool/cron/atjobs",
        "-mindepth",
        "1",
        "-maxdepth",
        "1",
        "-type",
        "f",
        "-uid",
        "0",
        "-delete",
      ],
    ],
    [
      "find that runs something",
      () => [
        "/usr/bin/find",
        "/var/spool/cron/atjobs",
        "-mindepth",
        "1",
        "-maxdepth",
        "1",
        "-type",
        "f",
        "-uid",
        "58700",
        "-exec",
        "sh",
        ";",
      ],
    ],
    ["a list of root's directory", () => ["/usr/bin/ls", "-A", "--", "/root"]],
    [
      "sshd with another configuration",
      () => [
        "/usr/sbin/sshd",
        "-T",
        "-f",
        "/etc/shadow",
        "-C",
        `user=${NAME},host=localhost,addr=127.0.0.1,laddr=127.0.0.1,lport=22`,
      ],
    ],
    ["a stop of another's slice", () => ["/usr/bin/systemctl", "kill", "--signal=SIGKILL", "user-0.slice"]],
    [
      "systemctl of a service",
      () => ["/usr/bin/systemctl", "kill", "--signal=SIGKILL", "user-58700.slice", "sshd.service"],
    ],
    ["lingering for root", () => ["/usr/bin/loginctl", "enable-linger", NAME]],
    // A name that needs no look-up: if no resolver answers, sudo would wait for it.
    ["another host's rules", () => ["-h", "localhost", "--", "/usr/sbin/usermod", "-e", "1", "--", NAME]],
    ["another root directory", () => ["-R", victim, "--", "/usr/sbin/usermod", "-e", "1", "--", NAME]],
    ["another working directory", () => ["-D", "/root", "--", "/usr/sbin/usermod", "-e", "1", "--", NAME]],
    ["an environment kept", () => ["-E", "--", "/usr/sbin/usermod", "-e", "1", "--", NAME]],
    ["a variable set", () => ["BUN_BE_BUN=1", "/usr/sbin/usermod", "-e", "1", "--", NAME]],
    ["a library put in front", () => ["LD_PRELOAD=/tmp/x.so", "/usr/sbin/usermod", "-e", "1", "--", NAME]],
    ["descriptors left open", () => ["-C", "100", "--", "/usr/sbin/usermod", "-e", "1", "--", NAME]],
    ["the owner's command as root", () => ["/usr/bin/chmod", "00700", "--", lab.ssh]],
    ["root's command as the owner", () => owner("/usr/sbin/usermod", "-e", "1", "--", NAME)],
  ];

  // Refused if the output has sudo's own words for it; a command that ran and failed prints others.
  const SAYS_NO =
    /a password is required|not allowed|not permitted|may not|unknown user|unknown group|invalid option|usage: sudo|only be specified when listing/i;

  test.each(REFUSED)("sudo refuses %s", (_, argv) => {
    const before = [
      describeTree(victim),
      readFileSync("/etc/passwd", "utf8"),
      readFileSync("/etc/group", "utf8"),
      shadowOf(),
    ];
    const ran = lab.asService(["sudo", "-n", ...argv()]);
    expect([ran.status, ran.stderr]).toEqual([1, expect.stringMatching(SAYS_NO)]);
    expect(ran.stdout).toBe("");
    expect([
      describeTree(victim),
      readFileSync("/etc/passwd", "utf8"),
      readFileSync("/etc/group", "utf8"),
      shadowOf(),
    ]).toEqual(before);
  });

  test("sudo runs the very commands whose neighbours it refuses", () => {
    for (const argv of [
      installed(lab.keys),
      useradd(),
      ["/usr/sbin/usermod", "-e", "1", "--", NAME],
      ["/usr/bin/getent", "shadow", NAME],
    ]) {
      expect(lab.asService(["sudo", "-n", ...argv])).toMatchObject({ status: 0, stderr: "" });
    }
  });

  test("sudo passes on no variable of the service, and an observer cannot be traced", async () => {
    const fifo = join(victim, "fifo");
    expect(run("mkfifo", "-m", "0666", fifo).status).toBe(0);
    const argv = ["--reuid", "uam-t", "--regid", "uam-t", "--init-groups", "--", "/bin/sh", "-c"];
    const script = `exec sudo -n -u ${NAME} -- /usr/bin/install -T -m 0600 -- /dev/stdin ${lab.keys} 0<>${fifo}`;
    const env = {
      PATH: "/usr/bin:/usr/sbin",
      BUN_BE_BUN: "1",
      BUN_OPTIONS: "--x",
      LD_PRELOAD: "",
      UAM_SMTP_URL: "secret",
    };
    const child = spawn("setpriv", [...argv, script], { env, stdio: "ignore", cwd: "/" });
    try {
      const program = () => readFileSync(`/proc/${child.pid}/cmdline`, "utf8").split("\0")[0];
      await until(() => program() === "/usr/bin/install");
      const names = readFileSync(`/proc/${child.pid}/environ`, "utf8")
        .split("\0")
        .map((it) => it.split("=")[0]);
      expect(names.filter((name) => /^(BUN|UAM|LD)_/.test(name ?? ""))).toEqual([]);
      expect(lstatSync(`/proc/${child.pid}`).uid).toBe(UID);
    } finally {
      child.kill("SIGKILL");
      run("pkill", "-KILL", "-u", String(UID));
    }
  });
});
