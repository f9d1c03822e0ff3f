/** The distribution is upgraded to its next release under a running installation, with people logged in. */

import { admitted, logIn, revokeOwnKey, sessionEnded, startAsUser, uploadKey } from "./access.ts";
import { answers, healthy, idle, mainPid } from "./checks.ts";
import { comeAndGo, report } from "./come-and-go.ts";
import type { Container } from "./container.ts";
import { type Answer, knock, knockUntilAnswered } from "./from-here.ts";
import { EDIT } from "./readme.ts";
import { same, say, step } from "./steps.ts";
import { inTree, MIRROR, type Suite } from "./tree.ts";

export interface ReleaseUpgrade {
  readonly mode: "direct" | "sudo";
  /** Of uam, in the container. */
  readonly package: string;
  /** What the newer release calls itself. */
  readonly version: string;
}

/** Debian's release notes, "Upgrades from Debian 12": first what needs no new packages, then the rest. */
const UPGRADE = ["upgrade --without-new-pkgs", "dist-upgrade"] as const;
const APT = "DEBIAN_FRONTEND=noninteractive apt-get -qy -o Dpkg::Options::=--force-confold";
const SOURCES = "/etc/apt/sources.list";
/** For some 200 packages on a busy machine; seconds. */
const PATIENCE = 30 * 60;
const LOG = "/root/release-upgrade.log";
const STATUS = "/root/release-upgrade.status";

/** Who is logged in all the time, by the key that opened the session and the program that runs in it. */
const SESSIONS = {
  kept: { user: "alice", key: "alice-kept", program: "sleep 9001" },
  revoked: { user: "alice", key: "alice-lost", program: "sleep 9002" },
} as const;
type Session = (typeof SESSIONS)[keyof typeof SESSIONS];

interface Key {
  readonly user: string;
  readonly key: string;
}

/** Keys that were taken away before, and must open nothing at any moment. */
const CLOSED: readonly Key[] = [
  { user: "bob", key: "bob-1" },
  { user: "carol", key: "carol-1" },
];

/** Fetches all packages of the newer release for the tree, which is not booted yet: it has no network then. */
export async function fetchRelease(directory: string, suite: Suite): Promise<void> {
  await inTree(
    directory,
    `echo "deb ${MIRROR} ${suite} main" >${SOURCES}; apt-get -q update; ${APT} --download-only dist-upgrade`,
  );
}

/**
 * Installs the package, has people come and go, and upgrades Debian under them. Throws at the first thing that is wrong; gives the keys
 * that open nothing any more.
 */
