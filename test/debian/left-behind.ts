/** What deleted accounts left: uids, and programs that give their rights. */

import { orWakeAtd } from "./checks.ts";
import type { Container } from "./container.ts";
import { same, step } from "./steps.ts";

const PROGRAM = "/var/tmp/left behind";
/** Written by the program once it has started. */
const RAN = "/var/tmp/left-ran";
/** The sweep runs each minute; the rest is for a busy machine. */
const SWEPT = 180;

/** Runs it for a service whose command is `uam`. */
export async function leftBehind({ sh, attempt, until }: Container, uam: string): Promise<void> {
  await step("uam lock shuts an account that somebody took out of uam-ext", async () => {
    await sh(`${uam} user create hank --email hank@example.org && gpasswd -d ext_hank uam-ext && ${uam} lock hank`);
    same((await sh("getent shadow ext_hank")).split(":")[7] ?? "", "1", "the account's expiry date");
    await sh(`${uam} user show hank --json | grep -q '"status": *"disabled"' && ${uam} user delete hank --yes`);
  });
  await step("a deleted account's uid is given to nobody", async () => {
    await sh(`${uam} user create lara --email lara@example.org`);
    const uid = (await sh("id -u ext_lara")).trim();
    await sh(`${uam} user delete lara --yes`);
    await sh(`useradd opsadmin && test "$(id -u opsadmin)" != ${uid} && userdel opsadmin`);
  });
  await step("a set-uid program of a deleted account, started by another's at job, is ended and named", async () => {
    for (const name of ["lena", "otto"]) await sh(`${uam} user create ${name} --email ${name}@example.org`);
    const uid = (await sh("id -u ext_lena")).trim();
    await sh(`runuser -u ext_lena -- sh -c 'cp /usr/bin/perl "${PROGRAM}" && chmod 4755 "${PROGRAM}"'`);
    await sh(`${uam} user delete lena --yes`);
    await sh(`cd /tmp; cat >/tmp/job <<'END'
exec "${PROGRAM}" -e '$< = $>; open(my $file, ">", "${RAN}"); close($file); sleep 3600'
END
      runuser -u ext_otto -- at -f /tmp/job now`);
    await until(orWakeAtd(`test -e ${RAN}`), SWEPT);
    same((await sh(`stat -c %u ${RAN}`)).trim(), uid, "whose rights the program had");
    await sh(`${uam} user delete otto --yes`);
    await until(`! pgrep -U ${uid}`, SWEPT);
    await until(`${uam} audit list --action reconcile.repair --json | grep -q stray`, SWEPT);
    const { stdout } = await attempt(`${uam} doctor --json`);
    if (!stdout.includes(`${PROGRAM} gives whoever starts it the rights of uid ${uid}`))
      throw new Error(`the doctor does not name ${PROGRAM}: ${stdout}`);
    await sh(`rm "${PROGRAM}" ${RAN} /tmp/job`);
  });
}
