/** podman with a storage, networks and namespaces of its own: this machine's containers, images and addresses are neither used nor changed. */

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findLeader } from "../../debian/leader.ts";
import { ENCLOSED, must } from "../../debian/shell.ts";

export interface Podman {
  /** Runs a script with bash where podman works, and gives its output; throws unless it ends with 0. */
  sh(script: string, seconds?: number): Promise<string>;
  /** Ends every container at once. */
  stop(): Promise<void>;
}

/** podman needs control groups of version 2; where the machine has both, this shows it no others. */
const SET_UP = `
umount --recursive /sys/fs/cgroup 2>/dev/null || true
mount -t cgroup2 cgroup2 /sys/fs/cgroup
ip link set lo up
exec sleep infinity`;
const START_PATIENCE = 30;

/** Starts it below the directory. Containers get no control groups and no more than usual limits, which not every machine has to give. */
export async function openPodman(directory: string): Promise<Podman> {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const settings = join(directory, "containers.conf");
  const storage = join(directory, "storage.conf");
  writeFileSync(
    settings,
    `[containers]
cgroups = "disabled"
default_ulimits = ["nofile=1024:4096", "nproc=1000:1000"]
[network]
network_backend = "netavark"
network_config_dir = "${join(directory, "networks")}"
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
tmp_dir = "${join(directory, "tmp")}"
volume_path = "${join(directory, "volumes")}"
`,
  );
  writeFileSync(
    storage,
    `[storage]
driver = "overlay"
graphroot = "${join(directory, "graph")}"
runroot = "${join(directory, "run")}"
`,
  );
  const holder = Bun.spawn([...ENCLOSED, ...["unshare", "--net", "bash", "-euc", SET_UP]], {
    stdin: "ignore",
    stdout: "ignore",
    stderr: "ignore",
  });
  const leader = await findLeader(holder, ["sleep"], START_PATIENCE);
  if (leader === undefined) throw new Error("podman's namespaces could not be made: it needs root and control groups");
  const environment = [`CONTAINERS_CONF=${settings}`, `CONTAINERS_STORAGE_CONF=${storage}`];
  const inside = ["nsenter", `--target=${leader}`, "--mount", "--net", "--pid", "env", ...environment];
  return {
    sh: (script, seconds = 60) => must([...inside, "bash", "-euo", "pipefail", "-c", script], seconds),
    async stop() {
      holder.kill("SIGKILL");
      await holder.exited;
    },
  };
}
