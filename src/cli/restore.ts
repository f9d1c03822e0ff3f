/** uam restore: all stored state as it was when a backup was made. */

import { object } from "@optique/core/constructs";
import { message } from "@optique/core/message";
import { map } from "@optique/core/modifiers";
import { argument, command, option } from "@optique/core/primitives";
import type { RestoreReport } from "../server/backup.ts";
import { systemClock } from "../shared/clock.ts";
import { formatTimestamp } from "../shared/timestamp.ts";
import type { BackupSummary } from "../store/backup/backup.ts";
import { amount, secondsSince } from "./backup.ts";
import { fileName } from "./completion.ts";
import {
  type CliEnvironment,
  type Command,
  commandLog,
  EXIT,
  loadConfig,
  operatorOf,
  stopSignal,
} from "./environment.ts";
import { counted } from "./output.ts";

interface RestoreInput {
  readonly file: string;
  readonly force: boolean;
  readonly check: boolean;
}

export const restoreCommand = command(
  "restore",
  map(
    object({
      file: argument(fileName(), { description: message`The backup.` }),
      force: option("--force", {
        description: message`Replace what is in the database; a backup of it goes to the data directory first.`,
      }),
      check: option("--check", { description: message`Only check that the backup is whole, and say what it holds.` }),
    }),
    (input) => runRestore(input),
  ),
  {
    brief: message`Bring back what a backup holds.`,
    description: message`Loads a backup into an empty database, wholly or not at all. Stop the service first. Sessions, codes and reset links are not in a backup, and mail that was waiting is not sent. The host stays as it is: run uam reconcile afterwards.`,
  },
);

function runRestore({ file, force, check: only }: RestoreInput): Command {
  return async (environment) => {
    const { check, restore } = await import("../server/backup.ts");
    const signal = stopSignal(environment);
    if (only) {
      environment.out(contents(await check(file, signal)));
      return EXIT.done;
    }
    const config = await loadConfig(environment);
    const log = await commandLog(environment, config, true);
    const began = performance.now();
    const start = formatTimestamp(systemClock.now());
    const report = await restore({
      ...{ config, log, file, force, signal },
      ...{ actor: operatorOf(environment), machine: environment.runtime },
    });
    environment.err(`${amount(report)} were read from ${file} in ${secondsSince(began)}, begun ${start}.\n`);
    environment.err(advice(report, environment));
    return EXIT.done;
  };
}

function contents({ header, rows }: BackupSummary): string {
  const width = Math.max(...header.tables.map(({ name }) => name.length));
  const lines = [
    `The backup is whole. Made ${formatTimestamp(new Date(header.createdAt))} by uam ${header.program}.`,
    `The key of the audit log is ${header.auditKey === null ? "not in it: keep UAM_AUDIT_KEY" : "in it"}.`,
    ...header.tables.map(({ name }) => `  ${name.padEnd(width)}  ${rows[name]}`),
  ];
  return `${lines.join("\n")}\n`;
}

function advice(report: RestoreReport, { invocation }: CliEnvironment): string {
  const made = formatTimestamp(new Date(report.header.createdAt));
  const lines = [
    `The database is as it was at ${made}: ${counted(report.rows.users ?? 0, "user")}, ${counted(report.rows.audit ?? 0, "audit record")}.`,
  ];
  if (report.migrated.length > 0) lines.push(`It was brought up to date: ${report.migrated.join(", ")}.`);
  if (report.savedAs !== undefined) lines.push(`What was there before is in ${report.savedAs}.`);
  if (report.keyKeptAs !== undefined) lines.push(`The audit key from before is in ${report.keyKeptAs}.`);
  lines.push(
    `New accounts get uids from ${report.nextUid} on.`,
    "",
    `Changes made after ${made} are undone: users who were disabled since are active again, and keys that were revoked`,
    "since are accepted again. Before you start the service, see where the host differs, and then repair it:",
    `  ${invocation} reconcile --check`,
    `  ${invocation} reconcile`,
    "Everybody has to log in again.",
  );
  return `${lines.join("\n")}\n`;
}
