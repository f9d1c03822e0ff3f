/** The Debian package in sudo mode, upgraded and removed. */

import { admitted, logIn, openSession, refused, sessionEnded, uploadKey } from "./access.ts";
import { absent, answers, healthy, idle, killService, mainPid, ratedAsPromised } from "./checks.ts";
import type { Container } from "./container.ts";
import { endings } from "./endings.ts";
import { evidence } from "./evidence.ts";
import { same, step } from "./steps.ts";
import { type Packages, upgradeWhileServing } from "./upgrade.ts";

const UAM = "sudo -u uam uam";

/** Runs it all; throws at the first thing that is wrong. */
export async function sudoMode(container: Container, packages: Packages): Promise<void> {
  await step("the package is installed and put to work in sudo mode", async () => {
    await container.sh(`dpkg --install ${packages.first} && uam install --mode sudo`, 120);
    await container.sh("systemctl start uam", 120);
    await container.sh(`${UAM} admin add root-admin --email you@example.org`);
    await answers(container);
    same(await container.sh(`ps -o user= -p ${await mainPid(container)}`), "uam\n", "the service's user");
    await healthy(container, UAM);
  });
  await mainJob(container);
  await evidence(container, UAM, { spared: false, by: "the shell" });
  await endings(container, UAM);
  await step("systemd rates the unit as the README says", () => ratedAsPromised(container, "sudo"));
  await upgrades(container, packages);
  await removes(container);
}

async function mainJob(container: Container): Promise<void> {
  await step("a user uploads a key, and ssh lets him in", async () => {
    await container.sh(`${UAM} user create bob --email bob@example.org --ttl-days 3`);
    await logIn(container, UAM, "bob");
    await uploadKey(container, "bob", "first");
    await admitted(container, "bob", "first");
  });
  await step("a revoked key is refused, and its session is over", async () => {
    await openSession(container, "bob", "first");
    await container.sh(`${UAM} key revoke bob 1`);
    await sessionEnded(container, "bob");
    await refused(container, "bob", "first");
    await uploadKey(container, "bob", "second");
  });
  await step("after kill -9 systemd starts it again, and the key counts as before", async () => {
    await killService(container);
    await container.sh(`${UAM} reconcile --check`);
    await admitted(container, "bob", "second");
    await refused(container, "bob", "first");
  });
}

async function upgrades(container: Container, packages: Packages): Promise<void> {
  await step("an upgrade of the package keeps the mode, and restarts the service on the same data", async () => {
    await upgradeWhileServing(container, packages, { serviceUser: "uam", user: "bob", key: "second" });
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

async function removes(container: Container): Promise<void> {
  await step("removing the package takes the service off; even a purge leaves data and configuration", async () => {
    await container.sh("dpkg --remove uam", 120);
    await absent(container, ["/etc/systemd/system/uam.service", "/etc/sudoers.d/uam", "/usr/bin/uam"]);
    await absent(container, ["/etc/ssh/sshd_config.d/50-uam.conf"]);
    await idle(container, "-u uam");
    await container.sh("sshd -t && dpkg --purge uam && ls /var/lib/uam/audit.key /etc/uam/uam.env");
  });
}
