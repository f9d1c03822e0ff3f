/** What ends with access: accounts leave everything they can running and scheduled, and nothing stays or comes back. */

import { admitted, asUser, isShared, logIn, openSharedConnection, refused, uploadKey } from "./access.ts";
import { absent, idle, noneRuns, orWakeAtd } from "./checks.ts";
import type { Container } from "./container.ts";
import { same, step } from "./steps.ts";

const keyOf = (user: User): string => `${user}-key`;
/** One is disabled, one expires, one is deleted. */
const USERS = ["dora", "eve", "fred"] as const;
type User = (typeof USERS)[number];
/** Seconds of cron's next minute, and some besides; the expiry takes effect within another minute. */
const LEAST_TO_LIVE = 110;
/** cron(8) looks once a minute. */
const A_MINUTE_OF_CRON = 65;
/** How to distinguish the things that an account left. */
const LEFT = {
  service: 7001,
  scope: 7002,
  cron: 7003,
  at: 7004,
  daemon: 7005,
  later: 7006,
  subordinate: 7007,
} as const;

/** Runs it all for a service whose command is `uam`; throws at the first thing that is wrong. */
export async function endings(container: Container, uam: string): Promise<void> {
  let timeToLive = LEAST_TO_LIVE;
  await step("three users leave behind everything that can run or start by itself", async () => {
    const settings = () => container.sh(`${uam} setting list --json`);
    const before = await settings();
    const begin = performance.now();
    await prepare(container, uam, "dora");
    // As long as the two others take, however slow the machine is now, and twice as long to be sure.
    timeToLive = LEAST_TO_LIVE + Math.ceil((4 * (performance.now() - begin)) / 1000);
    await container.sh(`${uam} setting set policy.default_ttl ${timeToLive}s`);
    await prepare(container, uam, "eve");
    await container.sh(`${uam} setting unset policy.default_ttl`);
    same(await settings(), before, "the settings");
    await prepare(container, uam, "fred");
  });
  await step("cron and at start their jobs, and the lingering user manager its service", async () => {
    for (const user of USERS) {
      for (const mark of [LEFT.service, LEFT.scope, LEFT.daemon, LEFT.cron, LEFT.at]) {
        await container.until(orWakeAtd(`pgrep -u ext_${user} -f 'sleep ${mark}'`), A_MINUTE_OF_CRON);
      }
      await container.until(`pgrep -u ${subordinateOf(user)} -f 'sleep ${LEFT.subordinate}'`, 10);
    }
  });
  await step("disabling ends them all, and removes what would start again", async () => {
    await keepScheduling(container, "dora");
    await container.sh(`${uam} user disable dora`);
    await nothingRuns(container, "dora");
    await nothingScheduled(container, "dora");
    await refused(container, "dora", keyOf("dora"));
  });
  await step(
    "deletion ends them all, and leaves no file of the uid, and of the name only root's copy of its jobs",
    async () => {
      await keepScheduling(container, "fred");
      const uid = (await container.sh("id -u ext_fred")).trim();
      await container.sh(`${uam} user delete fred --yes`);
      await idle(container, `-U ${uid},${subordinateOf("fred")}`);
      // systemd takes a manager's directories away once it has seen it end.
      await container.until(noFilesOf(`-uid ${uid}`, `-uid ${subordinateOf("fred")}`), 45);
      await container.sh(noFilesOf("-name '*ext_fred*'"));
      await container.sh("if getent passwd ext_fred || getent group ext_fred; then exit 1; fi");
    },
  );
  await step(
    "expiry ends them all by itself; meanwhile nothing of the disabled and the deleted user came back",
    async () => {
      const begin = performance.now();
      const seconds = () => (performance.now() - begin) / 1000;
      // She reads as expired from that second on; this is about what the job does, a minute later at most.
      const expired = `${uam} audit list --action lifecycle.expire --user eve --json | grep -q '"result": "success"'`;
      while (seconds() < A_MINUTE_OF_CRON || (await container.attempt(expired)).status !== 0) {
        if (seconds() > timeToLive + 70) throw new Error("eve did not expire");
        await staysQuiet(container, ["dora"], 2);
      }
      await nothingRuns(container, "eve");
      await nothingScheduled(container, "eve");
      await refused(container, "eve", keyOf("eve"));
    },
  );
  await step(
    "enabled again, the user can log in; what was scheduled is gone for good, what is in the home is there",
    async () => {
      await container.sh(`${uam} user enable dora`);
      await staysQuiet(container, ["dora", "eve"], A_MINUTE_OF_CRON);
      await nothingScheduled(container, "dora");
      await admitted(container, "dora", keyOf("dora"));
      await container.sh("test -f /home/ext_dora/.config/systemd/user/forever.service");
      await container.sh(`${uam} user delete dora --yes && ${uam} user delete eve --yes`);
    },
  );
}

