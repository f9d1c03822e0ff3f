/** Three booted Debians that a machine with Ansible reaches as root, and the repository that they install from. */

import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { VERSION } from "../../../src/shared/version.ts";
import { boot, type Container } from "../../debian/container.ts";
import { makeRepositories } from "../../debian/repository.ts";
import { must } from "../../debian/shell.ts";
import { copyTree, requireAnsibleTree } from "../../debian/tree.ts";

const PROJECT = join(import.meta.dir, "../../..");
export const NAMES = ["gate", "web1", "db1"] as const;
export type Name = (typeof NAMES)[number];
export type Hosts = Readonly<Record<Name, Container>>;
const PORT = 8000;
export const REPOSITORY = `http://apt.example.org:${PORT}`;
/** From gate each other host is on a wire of its own. */
const GATE = { web1: "10.77.1.1", db1: "10.77.2.1" } as const;
export const ADDRESSES: Readonly<Record<Name, string>> = { gate: GATE.web1, web1: "10.77.1.2", db1: "10.77.2.2" };

/** Makes the repository in `directory`, of the program that is in dist, and returns the checksum of its first package. */
export async function makeRepository(directory: string): Promise<string> {
  const path = join(directory, "uam.deb");
  await must([process.execPath, join(PROJECT, "src/build/deb.ts"), "--uncompressed", path], 600);
  await makeRepositories(directory, [{ path, version: VERSION }], REPOSITORY);
  const said = await must(["sha256sum", join(directory, "apt/uam-archive-keyring.deb")], 10);
  return `sha256:${said.split(" ")[0]}`;
}

/** Boots the hosts; each `started` one is the caller's to stop, also when this throws. */
export async function bootHosts(key: string, started: (container: Container) => void): Promise<Hosts> {
  const tree = await requireAnsibleTree();
  const booted = await Promise.all(
    NAMES.map(async (name) => {
      const directory = await copyTree(tree, `ansible-${name}`);
      mkdirSync(join(directory, "root/.ssh"), { recursive: true, mode: 0o700 });
      writeFileSync(join(directory, "root/.ssh/authorized_keys"), key, { mode: 0o600 });
      const container = await boot(directory, `uam-ansible-${name}`);
      started(container);
      return [name, container] as const;
    }),
  );
  const hosts = Object.fromEntries(booted) as unknown as Hosts;
  for (const name of ["web1", "db1"] as const) await connect(hosts, name);
  const own = "127.0.0.1 gate.example.org apt.example.org";
  await hosts.gate.sh(`echo '${own}' >>/etc/hosts`);
  return hosts;
}

/** Publishes the repository that is in `directory` from the gate. */
export async function publish({ gate }: Hosts, directory: string): Promise<void> {
  cpSync(join(directory, "apt"), join(gate.directory, "srv/apt"), { recursive: true });
  await gate.sh(`systemd-run --quiet --unit=apt-mirror python3 -m http.server --directory /srv/apt ${PORT}`);
  await gate.until(`curl -sf ${REPOSITORY}/uam-archive-keyring.deb >/dev/null`, 20);
}

async function connect(hosts: Hosts, name: "web1" | "db1"): Promise<void> {
  const { gate, [name]: host } = hosts;
  const [here, there] = [GATE[name], ADDRESSES[name]];
  const end = (device: string, { leader }: Container) => ["name", device, "netns", String(leader)];
  await must(["ip", "link", "add", ...end(name, gate), "type", "veth", "peer", ...end("wire", host)], 10);
  await gate.sh(`ip address add ${here}/24 dev ${name} && ip link set ${name} up`);
  await host.sh(`ip address add ${there}/24 dev wire && ip link set wire up
    echo '${here} gate.example.org apt.example.org' >>/etc/hosts`);
}
