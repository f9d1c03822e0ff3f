/** Somebody who has just cloned the project: nothing in their home, and none of the programs that CI installs for itself. */

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";

const PROJECT = join(import.meta.dir, "../..");
const PARENT = "/home";
/** The README names curl; the others are on every Debian. */
const KEPT = ["curl", "util-linux", "passwd"];
/** How a machine reaches npm's registry is its own affair. */
const NETWORK = /^(https?_proxy|no_proxy|NODE_EXTRA_CA_CERTS|npm_config_(registry|cafile))$/i;

export interface Reader {
  readonly name: string;
  readonly home: string;
  /** A clone of HEAD without a change, and theirs. */
  readonly checkout: string;
  /** Runs the commands there as a script that ends at the first that fails, and shows what they say; the exit code and standard output. */
  run(script: string): Promise<{ readonly status: number; readonly stdout: string }>;
  /** Starts the command, as a terminal would: a group of its own. What it says is shown, and kept in `said`. */
  start(script: string): Started;
  /** Ends what is left of theirs, and removes them with all that they have. */
  remove(): void;
}

export interface Started {
  readonly process: ChildProcess;
  said(): string;
  /** What Ctrl-C does. Returns once all of it is gone. */
  interrupt(): Promise<void>;
}

/** An ordinary user whom this makes. */
export function makeOrdinary(name: string): Reader {
  const home = join(PARENT, name);
  // Without the files of /etc/skel.
  execute(["useradd", "--no-create-home", "--home-dir", home, "--shell", "/bin/bash", name]);
  execute(["install", "-d", "-m", "0700", "-o", name, "-g", name, home]);
  const reader = makeReader(name, home, ["runuser", "--user", name, "--"]);
  execute(["chown", "--recursive", `${name}:`, reader.checkout]);
  return {
    ...reader,
    remove() {
      spawnSync("pkill", ["--signal", "KILL", "--uid", name]);
      rmSync(home, { recursive: true, force: true });
      execute(["userdel", name]);
    },
  };
}

/** Root, whose home nobody else can enter. */
export function makeRoot(): Reader {
  const home = mkdtempSync(join(PARENT, "uam-readme-"));
  chmodSync(home, 0o700);
  return { ...makeReader("root", home, []), remove: () => rmSync(home, { recursive: true, force: true }) };
}

function makeReader(name: string, home: string, become: readonly string[]): Omit<Reader, "remove"> {
  const checkout = join(home, "uam");
  execute(["git", "clone", "--quiet", "--no-hardlinks", PROJECT, checkout]);
  const network = Object.entries(process.env).filter(([variable]) => NETWORK.test(variable));
  const own = { HOME: home, USER: name, LOGNAME: name, LANG: "C.UTF-8", PATH: "/usr/local/bin:/usr/bin:/bin" };
  const environment = [...network, ...Object.entries(own)].map(([variable, value]) => `${variable}=${value}`);
  const argv = (script: string) => [
    ...["unshare", "--mount", "bash", "-ec", WITHOUT, "bash", ...become],
    ...["env", "--ignore-environment", ...environment, "bash", "-euo", "pipefail", "-c", script],
  ];

  function begin(script: string) {
    const [program = "", ...args] = argv(script);
    const child = spawn(program, args, { cwd: checkout, stdio: ["ignore", "pipe", "pipe"], detached: true });
    const said = { out: "", all: "" };
    child.stdout?.on("data", (data: Buffer) => {
      said.out += data;
      said.all += data;
      process.stdout.write(data);
    });
    child.stderr?.on("data", (data: Buffer) => {
      said.all += data;
      process.stderr.write(data);
    });
    const ended = new Promise<number>((resolve) => child.on("close", (code) => resolve(code ?? 1)));
    return { child, said, ended };
  }

  return {
    name,
    home,
    checkout,
    async run(script) {
      const { said, ended } = begin(script);
      return { status: await ended, stdout: said.out };
    },
    start(script) {
      const { child, said, ended } = begin(script);
      return {
        process: child,
        said: () => said.all,
        async interrupt() {
          if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, "SIGINT");
          await ended;
        },
      };
    },
  };
}

/** In a mount namespace of its own, /usr without the programs that CI installs: what is missing on a stranger's machine is missing. */
const WITHOUT = `
scratch="$(mktemp -d)"
mount -t tmpfs tmpfs "$scratch"
mkdir "$scratch/upper" "$scratch/work"
mount -t overlay overlay -o "lowerdir=/usr,upperdir=$scratch/upper,workdir=$scratch/work" /usr
rm -f -- ${installedByCi().join(" ")}
umount --lazy "$scratch"
rmdir "$scratch"
exec "$@"`;

/** The programs of the packages that .ci/run installs, by their paths below /usr. */
function installedByCi(): readonly string[] {
  const text = readFileSync(join(PROJECT, ".ci/run"), "utf8");
  const words = /apt-get install [^\n]*\\\n(.*?)>\/dev\/null/s.exec(text)?.[1]?.match(/[a-z0-9.+-]{2,}/g) ?? [];
  const packages = words.filter((word) => !KEPT.includes(word));
  if (packages.length < 10) throw new Error(".ci/run does not say which packages it installs");
  const files = execute(["dpkg", "--listfiles", ...packages]).split("\n");
  const programs = files.filter((path) => /^(\/usr)?\/s?bin\/[\w.+-]+$/.test(path));
  return programs.map((path) => (path.startsWith("/usr/") ? path : `/usr${path}`));
}

function execute([program = "", ...args]: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: "utf8", maxBuffer: 1 << 26 });
  if (status !== 0) throw new Error(`${program} ${args.join(" ")}: ${stderr}`);
  return stdout;
}
