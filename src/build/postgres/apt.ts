/** Packages of another Debian than this machine's, by an apt of our own: it reads nothing of the machine's but where its archive is. */

import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";

const KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg";

/** What could not be had, as a sentence for whoever builds. */
export class CannotFetch extends Error {}

/** `apt-get` for the archive at `mirror`. */
export interface Apt {
  /** Throws `CannotFetch` with what apt said. */
  get(argv: readonly string[], cwd: string): void;
  /** Where the packages are that `--download-only` fetched. */
  readonly archives: string;
  /** What the source index says of a package: its entries, as in Debian's Sources. */
  sourcesOf(name: string): string;
}

/** The archive that this machine has its own Debian from. Throws `CannotFetch` if apt has none, or is not there. */
export function findMirror(): string {
  const { stdout } = spawnSync("apt-get", ["indextargets", "--format", "$(ORIGIN)|$(LABEL)|$(REPO_URI)"], {
    encoding: "utf8",
  });
  const mirror = /^Debian\|Debian\|(\S+)$/m.exec(stdout ?? "")?.[1];
  if (mirror !== undefined) return mirror;
  throw new CannotFetch("apt on this machine knows no archive of Debian; on a Debian, run apt-get update first.");
}

/** Makes it in `directory` and reads the lists of `sources`, each a line such as "deb MIRROR bullseye main" without the mirror. */
export function openApt(directory: string, sources: readonly (readonly [type: string, suite: string])[]): Apt {
  const mirror = findMirror();
  for (const name of ["state/lists/partial", "cache/archives/partial"])
    mkdirSync(join(directory, name), { recursive: true });
  const lines = sources.map(([type, suite]) => `${type} [signed-by=${KEYRING}] ${mirror} ${suite} main\n`);
  writeFileSync(join(directory, "sources.list"), lines.join(""));
  // Nothing is installed yet, so that everything that is needed is fetched.
  writeFileSync(join(directory, "status"), "");
  const options = {
    "Dir::State": join(directory, "state"),
    "Dir::State::status": join(directory, "status"),
    "Dir::Cache": join(directory, "cache"),
    "Dir::Etc::sourcelist": join(directory, "sources.list"),
    "Dir::Etc::sourceparts": "/dev/null",
    "Dir::Etc::preferencesparts": "/dev/null",
    "APT::Architecture": "amd64",
    "APT::Architectures": "amd64",
    "APT::Install-Recommends": "false",
    "Acquire::Languages": "none",
    // Its user could not write here.
    "APT::Sandbox::User": "root",
  };
  const set = Object.entries(options).flatMap(([name, value]) => ["-o", `${name}=${value}`]);
  const run = (program: string, argv: readonly string[], cwd: string): string => {
    const env = { ...process.env, LC_ALL: "C", DEBIAN_FRONTEND: "noninteractive" };
    const { status, stdout, stderr, error } = spawnSync(program, [...set, ...argv], { cwd, env, encoding: "utf8" });
    if (status === 0) return stdout;
    const reason = error?.message ?? `${stdout}${stderr}`.trim().slice(-1500);
    throw new CannotFetch(`${program} ${argv.join(" ")} failed: ${reason}`);
  };
  const get = (argv: readonly string[], cwd: string) => void run("apt-get", ["--quiet=2", ...argv], cwd);
  get(["update", "--error-on=any"], directory);
  return {
    get,
    archives: join(directory, "cache/archives"),
    sourcesOf: (name) => run("apt-cache", ["showsrc", "--only-source", name], directory),
  };
}
