/** What has to hold on every Debian, whatever its sshd, systemd and sudo say: the essentials of both modes. */

import type { Container } from "./container.ts";
import * as direct from "./direct.ts";
import { evidence } from "./evidence.ts";
import { profiles } from "./profiles.ts";
import { secondKeyFile } from "./second-key-file.ts";
import * as sudo from "./sudo.ts";
import { underWay } from "./under-way.ts";
import type { Packages } from "./upgrade.ts";

/** In direct mode; `program` is the path of the built program in the container. Throws at the first thing that is wrong. */
export async function directEssentials(container: Container, program: string, packages: Packages): Promise<void> {
  await withoutPenalties(container);
  const password = await direct.installs(container, program);
  await direct.mainJob(container, password);
  await underWay(container, "uam");
  await evidence(container, "uam", { spared: true, by: "the service" });
  await secondKeyFile(container, "uam", "alice");
  await profiles(container, "uam");
  await direct.uninstalls(container);
  await direct.upgrades(container, program, packages);
}

/** In sudo mode. */
export async function sudoEssentials(container: Container, packages: Packages): Promise<void> {
  await withoutPenalties(container);
  await sudo.installs(container);
  await sudo.mainJob(container);
  await underWay(container, "uam");
  await evidence(container, "uam", { spared: false, by: "the shell" });
  await secondKeyFile(container, "uam", "bob");
  await sudo.upgrades(container, packages);
  await sudo.removes(container);
}

/** Since 9.8 an sshd refuses everybody behind an address with several refusals, and everybody here is behind the same. */
async function withoutPenalties({ sh }: Container): Promise<void> {
  await sh(`option='PerSourcePenalties no'
    if sshd -t -o "$option"; then echo "$option" >/etc/ssh/sshd_config.d/00-test.conf && systemctl reload ssh; fi`);
}
