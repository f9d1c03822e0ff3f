/**
 * Reads sshd's settings (`sshd -T`). Every such answer is parsed here: names are compared in any case, because
 * OpenSSH writes them in lower case until 10.3 and mixed from 10.4 on; values stay as they are.
 */

import { type CommandResult, runCommand } from "../command.ts";

/** Runs a command, as `runCommand` does. */
export type Run = (argv: readonly string[]) => Promise<CommandResult>;

/**
 * sshd's answer to a command of that kind. Where a socket starts sshd, its directory is missing from a boot until the first connection;
 * `-G`, which OpenSSH has from 9.3 on, needs none, and without `-T` refuses `-C`.
 */
export async function askedForSettings(command: readonly string[], run: Run = runCommand): Promise<CommandResult> {
  const result = await run(command);
  if (result.exitCode === 0 || !result.stderr.includes("Missing privilege separation directory")) return result;
  const without = await run(withoutDirectory(command));
  return without.exitCode === 0 ? without : result;
}

/** That command as it works where sshd's own directory is missing. */
export function withoutDirectory(command: readonly string[]): readonly string[] {
  return command.flatMap((word) => (word === "-T" ? ["-T", "-G"] : [word]));
}

/** The values of each setting, by its name in lower case, in the order of the lines; a setting may occur more than once. */
export type SshdSettings = ReadonlyMap<string, readonly string[]>;

/**
 * The settings that every sshd reports, however it is configured. Where one of them is missing, the answer is of a kind that is not known, and
 * that nothing else is said in it proves nothing.
 */
const ALWAYS_SAID = ["AuthorizedKeysFile", "PubkeyAuthentication", "StrictModes", "PermitUserRC", "HostKey"] as const;

/** The answer, taken apart. Pure. */
export function parseSshdSettings(text: string): SshdSettings {
  const settings = new Map<string, string[]>();
  for (const line of text.split("\n")) {
    if (line === "") continue;
    const [name = "", ...values] = line.split(" ");
    const key = name.toLowerCase();
    settings.set(key, [...(settings.get(key) ?? []), values.join(" ")]);
  }
  return settings;
}

/** All values of a setting, whose name may be written in any case; none if the answer does not have it. */
export function valuesOf(settings: SshdSettings, name: string): readonly string[] {
  return settings.get(name.toLowerCase()) ?? [];
}

/** A sentence if the answer lacks what every sshd says, so that it cannot be relied on; undefined if it has all of it. */
export function faultIn(settings: SshdSettings): string | undefined {
  const missing = ALWAYS_SAID.filter((name) => valuesOf(settings, name).length === 0);
  if (missing.length === 0) return undefined;
  return `sshd -T does not say what ${missing.join(", ")} ${missing.length === 1 ? "is" : "are"}: its answer is not understood`;
}
