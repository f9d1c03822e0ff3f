/** What the host's sshd reports: its version, and which key files it reads for an account. */

import { type CommandResult, findCommand, runCommand } from "../execute/command.ts";
import type { ExpiryFormat } from "../key-file/authorized-keys.ts";
import type { HostSettings } from "../settings.ts";

const UTC_SINCE = 901;

/** How the host's sshd wants `expiry-time=`: the `Z` suffix is known from OpenSSH 9.1 on. Without an sshd: UTC. */
export async function detectExpiryFormat(tools: HostSettings["tools"]): Promise<ExpiryFormat> {
  for (const path of [tools?.sshd ?? "/usr/sbin/sshd", "/usr/bin/ssh"]) {
    if (findCommand(path) === undefined) continue;
    // An sshd too old for -V prints its version with the usage.
    const result = await runCommand([path, "-V"]);
    const version = parseVersion(result.stdout + result.stderr);
    if (version !== undefined) return { kind: version >= UTC_SINCE ? "utc" : "local" };
  }
  return { kind: "utc" };
}

/** `OpenSSH_9.2p1 …` as 902; undefined if the text names no version. */
export function parseVersion(text: string): number | undefined {
  const match = /OpenSSH_(\d+)\.(\d+)/.exec(text);
  return match ? Number(match[1]) * 100 + Number(match[2]) : undefined;
}

/** Where sshd reads keys from, asked once and then remembered until `refresh`: sshd takes 10 ms to answer. */
export interface KeyFilePatterns {
  /**
   * Patterns of `AuthorizedKeysFile` for accounts such as `name`; undefined if sshd is missing or has never answered. Once asked
   * it needs no process: if none can be started, sshd's last answer holds.
   */
  of(name: string): Promise<readonly string[] | undefined>;
  refresh(): void;
}

export function createKeyFilePatterns(tools: HostSettings["tools"], run: Run = runCommand): KeyFilePatterns {
  let last: readonly string[] | undefined;
  let known: Promise<readonly string[] | undefined> | undefined;
  async function ask(name: string): Promise<readonly string[] | undefined> {
    last = (await effectiveKeyFiles(name, tools, run).catch(() => undefined)) ?? last;
    return last;
  }
  return {
    of: (name) => {
      known ??= ask(name);
      return known;
    },
    refresh: () => {
      known = undefined;
    },
  };
}

type Run = (argv: readonly string[]) => Promise<CommandResult>;

/** The command that makes sshd print its settings for an account. */
export function settingsCommand(name: string, tools: HostSettings["tools"]): readonly string[] {
  const config = tools?.sshdConfig === undefined ? [] : ["-f", tools.sshdConfig];
  return [tools?.sshd ?? "/usr/sbin/sshd", "-T", ...config, "-C", `user=${name},host=localhost,addr=127.0.0.1`];
}

/** The `AuthorizedKeysFile` patterns in force for the account; undefined if sshd is missing or does not answer. */
async function effectiveKeyFiles(
  name: string,
  tools: HostSettings["tools"],
  run: Run,
): Promise<readonly string[] | undefined> {
  const command = settingsCommand(name, tools);
  if (findCommand(command[0] ?? "") === undefined) return undefined;
  const result = await run(command);
  const line = /^authorizedkeysfile (.+)$/m.exec(result.stdout);
  return result.exitCode === 0 && line ? (line[1] ?? "").split(" ") : undefined;
}