export async function upgradesRelease(container: Container, options: ReleaseUpgrade): Promise<readonly Key[]> {
  const password = await step(`the package is installed and set up in ${options.mode} mode`, async () => {
    const setUp = [
      `dpkg --install ${options.package}`,
      `uam install --mode ${options.mode}`,
      EDIT,
      "systemctl start uam",
    ];
    for (const command of setUp) await container.sh(command, 120);
    await answers(container);
    const printed = await container.sh("uam admin add root-admin --email root@example.org");
    await healthy(container, "uam");
    return printed.trim();
  });
  await step("people are logged in; a user is disabled, and a key revoked", async () => {
    for (const user of ["alice", "bob", "carol"]) {
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
  });
  const served = await mainPid(container);
  const watch = watchClosed(container);
  const visited = await step("Debian is upgraded under them, while others come and go", () =>
    upgrade(container, options.version, password),
  );
  await step("the service ran through, and the doctor is content", async () => {
    await answers(container);
    same(await mainPid(container), served, "the service's process");
    await container.sh("uam reconcile --check && uam audit verify");
    await healthy(container, "uam");
  });
  await revokesOpenSessions(container, options);
  await step("keys open what they did, and new ones do", async () => {
    await logIn(container, "uam", "alice");
    await uploadKey(container, "alice", "alice-new");
    await opensWhatItShould(container);
  });
  const closed = [...CLOSED, ...visited, SESSIONS.revoked];
  await step("nothing that was closed was open at any moment", async () => {
    await watch.end();
    await closedStays(container, closed);
  });
  return closed;
}

/** The same installation, once the upgraded host was booted again. */
export async function afterBoot(container: Container, closed: readonly Key[]): Promise<void> {
  await step("after a boot the service serves, and all is as before", async () => {
    await answers(container);
    await container.sh("uam reconcile --check && uam audit verify");
    await healthy(container, "uam");
    await opensWhatItShould(container);
    await closedStays(container, closed);
  });
}

/** Gives the keys of those who came meanwhile. */
async function upgrade(container: Container, version: string, password: string): Promise<readonly Key[]> {
  await container.sh(`rm -f ${STATUS}; setsid sh -c '
    for what in ${UPGRADE.map((words) => `"${words}"`).join(" ")}; do ${APT} --no-download $what || break; done >${LOG} 2>&1
    echo $? >${STATUS}' </dev/null >/dev/null 2>&1 &`);
  let isOver = false;
  const visits = comeAndGo(container, password, () => isOver);
  try {
    await Promise.race([container.until(`test -e ${STATUS}`, PATIENCE), visits]);
  } finally {
    isOver = true;
  }
  const came = await visits;
  report(came);
  const status = (await container.sh(`cat ${STATUS}`)).trim();
  if (status !== "0") throw new Error(`apt-get failed: ${await container.sh(`tail -c 3000 ${LOG}`)}`);
  same(await container.sh("dpkg --audit"), "", "dpkg --audit");
  same((await container.sh("cut -d. -f1 /etc/debian_version")).trim(), version, "the release");
  say(`      ${(await container.sh(`grep -c '^Setting up' ${LOG}`)).trim()} packages were set up`);
  if (came.closed.length === 0) throw new Error("nobody came in while Debian was upgraded");
  return came.closed;
}

/** Sudo mode has no proof of which key opened a session: a revocation ends all of the account there. */
async function revokesOpenSessions(container: Container, { mode }: ReleaseUpgrade): Promise<void> {
  const spared = mode === "direct";
  await step(
    `the sessions of before are listed with their keys; revoking one of these ends ${spared ? "its session only" : "the account's"}`,
    async () => {
      const listed = await container.sh(
        `uam user sessions alice --json | sed -n 's/^ *"name": "\\(.*\\)".*/\\1/p' | sort`,
      );
      same(listed, `${SESSIONS.kept.key}\n${SESSIONS.revoked.key}\n`, "the keys of the open sessions");
      await logIn(container, "uam", "alice");
      await revokeOwnKey(container, "alice", await keyId(container, "alice", SESSIONS.revoked.key));
      await idle(container, `-U ext_alice -f '^${SESSIONS.revoked.program}'`);
      if (spared) await container.sh(runs(SESSIONS.kept));
      await container.sh("uam user disable alice");
      await sessionEnded(container, "alice");
      await container.sh("uam user enable alice");
    },
  );
}

async function opensWhatItShould(container: Container): Promise<void> {
  for (const [user, key] of [
    ["alice", SESSIONS.kept.key],
    ["alice", "alice-new"],
    ["carol", "carol-2"],
  ] as const)
    same(await knockUntilAnswered(container, user, key), "admitted", `what sshd says to ${key}`);
}

async function closedStays(container: Container, closed: readonly Key[]): Promise<void> {
  for (const { user, key } of closed)
    same(await knockUntilAnswered(container, user, key), "refused", `what sshd says to ${key}`);
}

/** Has the closed keys tried again and again; `end` throws if one of them was let in, or if sshd refused none. */
function watchClosed(container: Container): { readonly end: () => Promise<void> } {
  let isOver = false;
  const counts: Record<Answer, number> = { admitted: 0, refused: 0, none: 0 };
  const watching = (async () => {
    while (!isOver) {
      for (const { user, key } of CLOSED) counts[await knock(container, user, key)]++;
      await Bun.sleep(1000);
    }
  })();
  return {
    end: async () => {
      isOver = true;
      await watching;
      const { admitted, refused, none } = counts;
      say(
        `      closed keys were refused ${refused} times, without an answer ${none} times, and let in ${admitted} times`,
      );
      if (admitted > 0 || refused === 0) throw new Error("that is not what it should be");
    },
  };
}

function runs({ user, program }: Session): string {
  return `pgrep -U ext_${user} -f '^${program}' >/dev/null`;
}

async function keyId({ sh }: Container, user: string, key: string): Promise<string> {
  const found = await sh(`uam key list ${user} --json | grep -B9 '"${key}"' | grep -o '"id": *[0-9]*' | tail -n 1`);
  return found.replace(/\D/g, "");
}
