/** The Debian package from an apt repository in sudo mode, upgraded and removed. */

import { admitted, logIn, openSession, refused, sessionEnded, uploadKey } from "./access.ts";
import { absent, answers, healthy, idle, killService, mainPid, ratedAsPromised } from "./checks.ts";
import type { Container } from "./container.ts";
import { endings } from "./endings.ts";
import { evidence } from "./evidence.ts";
import { forwards } from "./forwards.ts";
import { leftBehind } from "./left-behind.ts";
import { repositoryCommands } from "./readme.ts";
import { PUBLISH_UPGRADE, REPOSITORY_URL } from "./repository.ts";
import { reserve } from "./reserve.ts";
import { same, step } from "./steps.ts";
import { type Packages, upgradeWhileServing } from "./upgrade.ts";

/** Run as root, uam switches to the service's user by itself. */
const UAM = "uam";

/** Runs it all; throws at the first thing that is wrong. */
export async function sudoMode(container: Container, packages: Packages): Promise<void> {
  const password = await installs(container);
  await mainJob(container);
  await becomes(container);
  await reserve(container, UAM, password);
  await evidence(container, UAM, { spared: false, by: "the shell" });
  await endings(container, UAM);
  await leftBehind(container, UAM);
  await forwards(container, "bob", "owner");
  // Disabling has ended the session of before.
  await logIn(container, "uam", "bob");
  await step("systemd rates the unit as docs/install.md says", () => ratedAsPromised(container, "sudo"));
  await upgrades(container, packages);
  await removes(container);
}

/** Gives the administrator's password. */
export async function installs(container: Container): Promise<string> {
  return await step("five commands from an apt repository to a user who logs in by ssh, in sudo mode", async () => {
    const said: string[] = [];
    for (const command of repositoryCommands(REPOSITORY_URL, "sudo")) {
      said.push(await step(command, () => container.sh(`cd /root && ${command}`, 120)));
      if (command.includes("systemctl start")) await answers(container);
    }
    const [password = ""] = said.find((text) => /^[\w-]{16,}\n$/.test(text))?.split("\n") ?? [];
    await logIn(container, UAM, "jensen");
    await uploadKey(container, "jensen", "laptop");
    await admitted(container, "jensen", "laptop");
    await container.sh(`${UAM} user delete jensen --yes`);
    same(await container.sh(`ps -o user= -p ${await mainPid(container)}`), "uam\n", "the service's user");
    same(await container.sh("apt-mark showmanual uam"), "uam\n", "what apt knows it as");
    await healthy(container, UAM);
    return password;
  });
}

/** A user gets in by a key, and is out without it; ends with bob, his key first revoked and his key second good. */
export async function mainJob(container: Container): Promise<void> {
  await step("a user uploads a key, and ssh lets them in", async () => {
    await container.sh(`${UAM} user create bob --email bob@example.org --ttl-days 3`);
    await logIn(container, UAM, "bob");
    await uploadKey(container, "bob", "first");
    await admitted(container, "bob", "first");
  });
  await step("a revoked key is refused, and its session is over", async () => {
    await openSession(container, "bob", "first");
    // Jensen's was the first.
    await container.sh(`${UAM} key revoke bob 2`);
    await sessionEnded(container, "bob");
    await refused(container, "bob", "first");
    await uploadKey(container, "bob", "second");
  });
  await step("after kill -9 systemd restarts it, and the key works as before", async () => {
    await killService(container);
    await container.sh(`${UAM} reconcile --check`);
    await admitted(container, "bob", "second");
    await refused(container, "bob", "first");
  });
}

