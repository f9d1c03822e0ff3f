/** Where key files are: outside the homes from the start, and moved there where an older installation has them in the homes. */

import { admitted, asUser, logIn, refused, uploadKey } from "./access.ts";
import type { Container } from "./container.ts";
import { same, step } from "./steps.ts";

const MOVE = "uam install --mode direct --move-keys";
const USER = "gina";
const OWN_FILE = `/home/ext_${USER}/.ssh/authorized_keys`;
const ROOTS_FILE = `/var/lib/uam/keys/ext_${USER}/authorized_keys`;
/** Seconds after which an attempt is killed: somewhere in the middle of its steps. */
const KILLS = [0.1, 0.3, 1, 2.2, 2.5, 2.8, 3.2];
/**
 * Starts nothing: the kernel counts processes by uid, and another container may just have an account with this one's uid start all that it
 * may.
 */
const TICKS = `exec perl -e "\\$|=1; while (1) { print qq(on\\n); select(undef, undef, undef, 0.1) }"`;
/** While it reloads its configuration, sshd does not listen for a moment, whoever caused the reload. */
const LOG_IN =
  "ssh -o BatchMode=yes -o IdentitiesOnly=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR -o ConnectionAttempts=5";

/** Runs it all on an installation in direct mode; throws at the first thing that is wrong. */
export async function keyPlace(container: Container, program: string): Promise<void> {
  await step("the key files are root's, and a key that the owner puts into the home opens nothing", async () => {
    await container.sh(`uam user create ${USER} --email ${USER}@example.org`);
    await logIn(container, "uam", USER);
    await uploadKey(container, USER, "gina-stale");
    await uploadKey(container, USER, "gina-key");
    same(await container.sh(`stat -c '%U %G %a' ${ROOTS_FILE}`), `root ext_${USER} 640\n`, ROOTS_FILE);
    await putsBack(container);
  });
  await step("an older installation keeps them in the homes, and doctor says what to do", async () => {
    await container.sh(`rm ${OWN_FILE} && sed -i 's/^UAM_AUTHORIZED_KEYS_FILE=/#&/' /etc/uam/uam.env`);
    await container.sh(`${program} install --mode direct && systemctl restart uam`, 120);
    await admitted(container, USER, "gina-key");
    await container.sh(
      `uam key revoke ${USER} $(uam key list ${USER} --json | grep -B1 gina-stale | grep -o '[0-9]*' | head -1)`,
    );
    await refused(container, USER, "gina-stale");
    // What the new place held at an earlier time, the revoked key included.
    await container.sh(`test "$(wc -l <${ROOTS_FILE})" = 2`);
    const { stdout } = await container.attempt("uam doctor --json");
    if (!stdout.includes(MOVE)) throw new Error(`doctor says nothing of the key files: ${stdout}`);
  });
  await step("moving them, killed at any step and repeated, interrupts no session and no login", async () => {
    const { sh, attempt } = container;
    const login = `${LOG_IN} -i /root/gina-key ext_${USER}@127.0.0.1`;
    await sh(`rm -f /root/moved
      (setsid ${login} '${TICKS}' </dev/null >/root/open.log 2>&1 &)
      (setsid bash -c 'until test -e /root/moved; do ${login} true </dev/null && echo in || echo OUT; done' >/root/logins.log 2>&1 &)`);
    for (const seconds of KILLS) {
      await attempt(`timeout --signal=KILL ${seconds} ${MOVE}`);
      await refused(container, USER, "gina-stale");
    }
    await sh(MOVE, 120);
    const before = await sh("wc -l </root/open.log");
    await sh("sleep 1; touch /root/moved");
    const after = await sh("wc -l </root/open.log");
    if (Number(after) <= Number(before)) throw new Error("the session that was open is over");
    const logins = (await sh("sort /root/logins.log | uniq -c")).trim();
    const count = (line: string) => Number(new RegExp(`(\\d+) ${line}`).exec(logins)?.[1] ?? 0);
    // sshd let them in, and could start nothing, for the same reason.
    if (count("in\\b") < 10 || count("OUT") !== count("exec request failed"))
      throw new Error(`logins meanwhile: ${logins}`);
    await sh(`pkill -KILL -u ext_${USER}; ${MOVE}`);
  });
  await step("afterwards sshd reads only root's files", async () => {
    await container.sh(`test ! -e ${OWN_FILE}`);
    await admitted(container, USER, "gina-key");
    await refused(container, USER, "gina-stale");
    await putsBack(container);
    await container.sh("uam reconcile --check");
    const { stdout } = await container.attempt("uam doctor --json");
    if (stdout.includes(MOVE)) throw new Error(`doctor still asks for it: ${stdout}`);
    await container.sh(`uam user delete ${USER} --yes && test ! -e /var/lib/uam/keys/ext_${USER}`);
  });
}

/** The owner adds a key of their own, as they can with a session. */
async function putsBack(container: Container): Promise<void> {
  await container.sh("test -f /root/gina-own || ssh-keygen -q -t ed25519 -N '' -f /root/gina-own");
  const key = (await container.sh("cat /root/gina-own.pub")).trim();
  const script = `mkdir -p -m 700 ~/.ssh && echo '${key}' >~/.ssh/authorized_keys && chmod 600 ~/.ssh/authorized_keys`;
  await asUser(container, { user: USER, key: "gina-key" }, script);
  await refused(container, USER, "gina-own");
}
