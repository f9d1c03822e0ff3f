/** Shuts a host at the end of its lease without the agent: the script of uam-agent-lease.service. */

import { JOBS_ASIDE } from "../host/settings.ts";
import { ACCOUNT_PREFIX } from "../shared/text/account-name.ts";

/** Where cron(8) and atd(8) of Debian, Red Hat and SUSE, and logind, keep what starts programs of accounts without a login. */
const BY_NAME = ["/var/spool/cron/crontabs", "/var/spool/cron/tabs", "/var/spool/cron", "/var/lib/systemd/linger"];
const BY_OWNER = ["/var/spool/cron/atjobs", "/var/spool/at"];
/** The files stay where they are: whoever removes an account's jobs finds them. */
const ASIDE = JOBS_ASIDE;

/** All of them. */
export const JOB_PLACES: readonly string[] = [...BY_NAME, ...BY_OWNER];

/** A file takes 2 ms of a processor. */
const AT_ONCE = 500;

/** Those where the daemon starts no file that its owner may not execute (atd.c). */
export const EXECUTED_PLACES: readonly string[] = BY_OWNER;

const jobFiles = 'find "$2$place" -maxdepth 1 -type f -name "[a-zA-Z]*"';

const accountFile = `"$2$place"/${ACCOUNT_PREFIX}*`;
const isFile = '[ -f "$file" ] && [ ! -L "$file" ] || continue';
/** Of this system's own services: a booted container has its own below another group. */
const JOBS_GROUPS = ["cron", "crond", "atd"].map((unit) => `*:"$own"/system.slice/${unit}.service*`).join("|");
/** Of whoever has a line in passwd(5). */
const EVERY_UID = "s/^[^:]*:[^:]*:\\([0-9]*\\):.*/\\1/p";
const accounts = `^${ACCOUNT_PREFIX}[^:]*:[^:]*:\\([1-9][0-9]\\{3,\\}\\):.*`;

/**
 * For sh(1), with the directory of the lease's files as its argument; and, unless only logins are to be refused, with what paths begin
 * with: "". It needs neither the agent nor the service. Whatever it cannot read counts as ended.
 *
 * Once the lease has ended, the link goes. Then no crontab, at job or lingering manager of an account, by its name's beginning as in
 * sshd's drop-in, starts anything: the files get names that are not read, and what they started ends; with `sessions`, everything
 * else of the accounts ends, too. While it lives, the files get their names back.
 */
