/** The README's installation in direct mode, and its life until it is uninstalled. */

import { admitted, listedUsers, logIn, openSession, ownKeys, refused, sessionEnded, uploadKey } from "./access.ts";
import { absent, answers, healthy, hostFingerprint, idle, killService, mainPid, ratedAsPromised } from "./checks.ts";
import type { Container } from "./container.ts";
import { credentials } from "./credentials.ts";
import { endings } from "./endings.ts";
import { evidence } from "./evidence.ts";
import { forwards } from "./forwards.ts";
import { keyPlace } from "./key-place.ts";
import { leftBehind } from "./left-behind.ts";
import { installCommands } from "./readme.ts";
import { reserve, switches } from "./reserve.ts";
import { same, step } from "./steps.ts";
import { type Packages, upgradeWhileServing } from "./upgrade.ts";

/** Runs it all; `program` is the path of the built program in the container. Throws at the first thing that is wrong. */
export async function directMode(container: Container, program: string, packages: Packages): Promise<void> {
  const password = await installs(container, program);
  await mainJob(container, password);
  await keyPlace(container, program);
  await reserve(container, "uam", password);
  await switches(container);
  await evidence(container, "uam", { spared: true, by: "the shell" });
  await evidence(container, "uam", { spared: true, by: "the service" });
  await endings(container, "uam");
  await leftBehind(container, "uam");
  await survives(container);
  await credentials(container);
  await restores(container);
  await repeats(container, program);
  await forwards(container, "alice", "root");
  await step("systemd rates the unit as docs/install.md says", () => ratedAsPromised(container, "direct"));
  await uninstalls(container);
  await upgrades(container, program, packages);
}

/** The README's commands; gives the administrator's password. */
export async function installs(container: Container, program: string): Promise<string> {
  let password = "";
  const before = await hostFingerprint(container);
  for (const command of installCommands(program)) {
    await step(command, async () => {
      const { status, stdout, stderr } = await container.attempt(command, 120);
      // Its findings are looked at below: a container's clock may be a fault.
      const accepted = command === "uam doctor" ? [0, 1] : [0];
      if (!accepted.includes(status)) throw new Error(`ended with ${status}:\n${stdout}${stderr}`);
      if (command.includes("--dry-run")) same(await hostFingerprint(container), before, "the host after --dry-run");
      if (command.startsWith("uam admin add")) password = stdout.trim();
    });
  }
  await step("the service answers, starts with the host, and doctor finds nothing else wrong", async () => {
    await answers(container);
    await container.sh("systemctl is-active uam && systemctl is-enabled uam");
    await healthy(container, "uam");
  });
  return password;
}

/** A user gets in by a key, and is out without it; ends with alice without a session, her key first revoked and her key second good. */
export async function mainJob(container: Container, password: string): Promise<void> {
  await step("a user is created, and the administrator sees them", async () => {
    await container.sh("uam user create alice --email alice@example.org --ttl-days 3");
    same(await listedUsers(container, "root-admin", password), '"username":"alice"\n', "the list of users");
  });
  await step("with a code they upload a key, and ssh lets them in", async () => {
    await logIn(container, "uam", "alice");
    await uploadKey(container, "alice", "first");
    await admitted(container, "alice", "first");
  });
  await step("a revoked key is refused, and its session is over", async () => {
    await openSession(container, "alice", "first");
    await container.sh("uam key revoke alice 1");
    await sessionEnded(container, "alice");
    await refused(container, "alice", "first");
  });
  await step("disabling ends a session and refuses another; enabling admits again", async () => {
    await uploadKey(container, "alice", "second");
    await openSession(container, "alice", "second");
    await container.sh("uam user disable alice");
    await sessionEnded(container, "alice");
    await refused(container, "alice", "second");
    same(await container.sh("stat -c %u:%a /home/ext_alice"), "0:700\n", "whose a shut account's home is");
    await container.sh("uam user enable alice");
    same(await container.sh("stat -c %U:%a /home/ext_alice"), "ext_alice:700\n", "whose it is once opened again");
    await admitted(container, "alice", "second");
  });
}

