/** Minimal Debian trees: made once a week, and copied for each test that changes one. */

import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { CannotBoot } from "./cannot-boot.ts";
import { must } from "./shell.ts";

/** How a tree is made; another recipe makes a new one. */
interface Recipe {
  readonly path: string;
  readonly suite: Suite;
  /** Packages in addition to debootstrap's minbase, separated by commas. */
  readonly packages: string;
  /** Packages that lie in apt's archives, not installed: a container has no network. */
  readonly fetched: string;
  readonly masked: readonly string[];
}

const DIRECTORY = "/var/tmp";
const COPY = /^uam-debian-(?:run|new)-(\d+)/;
const PACKAGES =
  "systemd,systemd-sysv,dbus,libpam-systemd,dbus-user-session,openssh-server,openssh-client,sudo,procps,passwd,iproute2,curl,e2fsprogs,cron,at,uidmap,fuse3";
/** What could hold dpkg's lock at a bad moment. */
const MASKED = ["apt-daily.timer", "apt-daily-upgrade.timer", "dpkg-db-backup.timer"];
const RECIPE_FILE = ".recipe";
/** Debian's own, as it is set up by itself: it delivers locally, and follows `~/.forward`. */
export const MAIL_SERVER = "exim4-daemon-light";
/** Of Debian: the releases that a tree can be made of, oldest first. */
export const SUITES = ["bookworm", "trixie", "forky"] as const;
export type Suite = (typeof SUITES)[number];
/** The release that everything is tested on. */
export const RELEASE = "bookworm" satisfies Suite;
/** The release that is upgraded, and to which one. */
export const UPGRADED = { name: "bookworm-to-trixie", from: "bookworm", to: "trixie", version: "13" } as const;
/** debootstrap's script for what is not released yet; its own list of names ends with the release that it came with. */
const UNRELEASED = "/usr/share/debootstrap/scripts/sid";
export const MIRROR = "http://deb.debian.org/debian";
const DAY = 24 * 3600 * 1000;
const WEEK = 7 * DAY;
const HOST_NAME = "debian";

/**
 * The path of a tree of that release to boot, which is at most a week old, or older if Debian's archive does not answer. Throws
 * `CannotBoot` if there is none then.
 */
export function requireTree(suite: Suite = RELEASE): Promise<string> {
  const name = suite === RELEASE ? "uam-debian-tree" : `uam-debian-${suite}-tree`;
  const fetched = suite === RELEASE ? MAIL_SERVER : "";
  return required({ path: join(DIRECTORY, name), suite, packages: PACKAGES, fetched, masked: MASKED });
}

/** Like `requireTree`, with what Ansible needs on a host. */
export function requireAnsibleTree(): Promise<string> {
  const path = join(DIRECTORY, "uam-debian-ansible-tree");
  return required({ path, suite: RELEASE, packages: `${PACKAGES},python3,python3-apt`, fetched: "", masked: MASKED });
}

/** Like `requireTree`, but a tree with only the packages that every Debian has, and apt. */
export function requireBareTree(): Promise<string> {
  return required({
    path: join(DIRECTORY, "uam-debian-bare-tree"),
    suite: RELEASE,
    packages: "",
    fetched: "",
    masked: [],
  });
}

async function required(recipe: Recipe): Promise<string> {
  const { path, suite, packages, fetched, masked } = recipe;
  const age = ageOf(recipe);
  if (age !== undefined && age < WEEK) return path;
  try {
    await requireArchive(suite);
  } catch (error) {
    if (age === undefined || !(error instanceof CannotBoot)) throw error;
    console.log(`      ${path} is ${Math.floor(age / DAY)} days old: ${error.message}`);
    return path;
  }
  console.log(`      making ${path} with debootstrap`);
  const made = join(DIRECTORY, `uam-debian-new-${process.pid}-${suite}`);
  rmSync(made, { recursive: true, force: true });
  // In a mount namespace of its own: what debootstrap mounts in the tree disappears with it, whatever ends it.
  const argv = [
    "unshare",
    "--mount",
    "debootstrap",
    "--variant=minbase",
    ...(packages === "" ? [] : [`--include=${packages}`]),
    suite,
    made,
    MIRROR,
    ...(existsSync(`/usr/share/debootstrap/scripts/${suite}`) ? [] : [UNRELEASED]),
  ];
  await must(argv, 900).catch((error: Error) => {
    rmSync(made, { recursive: true, force: true });
    throw new Error(`debootstrap could not make a tree: ${error.message.slice(-1500)}`);
  });
  writeFileSync(join(made, "etc/hostname"), `${HOST_NAME}\n`);
  writeFileSync(join(made, "etc/hosts"), `127.0.0.1 localhost ${HOST_NAME}\n::1 localhost\n`);
  rmSync(join(made, "var/cache/apt/archives"), { recursive: true });
  mkdirSync(join(made, "var/cache/apt/archives/partial"), { recursive: true });
  if (fetched !== "")
    await inTree(made, `apt-get -q update; apt-get -qy --no-install-recommends --download-only install ${fetched}`);
  if (masked.length > 0) await must(["systemctl", `--root=${made}`, "mask", ...masked], 30);
  writeFileSync(join(made, RECIPE_FILE), textOf(recipe));
  rmSync(path, { recursive: true, force: true });
  renameSync(made, path);
  return path;
}

/** Runs a script as root of a tree that is not booted, with this machine's network. */
export async function inTree(tree: string, script: string): Promise<void> {
  const enter = `mount --rbind /dev "$1/dev"; mount -t proc proc "$1/proc"; exec chroot "$1" sh -euc "$2"`;
  await must(["unshare", "--mount", "sh", "-euc", enter, "sh", tree, script], 900);
}

/** Only an archive that does not answer is no fault of what is tested; any later failure is one. */
async function requireArchive(suite: Suite): Promise<void> {
  const url = `${MIRROR}/dists/${suite}/InRelease`;
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

/** A path for this process alone, which `removeCopies` removes. */
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

function textOf({ packages, fetched, masked }: Recipe): string {
  return JSON.stringify([packages, fetched, masked]);
}

/** Milliseconds since the tree was made; undefined if there is none, or one of another recipe. */
function ageOf(recipe: Recipe): number | undefined {
  const { path } = recipe;
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return undefined;
  // Everybody may write to /var/tmp: what somebody else put there is not booted as root.
  if (!found.isDirectory() || found.uid !== 0 || (found.mode & 0o022) !== 0) {
    throw new Error(`${path} is not root's own directory: remove it`);
  }
  const file = join(path, RECIPE_FILE);
  const made = statSync(file, { throwIfNoEntry: false });
  return made === undefined || readFileSync(file, "utf8") !== textOf(recipe) ? undefined : Date.now() - made.mtimeMs;
}

function isRunning(pid: number): boolean {
  return statSync(`/proc/${pid}`, { throwIfNoEntry: false }) !== undefined;
}
