/** uam backup: a consistent copy of all stored state. */

import { object } from "@optique/core/constructs";
import { message } from "@optique/core/message";
import { map } from "@optique/core/modifiers";
import { argument, command, option } from "@optique/core/primitives";
import { UamError } from "../../../shared/errors.ts";
import { counted } from "../../../shared/text/counted.ts";
import { formatTimestamp } from "../../../shared/time/timestamp.ts";
import type { BackupSummary } from "../../../store/backup/backup.ts";
import { fileName } from "../../terminal/completion.ts";
import { type Command, commandLog, EXIT, loadConfig, operatorOf, stopSignal } from "../../terminal/environment.ts";

interface BackupInput {
  readonly file: string;
  readonly force: boolean;
}

export const backupCommand = command(
  "backup",
  map(
    object({
      file: argument(fileName(), { description: message`The new file, or - for standard output.` }),
      force: option("--force", { description: message`Replace the file if it exists.` }),
    }),
    (input) => runBackup(input),
  ),
  {
    brief: message`Back up everything that is stored.`,
    description: message`Writes everything that is stored, as it is at one moment and with the key of the audit log, to a file that only its owner can read, or to standard output if FILE is -. The service can keep running. Keep the file as secret as the data directory.`,
  },
);

function runBackup({ file, force }: BackupInput): Command {
  return async (environment) => {
    const { backUp, STANDARD_OUTPUT } = await import("../../../server/backup.ts");
    const { installationOf } = await import("../../../server/compose.ts");
    const config = await loadConfig(environment);
    const log = await commandLog(environment, config, true);
    if (file === STANDARD_OUTPUT && (await import("node:tty")).isatty(1)) {
      throw new UamError("invalid", "Standard output is a terminal; redirect it, or name a file.");
    }
    const began = performance.now();
    const summary = await backUp({
      ...{ log, file, force, signal: stopSignal(environment), actor: operatorOf(environment) },
      installation: installationOf(config, log, environment.runtime),
    });
    const where = file === STANDARD_OUTPUT ? "standard output" : file;
    const start = formatTimestamp(new Date(summary.header.createdAt));
    environment.err(`${amount(summary)} were written to ${where} in ${secondsSince(began)}, as of ${start}.\n`);
    return EXIT.done;
  };
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
