/** The distribution is upgraded to its next release under a running installation, with people logged in. */

import { admitted, logIn, refused, revokeOwnKey, sessionEnded, startAsUser, uploadKey } from "./access.ts";
import { answers, healthy, idle } from "./checks.ts";
import type { Container } from "./container.ts";
import { EDIT } from "./readme.ts";
import { same, say, step } from "./steps.ts";
import { inTree, MIRROR, type Suite } from "./tree.ts";

/** Debian's release notes, "Upgrades from Debian 12": first what needs no new packages, then the rest. */
const UPGRADE = ["upgrade --without-new-pkgs", "dist-upgrade"] as const;
const APT = "DEBIAN_FRONTEND=noninteractive apt-get -qy -o Dpkg::Options::=--force-confold";
const SOURCES = "/etc/apt/sources.list";
/** For some 200 packages on a busy machine. */
const PATIENCE = 30 * 60;
/** The service goes on each minute with what it owes. */
const OWED = 180;

/** Who is logged in all the time, by the key that opened the session and the program that runs in it. */
const SESSIONS = {
  kept: { user: "alice", key: "alice-kept", program: "sleep 9001" },
  revoked: { user: "alice", key: "alice-lost", program: "sleep 9002" },
  disabled: { user: "dora", key: "dora-1", program: "sleep 9003" },
} as const;
type Session = (typeof SESSIONS)[keyof typeof SESSIONS];

/** Keys that were taken away before, and must open nothing at any moment. */
const CLOSED = [
  { user: "bob", key: "bob-1" },
  { user: "carol", key: "carol-1" },
] as const;
const WATCH = "/root/watch";
const STOP = `${WATCH}.stop`;
const OPENED = `${WATCH}.opened`;
const SAID = `${WATCH}.said`;
const LOG = "/root/release-upgrade.log";
const STATUS = "/root/release-upgrade.status";

/** Fetches all packages of the newer release for the tree, which is not booted yet: it has no network then. */
export async function fetchRelease(directory: string, suite: Suite): Promise<void> {
  await inTree(
    directory,
    `echo "deb ${MIRROR} ${suite} main" >${SOURCES}; apt-get -q update; ${APT} --download-only dist-upgrade`,
  );
}

/** Installs the package, has people come and go, and upgrades Debian under them. Throws at the first thing that is wrong. */
export async function upgradesRelease(container: Container, packagePath: string, version: string): Promise<void> {
  await step("the package is installed and set up in direct mode", async () => {
    for (const command of [`dpkg --install ${packagePath}`, "uam install --mode direct", EDIT, "systemctl start uam"])
      await container.sh(command, 120);
    await answers(container);
    await container.sh("uam admin add root-admin --email root@example.org");
    await healthy(container, "uam");
  });
  await step("people are logged in; a user is disabled, and a key revoked", async () => {
    for (const user of ["alice", "bob", "carol", "dora"]) {
      await container.sh(`uam user create ${user} --email ${user}@example.org --ttl-days 3`);
      await logIn(container, "uam", user);
    }
    for (const session of Object.values(SESSIONS)) {
      await uploadKey(container, session.user, session.key);
      await startAsUser(container, session, `exec ${session.program}`);
      await container.until(runs(session), 20);
    }
    for (const { user, key } of CLOSED) {
      await uploadKey(container, user, key);
      await admitted(container, user, key);
    }
    await container.sh("uam user disable bob");
    await revokeOwnKey(container, "carol", await keyId(container, "carol", "carol-1"));
    await uploadKey(container, "carol", "carol-2");
    await watchClosed(container);
  });
  await step("Debian is upgraded under them, and a user disabled while sshd is being replaced", async () => {
    await container.sh(`rm -f ${STATUS}; setsid sh -c '
      for what in ${UPGRADE.map((words) => `"${words}"`).join(" ")}; do ${APT} --no-download $what || break; done >${LOG} 2>&1
      echo $? >${STATUS}' </dev/null >/dev/null 2>&1 &`);
    await container.until(
      `test -e ${STATUS} || ! dpkg --status openssh-server | grep -qx "Status: install ok installed"`,
      PATIENCE,
    );
    const isUnderWay = (await container.attempt(`test -e ${STATUS}`)).status !== 0;
    const { status, stdout, stderr } = await container.attempt("uam user disable dora");
    say(`      disabled ${isUnderWay ? "in the middle of it" : "after it"}: ${status} ${`${stdout}${stderr}`.trim()}`);
    await container.until(`test -e ${STATUS}`, PATIENCE);
    if ((await container.sh(`cat ${STATUS}`)).trim() !== "0")
      throw new Error(`apt-get failed: ${await container.sh(`tail -c 3000 ${LOG}`)}`);
    same(await container.sh("dpkg --audit"), "", "dpkg --audit");
    same((await container.sh("cut -d. -f1 /etc/debian_version")).trim(), version, "the release");
  });
  await step("the service runs, and the doctor is content", async () => {
    await answers(container);
    await container.sh("systemctl is-active uam");
    await container.sh("uam reconcile --check && uam audit verify");
    await healthy(container, "uam");
  });
  await step("who was disabled meanwhile is out", async () => {
    await container.until("! pgrep -u ext_dora", OWED);
    await container.sh("uam user list --json | grep -A6 '\"dora\"' | grep -q '\"disabled\"'");
  });
  await step(
    "the sessions of before are listed with their keys; revoking one of these ends its session only",
    async () => {
      const listed = await container.sh(
        `uam user sessions alice --json | sed -n 's/^ *"name": "\\(.*\\)".*/\\1/p' | sort`,
      );
      same(listed, `${SESSIONS.kept.key}\n${SESSIONS.revoked.key}\n`, "the keys of the open sessions");
      await logIn(container, "uam", "alice");
      await revokeOwnKey(container, "alice", await keyId(container, "alice", SESSIONS.revoked.key));
      await idle(container, `-U ext_alice -f '^${SESSIONS.revoked.program}'`);
      await container.sh(runs(SESSIONS.kept));
      await container.sh("uam user disable alice");
      await sessionEnded(container, "alice");
      await container.sh("uam user enable alice");
    },
  );
  await step("keys open what they did, and new ones do", async () => {
    await logIn(container, "uam", "alice");
    await uploadKey(container, "alice", "alice-new");
    await opensWhatItShould(container);
  });
  await step("nothing that was closed was open at any moment", async () => {
    await container.sh(`touch ${STOP}; test ! -e ${OPENED} || { cat ${OPENED}; exit 1; }`);
    await closedStays(container);
  });
}

