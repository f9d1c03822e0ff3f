/**
 * What a command is given, and how it opens the services. Whatever is costly to load is imported where it is used, so
 * that `uam version`, help and completion answer at once.
 */

import type { Config } from "../config/config.ts";
import type { Context } from "../domain/operation/context.ts";
import type { Actor } from "../domain/operation/entry.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { UamError } from "../shared/errors.ts";
import type { Log } from "../shared/log.ts";

/** The process, as far as commands may know it. */
export interface CliEnvironment {
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly currentDirectory: string;
  readonly isRoot: boolean;
  /** How a person would call this program from here. */
  readonly invocation: string;
  /** Path of the built program; undefined when run from source. */
  readonly program?: string | undefined;
  /** Who is at the keyboard, for the audit log: the account before sudo(8), else the one this runs as. */
  readonly operator: string;
  /** True if standard error is a terminal. */
  readonly isTerminal: boolean;
  /** Width of standard output in columns if it is a terminal. */
  readonly columns: number | undefined;
  readonly runtime: Runtime;
  readonly out: (text: string) => void;
  /** Writes at the pace of who reads; resolves when all is written, or nobody reads any more. */
  readonly outStream: (stream: ReadableStream<Uint8Array>) => Promise<void>;
  readonly err: (text: string) => void;
  readonly readStandardInput: () => Promise<string>;
  /** Asks a person and resolves to the answer, "" at the end of input; undefined where nobody can be asked. */
  readonly ask: ((question: string) => Promise<string>) | undefined;
  /** Resolves when the process is told to end (SIGTERM, SIGINT), which before the first call ends it at once. */
  readonly untilStopped: () => Promise<void>;
  /** Calls the listener whenever the process is told to read its files again (SIGHUP); until then SIGHUP ends it. */
  readonly onReload?: (listener: () => void) => void;
}

/** A command, ready to run; resolves to the exit code. */
export type Command = (environment: CliEnvironment) => Promise<number>;

export const EXIT = { done: 0, failed: 1, usage: 2, configuration: 78 } as const;

/** The configuration; throws a ConfigError with every fault. */
export async function loadConfig(environment: CliEnvironment): Promise<Config> {
  const { readConfig } = await import("../config/config.ts");
  return readConfig(environment.variables, environment);
}

/** The log of a command: `serve` says what it does, others only what went wrong. */
export async function commandLog(environment: CliEnvironment, config: Config, quiet: boolean): Promise<Log> {
  const { openLog } = await import("../server/logging.ts");
  return openLog({
    format: config.logFormat ?? (environment.isTerminal ? "pretty" : "json"),
    level: quiet && config.logLevel === "info" ? "warn" : config.logLevel,
    journal: environment.variables.JOURNAL_STREAM !== undefined,
    write: environment.err,
  });
}

/**
 * Whether a command changes the host ("change": in dry-run mode its log then shows what would be done), only what is
 * stored, or nothing.
 */
export type Purpose = "read" | "store" | "change";

/**
 * Runs `work` with the services on behalf of the operator, and lets go of them whatever happens. A command that only reads makes no
 * database and leaves one of an older version as it is, which is a failure; told to end, it fails at once. Any other brings the
 * database up to date first, and finishes what it does.
 */
export async function withServices<T>(
  environment: CliEnvironment,
  purpose: Purpose,
  work: (context: Context, config: Config) => Promise<T>,
): Promise<T> {
  const config = await loadConfig(environment);
  const log = await commandLog(environment, config, purpose !== "change" || config.hostMode !== "dry-run");
  const { openServices, openToLook } = await import("../server/compose.ts");
  const machine = environment.runtime;
  const handle =
    purpose === "read"
      ? await openToLook(config, log, machine)
      : await openServices(config, log, { lifetime: "command", machine });
  const stopped = environment.untilStopped();
  try {
    const working = work({ ...handle.services, actor: operatorOf(environment), requestId: "" }, config);
    return await (purpose === "read" ? Promise.race([working, stopped.then(giveUp)]) : working);
  } finally {
    await handle.close();
  }
}

/** Aborted when the process is told to end. */
export function stopSignal(environment: CliEnvironment): AbortSignal {
  const controller = new AbortController();
  void environment.untilStopped().then(() => controller.abort());
  return controller.signal;
}

/** The operator, as the audit log names who uses the command line. */
export function operatorOf(environment: CliEnvironment): Actor {
  return { type: "cli", name: environment.operator, ip: "" };
}

function giveUp(): never {
  throw new UamError("internal", "Told to end before it was done");
}
