/**
 * `bun run test:long ansible`: docs/ansible.md as it is written, with Debian's Ansible on three booted hosts: a check from nothing, the
 * run, a second one, a change that is checked first, and logins.
 */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { admitted, logIn, refused, uploadKey } from "../../debian/access.ts";
import { CannotBoot, requireMachine } from "../../debian/cannot-boot.ts";
import type { Container } from "../../debian/container.ts";
import { must, run } from "../../debian/shell.ts";
import { at, same, say, step } from "../../debian/steps.ts";
import { runToEnd } from "../../debian/to-end.ts";
import { removeCopies } from "../../debian/tree.ts";
import { makeCertificate } from "../../support/certificate.ts";
import { documentText, shellBlocks } from "../../support/documents.ts";
import { ADDRESSES, bootHosts, type Hosts, makeRepository, NAMES, publish, REPOSITORY } from "./hosts.ts";

const PROJECT = join(import.meta.dir, "../../..");
const DOCUMENT = "docs/ansible.md";
const PEOPLE = 10;
/** Seconds for one run of the playbook. */
const PATIENCE = 900;
const directory = mkdtempSync(join(tmpdir(), "uam-long-ansible-"));
const running = new Set<Container>();

interface Result {
  readonly _host: string;
  readonly _task: string;
  readonly changed?: boolean;
  readonly failed?: boolean;
  readonly unreachable?: boolean;
  readonly msg?: string;
  readonly diff?: unknown;
  readonly preview?: readonly unknown[];
  readonly results?: readonly Result[];
}

interface Outcome {
  readonly results: readonly Result[];
  /** `host: task` of each that changed something, or would. */
  readonly changed: readonly string[];
}

async function main(): Promise<"tested" | "not tested"> {
  try {
    await tryDocument();
    return "tested";
  } catch (error) {
    if (!(error instanceof CannotBoot)) throw error;
    console.error(`NOT TESTED: ${error.message}`);
    return "not tested";
  }
}