export const LEASE_SCRIPT = [
  "read -r up rest </proc/uptime",
  `up=\${up%%.*}`,
  "now=$(date +%s)",
  "is=shut ends= moved=",
  "for file in lease hold; do",
  'boot= wall= how=; [ -f "$1/$file" ] && read -r boot wall how <"$1/$file"',
  'case "$boot" in ""|*[!0-9]*) continue;; esac',
  'case "$wall" in ""|*[!0-9]*) continue;; esac',
  '[ "$up" -lt "$boot" ] && [ "$now" -lt "$wall" ] && is=open',
  '[ "$file" = lease ] && ends=$how',
  "done",
  '[ "$is" = open ] || rm -rf "$1/revoked-keys"',
  '[ "$#" -ge 2 ] || exit 0',

  `[ "$is" = shut ] || for place in ${BY_OWNER.join(" ")}; do`,
  '[ ! -d "$2$place" ] || find "$2$place" -maxdepth 1 -type f -perm -1000 -exec chmod u+x,-t -- {} + 2>/dev/null',
  "done",
  // So many at a time that the next look, which may have a link to remove, is not late.
  "given=0",
  // Given back, unless something newer has the name.
  `[ "$is" = shut ] || for place in ${JOB_PLACES.join(" ")}; do`,
  `for file in "$2$place"/${ASIDE}*; do`,
  isFile,
  `given=$((given+1)); [ "$given" -le ${AT_ONCE} ] || exit 0`,
  `name=\${file##*/${ASIDE}}`,
  '[ ! -e "$2$place/$name" ] || rm -f -- "$file"',
  '[ ! -f "$file" ] || mv -- "$file" "$2$place/$name"',
  'case "$place" in */linger) uid=$(id -u -- "$name" 2>/dev/null) && systemctl --no-block start "user@$uid.service";; esac',
  "done",
  "done",
  '[ "$is" = shut ] || exit 0',

  `uids=" $(sed -n "s/${accounts}/\\1/p" "$2/etc/passwd" | tr "\\n" " ")"`,
  `known=" $(sed -n "${EVERY_UID}" "$2/etc/passwd" | tr "\\n" " ")"`,
  // An owner may have made ten thousands, and to rename each takes minutes: so they are all stopped at once before that. The sticky bit,
  // which means nothing there, tells them from one that at(1) has not finished.
  `for place in ${BY_OWNER.join(" ")}; do`,
  '[ -d "$2$place" ] || continue',
  `for owner in $(${jobFiles} -exec stat -c %u -- {} + 2>/dev/null | sort -u); do`,
  `case "$uids" in *" $owner "*) ${jobFiles} -uid "$owner" -exec chmod u-x,+t -- {} + 2>/dev/null;; esac`,
  "done",
  "done",
  // Processes end before the files are renamed, and once more after.
  "for pass in first last; do",
  `[ "$pass" = first ] || for place in ${BY_NAME.join(" ")}; do`,
  `for file in ${accountFile}; do`,
  isFile,
  `mv -f -- "$file" "$2$place/${ASIDE}\${file##*/}" && moved=yes`,
  "done",
  "done",
  `[ "$pass" = first ] || for place in ${BY_OWNER.join(" ")}; do`,
  'for file in "$2$place"/[a-zA-Z]*; do',
  isFile,
  'owner=$(stat -c %u -- "$file")',
  `case "$uids" in *" $owner "*) mv -f -- "$file" "$2$place/${ASIDE}\${file##*/}";; esac`,
  "done",
  "done",
  `for file in "$2"/var/lib/systemd/linger/${ASIDE}*; do`,
  isFile,
  `uid=$(id -u -- "\${file##*/${ASIDE}}" 2>/dev/null) || continue`,
  'manager="user@$uid.service"',
  // systemd does it where the kernel cannot (before Linux 5.14) or has its groups elsewhere (cgroups of version 1).
  'echo 1 2>/dev/null >"/sys/fs/cgroup/user.slice/user-$uid.slice/$manager/cgroup.kill" && continue',
  'systemctl --quiet is-active "$manager" && systemctl kill --signal=SIGKILL "$manager"',
  "done",
  // Kills processes left in one of their slices, under any uid.
  'case "$ends" in sessions) for uid in $uids; do',
  'group="/sys/fs/cgroup/user.slice/user-$uid.slice/cgroup.kill"; [ ! -e "$group" ] || echo 1 2>/dev/null >"$group"',
  "done;; esac",
  // Processes started by one that was just ended are found by the next look.
  `own=$(sed -n "s|.*:\\(.*\\)/init[.]scope\\$|\\1|p" "$2/proc/1/cgroup" 2>/dev/null | tail -n 1)`,
  "for round in 1 2 3; do",
  "ps -eo pid=,ruid=,euid=,cgroup= | while read -r pid real effective group; do",
  // A job of theirs may run a set-uid file left by a deleted account: nobody has its uid, but it is still in the jobs' own group.
  `case "$uids" in *" $real "*|*" $effective "*) ;; *) case "$group" in ${JOBS_GROUPS}) ;; *) continue;; esac`,
  'case "$known" in *" $effective "*) continue;; esac',
  '[ "$effective" -ge 1000 ] || continue',
  'getent passwd "$effective" >/dev/null; [ "$?" = 2 ] || continue;; esac',
  `case "$ends $group" in sessions*|${JOBS_GROUPS}) kill -KILL "$pid";; esac`,
  'case "$ends $uids" in sessions*" $real "*) echo 1 2>/dev/null >"/sys/fs/cgroup/user.slice/user-$real.slice/cgroup.kill";; esac',
  "done",
  "done",
  "done",
  // cron(8) looks whether the directory has changed, by the second.
  `[ -z "$moved" ] || sleep 1`,
  `[ -z "$moved" ] || touch -c ${BY_NAME.map((place) => `"$2${place}"`).join(" ")}`,
  "exit 0",
].join("\n");

/** As a word of ExecStart: within single quotes only % and $ mean something (systemd.service(5)), and a line ends where it ends. */
export function quotedLeaseScript(): string {
  const script = LEASE_SCRIPT.replaceAll("%", "%%")
    .replaceAll("$", "$$$$")
    .replaceAll("\\", "\\\\")
    .replaceAll("\n", "; ");
  // sh(1) takes no semicolon after `do`.
  return `'${script.replace(/\bdo; /g, "do ")}'`;
}