/** Creates the user, and leaves everything behind in their name, in sessions that ended and in one that continues. */
async function prepare(container: Container, uam: string, user: User): Promise<void> {
  await container.sh(`${uam} user create ${user} --email ${user}@example.org`);
  await logIn(container, uam, user);
  await uploadKey(container, user, keyOf(user));
  // For an administrator to allow: without polkit users cannot enable lingering themselves, and uam gives nobody subordinate ids.
  await container.sh(
    `loginctl enable-linger ext_${user}; if grep ext_${user} /etc/subuid /etc/subgid; then exit 1; fi`,
  );
  const ids = `${subordinateOf(user)}-${subordinateOf(user) + 9}`;
  await container.sh(`usermod --add-subuids ${ids} --add-subgids ${ids} ext_${user}`);
  await asUser(
    container,
    { user, key: keyOf(user) },
    `mkdir -p ~/.config/systemd/user
    printf '[Service]\\nExecStart=/bin/sleep ${LEFT.service}\\nRestart=always\\nRestartSec=1\\n[Install]\\nWantedBy=default.target\\n' \\
      >~/.config/systemd/user/forever.service
    # A manager that has just been started may not listen yet.
    until systemctl --user daemon-reload && systemctl --user enable --quiet --now forever; do sleep 0.3; done
    nohup systemd-run --user --scope --quiet sleep ${LEFT.scope} >/dev/null 2>&1 &
    echo '* * * * * exec sleep ${LEFT.cron}' >~/tab && crontab ~/tab
    echo 'exec sleep ${LEFT.at}' | at now
    echo 'exec sleep ${LEFT.later}' | at now + 2 hours
    (setsid sleep ${LEFT.daemon} >/dev/null 2>&1 &)
    nohup unshare --user --map-auto --map-root-user sh -c '
      mkdir -p ~/foreign/deep && chown -R 1:1 ~/foreign
      exec setpriv --reuid 1 --regid 1 --clear-groups sleep ${LEFT.subordinate}' >/dev/null 2>&1 &`,
  );
  await openSharedConnection(container, { user, key: keyOf(user) });
}

/** The account schedules again and again: what is removed while it still runs is back at once. */
async function keepScheduling(container: Container, user: User): Promise<void> {
  const again = "while :; do crontab tab; echo true | at now + 1 hour; done";
  await asUser(container, { user, key: keyOf(user) }, `(setsid sh -c '${again}' >/dev/null 2>&1 &)`);
}

async function nothingRuns(container: Container, user: User): Promise<void> {
  await container.sh(noneRuns(`-U ext_${user},${subordinateOf(user)}`));
  if (await isShared(container, { user, key: keyOf(user) })) throw new Error(`ssh of ${user} still has its connection`);
}

async function nothingScheduled(container: Container, user: User): Promise<void> {
  await absent(container, [`/var/spool/cron/crontabs/ext_${user}`, `/var/lib/systemd/linger/ext_${user}`]);
  await container.sh(`test -z "$(find /var/spool/cron -user ext_${user})"`);
}

/** Throws if a process of one of the users is seen in that time. */
async function staysQuiet({ sh }: Container, users: readonly string[], seconds: number): Promise<void> {
  const names = users.map((user) => `ext_${user}`).join(",");
  await sh(
    `for ((end = SECONDS + ${seconds}; SECONDS < end;)); do ${noneRuns(`-U ${names}`)}; sleep 0.2; done`,
    seconds + 20,
  );
}

/** The first of the uids that an administrator gave the account for its user namespaces. */
function subordinateOf(user: User): number {
  return 700_000 + 1000 * USERS.indexOf(user);
}

/** What finds the files for which any of the tests of find(1) holds. */
function noFilesOf(...tests: readonly string[]): string {
  // Root's copies of jobs are kept for 30 days, whatever becomes of the account.
  const find = `find / \\( -path /proc -o -path /var/lib/uam-jobs \\) -prune -o ${tests.join(" -print -o ")} -print 2>/dev/null || true`;
  return `left="$(${find})"; test -z "$left" || { ls -ldn $left; exit 1; }`;
}