async function tryDocument(): Promise<void> {
  requireMachine();
  removeCopies();
  await must(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", join(directory, "id")], 10);
  const checksum = await step("a repository of the program in dist", () => makeRepository(directory));
  const key = readFileSync(join(directory, "id.pub"), "utf8");
  const hosts = await step("three hosts", () => bootHosts(key, (container) => running.add(container)));
  await publish(hosts, directory);
  writeFiles(checksum);
  const [, vault = "", checking = "", playing = ""] = (shellBlocks(DOCUMENT)[0] ?? "").split("\n");
  await step("the collection, as the document installs it", () =>
    must(inGate(hosts, "ansible-galaxy collection install ./deploy/ansible", PROJECT), 120),
  );
  if (!vault.startsWith("ansible-vault create secrets.yml")) throw new Error(`no vault: ${vault}`);
  await must(inGate(hosts, "ansible-vault encrypt --vault-password-file password secrets.yml"), 60);
  const checked = await step("a check, from nothing", () => play(hosts, checking));
  await step("which changed nothing", () => nothingThere(hosts));
  const begin = performance.now();
  const made = await step("the run", () => play(hosts, playing));
  say(`      ${made.changed.length} tasks changed something in ${((performance.now() - begin) / 1000).toFixed(0)} s`);
  same(checked.changed.join("\n"), made.changed.join("\n"), "what the check said that the run would do");
  const again = await step("a second run", () => play(hosts, playing));
  same(again.changed.join("\n"), "", "what the second run changed");
  await step("ines is in on each of the three hosts, rosa only brings files, sven is on one", () => logins(hosts));
  await changes(hosts, { checking, playing });
  await step("people come to the hosts by their names, also where one calls itself localhost", () => names(hosts));
}

/** What the document calls its files, with what is different here: the repository, and who signed the certificate. */
function writeFiles(checksum: string): void {
  const [hosts = "", site = "", people = ""] = [
    ...documentText(DOCUMENT).matchAll(/^`(?:hosts|site|people)\.yml` .*?^```yaml\n(.*?)^```$/gms),
  ].map(([, text]) => text);
  const here = hosts
    .replace("https://apt.example.org/uam", REPOSITORY)
    .replace(/sha256:0+/, checksum)
    .replace(/^( *)# (?=uam_(?:api_)?ca: )/gm, "$1")
    .replace("UAM_CONTACT: it@example.org", "UAM_CONTACT: it@example.org\n          UAM_UID_RANGE: 71000-71999");
  makeCertificate(directory, "DNS:gate.example.org");
  const reach = Object.fromEntries(NAMES.map((name) => [`${name}.example.org`, { ansible_host: ADDRESSES[name] }]));
  const files = {
    ...{ "hosts.yml": here, "site.yml": site, "people.yml": people, password: "for the vault\n" },
    "secrets.yml": "uam_admin_password: correct horse battery\n",
    "gate-cert.pem": readFileSync(join(directory, "cert.pem"), "utf8"),
    "gate-key.pem": readFileSync(join(directory, "key.pem"), "utf8"),
    // JSON is YAML, too.
    "reach.yml": JSON.stringify({ all: { hosts: reach, vars: { ansible_ssh_private_key_file: "id" } } }),
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text, { mode: 0o600 });
}

/** A command line of this machine in the gate's network, from where all hosts are reached. */
function inGate({ gate }: Hosts, command: string, place = directory): readonly string[] {
  const variables = {
    ...{ HOME: directory, LC_ALL: "C.UTF-8", PATH: process.env.PATH ?? "", ANSIBLE_STDOUT_CALLBACK: "results" },
    ...{ ANSIBLE_CALLBACK_PLUGINS: join(PROJECT, "test/support/ansible"), PYTHONDONTWRITEBYTECODE: "1" },
    ...{ ANSIBLE_HOST_KEY_CHECKING: "false", ANSIBLE_NOCOLOR: "true" },
  };
  const environment = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
  const enter = ["nsenter", `--target=${gate.leader}`, "--net"];
  return [...enter, "env", "-i", `--chdir=${place}`, ...environment, "sh", "-euc", command];
}

/** Runs a command line of the document; throws what failed. */
async function play(hosts: Hosts, command: string): Promise<Outcome> {
  const line = command
    .replace("--ask-vault-pass", "--vault-password-file password")
    .replace("-i hosts.yml", "$& -i reach.yml");
  const { status, stdout, stderr } = await run(inGate(hosts, line), PATIENCE);
  const lines: readonly Result[] = (stdout.match(/^\{.*\}$/gm) ?? []).map((each) => JSON.parse(each));
  const results = lines.filter(({ _task }) => _task !== undefined);
  const wrong = results.filter(({ failed, unreachable }) => failed === true || unreachable === true);
  if (status !== 0 || wrong.length > 0) {
    const said = stdout.replace(/^\{.*\}$/gm, "").trim();
    throw new Error(`${line}\n${JSON.stringify(wrong, undefined, 2)}\n${said}\n${stderr}`);
  }
  const changed = results.filter((result) => result.changed === true).map(({ _host, _task }) => `${_host}: ${_task}`);
  return { results, changed: changed.sort() };
}

async function nothingThere(hosts: Hosts): Promise<void> {
  for (const name of NAMES) {
    await hosts[name].sh("for path in /usr/bin/uam /etc/uam /etc/uam-ca.pem; do test ! -e $path; done");
  }
}

async function logins({ gate, web1, db1 }: Hosts): Promise<void> {
  gate.api = "https://gate.example.org:8443/api/v1";
  await gate.sh("echo 'cacert = /etc/uam/tls-cert.pem' >/root/.curlrc");
  same((await gate.sh("uam user list --json | grep -c '\"username\"'")).trim(), String(PEOPLE), "the users");
  for (const user of ["ines", "rosa", "sven"]) {
    await logIn(gate, "uam", user);
    await uploadKey(gate, user, user);
  }
  await admitted(gate, "ines", "ines");
  await admitted(gate, "sven", "sven");
  const options = "-i /root/rosa -o BatchMode=yes -o StrictHostKeyChecking=no";
  await gate.sh(`echo put /etc/hostname | sftp -b - ${options} ext_rosa@127.0.0.1`);
  await gate.sh(`if ssh ${options} ext_rosa@127.0.0.1 id </dev/null | grep -q uid=; then exit 1; fi`, 20);
  for (const host of [web1, db1]) {
    for (const user of ["ines", "sven"]) {
      const key = await gate.sh(`cat /root/${user}`);
      await host.sh(`umask 077; cat >/root/${user} <<'END'\n${key}END`);
    }
    await host.until("ssh -i /root/ines -o BatchMode=yes -o StrictHostKeyChecking=no ext_ines@127.0.0.1 id -un", 60);
    await admitted(host, "ines", "ines");
    await refused(host, "sven", "sven");
  }
}

/** Somebody leaves, somebody has a further group, as the document says, and a lease changes: checked, done, and not done again. */
async function changes(hosts: Hosts, { checking, playing }: { readonly checking: string; readonly playing: string }) {
  const people = join(directory, "people.yml");
  const [more = "", left = ""] = ["Who comes to the web, too", "Who left"].map(
    (name) => new RegExp(`^\`\`\`yaml\\n( {4}- name: ${name}.*?)^\`\`\`$`, "ms").exec(documentText(DOCUMENT))?.[1],
  );
  const [limit = ""] = /(?<=`)--limit [^`]*/.exec(documentText(DOCUMENT)) ?? [];
  const text = readFileSync(people, "utf8").replace("lease: 1h", "lease: 2h");
  writeFileSync(people, `${text.replace(", sven]", "]")}\n${more}\n${left}`);
  const expected = ["Groups of hosts", "Who comes to the web, too", "Who left"].map(
    (name) => `gate.example.org: ${name}`,
  );
  const checked = await step("a check of what changed since", () => play(hosts, checking));
  same(checked.changed.join("\n"), expected.join("\n"), "what the check said");
  const found = checked.results.find(({ _task }) => _task === "Who left");
  if (found?.preview?.length !== 1 || found.diff === undefined) throw new Error(`no preview: ${JSON.stringify(found)}`);
  await admitted(hosts.gate, "sven", "sven");
  const done = await step("the run of it, with people only", () => play(hosts, `${playing} ${limit}`));
  same(done.changed.join("\n"), expected.join("\n"), "what the run changed");
  await refused(hosts.gate, "sven", "sven");
  await hosts.web1.until("id ext_leila", 60);
  writeFileSync(people, `${text}\n${more}\n${left}`);
  const again = await step("another run, with sven still in a list", () => play(hosts, playing));
  same(again.changed.join("\n"), "", "what another run changed");
  await refused(hosts.gate, "sven", "sven");
}

async function names({ gate, db1 }: Hosts): Promise<void> {
  const told = `uam host list --json | tr -d ' \n' | grep -o '"ssh_host":"[^"]*"' | sort | tr '\n' ' '`;
  const wanted = ["db1", "gate", "web1"].map((name) => `"ssh_host":"${name}.example.org" `).join("");
  same(await gate.sh(told), wanted, "where people connect");
  await db1.sh(`sed -i 's/^UAM_SSH_HOST=.*/UAM_SSH_HOST=moved.example.org/' /etc/uam/agent.env
    systemctl restart uam-agent`);
  await gate.until(`${told} | grep moved`, 60);
  await db1.sh(`sed -i /^UAM_SSH_HOST=/d /etc/uam/agent.env
    hostname localhost && hostname -f | grep -x localhost && systemctl restart uam-agent`);
  await gate.until(`test "$(${told})" = '${wanted}'`, 60);
}

async function cleanUp(): Promise<void> {
  await Promise.all([...running].map((container) => container.stop()));
  removeCopies();
  rmSync(directory, { recursive: true, force: true });
}

await runToEnd({ name: "Ansible", main: () => at("ansible", main), cleanUp });
