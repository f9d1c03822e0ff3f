/** Profiles by this Debian's own sshd and clients, as `uam profile try` finds them. */

import type { Container } from "./container.ts";
import { step } from "./steps.ts";

/** What each is made with; the directory is made by the service, and the program is a link to one of Debian's. */
const KINDS: Readonly<Record<string, string>> = {
  "try-shell": "--kind shell --forwarding yes",
  "try-closed": "--kind shell --forwarding no --max-sessions 2",
  "try-files": "--kind sftp --directory /srv/try",
  "try-read": "--kind sftp --directory /srv/try --read-only yes",
  "try-tunnel": "--kind forward --target 127.0.0.1:22",
  "try-program": "--kind command --command id",
  "try-verified": "--kind shell --second-factor verified",
};

/** Of each kind, and with a second factor. */
export async function profiles({ sh, attempt }: Container, uam: string): Promise<void> {
  await step("clients can do with each kind of profile what it says, and nothing else", async () => {
    await sh("install -d -m 0755 /etc/uam-commands && ln -s /usr/bin/id /etc/uam-commands/id");
    for (const [name, options] of Object.entries(KINDS)) {
      await sh(`${uam} profile add ${name} ${options}`);
      const { status, stdout, stderr } = await attempt(`${uam} profile try ${name}`, 300);
      if (status !== 0 || !/^\d\d as the profile says, 0 not, /m.test(stdout))
        throw new Error(`uam profile try ${name} ended with ${status}:\n${stdout}${stderr}`);
      await sh(`${uam} profile remove ${name}`);
    }
    await sh("if id ext_uam-profile-try; then exit 1; fi; rm /etc/uam-commands/id");
  });
}
