/** What a mail server that delivers locally runs in the name of an account. */

import type { Container } from "./container.ts";
import { same, step } from "./steps.ts";
import { MAIL_SERVER } from "./tree.ts";

/** Not in /tmp: there the kernel lets nobody open another's file with O_CREAT (fs.protected_regular). */
const TAKEN = "/opt/forwarded";

/**
 * `home` is whose the home is while the account is shut: root's in direct mode; its owner's in sudo mode, which docs/sudo-mode.md says. The
 * user is enabled before and after. Comes last of what happens with accounts: from here on cron mails what its jobs print.
 */
export async function forwards({ sh, until }: Container, user: string, home: "root" | "owner"): Promise<void> {
  const account = `ext_${user}`;
  const place = `/home/${account}`;
  // It returns once delivery was tried; what became of it is in the log's new lines.
  const mail = (text: string) =>
    sh(
      `touch /var/log/exim4/mainlog; old=$(wc -l </var/log/exim4/mainlog)
      echo ${text} | /usr/sbin/sendmail -odf ${account}@localhost
      tail -n +$((old + 1)) /var/log/exim4/mainlog | grep ${account}`,
      30,
    );
  const runs = (text: string) => until(`grep -q ${text} ${TAKEN}/mail`, 30);
  const what = home === "root" ? "runs nothing" : "goes on running what it says, as is said of sudo mode";
  await step(`with a mail server that delivers locally, ~/.forward of a disabled account ${what}`, async () => {
    await sh(
      `DEBIAN_FRONTEND=noninteractive apt-get -qy --no-download --no-install-recommends install ${MAIL_SERVER}`,
      120,
    );
    await sh(`install -d -o ${account} ${TAKEN}
cat >${place}/.forward <<'END'
"|/bin/sh -c 'cat >>${TAKEN}/mail'"
END
      chown ${account}:${account} ${place}/.forward`);
    await mail("before-disabling");
    await runs("before-disabling");
    await sh(`uam user disable ${user}`);
    same(await sh(`stat -c %U ${place}`), `${home === "root" ? "root" : account}\n`, "whose the home is");
    await mail("while-disabled");
    if (home === "root") await sh(`if grep while-disabled ${TAKEN}/mail; then exit 1; fi`);
    else await runs("while-disabled");
    await sh(`uam user enable ${user}`);
    await mail("enabled-again");
    await runs("enabled-again");
    await sh(`rm -r ${place}/.forward ${TAKEN}`);
  });
}
