/** uam restore: all stored state as it was when a backup was made. */

import { object } from "@optique/core/constructs";
import { message } from "@optique/core/message";
import { map } from "@optique/core/modifiers";
import { argument, command, option } from "@optique/core/primitives";
import type { RestoreReport } from "../../../server/backup.ts";
import { UamError } from "../../../shared/errors.ts";
import { counted, namedUpTo } from "../../../shared/text/counted.ts";
import { systemClock } from "../../../shared/time/clock.ts";
import { formatTimestamp } from "../../../shared/time/timestamp.ts";
import type { BackupSummary } from "../../../store/backup/backup.ts";
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
import { printJson } from "../../terminal/output.ts";
import { amount, secondsSince } from "./backup.ts";

/** Names in a sentence. */
const MOST_NAMES = 50;

interface RestoreInput {
  readonly file: string;
  readonly force: boolean;
  readonly check: boolean;
  readonly json: boolean;
}

export const restoreCommand = command(
  "restore",
  map(
    object({
      file: argument(fileName(), { description: message`The backup, or - for standard input with --check.` }),
      force: option("--force", {
        description: message`Replace what is in the database, after saving a backup of it in the data directory.`,
      }),
      check: option("--check", {
        description: message`Only check that the backup is complete, and show what is in it.`,
      }),
      json: option("--json", { description: message`Print what --check finds as JSON.` }),
    }),
    (input) => runRestore(input),
  ),
  {
    brief: message`Restore everything from a backup.`,
    description: message`Loads a backup into an empty database, completely or not at all. Stop the service first. A backup has no sessions, codes or reset links, and mail that was waiting is not sent. The host is not changed: run uam reconcile afterwards.`,
  },
);

function runRestore({ file, force, check: only, json }: RestoreInput): Command {
  return async (environment) => {
    const { check, restore, STANDARD_INPUT } = await import("../../../server/backup.ts");
    const signal = stopSignal(environment);
    if (only) {
      const summary = await check(file, signal);
      if (json) printJson(environment, contentsAsJson(summary));
      else environment.out(contents(summary));
      return EXIT.done;
    }
    if (file === STANDARD_INPUT) {
      throw new UamError(
        "invalid",
        "A backup is read more than once to be restored: put it in a file. --check reads -.",
      );
    }
    const config = await loadConfig(environment);
    const log = await commandLog(environment, config, true);
    const { installationOf } = await import("../../../server/compose.ts");
    const began = performance.now();
    const start = formatTimestamp(systemClock.now());
    const report = await restore({
      ...{ log, file, force, signal, actor: operatorOf(environment) },
      installation: installationOf(config, log, environment.runtime),
    });
    environment.err(`${amount(report)} were read from ${file} in ${secondsSince(began)}, begun ${start}.\n`);
    environment.err(advice(report, environment));
    return EXIT.done;
  };
}

function contentsAsJson({ header, rows, bytes }: BackupSummary) {
  const { createdAt, program, auditKey } = header;
  return { created_at: formatTimestamp(new Date(createdAt)), program, audit_key: auditKey !== null, bytes, rows };
}

function contents({ header, rows }: BackupSummary): string {
  const width = Math.max(...header.tables.map(({ name }) => name.length));
  const lines = [
    `The backup is complete. It was made ${formatTimestamp(new Date(header.createdAt))} by uam ${header.program}.`,
    `${header.auditKey === null ? "It does not contain the audit log's key: keep UAM_AUDIT_KEY." : "It contains the audit log's key."}`,
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
  if (report.reopened.length > 0) {
    const names = namedUpTo(MOST_NAMES, report.reopened);
    lines.push(
      "",
      `${counted(report.reopened.length, "user")} had lost access since, and ${report.reopened.length === 1 ? "has" : "have"} it again: ${names}.`,
      `Disable again who must not have it (${invocation} user disable NAME), and end again companies that had ended.`,
    );
  }
  if (report.reviews > 0) {
    lines.push(
      "",
      `${counted(report.reviews, "review")} ${report.reviews === 1 ? "is" : "are"} open. Answers of after ${made} are lost: sponsors are asked again, administrators answer again.`,
      "Nobody is disabled for want of an answer within the next 24 hours.",
    );
  }
  return `${lines.join("\n")}\n`;
}
