/** What a deleted account left: its uid is nobody's again, and a program of its that another account starts does not run on. */

import type { Container } from "./container.ts";
import { step } from "./steps.ts";

const LEFT = "/var/tmp/left-by-lara";
/** The look for such processes comes each minute. */
const PATIENCE = 150;

/** Runs it all for a service whose command is `uam`. */
export async function leftBehind(container: Container, uam: string): Promise<void> {
  const { sh, attempt, until } = container;
  await step("a deleted account's uid is given to nobody", async () => {
    for (const user of ["lara", "mona"]) await sh(`${uam} user create ${user} --email ${user}@example.org`);
    const uid = (await sh("id -u ext_lara")).trim();
    // It becomes its owner wholly, so that nothing of who started it is left.
    await sh(`runuser -u ext_lara -- sh -c 'cp /usr/bin/perl ${LEFT} && chmod 4755 ${LEFT}'`);
    await sh(`${uam} user delete lara --yes`);
    await sh(`useradd opsadmin && test "$(id -u opsadmin)" != ${uid} && userdel opsadmin`);
    // What it finds ends with 1.
    const { stdout } = await attempt(`${uam} doctor --json`);
    if (!stdout.includes(LEFT)) throw new Error(`the doctor does not name ${LEFT}: ${stdout}`);
  });
  await step("a program that it left, started by another account's at job, is ended and recorded", async () => {
    await sh(`cd /tmp; echo "exec ${LEFT} -e '\\$< = \\$>; sleep 7777'" | runuser -u ext_mona -- at now`);
    await until(`${uam} audit list --action reconcile.repair --json | grep -q ${LEFT} && ! pgrep -f ${LEFT}`, PATIENCE);
    await sh(`${uam} user delete mona --yes; rm ${LEFT}; ${uam} reconcile --check`);
  });
}
