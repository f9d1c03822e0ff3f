/** uam backup: a consistent copy of all stored state. */

import { join } from "node:path";
import { object } from "@optique/core/constructs";
import { message } from "@optique/core/message";
import { map, optional } from "@optique/core/modifiers";
import { argument, command, option } from "@optique/core/primitives";
import { integer } from "@optique/core/valueparser";
import type { Config } from "../../../config/config.ts";
import { UamError } from "../../../shared/errors.ts";
import { counted } from "../../../shared/text/counted.ts";
import { systemClock } from "../../../shared/time/clock.ts";
import { formatTimestamp } from "../../../shared/time/timestamp.ts";
import type { BackupSummary } from "../../../store/backup/backup.ts";
import { backupName, pruneBackups, requireOwnDirectory } from "../../../store/backup/backup-directory.ts";
import { type Elsewhere, withName } from "../../../store/backup/backup-program.ts";
import { fileName } from "../../terminal/completion.ts";
import {
  type CliEnvironment,
  type Command,
  commandLog,
  EXIT,
  loadConfig,
  operatorOf,
  stopSignal,
} from "../../terminal/environment.ts";

interface BackupInput {
  readonly file: string | undefined;
  readonly into: string | undefined;
  readonly keep: number | undefined;
  readonly send: boolean;
  readonly force: boolean;
}

/** Where a backup goes, and how many of its directory stay. */
interface Target {
  readonly file: string;
  readonly directory: string | undefined;
}

export const backupCommand = command(
  "backup",
  map(
    object({
      file: optional(argument(fileName(), { description: message`The new file, or - for standard output.` })),
      into: optional(
        option("--into", fileName("DIRECTORY"), {
          description: message`Write it into this directory, under a name with the time, and read all of it again.`,
        }),
      ),
      keep: optional(
        option("--keep", integer({ min: 1, metavar: "N" }), {
          description: message`Afterwards remove the oldest of that directory, so that this many stay.`,
        }),
      ),
      send: option("--send", {
        description: message`Give it to the program of UAM_BACKUP_COMMAND, and read it again by UAM_BACKUP_READ_COMMAND.`,
      }),
      force: option("--force", { description: message`Replace the file if it exists.` }),
    }),
    (input) => runBackup(input),
  ),
  {
    brief: message`Back up everything that is stored.`,
    description: message`Writes everything that is stored, as it is at one moment and with the key of the audit log, to a file that only its owner can read, or to standard output if FILE is -. With --into, for a timer, it goes into a directory, with --send to a program that keeps it elsewhere, and is read again before it counts as made. The service can keep running. Keep the file as secret as the data directory.`,
  },
);

function runBackup(input: BackupInput): Command {
  return async (environment) => {
    const { backUp, STANDARD_OUTPUT } = await import("../../../server/backup.ts");
    const { installationOf } = await import("../../../server/compose.ts");
    const { file, directory } = targetOf(input);
    const config = await loadConfig(environment);
    const log = await commandLog(environment, config, true);
    if (file === STANDARD_OUTPUT && (await import("node:tty")).isatty(1)) {
      throw new UamError("invalid", "Standard output is a terminal; redirect it, or name a file.");
    }
    if (directory !== undefined) requireOwnDirectory(directory);
    const began = performance.now();
    const elsewhere = input.send ? elsewhereOf(config, file, environment) : undefined;
    const summary = await backUp({
      ...{ elsewhere, log, file, force: input.force, signal: stopSignal(environment), actor: operatorOf(environment) },
      verify: directory !== undefined,
      installation: installationOf(config, log, environment.runtime),
    });
    const where = placeOf(file, elsewhere);
    const start = formatTimestamp(new Date(summary.header.createdAt));
    environment.err(`${amount(summary)} were written to ${where} in ${secondsSince(began)}, as of ${start}.\n`);
    if (directory !== undefined && input.keep !== undefined) {
      for (const gone of pruneBackups(directory, input.keep)) environment.err(`${gone} was removed.\n`);
    }
    return EXIT.done;
  };
}

/** Throws `invalid` unless a file, a directory or --send is named, and only one of them. */
function targetOf({ file, into, keep, send, force }: BackupInput): Target {
  if ([file !== undefined, into !== undefined, send].filter(Boolean).length !== 1) {
    throw new UamError("invalid", "Name a file, - for standard output, a directory with --into, or --send.");
  }
  if (file !== undefined) {
    if (keep !== undefined)
      throw new UamError("invalid", "--keep removes backups of a directory: name it with --into.");
    return { file, directory: undefined };
  }
  if (force) throw new UamError("invalid", "--force is for a file; otherwise each backup has a name of its own.");
  const name = backupName(systemClock.now());
  if (into !== undefined) return { file: join(into, name), directory: into };
  if (keep !== undefined) throw new UamError("invalid", "--keep removes backups of a directory: name it with --into.");
  return { file: name, directory: undefined };
}

/** Throws `invalid` if no program is set. */
function elsewhereOf(config: Config, name: string, { variables, err }: CliEnvironment): Elsewhere {
  const { backupCommand, backupReadCommand } = config;
  if (backupCommand === undefined) {
    throw new UamError("invalid", "UAM_BACKUP_COMMAND is not set: it names the program that takes the backup.");
  }
  const program = ({ argv }: { argv: readonly string[] }) => ({
    argv: withName(argv, name),
    environment: variables,
    said: err,
  });
  return { send: program(backupCommand), fetch: backupReadCommand && program(backupReadCommand) };
}

function placeOf(file: string, elsewhere: Elsewhere | undefined): string {
  if (elsewhere === undefined) return file === "-" ? "standard output" : file;
  const again = elsewhere.fetch === undefined ? "; nothing read it again" : ", and read again,";
  return `${elsewhere.send.argv[0]} as ${file}${again}`;
}

/** How much is in a backup, for the line that says what was done. */
export function amount({ rows, bytes }: BackupSummary): string {
  const count = Object.values(rows).reduce((sum, n) => sum + n, 0);
  return `${counted(count, "row")} of ${counted(Object.keys(rows).length, "table")} (${(bytes / 1e6).toFixed(1)} MB)`;
}

/** The time since `performance.now()` was `began`. */
export function secondsSince(began: number): string {
  return `${((performance.now() - began) / 1000).toFixed(1)} s`;
}
