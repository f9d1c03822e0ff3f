/** The manual page, made from what the program says of itself. */

export interface ManualPage {
  readonly version: string;
  /** Output of `uam --help`. */
  readonly help: string;
  /** Lines "NAME  meaning [default]". */
  readonly variables: readonly { readonly name: string; readonly fallback: string; readonly meaning: string }[];
}

/** The text of uam.1, for man(7). */
export function renderManual({ version, help, variables }: ManualPage): string {
  return [
    `.TH UAM 1 "" "uam ${roff(version)}" "User Commands"`,
    ".SH NAME",
    "uam \\- time\\-limited SSH accounts for external users",
    ".SH SYNOPSIS",
    ".B uam",
    ".I COMMAND",
    "[\\fIOPTION\\fR]...",
    ".SH COMMANDS",
    ".nf",
    ...help.trimEnd().split("\n").map(line),
    ".fi",
    ".SH ENVIRONMENT",
    ...variables.flatMap(({ name, fallback, meaning }) => [
      ".TP",
      `.B ${roff(name)}`,
      // A list is one long word: it may be broken after each comma.
      `${line(`${meaning} [`)}${roff(fallback).replaceAll(",", ",\\:")}]`,
    ]),
    ".SH EXIT STATUS",
    "0 done, 1 failed, 2 wrong usage, 78 wrong configuration.",
    ".SH FILES",
    ".TP",
    ".I /etc/uam/uam.env",
    "Configuration of the installed service, read by every command.",
    ".TP",
    ".I /var/lib/uam",
    "Its data.",
    ".SH SEE ALSO",
    ".BR sshd_config (5),",
    ".BR systemctl (1)",
    "",
  ].join("\n");
}

function roff(text: string): string {
  return text.replaceAll("\\", "\\e").replaceAll("-", "\\-");
}

/** A line that begins with a dot or a quote would be a request. */
function line(text: string): string {
  return roff(text).replace(/^(\s*)([.'])/, "$1\\&$2");
}
