/** docs/install.md, "From an apt repository", as it is written but for the repository's address. */

import { admitted, logIn, uploadKey } from "../../debian/access.ts";
import { healthy } from "../../debian/checks.ts";
import type { Container } from "../../debian/container.ts";
import { repositoryCommands } from "../../debian/readme.ts";
import { REPOSITORY_URL } from "../../debian/repository.ts";
import { say, step } from "../../debian/steps.ts";

/** Runs the commands one right after the other, and then does what the text below them says; throws at the first that fails. */
export async function firstLogin(container: Container): Promise<void> {
  const begin = performance.now();
  for (const command of repositoryCommands(REPOSITORY_URL, "direct")) {
    await step(command, () => container.sh(`cd /root && ${command}`, 120));
  }
  await step("jensen logs in with a code and uploads a key", async () => {
    await logIn(container, "uam", "jensen");
    await uploadKey(container, "jensen", "laptop");
  });
  await step("ssh lets them in", () => admitted(container, "jensen", "laptop"));
  say(`      ${((performance.now() - begin) / 1000).toFixed(1)} s from nothing to the login`);
  await step("doctor finds no fault", () => healthy(container, "uam"));
}
