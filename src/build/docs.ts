/** `bun run docs`: writes docs/cli.md and docs/configuration.md from what the program says of itself. A test compares them. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describeVariables } from "../config/config.ts";
import { type CommandPage, commandPages } from "./command-pages.ts";
import { EXAMPLES } from "./examples.ts";
import { PROJECT } from "./packages.ts";

const NOTE = "<!-- Made by `bun run docs`; do not edit. -->";

/** The generated documents, by their path in the project. */
export function generatedDocs(): ReadonlyMap<string, string> {
  return new Map([
    ["docs/cli.md", renderCli()],
    ["docs/configuration.md", renderConfiguration()],
  ]);
}

function renderCli(): string {
  const groups = [...commandPages()];
  const sections = groups.map(
    ([title, pages]) => `## ${title}\n\n${summary(pages)}\n\n${pages.map(renderCommand).join("\n\n")}`,
  );
  return `${NOTE}

# The command line

\`uam\` does at the host's shell what administrators do in the API: through the same operations, with the same rules and the same
audit records (actor type \`cli\`, the account that logged in as the name). Commands work while the service runs and while it does not.
They read \`/etc/uam/uam.env\` as the unit does; a variable of the shell wins. Where the service runs as another user (sudo mode),
root's own commands become that user by themselves.

- NAME is a username, a host account (\`ext_alice\`) or an id, looked up in this order. \`uam lock\` takes no id, since it may not be able to ask.
- Tables are for people: cut to the terminal's width, whole in a pipe. Control and direction characters in stored text are shown as
  escapes. \`--json\` prints the API's records: \`{total, items}\` for lists, \`{items}\` for those that are not paged.
- Results go to standard output, everything else to standard error. In dry-run mode the planned changes of the host are logged there.
- Commands that only read never migrate the database. They say what to run if it is older than the program.
- \`-h\` and \`--help\` explain every command. A mistyped command or option is answered with the nearest one.
- Exit codes: 0 done, 1 failed, 2 usage, 78 configuration.

## Completion

Names, key ids, settings and statuses are completed too.

\`\`\`sh
source <(uam completion bash)        # in ~/.bashrc
\`\`\`

\`\`\`sh
source <(uam completion zsh)         # in ~/.zshrc, after compinit
\`\`\`

## Examples

\`\`\`sh
${EXAMPLES.map(({ does, command }) => `# ${does}\n${command}`).join("\n")}
\`\`\`

${sections.join("\n\n")}
`;
}

function summary(pages: readonly CommandPage[]): string {
  const rows = pages.map(
    ({ path, brief }) => `| [\`uam ${path.join(" ")}\`](#uam-${path.join("-")}) | ${cell(brief)} |`,
  );
  return ["| command | does |", "|---|---|", ...rows].join("\n");
}

function renderCommand({ path, usage, brief, description, entries }: CommandPage): string {
  const said = description === "" || description === brief ? brief : description;
  const rows = entries.map(({ term, meaning }) => `| \`${term.replaceAll("|", "\\|")}\` | ${cell(meaning)} |`);
  const table = rows.length === 0 ? "" : `\n\n| argument | meaning |\n|---|---|\n${rows.join("\n")}`;
  return `### uam ${path.join(" ")}\n\n    ${usage}\n\n${prose(said)}${table}`;
}

function renderConfiguration(): string {
  const rows = describeVariables().map(({ name, fallback, meaning }) => {
    const names = name.split(", ").map((each) => `\`${each}\``);
    const value = fallback === "unset" ? "unset" : fallback === "" ? "none" : `\`${fallback}\``;
    return `| ${names.join(", ")} | ${value.replaceAll(",", ", ")} | ${cell(meaning)} |`;
  });
  return `${NOTE}

# Configuration

One set of environment variables, for the service and for every command. They are checked at start: all faults are reported at once, by
name, with exit code 78. So is what the host lacks, such as a shell, a home base or a group that does not exist, and a data
directory or key that others can read. An unknown \`UAM_…\` is a fault; a variable that is set to nothing is as if unset.

An installed service has them in \`/etc/uam/uam.env\`, which must be root's. Every command reads that file, and a variable of the shell wins.
A secret \`UAM_X\` may instead be given as \`UAM_X_FILE\`, the path of a file that holds it. \`uam config\` prints what is in force, without secrets.

Durations are whole numbers with units \`w d h m s\`, largest first: \`90d\`, \`1d12h\`.

| variable | default | meaning |
|---|---|---|
${rows.join("\n")}
`;
}

function cell(text: string): string {
  return prose(text).replaceAll("|", "\\|");
}

/** Text that Markdown shows as it is. */
function prose(text: string): string {
  return text
    .replace(/[<*]/g, "\\$&")
    .replace(/(?<![\w`])((?:UAM_\w+(?:=[\w-]+)?|ext_\w+)|%[hu]|policy\.\w+)(?![\w`])/g, "`$1`");
}

if (import.meta.main) {
  for (const [path, text] of generatedDocs()) writeFileSync(join(PROJECT, path), text);
}
