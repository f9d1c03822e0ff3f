/** Debian's ansible with the collection in deploy/ansible and a service to talk to, in an empty home. */

import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { createToken } from "../../../src/domain/auth/tokens/tokens.ts";
import { type Client, createTestApp } from "../app.ts";
import { makeCertificate } from "../certificate.ts";

export const COLLECTION = join(import.meta.dir, "../../../deploy/ansible");
export const isAnsibleHere = Bun.which("ansible-playbook") !== null || process.env.UAM_TEST_HOST === "1";

/** What the modules answer, as far as tests look. */
export interface Result {
  readonly _task?: string;
  readonly changed: boolean;
  readonly failed?: boolean;
  readonly msg?: string;
  readonly reason?: string;
  readonly preview?: readonly unknown[];
  readonly diff?: readonly object[];
  readonly token_value?: string;
  readonly line?: string;
  readonly secret?: string;
  readonly warnings?: readonly string[];
}

export interface Outcome {
  readonly status: number;
  /** How many tasks changed something. */
  readonly changed: number;
  readonly results: readonly Result[];
}

export interface AnsibleLab {
  readonly directory: string;
  readonly admin: Client;
  readonly token: string;
  /** The service by TLS; `cert.pem` in the directory is its certificate, which nobody else signed. */
  readonly secure: string;
  /** Runs a program of Ansible in the directory. */
  ansible(argv: readonly string[], variables?: object): Promise<{ readonly status: number; readonly said: string }>;
  /** Plays it with each result as data. */
  play(playbook: string, ...options: readonly string[]): Promise<Outcome>;
  /** What a person would see of a playbook. */
  show(playbook: string, ...options: readonly string[]): Promise<string>;
  /** The results of tasks, each a module with its options and maybe what a task has besides. */
  run(...tasks: readonly (readonly [module: string, options: object, more?: object])[]): Promise<readonly Result[]>;
  /** The items of a list of the API. */
  listed(path: string): Promise<readonly Record<string, unknown>[]>;
  close(): Promise<void>;
}

/** `parts` names what of the collection there is, each with where it lies; all of it by default. */
export async function openAnsibleLab(parts?: Readonly<Record<string, string>>): Promise<AnsibleLab> {
  const app = await createTestApp();
  const admin = await app.admin();
  const about = { name: "ansible", role: "owner", days: 1, networks: [] } as const;
  const { token } = await createToken(app.system, { owner: "admin" }, about);
  const directory = mkdtempSync(join(tmpdir(), "uam-ansible-"));
  makeCertificate(directory, "DNS:localhost");
  const serve = { port: 0, hostname: "127.0.0.1", fetch: (request: Request) => app.app.fetch(request, "127.0.0.1") };
  const server = Bun.serve(serve);
  const tls = { cert: Bun.file(join(directory, "cert.pem")), key: Bun.file(join(directory, "key.pem")) };
  const secure = Bun.serve({ ...serve, tls });
  placeCollection(directory, parts);
  const environment = {
    ...{ PATH: process.env.PATH ?? "", LC_ALL: "C.UTF-8", PYTHONDONTWRITEBYTECODE: "1" },
    ...{ HOME: directory, UAM_URL: `http://127.0.0.1:${server.port}`, UAM_TOKEN: token },
    ...{ ANSIBLE_COLLECTIONS_PATH: join(directory, "collections"), ANSIBLE_LOCALHOST_WARNING: "false" },
    ...{ ANSIBLE_INVENTORY_UNPARSED_WARNING: "false", ANSIBLE_NOCOLOR: "true", ANSIBLE_STDOUT_CALLBACK: "results" },
    ANSIBLE_CALLBACK_PLUGINS: import.meta.dir,
  };

  const ansible: AnsibleLab["ansible"] = async (argv, variables = {}) => {
    const env = { ...environment, ...variables };
    const child = Bun.spawn([...argv], { env, cwd: directory, stdout: "pipe", stderr: "pipe" });
    const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
    return { status: await child.exited, said: stdout + stderr };
  };
  const start = async (playbook: string, options: readonly string[], variables: object) => {
    const file = join(directory, "playbook.yml");
    writeFileSync(file, playbook);
    return await ansible(["ansible-playbook", ...options, file], variables);
  };
  const play: AnsibleLab["play"] = async (playbook, ...options) => {
    const { status, said } = await start(playbook, options, {});
    const lines = said.match(/^\{.*\}$/gm)?.map((line) => JSON.parse(line)) ?? [];
    const counts = lines.pop();
    if (counts?.changed === undefined) throw new Error(said);
    return { status, changed: counts.changed, results: lines };
  };
  return {
    ...{ directory, admin, token, ansible, play, secure: `https://localhost:${secure.port}` },
    show: async (playbook, ...options) => (await start(playbook, options, { ANSIBLE_STDOUT_CALLBACK: "default" })).said,
    run: async (...tasks) => {
      const listed = tasks.map(([module, options, more]) => ({ [`uam.uam.${module}`]: options, ...more }));
      const { results } = await play(JSON.stringify([{ hosts: "localhost", gather_facts: false, tasks: listed }]));
      return results;
    },
    listed: async (path) =>
      (await admin.call("GET", `${path}${path.includes("?") ? "&" : "?"}page_size=100`)).body.data.items,
    close: async () => {
      await Promise.all([server.stop(true), secure.stop(true)]);
      await app.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

function placeCollection(directory: string, parts: Readonly<Record<string, string>> | undefined): void {
  const place = join(directory, "collections/ansible_collections/uam/uam");
  mkdirSync(join(place, parts === undefined ? ".." : "roles"), { recursive: true });
  if (parts === undefined) symlinkSync(COLLECTION, place);
  else for (const [name, path] of Object.entries(parts)) symlinkSync(path, join(place, name));
}