async function becomes(container: Container): Promise<void> {
  await step("root's own commands run as the service's user, and the audit log names who logged in", async () => {
    await container.sh(
      "cd /root && uam user update bob --purpose one && sudo -u uam uam user update bob --purpose two",
    );
    await container.sh("SUDO_USER=daemon SUDO_UID=1 uam user update bob --purpose three");
    await container.sh("SUDO_USER=$'a\\e[31mb' uam user update bob --purpose four");
    const actors = await container.sh('uam audit list --action user.update --json | grep -o \'"actor": *"[^"]*"\'');
    // sudo(8) reports root as its caller.
    const expected = ["root", "daemon", "root", "root"].map((name) => `"actor": "${name}"`);
    same(actors.trim(), expected.join("\n"), "who did it, the last first");
    await container.sh('test -z "$(find /var/lib/uam /var/cache/uam -xdev -not -user uam)"');
  });
  await step("the operator's terminal stays with root: what runs as the service's user has none", async () => {
    const loop = "for i in 1 2 3 4 5 6; do uam user list; done";
    await container.sh(`script -qec "sh -c '${loop}'" /tmp/shown > /dev/null &
      while kill -0 $! 2> /dev/null; do ps -e -o user= -o tty= -o comm=; done > /tmp/seen`);
    const seen = new Set(
      (await container.sh("cat /tmp/seen")).split("\n").map((line) => line.trim().replace(/ +/g, " ")),
    );
    const ofProgram = [...seen].filter((line) => line.endsWith(" uam"));
    const has = (pattern: RegExp) => ofProgram.some((line) => pattern.test(line));
    if (!has(/^root pts/) || !has(/^uam \? /) || has(/^uam pts/)) throw new Error([...seen].join("\n"));
    const shown = await container.sh("cat /tmp/shown");
    if (shown.split("bob@").length !== 7) throw new Error(`not what was asked for: ${shown}`);
    const asked = await container.attempt("printf 'n\\n' | script -qec 'uam user delete bob' /dev/null");
    if (asked.status !== 1 || !/Delete bob[\s\S]*\[y\/N\][\s\S]*Nothing was deleted/.test(asked.stdout))
      throw new Error(JSON.stringify(asked));
  });
  await step("root's doctor takes no rights away from what the service's user has put a link to", async () => {
    const key = "/var/lib/uam/audit.key";
    await container.sh(`mv ${key} /var/lib/uam/kept.key && runuser -u uam -- ln -s /etc/passwd ${key}`);
    const { stdout } = await container.attempt("uam doctor --fix");
    if (!stdout.includes(`${key} has mode 0644`)) throw new Error(`the doctor did not see the link: ${stdout}`);
    same(await container.sh("stat -c %a /etc/passwd"), "644\n", "the mode of /etc/passwd");
    await container.sh(`mv -f /var/lib/uam/kept.key ${key}`);
  });
  await step("root's doctor sees what only the service's user can check, and what only root can", async () => {
    const { stdout } = await container.attempt("uam doctor --json");
    const states = (JSON.parse(stdout) as readonly { area: string; state: string }[]).map(
      (it) => `${it.area} ${it.state}`,
    );
    for (const seen of ["host ok", "database ok", "accounts ok", "administrators ok", "sshd ok", "mail ok"]) {
      if (!states.includes(seen)) throw new Error(`doctor did not find "${seen}": ${stdout}`);
    }
  });
}

/** Ends with bob deleted. */
export async function upgrades(container: Container, packages: Packages): Promise<void> {
  await step("an upgrade of the package keeps the mode, and restarts the service on the same data", async () => {
    const upgrade = { ...packages, command: `${PUBLISH_UPGRADE} && apt-get install --yes uam` };
    await upgradeWhileServing(container, upgrade, { serviceUser: "uam", user: "bob", key: "second" });
    await container.sh("grep -qx User=uam /etc/systemd/system/uam.service");
    await healthy(container, UAM);
  });
  await step("a deleted user is gone from the host", async () => {
    await container.sh(`${UAM} user delete bob --yes`);
    await refused(container, "bob", "second");
    await container.sh("if getent passwd ext_bob; then exit 1; fi");
    await absent(container, ["/home/ext_bob"]);
  });
}

/** The package goes, and data and configuration stay. */
export async function removes(container: Container): Promise<void> {
  await step("removing the package removes the service; even a purge leaves data and configuration", async () => {
    await container.sh("apt-get remove --yes uam", 120);
    await absent(container, ["/etc/systemd/system/uam.service", "/etc/sudoers.d/uam", "/usr/bin/uam"]);
    await absent(container, ["/etc/ssh/sshd_config.d/50-uam.conf"]);
    await idle(container, "-u uam");
    await container.sh("sshd -t && apt-get purge --yes uam && ls /var/lib/uam/audit.key /etc/uam/uam.env");
  });
}
