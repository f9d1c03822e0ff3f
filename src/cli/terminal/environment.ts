/**
 * The environment of a command, and the way it opens the services. Modules that are slow to load are imported where they are used, so
 * that `uam version`, help and completion answer at once.
 */

import { join } from "node:path";
import type { Config } from "../../config/config.ts";
import type { Context } from "../../domain/operation/context.ts";
import type { Actor } from "../../domain/operation/entry.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { UamError } from "../../shared/errors.ts";
import type { Log } from "../../shared/log.ts";
import { lookAgain } from "../../shared/work/second-look.ts";

/** The process, as commands see it. */
export interface CliEnvironment {
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** Those of the environment file, which hold in every shell of this host. */
  readonly installed?: Readonly<Record<string, string | undefined>>;
  readonly currentDirectory: string;
  readonly isRoot: boolean;
  /** How a person would run this program from here. */
  readonly invocation: string;
  /** Path of the built program; undefined when run from source. */
  readonly program?: string | undefined;
  /** The operator, for the audit log: the person who logged in, else the account that this process runs as. */
  readonly operator: string;
  /** Runs the program again as the service's user and returns its output; set only for root, if that is another user. */
  readonly runAsService?: ((args: readonly string[]) => string) | undefined;
  /** True if standard error is a terminal. */
  readonly isTerminal: boolean;
  /** Width of standard output in columns if it is a terminal. */
  readonly columns: number | undefined;
  readonly runtime: Runtime;
  readonly out: (text: string) => void;
  /** Writes at the reader's pace; resolves when everything is written or the reader has gone. */
  readonly outStream: (stream: ReadableStream<Uint8Array>) => Promise<void>;
  /** To people; on the way what a terminal might obey becomes visible. */
  readonly err: (text: string) => void;
  /** The same for the log, whose own colours a terminal is to obey; without it, `err`. */
  readonly log?: ((text: string) => void) | undefined;
  readonly readStandardInput: () => Promise<string>;
  /** Asks a person and resolves to the answer, "" at the end of input; undefined if nobody can be asked. */
  readonly ask: ((question: string) => Promise<string>) | undefined;
  /** Resolves when the process is told to stop (SIGTERM, SIGINT). Before the first call these signals end it at once. */
  readonly untilStopped: () => Promise<void>;
  /** Calls the listener whenever the process is told to reload its files (SIGHUP). Before the first call SIGHUP ends it. */
  readonly onReload?: (listener: () => void) => void;
}

/** A command, ready to run; resolves to the exit code. */
export type Command = (environment: CliEnvironment) => Promise<number>;

export const EXIT = { done: 0, failed: 1, usage: 2, configuration: 78 } as const;

/** The configuration; throws a ConfigError with every fault. */
export async function loadConfig(environment: CliEnvironment): Promise<Config> {
  const { readConfig } = await import("../../config/config.ts");
  return readConfig(environment.variables, environment);
}

/** True if the variable is set and not empty. */
export function isGiven({ variables }: CliEnvironment, name: string): boolean {
  return (variables[name] ?? "") !== "";
}

/** Like `loadConfig`; anything the configuration names and the host lacks is a fault, too, if it is still missing after a pause. */
export async function loadConfigOnHost(
  environment: Pick<CliEnvironment, "variables" | "isRoot" | "currentDirectory">,
  pause?: () => Promise<void>,
): Promise<Config> {
  const { readConfig } = await import("../../config/config.ts");
  const { AUDIT_KEY_FILE } = await import("../../domain/audit/key.ts");
  const { checkNeeds, checkSecrecy, sentenceOf } = await import("../../doctor/preflight.ts");
  const look = async () => {
    let isLacking = false;
    const lacks = (values: Partial<Config>): readonly string[] => {
      const { dataDir } = values;
      const own =
        dataDir === undefined
          ? []
          : [
              { path: dataDir, most: 0o711 },
              { path: join(dataDir, AUDIT_KEY_FILE), most: 0o600 },
            ];
      const given = environment.variables.UAM_AUDIT_KEY_FILE;
      const secrets = given ? [...own, { path: given, most: 0o640 }] : own;
      const needs = values.localHost === false ? [] : checkNeeds(values);
      isLacking = needs.length > 0;
      return [...needs, ...checkSecrecy(secrets)].map(sentenceOf);
    };
    try {
      return { isLacking: false, config: readConfig(environment.variables, { ...environment, lacks }) };
    } catch (error) {
      return { isLacking, error };
    }
  };
  const found = await lookAgain({ look, isFaulty: ({ isLacking }) => isLacking, pause });
  if (found.config === undefined) throw found.error;
  return found.config;
}

/** The log of a command: `serve` logs what it does, others only what went wrong. */
export async function commandLog(environment: CliEnvironment, config: Config, quiet: boolean): Promise<Log> {
  const { openLog } = await import("../../server/logging.ts");
  return openLog({
    format: config.logFormat ?? (environment.isTerminal ? "pretty" : "json"),
    level: quiet && config.logLevel === "info" ? "warn" : config.logLevel,
    journal: environment.variables.JOURNAL_STREAM !== undefined,
    write: environment.log ?? environment.err,
  });
}

/**
 * Whether a command changes the host ("change": in dry-run mode its log then shows what would be done), only what is
 * stored, or nothing.
 */
export type Purpose = "read" | "store" | "change";

/**
 * Runs `work` with the services on behalf of the operator, and closes them whatever happens. A command that only reads creates no
 * database, and fails on one of an older version without changing it; told to stop, it fails at once. Any other migrates the
 * database first, and finishes its work even if told to stop.
 */
export async function withServices<T>(
  environment: CliEnvironment,
  purpose: Purpose,
  work: (context: Context, config: Config) => Promise<T>,
): Promise<T> {
  const config = await loadConfig(environment);
  const isPlanning = config.localHost && config.hostMode === "dry-run";
  const log = await commandLog(environment, config, purpose !== "change" || !isPlanning);
  const { openServices, openToLook } = await import("../../server/compose.ts");
  const machine = environment.runtime;
  const handle =
    purpose === "read"
      ? await openToLook(config, log, machine)
      : await openServices(config, log, { lifetime: "command", machine });
  const stopped = environment.untilStopped();
  try {
    if (purpose === "change") {
      const { requireServiceMode } = await import("../../domain/hosts/service-mode.ts");
      await requireServiceMode(handle.services);
    }
    const working = work({ ...handle.services, actor: operatorOf(environment), requestId: "" }, config);
    return await (purpose === "read" ? Promise.race([working, stopped.then(giveUp)]) : working);
  } finally {
    await handle.close();
  }
}

/** Aborted when the process is told to stop. */
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
  throw new UamError("internal", "Stopped before it was done");
}