/** The same installation, once the upgraded host was booted again. */
export async function afterBoot(container: Container): Promise<void> {
  await step("after a boot the service serves, and all is as before", async () => {
    await answers(container);
    await container.sh("uam reconcile --check && uam audit verify");
    await healthy(container, "uam");
    await opensWhatItShould(container);
    await closedStays(container);
  });
}

async function opensWhatItShould(container: Container): Promise<void> {
  for (const [user, key] of [
    ["alice", SESSIONS.kept.key],
    ["alice", "alice-new"],
    ["carol", "carol-2"],
  ] as const)
    await admitted(container, user, key);
}

/** Last of a release's checks: from OpenSSH 9.8 on, refused logins shut everybody behind an address out for a while. */
async function closedStays(container: Container): Promise<void> {
  for (const { user, key } of [...CLOSED, SESSIONS.revoked, SESSIONS.disabled]) await refused(container, user, key);
}

/** Has the closed keys tried again and again, from an address of their own; returns once sshd has refused both. */
async function watchClosed({ sh, until }: Container): Promise<void> {
  await sh(`cat >${WATCH} <<'END'
while ! test -e ${STOP}; do
  for login in ${CLOSED.map(({ user, key }) => `${user}:${key}`).join(" ")}; do
    if ssh -b 127.0.0.2 -o BatchMode=yes -o IdentitiesOnly=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR \
      -o ConnectTimeout=10 -i /root/\${login#*:} ext_\${login%:*}@127.0.0.1 true 2>>${SAID}; then echo $login >>${OPENED}; fi
  done
  sleep 2
done
END
    setsid sh ${WATCH} </dev/null >/dev/null 2>&1 &`);
  for (const { user } of CLOSED) await until(`grep -q 'ext_${user}@127.0.0.1: Permission denied' ${SAID}`, 60);
}

function runs({ user, program }: Session): string {
  return `pgrep -U ext_${user} -f '^${program}' >/dev/null`;
}

async function keyId({ sh }: Container, user: string, key: string): Promise<string> {
  const found = await sh(`uam key list ${user} --json | grep -B9 '"${key}"' | grep -o '"id": *[0-9]*' | tail -n 1`);
  return found.replace(/\D/g, "");
}
