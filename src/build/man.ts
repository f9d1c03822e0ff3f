/** The manual page, generated from the program's own texts. */

import type { CommandPage } from "./command-pages.ts";
import type { Example } from "./examples.ts";

export interface ManualPage {
  readonly version: string;
  /** Commands under their headings. */
  readonly commands: ReadonlyMap<string, readonly CommandPage[]>;
  readonly examples: readonly Example[];
  readonly variables: readonly { readonly name: string; readonly fallback: string; readonly meaning: string }[];
  readonly files: readonly { readonly path: string; readonly meaning: string }[];
}

/** The text of uam.1, for man(7). */
export function renderManual({ version, commands, examples, variables, files }: ManualPage): string {
  return [
    `.TH UAM 1 "" "uam ${roff(version)}" "User Commands"`,
    ".SH NAME",
    "uam \\- time\\-limited SSH accounts for external users",
    ".SH SYNOPSIS",
    ".B uam",
    ".I COMMAND",
    "[\\fIOPTION\\fR]...",
    ".SH DESCRIPTION",
    ...line(
      "Manages accounts with an end on this host, and their SSH keys, at the shell as in the service's API. NAME is a username, a host account (ext_alice) or an id.",
    ),
    ".B \\-\\-json",
    "prints the API's records.",
    ".SH COMMANDS",
    ...[...commands].flatMap(([title, pages]) => [`.SS ${roff(title)}`, ...pages.flatMap(command)]),
    ".SH ENVIRONMENT",
    ...variables.flatMap(({ name, fallback, meaning }) => [
      ".TP",
      `.B ${roff(name)}`,
      // A list is one long word: it may break after each comma.
      `${line(`${meaning} [`)[0]}${roff(fallback === "" ? "none" : fallback).replaceAll(",", ",\\:")}]`,
    ]),
    ".SH EXIT STATUS",
    "0 done, 1 failed, 2 wrong usage, 78 wrong configuration.",
    ".SH FILES",
    ...files.flatMap(({ path, meaning }) => [".TP", `.I ${roff(path)}`, ...line(meaning)]),
    ".SH EXAMPLES",
    ...examples.flatMap(({ does, command }) => [".TP", ...line(`${does}:`), `.B ${roff(command)}`]),
    ".SH SEE ALSO",
    ".BR sshd_config (5),",
    ".BR systemctl (1)",
    "",
  ].join("\n");
}

function command({ usage, brief, description, entries }: CommandPage): readonly string[] {
  const said = description === "" ? brief : description;
  const options = entries.flatMap(({ term, meaning }) => [".TP", `.B ${roff(term)}`, ...line(meaning)]);
  const inner = options.length === 0 ? [] : [".RS", ...options, ".RE"];
  return [".TP", `.B ${roff(usage)}`, ...line(said), ...inner];
}

function roff(text: string): string {
  return text.replaceAll("\\", "\\e").replaceAll("-", "\\-");
}

/** A line that begins with a dot or a quote would be a request. */
function line(text: string): readonly [string] {
  return [roff(text).replace(/^(\s*)([.'])/, "$1\\&$2")];
}
