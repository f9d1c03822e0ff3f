/** The Debian package, upgraded while its service is running. */

import { admitted, ownKeys } from "./access.ts";
import { answers, mainPid } from "./checks.ts";
import type { Container } from "./container.ts";
import { same } from "./steps.ts";

/** The package as it is, and the same under a higher version, as paths in the container. */
export interface Packages {
  readonly first: string;
  readonly upgrade: string;
  readonly upgradeVersion: string;
}

/**
 * Installs the higher version by `command` over a service that runs as `serviceUser`, and throws unless it is then restarted as the
 * same user, with the session that `user` has and the key that opens their account.
 */
export async function upgradeWhileServing(
  container: Container,
  { command, upgradeVersion }: { readonly command: string; readonly upgradeVersion: string },
  { serviceUser, user, key }: { readonly serviceUser: string; readonly user: string; readonly key: string },
): Promise<void> {
  const before = await mainPid(container);
  const keys = await ownKeys(container, user);
  await container.sh(command, 120);
  await answers(container);
  const version = await container.sh("dpkg --status uam | grep ^Version:");
  same(version, `Version: ${upgradeVersion}\n`, "the package's version");
  const after = await mainPid(container);
  if (after === before || after === "0") throw new Error(`the service was not restarted: ${before}, ${after}`);
  same(await container.sh(`ps -o user= -p ${after}`), `${serviceUser}\n`, "the service's user");
  same(await ownKeys(container, user), keys, "the keys that the session of before shows");
  await admitted(container, user, key);
}
