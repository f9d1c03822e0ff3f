/** What an account's owner, or root by an image or a backup, may have done before access is taken away. Each is undone by cleaning up. */

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readProcess } from "../../../src/host/processes/processes.ts";
import { hasFuse, withHeldMount } from "../../support/holding-fuse.ts";
import type { TestSshd } from "../../support/sshd.ts";
import { until } from "../../support/until.ts";

/** An account with keys that log in. */
export interface Target {
  readonly account: string;
  readonly uid: number;
  readonly home: string;
  readonly sshd: TestSshd;
  /** The uid of another account of the service's. */
  readonly neighbour: number;
  /** The private keys. */
  readonly keyPaths: readonly string[];
  /** The keys as lines without an end of validity, as only the owner would write them. */
  readonly lines: readonly string[];
}

/** Returns what ends it again, where that is not the account's processes, mounts and files. */
type Preparation = (target: Target) => Promise<(() => Promise<void>) | undefined>;

const attribute =
  (flag: string, ...path: readonly string[]): Preparation =>
  async ({ home }) => {
    spawnSync("chattr", [flag, join(home, ...path)]);
    return undefined;
  };

/** A script of the owner's, in the home, with the keys in `$KEYS`. */
const owner =
  (script: string): Preparation =>
  async (target) => {
    await Promise.race([new Promise((resolve) => asOwner(target, script).once("exit", resolve)), Bun.sleep(10_000)]);
    return undefined;
  };

/** One that goes on. */
const going =
  (script: string): Preparation =>
  async (target) => {
    await begun(target, asOwner(target, `trap '' HUP TERM INT; ${script}`));
    return undefined;
  };

const perl =
  (program: string): Preparation =>
  async (target) => {
    await begun(target, start(target, "/usr/bin/perl", "-e", program));
    return undefined;
  };

const PUT_BACK = `printf '%s\\n' "$KEYS"`;
const FULL = "i=0; while [ $i -lt 3000 ]; do : > f$i || exit 0; i=$((i+1)); done 2>/dev/null";
/** The number of ptrace(2); its first request, 0, has the parent trace. */
const PTRACE = process.arch === "arm64" ? 117 : 101;
const NAP = "select(undef, undef, undef, 0.01)";

