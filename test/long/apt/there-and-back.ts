/** An older version with data, which apt upgrades, and which the commands of docs/install.md bring back. */

import { admitted, logIn, refused, uploadKey } from "../../debian/access.ts";
import { answers, mainPid } from "../../debian/checks.ts";
import type { Container } from "../../debian/container.ts";
import { repositoryCommands } from "../../debian/readme.ts";
import { PUBLISH_UPGRADE, REPOSITORY_URL } from "../../debian/repository.ts";
import { same, step } from "../../debian/steps.ts";
import { commandsUnder } from "../../support/documents.ts";
import type { OldVersion } from "../upgrade/versions.ts";

/** The program in dist, under a version that is higher than any: the changelog's next one may not be named yet. */
export const NEWER = "999.0.0";
/** As the document calls it. */
const BACKUP = "/var/backups/uam.backup";

/** Throws at the first thing that is wrong; /opt/uam/old.deb is the old package. */
export async function upgradesAndGoesBack(container: Container, version: OldVersion): Promise<void> {
  await step(`uam ${version} by apt, alice with a key and bob disabled, and a backup`, async () => {
    for (const command of repositoryCommands(REPOSITORY_URL, "direct"))
      await container.sh(`cd /root && ${command}`, 120);
    for (const user of ["alice", "bob"]) await joins(container, user);
    await container.sh("uam user disable bob");
    await refused(container, "bob", "bob");
    await container.sh(`uam backup ${BACKUP}`);
  });
  const before = await mainPid(container);
  await step("apt upgrades it on the same data", async () => {
    await container.sh(`${PUBLISH_UPGRADE} && apt-get install --yes uam`, 120);
    await isVersion(container, NEWER);
    await holds(container);
    if ((await mainPid(container)) === before) throw new Error("the service was not restarted");
    const { stdout } = await container.attempt("uam doctor --json");
    const faults = (JSON.parse(stdout) as readonly { area: string; state: string; finding: string }[]).filter(
      ({ area, state }) => state === "fault" && area !== "clock",
    );
    same(JSON.stringify(faults), "[]", "what the new doctor finds wrong");
  });
  await step("then carol comes, alice's key is revoked, and carol goes", async () => {
    await joins(container, "carol");
    await container.sh("uam key revoke alice 1");
    await refused(container, "alice", "alice");
    await container.sh("uam user delete carol --yes");
    await refused(container, "carol", "carol");
  });
  await step(`back to ${version}, as docs/install.md says`, async () => {
    for (const command of commandsUnder("docs/install.md", "Going back")) {
      // As the text below the commands says.
      if (version === "0.1.0" && command === "uam reconcile") await container.sh("chown ext_bob: /home/ext_bob");
      await container.sh(command.replace(/\.\/uam_\S+_amd64\.deb/, "/opt/uam/old.deb"), 120);
    }
    await isVersion(container, version);
    await holds(container);
    same(await container.sh("uam user list | grep -c carol || true"), "0\n", "carol among the users");
    await refused(container, "carol", "carol");
  });
  await step("and it goes on: somebody new is let in", () => joins(container, "dora"));
}

async function joins(container: Container, user: string): Promise<void> {
  await container.sh(`uam user create ${user} --email ${user}@example.org --ttl-days 30`);
  await logIn(container, "uam", user);
  await uploadKey(container, user, user);
  await admitted(container, user, user);
}

/** What every version has to show: alice is in, bob is not, the host is as the database says, and the log is whole. */
async function holds(container: Container): Promise<void> {
  await answers(container);
  // The service looks at the host by itself after a start.
  await container.until("uam reconcile --check", 60);
  await container.sh("uam audit verify");
  await admitted(container, "alice", "alice");
  await refused(container, "bob", "bob");
}

async function isVersion({ sh }: Container, version: string): Promise<void> {
  same(await sh("dpkg --status uam | grep ^Version:"), `Version: ${version}\n`, "the package's version");
}
