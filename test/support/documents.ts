/** The documents, and where each command in them is run. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const PROJECT = join(import.meta.dir, "../..");

/** Where a block's commands are run: by test/docs.host.test.ts, by the file of a run that is named, or not, for a reason. */
export type Run = "here" | { readonly by: string } | { readonly not: string };

const CI: Run = { not: ".ci/run does this itself, or it would run the tests within a test" };

/** As many blocks that are run here. */
function here(blocks: number): readonly Run[] {
  return Array.from({ length: blocks }, () => "here");
}

/** Each fenced `sh` block of each document, in order. A block that is in no list fails test/docs.test.ts. */
export const BLOCKS: Readonly<Record<string, readonly Run[]>> = {
  "README.md": [{ by: "test/readme/run.ts" }, "here", { by: "test/debian/direct.ts" }, { by: "test/readme/run.ts" }],
  "CONTRIBUTING.md": [
    ...[CI, CI, CI, { not: "it takes from minutes to hours" }],
    ...([{ by: "test/bench/run.test.ts" }, { by: "test/build/docs.test.ts" }] as const),
  ],
  "docs/administration.md": here(6),
  "docs/administrators.md": here(2),
  "docs/audit.md": here(2),
  "docs/api.md": ["here"],
  "docs/ansible.md": [
    { by: "test/long/ansible/run.ts" },
    { not: "it names a service elsewhere; test/ansible.test.ts gives the modules both variables" },
  ],
  "docs/backup.md": [
    "here",
    { not: "age is not on every machine; test/cli/commands/service/backup.test.ts backs up to standard output" },
    { not: "it would install units on this host; test/store/backup/backup-directory.test.ts has systemd read them" },
    { by: "test/debian/direct.ts" },
  ],
  "docs/benchmarks.md": [{ by: "test/bench/run.test.ts" }],
  "docs/cli.md": ["here", { by: "test/cli/terminal/completion.test.ts" }, "here"],
  "docs/configuration.md": [{ by: "test/debian/credentials.ts" }],
  "docs/emergencies.md": here(6),
  "docs/events.md": ["here"],
  "docs/first-day.md": [{ by: "test/debian/direct.ts" }, { by: "test/debian/direct.ts" }, ...here(7)],
  "docs/fleet.md": [
    "here",
    { not: "it would make this host an agent's, and needs a service with a certificate" },
    ...(["here", "here"] as const),
  ],
  "docs/fleet-troubles.md": here(1),
  "docs/history-model.md": [{ not: "it takes an hour" }],
  "docs/hours.md": [
    { by: "test/cli/commands/users/user-hours.test.ts" },
    { not: "hours of groups of hosts, which test/domain/hosts/group-hours.test.ts sets over the API" },
    { by: "test/cli/commands/users/access-on-request.test.ts" },
  ],
  "docs/install.md": [
    { by: "test/debian/sudo.ts" },
    { by: "test/debian/sudo.ts" },
    { not: "test/container/run.ts builds and runs the image with buildah and systemd-nspawn; no registry is asked" },
    { by: "test/long/compose/run.ts" },
    { by: "test/runtime/same-answers.test.ts" },
    { by: "test/runtime/fetch.test.ts" },
    { by: "test/long/apt/run.ts" },
  ],
  "docs/logins.md": here(2),
  "docs/monitoring.md": [{ not: "it reads the journal of an installed service" }],
  "docs/policies.md": here(2),
  "docs/profiles.md": [
    ...(["here", "here", "here"] as const),
    { not: "it puts a program into /etc; test/host/profiles/profiles.host.test.ts has one" },
    { not: "it puts certificates into /etc; test/host/profiles/attestation-issuers.test.ts has some" },
    { not: "it needs a security key; test/domain/keys/attestation.test.ts has what ssh-keygen wrote" },
    { not: "it needs that key; test/domain/keys/proven-make.test.ts does the same" },
  ],
  "docs/red-hat.md": [{ not: "nothing of that page was run: no host here has SELinux" }],
  "docs/repair.md": [
    ...here(3),
    { by: "test/cli/rebuild.host.test.ts" },
    ...here(2),
    { by: "test/debian/key-place.ts" },
  ],
  "docs/single-sign-on.md": ["here"],
  "docs/passkeys.md": ["here"],
  "docs/sudo-mode.md": [
    {
      not: "it would change this host's sudo; test/install/sudoers.test.ts has visudo check the file, test/debian/sudo.ts uses it",
    },
  ],
  "docs/tokens.md": ["here"],
  "docs/troubleshooting.md": here(1),
  "docs/verify.md": [
    { by: "test/build/release/release.test.ts" },
    { not: "a scanner from neither Debian nor npm, and a database that is out of a test's reach" },
    { by: "test/long/release/run.ts" },
    { by: "test/build/release/apt.test.ts" },
  ],
  "docs/user-guide.md": ["here", { by: "test/host/first-light.host.test.ts" }, "here", "here", "here"],
};

/** Every Markdown document of the project's root and of docs/, by its path. */
export function documentPaths(): readonly string[] {
  const inDocs = readdirSync(join(PROJECT, "docs"), { recursive: true, encoding: "utf8" }).map(
    (name) => `docs/${name}`,
  );
  return [...readdirSync(PROJECT), ...inDocs].filter((path) => path.endsWith(".md")).sort();
}

export function documentText(path: string): string {
  return readFileSync(join(PROJECT, path), "utf8");
}

/** The text of each fenced `sh` block of the document, in order. */
export function shellBlocks(path: string): readonly string[] {
  return [...documentText(path).matchAll(/^```sh\n(.*?)^```$/gms)].map((match) => match[1] ?? "");
}

/** The blocks that test/docs.host.test.ts runs, as one script. */
export function scriptOf(path: string): string {
  const blocks = shellBlocks(path);
  return (BLOCKS[path] ?? []).flatMap((run, index) => (run === "here" ? [blocks[index] ?? ""] : [])).join("\n");
}

/** The commands of the block under the heading, each in one line, without comments. Throws if there is none. */
export function commandsUnder(path: string, heading: string): readonly string[] {
  const section = documentText(path)
    .split(/^##+ /m)
    .find((part) => part.startsWith(`${heading}\n`));
  const block = /^```sh\n(.*?)^```$/ms.exec(section ?? "")?.[1];
  if (block === undefined) throw new Error(`${path} has no commands under "${heading}"`);
  return block
    .replace(/\\\n\s*/g, "")
    .split("\n")
    .map((line) => line.replace(/(?:^|\s+)#.*$/, "").trim())
    .filter((line) => line !== "");
}