export const PREPARATIONS: Readonly<Record<string, Preparation>> = {
  nothing: async () => undefined,
  "an immutable file": attribute("+i", ".ssh/authorized_keys"),
  "a file for appending only": attribute("+a", ".ssh/authorized_keys"),
  "an immutable .ssh": attribute("+i", ".ssh"),
  "an .ssh for appending only": attribute("+a", ".ssh"),
  "an immutable home": attribute("+i"),
  "no free inode, and a second name": owner(`ln .ssh/authorized_keys .ssh/x; ${FULL}`),
  "no free block, and a second name": owner(
    "ln .ssh/authorized_keys x; dd if=/dev/zero of=big bs=64k 2>/dev/null; dd if=/dev/zero of=rest bs=512 2>/dev/null",
  ),
  "keys without an end": owner(`${PUT_BACK} >> .ssh/authorized_keys`),
  "a second file": owner(`${PUT_BACK} > .ssh/authorized_keys2`),
  "a directory in its place": owner(
    "cd .ssh; mv authorized_keys k; mkdir authorized_keys; mv k authorized_keys; mkdir -p authorized_keys2/d",
  ),
  "a FIFO in its place": owner("cd .ssh; rm -f authorized_keys; mkfifo authorized_keys"),
  "a socket in its place": owner(
    `cd .ssh; rm -f authorized_keys; perl -MSocket -e 'socket(S, PF_UNIX, SOCK_STREAM, 0); bind(S, sockaddr_un("authorized_keys"))'`,
  ),
  "a sparse file of a terabyte": owner("truncate --size 1T .ssh/authorized_keys"),
  "names like those of drafts": owner(
    "cd .ssh; i=0; while [ $i -lt 300 ]; do : > .uam.$(printf %032d $i); mkdir .uam.$(printf %032d $i)d; i=$((i+1)); done 2>/dev/null",
  ),
  "a link in its place": owner(
    `${PUT_BACK} > own; ln -sf ../own .ssh/authorized_keys; ln -s ../own .ssh/authorized_keys2`,
  ),
  "a link to a directory of its own": owner(
    `mkdir -m 700 other; ${PUT_BACK} > other/authorized_keys; mv .ssh old; ln -s other .ssh`,
  ),
  "modes of 000": owner("chmod 000 .ssh/authorized_keys .ssh; chmod 000 ."),
  "directories that are moved about": going("while :; do mv .ssh s; mv s .ssh; sleep 0.01; done 2>/dev/null"),
  "a loop that puts keys back": going(
    `while :; do mkdir -p .ssh; ${PUT_BACK} >> .ssh/authorized_keys; ${PUT_BACK} > .ssh/authorized_keys2; sleep 0.05; done 2>/dev/null`,
  ),
  "a crontab that puts keys back": async ({ account, uid, home, lines }) => {
    mkdirSync("/var/spool/cron/crontabs", { recursive: true });
    const path = `/var/spool/cron/crontabs/${account}`;
    writeFileSync(path, `* * * * * echo '${lines[0]}' >> ${home}/.ssh/authorized_keys\n`);
    spawnSync("chown", [String(uid), path]);
    return async () => void spawnSync("rm", ["-f", path]);
  },
  "open sessions": async ({ account, sshd, keyPaths }) => {
    const commands = ["sleep 600", "nohup setsid sleep 600"];
    const opened = commands.map((command, index) =>
      sshd.open(account, keyPaths[index % keyPaths.length] ?? "", command),
    );
    await Bun.sleep(400);
    return async () => opened.forEach((client) => void client.kill("SIGKILL"));
  },
  "a chain of forks": perl(`while (1) { exit if fork; ${NAP} }`),
  "something that stops the others": perl(`while (1) { kill 'STOP', -1; ${NAP} }`),
  "processes that trace each other": perl(
    `for (1 .. 3) { if (!fork) { syscall(${PTRACE}, 0, 0, 0, 0); kill 'STOP', $$; sleep 600 } } sleep 600`,
  ),
  ...(hasFuse
    ? {
        "a mount whose name is no text": (target) => held(target, Buffer.from([0x6d, 0xff]), target.uid, false),
        "a wait for another account's mount": (target) => held(target, Buffer.from("m"), target.neighbour, true),
      }
    : {}),
};

async function held(target: Target, name: Buffer, server: number, waits: boolean): Promise<() => Promise<void>> {
  const path = Buffer.concat([Buffer.from(`${target.home}/`), name]);
  const mounted = Promise.withResolvers<void>();
  const over = Promise.withResolvers<void>();
  const work = withHeldMount({ path, mounter: waits ? server : target.uid, server }, async ({ asked }) => {
    if (waits) {
      start(target, "/bin/ls", path.toString());
      await Promise.race([asked, Bun.sleep(1000)]);
    }
    mounted.resolve();
    await over.promise;
  }).catch(() => mounted.resolve());
  await mounted.promise;
  return async () => {
    over.resolve();
    await work;
  };
}

/** Returns once it is the account's, so that it ends with the account's processes, and then has had a moment for its work. */
async function begun({ uid }: Target, child: ChildProcess): Promise<void> {
  const isOver = () => child.exitCode !== null || child.signalCode !== null;
  await until(() => isOver() || readProcess(child.pid ?? 0)?.uids.includes(uid) === true);
  await Bun.sleep(100);
}

function asOwner(target: Target, script: string): ChildProcess {
  return start(target, "/bin/sh", "-c", script);
}

function start({ uid, home, lines }: Target, ...argv: readonly string[]): ChildProcess {
  const args = ["--reuid", String(uid), "--regid", String(uid), "--clear-groups", "--", ...argv];
  const env = { PATH: "/usr/bin:/bin", KEYS: lines.join("\n") };
  const child = spawn("/usr/bin/setpriv", args, { stdio: "ignore", detached: true, cwd: home, env });
  child.unref();
  return child;
}
