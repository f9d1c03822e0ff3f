/** A real journald with a real sshd, apart from the machine's own: in a mount namespace. Needs root. */

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { HANG } from "./hang.ts";

const JOURNALD = "/lib/systemd/systemd-journald";

/** True where there is a journald, and a namespace can be made to start it in. */
export function hasJournald(): boolean {
  if (![JOURNALD, "/usr/bin/journalctl"].every((path) => existsSync(path))) return false;
  return spawnSync("/usr/bin/unshare", ["--mount", "/bin/true"]).status === 0;
}

/** What is there for the script besides: `logger`, `$DIRECTORY`, and an empty journal that takes its lines from /dev/log. */
const BEFORE = `set -eu
mount --make-rprivate /
mkdir -p "$DIRECTORY/dev"
mount --rbind /dev "$DIRECTORY/dev"
mount -t tmpfs tmpfs /dev
for name in null zero full random urandom ptmx pts tty shm fd; do ln -s "$DIRECTORY/dev/$name" /dev/$name; done
ln -s /run/systemd/journal/dev-log /dev/log
mkdir -p /run/systemd /run/log
mount -t tmpfs tmpfs /run/systemd
mount -t tmpfs tmpfs /run/log
if [ -d /var/log/journal ]; then mount -t tmpfs tmpfs /var/log/journal; fi
mkdir -p /run/systemd/journal
${JOURNALD} > "$DIRECTORY/journald.log" 2>&1 &
journald=$!
server=
trap 'kill $journald $server' EXIT
for attempt in $(seq 1200); do [ -S /run/systemd/journal/dev-log ] && break; sleep 0.05; done
`;

/** Runs the script there; what it prints. Throws with what went wrong. */
export function withJournald(directory: string, script: string): string {
  mkdirSync(directory, { recursive: true });
  const path = join(directory, "journald.sh");
  writeFileSync(path, `${BEFORE}${script}\n`);
  const { status, stdout, stderr } = spawnSync("/usr/bin/unshare", ["--mount", "/bin/bash", path], {
    encoding: "utf8",
    timeout: 2 * HANG,
    env: { PATH: process.env.PATH ?? "/usr/sbin:/usr/bin:/sbin:/bin", DIRECTORY: directory },
  });
  if (status !== 0) throw new Error(`exit code ${status}: ${stderr}`);
  return stdout;
}
