/** Backup and restore of an installation: its database, the key of its audit log, and the uids its host has seen. */

import { createReadStream, createWriteStream, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { adoptKey, type KeyChange, keyToCarry } from "../domain/audit/key.ts";
import { usersWithoutAccess, withAccess } from "../domain/lifecycle/reopened-by-restore.ts";
import { audited } from "../domain/operation/audited.ts";
import type { Services } from "../domain/operation/context.ts";
import type { Actor } from "../domain/operation/entry.ts";
import { endAllowances } from "../domain/requests/after-restore.ts";
import { askAgain } from "../domain/reviews/ask-again.ts";
import { UamError } from "../shared/errors.ts";
import type { Log } from "../shared/log.ts";
import { systemClock } from "../shared/time/clock.ts";
import { formatTimestamp } from "../shared/time/timestamp.ts";
import { VERSION } from "../shared/version.ts";
import { type BackupSource, type BackupSummary, writeBackup } from "../store/backup/backup.ts";
import { writeFileWhole } from "../store/backup/backup-file.ts";
import { type Elsewhere, sendAway } from "../store/backup/backup-program.ts";
import { verifyBackup } from "../store/backup/backup-reader.ts";
import {
  examineTarget,
  type RestoreSummary,
  readKnownHeader,
  requireKnownVersion,
  restoreBackup,
} from "../store/backup/restore.ts";
import { roleOf } from "../store/backup/restore-target.ts";
import { type ConnectionOptions, openDatabase } from "../store/client.ts";

/** Instead of a file: standard output, and where one is checked, standard input. */
export const STANDARD_OUTPUT = "-";
export const STANDARD_INPUT = "-";
const STDIN = 0;
const STDOUT = 1;

/** The installation, each part of it opened when it is needed; `installationOf` of compose.ts. */
export interface Installation {
  readonly dataDir: string;
  /** The configured key of the audit log; undefined: it is in the data directory. */
  readonly auditKey: Uint8Array | undefined;
  readonly uidRange: { readonly first: number; readonly last: number };
  /** The database server, and how to connect to it as the service and as the owner of its tables. */
  openServer(): Promise<{
    readonly connection: ConnectionOptions;
    readonly owner: ConnectionOptions | undefined;
    stop(): Promise<void>;
  }>;
  openHost(): Promise<{ highestUid(first: number, last: number): Promise<number | undefined> }>;
  openServices(): Promise<Opened>;
  /** Throws `conflict` where there is no database yet, or one that has to be brought up to date first. */
  openToLook(): Promise<Opened>;
}

interface Opened {
  readonly services: Services;
  close(): Promise<void>;
}

/** Needed in both directions. */
export interface TransferOptions {
  readonly installation: Installation;
  readonly log: Log;
  /** A path, or STANDARD_OUTPUT for a backup. */
  readonly file: string;
  /** Replace the file, or what is in the database. */
  readonly force: boolean;
  readonly signal: AbortSignal;
  /** The person who asked for it, for the audit log. */
  readonly actor: Actor;
}

/** The results of a restore, and the files it put aside. */
export interface RestoreReport extends RestoreSummary {
  /** Backup of what was in the database before; undefined if it was empty. */
  readonly savedAs: string | undefined;
  /** Where the key that sealed the previous database's log is now. */
  readonly keyKeptAs: string | undefined;
  /** Usernames whose access had ended in the previous database, and that have it again. */
  readonly reopened: readonly string[];
  /** Reviews that are open, in which sponsors are asked again. */
  readonly reviews: number;
}

type Loaded = Omit<RestoreReport, "reopened" | "reviews"> & {
  /** Usernames without access in the previous database. */
  readonly closed: readonly string[];
};

/** Needed for a backup. */
export interface BackupOptions extends TransferOptions {
  /** Read the file again, and remove it if it could not be restored: then no backup was made. */
  readonly verify?: boolean;
  /** Instead of a file, whose name the backup then has only there. */
  readonly elsewhere?: Elsewhere | undefined;
}

/**
 * Writes a backup of everything stored, as it is at one moment, on record; the service may keep running. The database of an older
 * version cannot take a record, but has to be backed up before it is brought up to date: the service's log says so then.
 */
export async function backUp(options: BackupOptions): Promise<BackupSummary> {
  const { elsewhere } = options;
  const recorder = await openRecorder(options);
  const write = () => (options.verify === true ? writeVerified : writeOut)(options);
  if (recorder === undefined) return await write();
  const file = options.file === STANDARD_OUTPUT ? "standard output" : options.file;
  const place = elsewhere && { program: elsewhere.send.argv[0] ?? "", read_again: elsewhere.fetch !== undefined };
  try {
    const context = { ...recorder.services, actor: options.actor, requestId: "" };
    return await audited(
      context,
      { action: "service.backup", detail: { file, ...place } },
      {
        prepare: write,
        run: async (op, summary) => {
          op.record({ detail: { bytes: summary.bytes, as_of: formatTimestamp(new Date(summary.header.createdAt)) } });
          return summary;
        },
      },
    );
  } finally {
    await recorder.close();
  }
}

/** Undefined where the database cannot take a record. */
async function openRecorder({ installation, log }: TransferOptions): Promise<Opened | undefined> {
  try {
    return await installation.openToLook();
  } catch (error) {
    if (!(error instanceof UamError) || error.code !== "conflict") throw error;
    log.warn("the backup is not recorded in the audit log", { reason: error.message });
    return undefined;
  }
}

async function writeVerified(options: TransferOptions): Promise<BackupSummary> {
  const summary = await writeOut(options);
  try {
    await check(options.file, options.signal);
    return summary;
  } catch (error) {
    rmSync(options.file, { force: true });
    throw error;
  }
}

async function writeOut(options: BackupOptions): Promise<BackupSummary> {
  const { installation, file, force, signal, elsewhere } = options;
  return await withSource(options, async (source) => {
    if (elsewhere !== undefined) return await sendAway(elsewhere, signal, (sink) => writeBackup(source, sink));
    if (file !== STANDARD_OUTPUT) return await save(installation, source.connection, file, { force, signal });
    const sink = createWriteStream("", { fd: STDOUT, autoClose: false });
    return await writeBackup(source, sink).catch((cause: unknown) => {
      throw cause instanceof Error && cause === sink.errored ? unwritten(cause) : cause;
    });
  });
}

async function withSource<T>(
  { installation, signal }: TransferOptions,
  work: (source: BackupSource) => Promise<T>,
): Promise<T> {
  const server = await installation.openServer();
  try {
    return await work({ ...sourceOf(installation), connection: server.owner ?? server.connection, signal });
  } finally {
    await server.stop();
  }
}

/**
 * Restores the installation from the backup, on record in the restored log. The service must not run. What was in the database is
 * saved to the data directory first. If it throws, nothing has changed, unless it says that only the record is missing.
 */
export async function restore(options: TransferOptions): Promise<RestoreReport> {
  const loaded = await load(options);
  try {
    return { ...loaded, ...(await recordRestore(options, loaded)) };
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new UamError("internal", `The backup was restored, but that could not be recorded in its audit log: ${why}`, {
      cause,
    });
  }
}

/** The record, and with it what must not wait until somebody notices: who answered since the backup is asked again. */
async function recordRestore(
  { installation, file, actor }: TransferOptions,
  report: Loaded,
): Promise<Pick<RestoreReport, "reopened" | "reviews">> {
  const { services, close } = await installation.openServices();
  try {
    const { createdAt, program } = report.header;
    const detail = { file, as_of: formatTimestamp(new Date(createdAt)), program, saved_as: report.savedAs ?? "" };
    return await audited({ ...services, actor, requestId: "" }, { action: "service.restore", detail }, async (op) => {
      const reviews = await askAgain(op);
      const allowances = await endAllowances(op.tx, op.context.clock.now());
      if (allowances > 0) op.record({ detail: { ended_on_request: allowances } });
      const reopened = await withAccess(op.tx, report.closed);
      if (reviews > 0) op.record({ detail: { open_reviews: reviews } });
      if (reopened.length > 0) op.record({ detail: { reopened: reopened.length } });
      return { reopened, reviews };
    });
  } finally {
    await close();
  }
}

async function load({ installation, log, file, force, signal }: TransferOptions): Promise<Loaded> {
  const host = await installation.openHost();
  const { first, last } = installation.uidRange;
  const onHost = await host.highestUid(first, last);
  await readKnownHeader(file, signal);
  const server = await installation.openServer();
  let key: KeyChange | undefined;
  try {
    const connection = server.owner ?? server.connection;
    const replaced = (await examineTarget(connection, signal)) && force;
    const savedAs = replaced ? join(installation.dataDir, `before-restore-${timeForName()}.uam-backup`) : undefined;
    if (savedAs !== undefined) {
      // A damaged file is found out while it is loaded; here that would be after everything else was saved.
      await verifyBackup(file, signal);
      // Beside an external database nothing may have needed the directory yet.
      mkdirSync(installation.dataDir, { recursive: true, mode: 0o711 });
      await save(installation, connection, savedAs, { force: false, signal });
    }
    const closed = replaced ? await closedUsers(connection) : [];
    const summary = await restoreBackup(file, {
      connection,
      serviceRole: server.owner === undefined ? undefined : await roleOf(server.connection, signal),
      force,
      uids: { first, last, onHost },
      signal,
      beforeCommit: async ({ auditKey }, db) => {
        key = await adoptKey(db, installation, auditKey === null ? undefined : Buffer.from(auditKey, "hex"));
      },
    });
    if (summary.unfinished !== undefined) {
      log.warn("the backup is restored, but indexes are missing: they are built before it is used", {
        reason: summary.unfinished,
      });
    }
    return { ...summary, savedAs, keyKeptAs: key?.keptAs, closed };
  } catch (error) {
    key?.undo();
    throw error;
  } finally {
    await server.stop();
  }
}

async function closedUsers(connection: ConnectionOptions): Promise<readonly string[]> {
  const { db, close } = openDatabase(connection, 1);
  return await usersWithoutAccess(db).finally(close);
}

/** The content of the backup; throws `invalid` if it is damaged, or from another version of the program. Opens nothing else. */
export async function check(file: string, signal: AbortSignal): Promise<BackupSummary> {
  const stream = () => createReadStream("", { fd: STDIN, autoClose: false }) as AsyncIterable<Buffer>;
  const summary = await verifyBackup(file === STANDARD_INPUT ? stream() : file, signal);
  requireKnownVersion(summary.header);
  return summary;
}

async function save(
  installation: Installation,
  connection: ConnectionOptions,
  file: string,
  { force, signal }: { readonly force: boolean; readonly signal: AbortSignal },
): Promise<BackupSummary> {
  return await writeFileWhole(file, force, (sink) =>
    writeBackup({ ...sourceOf(installation), connection, signal }, sink),
  );
}

function sourceOf(installation: Installation) {
  return { program: VERSION, createdAt: systemClock.now(), auditKey: keyToCarry(installation) };
}

function timeForName(): string {
  return systemClock.now().toISOString().replaceAll(/[-:.]/g, "");
}

function unwritten(cause: Error): UamError {
  const why =
    "code" in cause && cause.code === "EPIPE"
      ? "The reader of the standard output left before the end"
      : `The standard output cannot be written: ${cause.message}`;
  return new UamError("conflict", `${why}; what was written is not a backup.`, { cause });
}
