/** Asks the host's sshd for its version and for the key files it reads for an account. */

import { publicMessage } from "../../shared/errors.ts";
import { findCommand, runCommand } from "../command.ts";
import type { ExpiryFormat } from "../key-file/authorized-keys.ts";
import type { HostSettings } from "../settings.ts";
import { acceptsType, type KeyKind, refusalOf } from "./accepted-keys.ts";
import {
  askedForSettings,
  faultIn,
  parseSshdSettings,
  type Run,
  type SshdSettings,
  valuesOf,
} from "./sshd-settings.ts";

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
   * For accounts such as `name`. Once asked it needs no process: if none can be started, sshd's last answer that was understood
   * holds.
   */
  of(name: string): Promise<ReadKeyFiles>;
  /** Why sshd, by its last answer, refuses a key of that kind, as a clause; undefined if it takes it, or has never said. */
  refusal(key: KeyKind): string | undefined;
  /** Whether keys of a type that older versions cannot read are read, by its last answer. */
  reads(type: string): boolean;
  refresh(): void;
  /** The patterns for any name, asked at each call; undefined without an answer that is understood. */
  named(name: string): Promise<readonly string[] | undefined>;
  /** All settings for an account of that name, asked at each call. */
  settingsFor(name: string): Promise<SshdAnswer>;
}

/** The known facts about the files that sshd reads keys from. */
export interface ReadKeyFiles {
  /** Patterns of `AuthorizedKeysFile`; undefined if sshd is missing or has never given an answer that was understood. */
  readonly patterns: readonly string[] | undefined;
  /** A sentence if there is an sshd whose newest answer is none, or is not understood: it may read other files than these. */
  readonly problem: string | undefined;
  /** Whether that is because it answered in a way that is not understood. */
  readonly isStrange: boolean;
}

export function createKeyFilePatterns(tools: HostSettings["tools"], run: Run = runCommand): KeyFilePatterns {
  let last: readonly string[] | undefined;
  let settings: SshdSettings | undefined;
  let known: Promise<ReadKeyFiles> | undefined;
  async function ask(name: string): Promise<ReadKeyFiles> {
    const answer = await askSshd(name, tools, run);
    if (answer.settings === undefined)
      return { patterns: last, problem: answer.problem, isStrange: answer.isStrange === true };
    settings = answer.settings;
    last = keyFilesIn(settings);
    return { patterns: last, problem: undefined, isStrange: false };
  }
  return {
    of: (name) => {
      known ??= ask(name);
      return known;
    },
    refusal: (key) => (settings === undefined ? undefined : refusalOf(settings, key)),
    reads: (type) => settings !== undefined && acceptsType(settings, type) === true,
    refresh: () => {
      known = undefined;
    },
    named: async (name) => {
      const { settings } = await askSshd(name, tools, run);
      return settings && keyFilesIn(settings);
    },
    settingsFor: (name) => askSshd(name, tools, run),
  };
}

function keyFilesIn(settings: SshdSettings): readonly string[] {
  return valuesOf(settings, "AuthorizedKeysFile").flatMap((value) => value.split(" "));
}

/** The command that makes sshd print its settings for an account. */
export function settingsCommand(name: string, tools: HostSettings["tools"]): readonly string[] {
  const config = tools?.sshdConfig === undefined ? [] : ["-f", tools.sshdConfig];
  return [
    tools?.sshd ?? "/usr/sbin/sshd",
    "-T",
    ...config,
    "-C",
    `user=${name},host=localhost,addr=127.0.0.1,laddr=127.0.0.1,lport=22`,
  ];
}

/** An answer that was understood; or why there is none, as a sentence, and neither where there is no sshd. */
export interface SshdAnswer {
  readonly settings?: SshdSettings;
  readonly problem?: string | undefined;
  readonly isStrange?: true;
}

/** Asks sshd for the settings of an account. Never throws. */
async function askSshd(name: string, tools: HostSettings["tools"], run: Run): Promise<SshdAnswer> {
  const command = settingsCommand(name, tools);
  if (findCommand(command[0] ?? "") === undefined) return {};
  const silent = (why: string) => ({ problem: `sshd does not say which key files it reads: ${why}` });
  try {
    const { exitCode, stdout, stderr } = await askedForSettings(command, run);
    if (exitCode !== 0) return silent(stderr.trim().split("\n").at(-1) || `exit code ${exitCode}`);
    const settings = parseSshdSettings(stdout);
    const fault = faultIn(settings);
    return fault === undefined ? { settings } : { problem: fault, isStrange: true };
  } catch (error) {
    return silent(publicMessage(error));
  }
}