async function survives(container: Container): Promise<void> {
  await step("after kill -9 systemd restarts it, and all is as before", async () => {
    const seen = async () =>
      [
        await container.sh(
          "uam user list --json; uam key list alice --json; cat /var/lib/uam/keys/ext_alice/authorized_keys",
        ),
        await ownKeys(container, "alice"),
      ].join("\n");
    // Disabling has ended the session of before; a code comes once a minute.
    await logIn(container, "uam", "alice");
    const before = await seen();
    await killService(container);
    same(await seen(), before, "what is stored");
    await container.sh("uam reconcile --check && uam audit verify");
    await admitted(container, "alice", "second");
    await refused(container, "alice", "first");
  });
  await step("a reload leaves it running", async () => {
    const before = await mainPid(container);
    await container.sh("systemctl reload uam");
    await answers(container);
    same(await mainPid(container), before, "the service's process");
  });
}

async function restores(container: Container): Promise<void> {
  await step("a backup brings back a key that was revoked after it", async () => {
    await container.sh("uam backup /var/backups/uam && uam restore --check /var/backups/uam");
    await container.sh("uam key revoke alice 2");
    await refused(container, "alice", "second");
    await container.sh("systemctl stop uam && uam restore --force /var/backups/uam");
    const { status, stdout } = await container.attempt("uam reconcile --check");
    if (status !== 1 || !stdout.includes("ext_alice")) throw new Error(`reconcile --check: ${status} ${stdout}`);
    await refused(container, "alice", "second");
    await container.sh("uam reconcile && uam reconcile --check && systemctl start uam");
    await answers(container);
    await admitted(container, "alice", "second");
    await healthy(container, "uam");
  });
}

async function repeats(container: Container, program: string): Promise<void> {
  await step("installing again keeps the configuration, and leaves the service alone", async () => {
    const before = await mainPid(container);
    const configuration = await container.sh("cat /etc/uam/uam.env");
    await container.sh(`${program} install --mode direct`);
    same(await container.sh("cat /etc/uam/uam.env"), configuration, "/etc/uam/uam.env");
    same(await mainPid(container), before, "the service's process");
  });
}

/** The service goes, and everything else stays. */
export async function uninstalls(container: Container): Promise<void> {
  await step("uninstalling removes the service, and leaves data, configuration and accounts", async () => {
    await container.sh("uam uninstall");
    await absent(container, ["/etc/systemd/system/uam.service", "/usr/local/bin/uam"]);
    await idle(container, "-x uam");
    await idle(container, "-u uam-postgres");
    await container.sh("ls /var/lib/uam/audit.key /etc/uam/uam.env /etc/ssh/sshd_config.d/50-uam.conf && id ext_alice");
    await admitted(container, "alice", "second");
  });
}

/** On the data that the uninstalled service left. */
export async function upgrades(container: Container, program: string, packages: Packages): Promise<void> {
  await step(
    "the package takes over from a copy by hand, and its upgrade restarts the service on the same data",
    async () => {
      await container.sh(`${program} install --mode direct && systemctl start uam`, 120);
      await answers(container);
      const before = await mainPid(container);
      await container.sh(`dpkg --install ${packages.first}`, 120);
      await answers(container);
      await absent(container, ["/usr/local/bin/uam"]);
      same(await container.sh("command -v uam"), "/usr/bin/uam\n", "the program that root's shell runs");
      const after = await mainPid(container);
      if (after === before) throw new Error("the service still runs the copy that the package replaced");
      same(await container.sh(`readlink /proc/${after}/exe`), "/usr/bin/uam\n", "the service's program");
      const refused = await container.attempt(`${program} install --mode direct`);
      if (!refused.stderr.includes("would hide it and its updates")) throw new Error(`not refused: ${refused.stderr}`);
      await logIn(container, "uam", "alice");
      const upgrade = { ...packages, command: `dpkg --install ${packages.upgrade}` };
      await upgradeWhileServing(container, upgrade, { serviceUser: "root", user: "alice", key: "second" });
      await healthy(container, "uam");
    },
  );
  await step("removing the package removes the service, and leaves the account", async () => {
    await container.sh("dpkg --remove uam", 120);
    await absent(container, ["/etc/systemd/system/uam.service", "/usr/bin/uam"]);
    await idle(container, "-x uam");
    await admitted(container, "alice", "second");
  });
}
