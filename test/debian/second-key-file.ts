/** A second file that sshd reads keys from, where an administrator or Debian's default says so. */

import { refused } from "./access.ts";
import type { Container } from "./container.ts";
import { same, step } from "./steps.ts";

const DROP_IN = "/etc/ssh/sshd_config.d/50-uam.conf";

/** For a user whose key `first` is revoked, and whose key `second` is not. */
export async function secondKeyFile(container: Container, uam: string, user: string): Promise<void> {
  const file = `/home/ext_${user}/.ssh/authorized_keys2`;
  await step("a revoked key in a second file that sshd reads is found, and taken out", async () => {
    await container.sh(`sed -i.before 's|AuthorizedKeysFile .*|& .ssh/authorized_keys2|' ${DROP_IN} && systemctl reload ssh
      install -d -o ext_${user} -g ext_${user} -m 0700 /home/ext_${user}/.ssh
      install -o ext_${user} -g ext_${user} -m 0600 /root/first.pub ${file}`);
    const check = await container.attempt(`${uam} reconcile --check`);
    if (check.status !== 1 || !check.stdout.includes(`sshd also reads keys from ${file}`))
      throw new Error(`reconcile --check found ${check.status} ${check.stdout}${check.stderr}`);
    // What is there by the time that it is repaired may be the service's own doing.
    await container.attempt(`${uam} reconcile`);
    await refused(container, user, "first");
    same((await container.attempt(`cat ${file}`)).stdout, "", file);
    await container.sh(`mv ${DROP_IN}.before ${DROP_IN} && systemctl reload ssh && ${uam} reconcile --check`);
  });
}
