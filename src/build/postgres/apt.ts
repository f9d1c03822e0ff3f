/** Packages of another Debian than this machine's, by an apt of our own: of the machine's it reads how to reach archives, and which has its Debian. */

import { execFile, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";

const KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg";
const HELPER = "/usr/lib/apt/apt-helper";
/** Connections that break or are refused are tried again, with what came so far; what is not there is not. */
const RETRIES = ["-o", "Acquire::Retries=3"];

/** Clears the machine's hooks: those in Docker's images remove packages that another apt-get is just installing. */
const HOOKS = ["Update::Pre-Invoke", "Update::Post-Invoke", "Update::Post-Invoke-Success"].map(
  (hook) => `#clear APT::${hook};`,
);

/** Something could not be fetched; the message is a sentence for the person who builds. */
export class CannotFetch extends Error {}

/** `apt-get` for one archive. */
export interface Apt {
  /** Throws `CannotFetch` with what apt said. */
  get(argv: readonly string[], cwd: string): Promise<void>;
  /** Where the packages are that `--download-only` fetched. */
  readonly archives: string;
  /** The entries of a package in the source index, as in Debian's Sources. */
  sourcesOf(name: string): Promise<string>;
}

/** The archive that this machine has its own Debian from, if it has one, and then `others`. Throws `CannotFetch` without apt. */
export function archivesWith(others: readonly string[]): readonly string[] {
  const { stdout, error } = spawnSync("apt-get", ["indextargets", "--format", "$(ORIGIN)|$(LABEL)|$(REPO_URI)"], {
    encoding: "utf8",
  });
  if (error !== undefined) throw new CannotFetch(`apt-get cannot be run: ${error.message}`);
  const own = /^Debian\|Debian\|(\S+?)\/*$/m.exec(stdout)?.[1];
  return [...new Set([...(own === undefined ? [] : [own]), ...others])];
}

/** Tries the archives in order and returns the first result. Throws `CannotFetch`, with the message of each, if `fetch` throws that for all. */
export async function fromFirst<T>(
  what: string,
  archives: readonly string[],
  fetch: (archive: string) => Promise<T>,
): Promise<T> {
  const said: string[] = [];
  for (const archive of archives) {
    try {
      return await fetch(archive);
    } catch (error) {
      if (!(error instanceof CannotFetch)) throw error;
      said.push(`${archive} (${error.message})`);
    }
  }
  throw new CannotFetch(`${what} cannot be had; sought in ${said.join(", then in ")}`);
}

/** A suite as in sources.list(5), such as "deb" and "bullseye"; of the archive itself, or of another. */
export type Suite = readonly [type: string, suite: string, archive?: string];

/** Makes it in `directory`, new for each archive, and reads the lists of `suites`. `architecture` is Debian's name for it. */
export async function openApt(
  directory: string,
  archive: string,
  suites: readonly Suite[],
  architecture = "amd64",
): Promise<Apt> {
  if (!existsSync(KEYRING)) throw new CannotFetch(`${KEYRING} is missing: install debian-archive-keyring`);
  for (const name of ["state/lists/partial", "cache/archives/partial"])
    mkdirSync(join(directory, name), { recursive: true });
  const lines = suites.map(([type, suite, from = archive]) => `${type} [signed-by=${KEYRING}] ${from} ${suite} main\n`);
  writeFileSync(join(directory, "sources.list"), lines.join(""));
  // Nothing is installed yet, so that everything that is needed is fetched.
  writeFileSync(join(directory, "status"), "");
  const settings = {
    "Dir::State": join(directory, "state"),
    "Dir::State::status": join(directory, "status"),
    "Dir::Cache": join(directory, "cache"),
    "Dir::Etc::sourcelist": join(directory, "sources.list"),
    "Dir::Etc::sourceparts": "/dev/null",
    "Dir::Etc::preferencesparts": "/dev/null",
    "APT::Architecture": architecture,
    "APT::Architectures": architecture,
    "APT::Install-Recommends": "false",
    "Acquire::Languages": "none",
    // Its user could not write here.
    "APT::Sandbox::User": "root",
  };
  const configuration = join(directory, "apt.conf");
  const set = [...Object.entries(settings).map(([name, value]) => `${name} "${value}";`), ...HOOKS];
  writeFileSync(configuration, set.map((line) => `${line}\n`).join(""));
  const options = ["-c", configuration, ...RETRIES];
  const get = async (argv: readonly string[], cwd: string) => {
    await run("apt-get", [...options, "--quiet=2", ...argv], cwd);
  };
  await get(["update", "--error-on=any"], directory);
  return {
    get,
    archives: join(directory, "cache/archives"),
    sourcesOf: (name) => run("apt-cache", [...options, "showsrc", "--only-source", name], directory),
  };
}

/** Fetches one file as `target`, which appears only if its SHA-256 is `sum`. Throws `CannotFetch` with what apt said. */
export async function download(
  url: string,
  { target, sum }: { readonly target: string; readonly sum: string },
): Promise<void> {
  const sandbox = ["-o", "APT::Sandbox::User=root"];
  await run(HELPER, [...RETRIES, ...sandbox, "download-file", url, target, `SHA256:${sum}`], "/");
}

async function run(program: string, argv: readonly string[], cwd: string): Promise<string> {
  const env = { ...process.env, LC_ALL: "C", DEBIAN_FRONTEND: "noninteractive" };
  return await new Promise((resolve, reject) => {
    execFile(program, argv, { cwd, env, maxBuffer: Number.POSITIVE_INFINITY }, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else reject(new CannotFetch(reasonsOf(stderr) || `${error.message}\n${stdout}`.trim()));
    });
  });
}

/** apt's errors on one line: each begins with "E:", and may go on in the next lines. The last only says that there were some. */
function reasonsOf(said: string): string {
  const errors = said.split(/^(?=[EW]: )/m).filter((each) => each.startsWith("E: "));
  const telling = errors.filter(
    (each) => !/^E: (Download Failed|Some index files failed|Unable to fetch some)/.test(each),
  );
  return (telling.length > 0 ? telling : errors)
    .slice(0, 3)
    .map((each) => each.slice(3).replace(/\s+/g, " ").trim())
    .join("; ");
}
