/** A tree of Debian 11 with a compiler for either architecture: unpacked, not installed, so that it takes no root. */

import { spawn, spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { BuildError } from "../arguments.ts";
import { CannotFetch, fromFirst, openApt } from "./apt.ts";

/** The oldest Debian that a release runs on. Its archive is frozen, and with it what the compiler makes of a source. */
export const BUILD_SUITE = "bullseye";

const PACKAGES = [
  ...["gcc", "libc6-dev", "gcc-aarch64-linux-gnu", "libc6-dev-arm64-cross", "make", "bison", "flex", "patch", "perl"],
  ...["bash", "bzip2", "coreutils", "dash", "diffutils", "findutils", "grep", "gzip", "libc-bin", "mawk", "sed", "tar"],
  "xz-utils",
];

/** Where what is built lies in the tree. */
export const BUILD = "build";

/** Unpacks it to `tree`, fetched below `work` from the first of the archives that has all of it. Throws `CannotFetch`. */
export async function makeTree(
  tree: string,
  { work, archives }: { readonly work: string; readonly archives: readonly string[] },
): Promise<void> {
  const packages = await fromFirst(`Debian's ${BUILD_SUITE} for amd64`, archives, async (archive) => {
    const apt = await openApt(mkdtempSync(join(work, "apt-")), archive, [["deb", BUILD_SUITE]]);
    await apt.get(["install", "--yes", "--download-only", ...PACKAGES], apt.archives);
    return apt.archives;
  });
  mkdirSync(tree);
  for (const name of readdirSync(packages).filter((each) => each.endsWith(".deb"))) {
    const { status, stderr } = spawnSync("dpkg-deb", ["--extract", join(packages, name), tree], { encoding: "utf8" });
    if (status !== 0) throw new CannotFetch(`${name} could not be unpacked: ${stderr}`);
  }
  // As its installation would do.
  symlinkSync("mawk", join(tree, "usr/bin/awk"));
  mkdirSync(join(tree, BUILD));
  // PostgreSQL's configure wants to see it; nothing reads it.
  writeFileSync(join(tree, "dev/urandom"), "");
}

/** All that runs in them ends with the build, however it ends. */
const NAMESPACES = [
  "setpriv",
  "--pdeathsig=KILL",
  "unshare",
  "--map-root-user",
  "--mount",
  "--net",
  "--pid",
  "--fork",
  "--kill-child",
];

const PROGRAMS = ["apt-get", "apt-cache", "dpkg-deb", "flock", "setpriv", "unshare", "chroot"];

/** Why this machine cannot make or enter a tree, as a sentence; undefined if it can. */
export function cannotBuild(): string | undefined {
  if (process.arch !== "x64") return `this machine is ${process.arch}`;
  const missing = PROGRAMS.filter((each) => Bun.which(each, { PATH: searchPath() }) === null);
  if (missing.length > 0) return `it has no ${missing.join(", no ")}`;
  if (mayUnshare() || process.getuid?.() === 0) return undefined;
  return "this user may make no namespace of their own here; root may";
}

/** Runs the script in it, without a network, as a user whom the kernel calls root there; in a container that forbids that, as root. */
export async function runInTree(tree: string, script: string, argv: readonly string[]): Promise<void> {
  copyFileSync(script, join(tree, BUILD, "compile.sh"));
  const inside = ["chroot", tree, "/bin/sh", `/${BUILD}/compile.sh`, ...argv];
  const isolated = mayUnshare();
  if (isolated) writeFileSync(join(tree, "dev/null"), "");
  else spawnSync("mknod", ["--mode=666", join(tree, "dev/null"), "c", "1", "3"]);
  const bound = ["sh", "-c", 'mount --bind /dev/null "$1/dev/null" && shift && exec "$@"', "sh", tree];
  const [program = "", ...rest] = isolated ? [...NAMESPACES, ...bound, ...inside] : inside;
  const env = { ...process.env, PATH: searchPath() };
  const child = spawn(program, rest, { env, stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  const keep = (piece: Buffer) => {
    said = (said + piece.toString()).slice(-4000);
  };
  child.stdout.on("data", keep);
  child.stderr.on("data", keep);
  const status = await new Promise<number | string>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => resolve(code ?? signal ?? "unknown"));
  });
  if (status !== 0)
    throw new BuildError(
      `PostgreSQL could not be compiled for ${argv.join(" and ")} (it ended with ${status}):\n${said}`,
    );
}

/** chroot is where only root's search path leads. */
function searchPath(): string {
  return `${process.env.PATH ?? ""}:/usr/sbin:/sbin`;
}

function mayUnshare(): boolean {
  return spawnSync(NAMESPACES[0] ?? "", [...NAMESPACES.slice(1), "true"]).status === 0;
}
