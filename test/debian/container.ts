/** A booted Debian with a network of its own, and commands run in it. */

import process from "node:process";
import { CannotBoot } from "./cannot-boot.ts";
import { makeCgroups } from "./cgroup.ts";
import { findLeader } from "./leader.ts";
import { type Outcome, run } from "./shell.ts";

export interface Container {
  /** Its root, as seen from here. */
  readonly directory: string;
  /** The root of the service's API, as seen from inside. */
  api: string;
  /** Its first process, as seen from here. */
  readonly leader: number;
  /** Runs a script as root with bash, at most a minute unless told, and gives its output; throws unless it ends with 0. */
  sh(script: string, seconds?: number): Promise<string>;
  /** As `sh`, but gives the outcome whatever it is. */
  attempt(script: string, seconds?: number): Promise<Outcome>;
  /** Repeats a script until it ends with 0; throws, with what it last said, when the seconds are over. */
  until(script: string, seconds: number): Promise<string>;
  /** Runs a program of this machine in the container's network, whatever is being replaced inside; at most a minute unless told. */
  fromHere(argv: readonly string[], seconds?: number): Promise<Outcome>;
  /** Ends everything in it at once. */
  stop(): Promise<void>;
}

const PATH = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** systemd 258 and later runs on control groups of version 2 only; where the machine has both, this shows nspawn no others. */
const ONLY_VERSION_2 =
  'if ! test -e /sys/fs/cgroup/cgroup.procs; then umount --recursive /sys/fs/cgroup; mount -t cgroup2 cgroup2 /sys/fs/cgroup; fi; exec "$@"';

/**
 * Boots the tree and waits until systemd is done; `isNew` for one whose systemd needs control groups of version 2. Throws `CannotBoot` if
 * nspawn gave up before systemd ran.
 */
export async function boot(directory: string, name: string, isNew = false): Promise<Container> {
  const cgroups = makeCgroups(`${name}-${process.pid}`);
  const enterGroups = `for entrance in ${cgroups.entrances.join(" ")}; do echo 0 >$entrance; done; exec "$@"`;
  // If this process is killed, nspawn is, and then its init: nothing is left running.
  const nspawn = Bun.spawn(
    [
      ...["sh", "-euc", enterGroups, "sh"],
      ...["setpriv", "--pdeathsig", "KILL"],
      ...(isNew ? ["unshare", "--mount", "sh", "-euc", ONLY_VERSION_2, "sh"] : []),
      ...["systemd-nspawn", "--quiet", "--boot", "--private-network"],
      // Not registered anywhere: it works without a systemd on the outside, too.
      ...[`--machine=${name}`, `--directory=${directory}`, "--register=no", "--keep-unit", "--link-journal=no"],
      ...["--resolv-conf=off", "--timezone=off", "--console=pipe"],
    ],
    { stdin: "ignore", stdout: "pipe", stderr: "pipe" },
  );
  const said = Promise.all([nspawn.stdout.text(), nspawn.stderr.text()]);
  const leader = await findLeader(nspawn, ["systemd"], 30);
  if (leader === undefined) {
    nspawn.kill("SIGKILL");
    const why = (await said).join("").trim();
    await cgroups.remove();
    throw new CannotBoot(`systemd-nspawn could not boot it: ${why}`);
  }
  const enter = ["nsenter", `--target=${leader}`, "--mount", "--uts", "--ipc", "--net", "--pid", "--cgroup"];
  const attempt = (script: string, seconds = 60): Promise<Outcome> => {
    const command = ["timeout", "--kill-after=2", String(seconds), "bash", "-euo", "pipefail", "-c", script];
    return run(["env", "-i", PATH, "HOME=/root", "LC_ALL=C", ...enter, ...command], seconds + 5);
  };
  const container: Container = {
    directory,
    leader,
    api: "http://127.0.0.1:8080/api/v1",
    attempt,
    sh: async (script, seconds) => succeeded(script, await attempt(script, seconds)),
    until: async (script, seconds) => {
      const end = performance.now() + seconds * 1000;
      for (;;) {
        const outcome = await attempt(script, seconds);
        if (outcome.status === 0 || performance.now() > end) return succeeded(script, outcome);
        await Bun.sleep(200);
      }
    },
    fromHere: (argv, seconds = 60) => run(["nsenter", `--target=${leader}`, "--net", ...argv], seconds),
    stop: async () => {
      if (nspawn.exitCode === null) await run(["kill", "-KILL", String(leader)], 5);
      await Promise.race([nspawn.exited, Bun.sleep(10_000)]);
      nspawn.kill("SIGKILL");
      await said;
      await cgroups.remove();
    },
  };
  try {
    await container.until("test -S /run/systemd/private && test -S /run/dbus/system_bus_socket", 60);
    await container.sh(
      "systemctl is-system-running --wait || { systemctl status --state=failed --no-pager; exit 1; }",
      60,
    );
  } catch (error) {
    await container.stop();
    throw error;
  }
  return container;
}

function succeeded(script: string, { status, stdout, stderr }: Outcome): string {
  if (status !== 0) throw new Error(`ended with ${status}: ${script}\n${stdout}${stderr}`);
  return stdout;
}
