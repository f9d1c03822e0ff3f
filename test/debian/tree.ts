/** A minimal Debian to boot: made once a week, and copied for each container. */

import { lstatSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { CannotBoot } from "./cannot-boot.ts";
import { must } from "./shell.ts";

const DIRECTORY = "/var/tmp";
const TREE = join(DIRECTORY, "uam-debian-tree");
const COPY = /^uam-debian-(?:run|new)-(\d+)/;
const PACKAGES =
  "systemd,systemd-sysv,dbus,libpam-systemd,dbus-user-session,openssh-server,openssh-client,sudo,procps,passwd,iproute2,curl,e2fsprogs,cron,at,uidmap,fuse3";
/** What could hold dpkg's lock at a bad moment. */
const MASKED = ["apt-daily.timer", "apt-daily-upgrade.timer", "dpkg-db-backup.timer"];
const RECIPE = JSON.stringify([PACKAGES, MASKED]);
const RECIPE_FILE = ".recipe";
const RELEASE = "bookworm";
const MIRROR = "http://deb.debian.org/debian";
const DAY = 24 * 3600 * 1000;
const WEEK = 7 * DAY;
const HOST_NAME = "debian";

/**
 * The path of the tree, which is at most a week old, or older where Debian's archive does not answer. Throws `CannotBoot` if
 * there is none then.
 */
export async function requireTree(): Promise<string> {
  const age = ageOfTree();
  if (age !== undefined && age < WEEK) return TREE;
  try {
    await requireArchive();
  } catch (error) {
    if (age === undefined || !(error instanceof CannotBoot)) throw error;
    console.log(`      the tree is ${Math.floor(age / DAY)} days old: ${error.message}`);
    return TREE;
  }
  console.log(`      making ${TREE} with debootstrap`);
  const made = join(DIRECTORY, `uam-debian-new-${process.pid}`);
  rmSync(made, { recursive: true, force: true });
  // In a mount namespace of its own, what debootstrap mounts in the tree goes with it, whatever ends it.
  const argv = [
    "unshare",
    "--mount",
    "debootstrap",
    "--variant=minbase",
    `--include=${PACKAGES}`,
    RELEASE,
    made,
    MIRROR,
  ];
  await must(argv, 300).catch((error: Error) => {
    rmSync(made, { recursive: true, force: true });
    throw new Error(`debootstrap could not make a tree: ${error.message.slice(-1500)}`);
  });
  writeFileSync(join(made, "etc/hostname"), `${HOST_NAME}\n`);
  writeFileSync(join(made, "etc/hosts"), `127.0.0.1 localhost ${HOST_NAME}\n::1 localhost\n`);
  rmSync(join(made, "var/cache/apt/archives"), { recursive: true });
  mkdirSync(join(made, "var/cache/apt/archives/partial"), { recursive: true });
  await must(["systemctl", `--root=${made}`, "mask", ...MASKED], 30);
  writeFileSync(join(made, RECIPE_FILE), RECIPE);
  rmSync(TREE, { recursive: true, force: true });
  renameSync(made, TREE);
  return TREE;
}

/** Only that nobody answers is no fault of what is tested; whatever goes wrong after that is one. */
async function requireArchive(): Promise<void> {
  const url = `${MIRROR}/dists/${RELEASE}/InRelease`;
  const response = await fetch(url, { method: "HEAD", signal: AbortSignal.timeout(30_000) }).catch((error: unknown) => {
    throw new CannotBoot(`no answer from ${MIRROR}: ${String(error)}`);
  });
  if (!response.ok) throw new Error(`${url} answered ${response.status}`);
}

/** A copy of the tree for one container, on disk, so that it has what a real host's file system has. */
export async function copyTree(tree: string, name: string): Promise<string> {
  const copy = placeOfThisRun(name);
  await must(["cp", "-a", "--reflink=auto", "--", tree, copy], 120);
  return copy;
}

/** A path for something of this process alone, which `removeCopies` removes. */
export function placeOfThisRun(name: string): string {
  return join(DIRECTORY, `uam-debian-run-${process.pid}-${name}`);
}

/** Removes the copies of this process, and of others that were killed before they could. */
export function removeCopies(): void {
  for (const name of readdirSync(DIRECTORY)) {
    const pid = Number(COPY.exec(name)?.[1]);
    const path = join(DIRECTORY, name);
    // Another run may be removing it at this moment.
    const uid = lstatSync(path, { throwIfNoEntry: false })?.uid;
    if (Number.isNaN(pid) || uid !== 0 || (pid !== process.pid && isRunning(pid))) continue;
    rmSync(path, { recursive: true, force: true });
  }
}

/** Milliseconds since the tree was made; undefined if there is none, or one of another recipe. */
function ageOfTree(): number | undefined {
  const found = lstatSync(TREE, { throwIfNoEntry: false });
  if (found === undefined) return undefined;
  // Everybody may write in /var/tmp: what somebody else put there is not booted as root.
  if (!found.isDirectory() || found.uid !== 0 || (found.mode & 0o022) !== 0) {
    throw new Error(`${TREE} is not root's own directory: remove it`);
  }
  const recipe = join(TREE, RECIPE_FILE);
  const made = statSync(recipe, { throwIfNoEntry: false });
  return made === undefined || readFileSync(recipe, "utf8") !== RECIPE ? undefined : Date.now() - made.mtimeMs;
}

function isRunning(pid: number): boolean {
  return statSync(`/proc/${pid}`, { throwIfNoEntry: false }) !== undefined;
}
