/** Processes of an account that do what they can to survive. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import process from "node:process";

/** What has started as the account and runs forever; false until all of it has ended. */
export type Survivor = { readonly ended: () => boolean };

const HEADLESS = join(import.meta.dir, "headless-process.ts");
const SYS_PRCTL = process.arch === "x64" ? 157 : 167;
const SYS_UNSHARE = process.arch === "x64" ? 272 : 97;
const CLONE_NEWUSER = 0x1000_0000;
const SUBORDINATE = 3_000_000;
const PR_SET_CHILD_SUBREAPER = 36;

/** Each by its description. */
export const SURVIVORS = {
  /** Its first thread has ended, so that the kernel calls it a zombie, and the others keep running. */
  headless: (uid: number) => start(process.execPath, HEADLESS, String(uid)),
  /** Stops every other new process of its uid, such as one that runs as the uid in order to end it. */
  stopping: (uid: number) => repeat(uid, "kill STOP, -1"),
  /** In a new session and under a new pid for a few hundred microseconds each time. */
  fleeting: (uid: number) => repeat(uid, "exit if fork; POSIX::setsid()"),
  /** In its own user namespace, with another uid that an administrator assigned (subuid(5)). */
  "under a subordinate uid": (uid: number) => startSubordinate(uid),
  "stopping and fleeting": (uid: number) => repeat(uid, "kill STOP, -1; exit if fork; POSIX::setsid()"),
} as const;

/** In Perl, which Debian always has. A parent process of root's reaps children, and ends when none is left. */
function repeat(uid: number, what: string): Promise<Survivor> {
  const reaper = `$| = 1; $SIG{CHLD} = 'IGNORE'; syscall(${SYS_PRCTL}, ${PR_SET_CHILD_SUBREAPER}, 1, 0, 0, 0);`;
  const become = `POSIX::setgid(${uid}); POSIX::setuid(${uid}); $SIG{CHLD} = 'DEFAULT'; print "begun\\n";`;
  return start("/usr/bin/perl", "-MPOSIX", "-e", `${reaper} unless (fork) { ${become} while () { ${what} } } wait`);
}

/** Does the work of newuidmap(1), which not every machine has: root maps a uid into the namespace. */
function startSubordinate(uid: number): Promise<Survivor> {
  const map = (file: string) =>
    `open(F, '>', "/proc/$pid/${file}"); print F "0 ${uid} 1\\n1 ${SUBORDINATE} 1\\n"; close F;`;
  const child = [
    `POSIX::setgid(${uid}); POSIX::setuid(${uid}); syscall(${SYS_UNSHARE}, ${CLONE_NEWUSER}) and die "unshare: $!";`,
    `syswrite($made, 'x'); sysread($mapped, $_, 1); POSIX::setgid(1); POSIX::setuid(1) or die "setuid: $!";`,
    `print "begun\\n"; sleep 1 while 1;`,
  ].join(" ");
  const parent = `sysread($readable, $_, 1); ${map("uid_map")} ${map("gid_map")} syswrite($go, 'x'); wait`;
  const pipes = "$| = 1; pipe($readable, $made); pipe($mapped, $go);";
  return start("/usr/bin/perl", "-MPOSIX", "-e", `${pipes} unless ($pid = fork) { ${child} } ${parent}`);
}

async function start(...[command = "", ...args]: readonly string[]): Promise<Survivor> {
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "inherit"], detached: true, cwd: "/" });
  await once(child.stdout, "data");
  return { ended: () => child.exitCode !== null || child.signalCode !== null };
}
