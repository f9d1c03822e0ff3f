/**
 * A place of its own on this machine for tests that make accounts: such tests have fixed names and uids, so two of their files run at once only
 * where neither sees the other's accounts, homes and processes.
 */

import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";

/** Not among what a lane hides. */
const PARENT = "/var/tmp";
/** Begin empty. What tests run from must not be there, but below /home, whose directories are shown as they are. */
const EMPTY = ["/tmp", "/dev/shm"];

export interface Lane {
  /** The command as it runs there. */
  argv(command: readonly string[]): readonly string[];
  remove(): void;
}

/** A new lane, or undefined where this process may not make one, or runs from a place that a lane hides. */
export function makeLane(project: string): Lane | undefined {
  const hidden = [project, process.execPath].some((path) => EMPTY.some((place) => path.startsWith(`${place}/`)));
  if (hidden || process.geteuid?.() !== 0) return;
  const directory = mkdtempSync(join(PARENT, "uam-test-lane-"));
  const lane = {
    argv: (command: readonly string[]) => [
      ...WITHOUT_OTHERS,
      ...["bash", "-ec", SCRIPT, "lane", directory],
      ...command,
    ],
    // A test that was killed may leave a file that nobody may change.
    remove: () => spawnSync("sh", ["-c", 'chattr -R -f -ia "$1"; rm -rf "$1"', "sh", directory]),
  };
  if (run(lane.argv(["true"]))) return lane;
  rmSync(directory, { recursive: true, force: true });
  return;
}

/** With processes and memory of its own, which end with the first of them, and with whoever started it. */
const WITHOUT_OTHERS = [
  ...["setpriv", "--pdeathsig", "KILL", "unshare"],
  ...["--mount", "--pid", "--ipc", "--fork", "--mount-proc", "--kill-child"],
  ...["--propagation", "private"],
];

/** The first process there, which takes in those whose parents have ended. */
const SCRIPT = `
directory="$1"; shift
mkdir -p "$directory/home" "$directory/tmp"
chmod 1777 "$directory/tmp"
for place in /etc /run /var/spool /var/mail; do
  mkdir -p "$directory$place"
  # What comes and goes meanwhile in /run is not missed.
  cp -a --no-target-directory "$place" "$directory$place" 2>/dev/null || true
  mount --bind "$directory$place" "$place"
done
for home in /home/*/; do
  test -d "$home" || continue
  mkdir -p "$directory$home"
  mount --bind "$home" "$directory$home"
done
mount --rbind "$directory/home" /home
mount --bind "$directory/tmp" /tmp
mount -t tmpfs tmpfs /dev/shm
# A kernel that is told to end all of an account's processes says that there are none if whoever tells it is alone, as on no real host.
sleep infinity &
status=0
"$@" || status=$?
exit $status`;

function run([program = "", ...args]: readonly string[]): boolean {
  return spawnSync(program, args, { stdio: "ignore" }).status === 0;
}
