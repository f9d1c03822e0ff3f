/** Loads a backup in one transaction, so that the database is either the backup's or untouched. */

import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { UamError } from "../../shared/errors.ts";
import { LOCKS } from "../advisory-locks.ts";
import { type ConnectionOptions, type Executor, openDatabase } from "../client.ts";
import { buildIndexes, INDEXES_AT_ONCE, indexesOf } from "../indexes.ts";
import { applyMigrations, migrationHash } from "../migrate.ts";
import { MIGRATIONS } from "../migrations.ts";
import { protectWithin, withGuardsDown } from "../protect.ts";
import type { BackupSummary } from "./backup.ts";
import { type BackupHeader, damaged } from "./backup-format.ts";
import { readBackup, readHeader, verifyBackup } from "./backup-reader.ts";
import { copyFromStatement, holdsData, quote, tableNames, tablesToCarry } from "./backup-tables.ts";
import { type CopyClient, withCopyClient } from "./copy-client.ts";
import {
  ensureHeartbeat,
  extendLeases,
  raiseIdentities,
  raiseUid,
  readNumbers,
  type UidRange,
} from "./restore-numbers.ts";
import { dropIndexes, dropSchema, existing, refuseCompany } from "./restore-target.ts";

/** The target of a restore, and facts about it that the backup cannot know. */
export interface RestoreTarget {
  /** A role that may create tables: the owner, where the service is not. */
  readonly connection: ConnectionOptions;
  /** The role that the service works as, if that is not the one of `connection`. */
  readonly serviceRole: string | undefined;
  /** Replace what is there. */
  readonly force: boolean;
  readonly uids: UidRange;
  readonly signal: AbortSignal;
  /** Called when all is loaded, with the transaction; the restore is undone if it throws. */
  readonly beforeCommit: (header: BackupHeader, db: Executor) => Promise<void>;
}

/** The result of a restore. */
export interface RestoreSummary extends BackupSummary {
  /** The first uid that will be given out. */
  readonly nextUid: number;
  /** Migrations that were applied to the backup's data. */
  readonly migrated: readonly string[];
  /** Why indexes are still missing, which the service builds when it starts; undefined if none are. */
  readonly unfinished: string | undefined;
}

/**
 * Restores the database from the backup in the file, at this program's version. Throws `invalid` for a file that is
 * damaged or from a newer program, `conflict` if the service runs or there is data and `force` is not set; the database is
 * then unchanged. Every byte is verified while it is loaded, and nothing is committed before all of them were.
 */
export async function restoreBackup(path: string, target: RestoreTarget): Promise<RestoreSummary> {
  const { connection, signal } = target;
  const header = await readKnownHeader(path, signal);
  const restored = await orDamaged(path, signal, () =>
    withCopyClient(connection, signal, (client) => replace(client, path, header, target)),
  );
  // The rows are committed: from here on nothing may throw.
  return { ...restored, unfinished: await finish(target, header) };
}

/** The header of a backup; nothing more of it is verified. Throws `invalid` unless this version can restore it. */
export async function readKnownHeader(path: string, signal: AbortSignal): Promise<BackupHeader> {
  return await orDamaged(path, signal, async () => {
    const header = await readHeader(path, signal);
    requireKnownVersion(header);
    return header;
  });
}

/** A damaged file may first show as one of a strange version, or as rows that the database refuses: then it says that it is damaged. */
async function orDamaged<T>(path: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof UamError && error.code !== "invalid")) await verifyBackup(path, signal);
    throw error;
  }
}

async function replace(
  client: CopyClient,
  path: string,
  header: BackupHeader,
  target: RestoreTarget,
): Promise<Omit<RestoreSummary, "unfinished">> {
  await client.execute("begin");
  await client.execute("set local search_path = public; set local statement_timeout = 0; set local timezone = 'UTC'");
  await client.execute("set local idle_in_transaction_session_timeout = 0; set local datestyle = 'ISO'");
  // The indexes of a large log are sorted in memory, all workers' together.
  await client.execute("set local maintenance_work_mem = '256MB'");
  await refuseCompany(client);
  // A service that starts now and would migrate waits until this ends.
  await client.execute(`select pg_advisory_xact_lock(${LOCKS.migration})`);
  if (!target.force) await requireEmpty(client);
  const before = await readNumbers(client);
  await dropSchema(client);
  const summary = await load(client, path, header);
  await applyMigrations(client, MIGRATIONS, header.migrations.length);
  await raiseIdentities(client, [...header.identities, ...before.identities]);
  await ensureHeartbeat(client, header.createdAt);
  await extendLeases(client);
  const nextUid = await raiseUid(client, before.uid, target.uids);
  if (target.serviceRole !== undefined) await protectWithin(client, target.serviceRole);
  await target.beforeCommit(header, client);
  // Connections opened meanwhile wait for tables that are about to be replaced.
  await refuseCompany(client);
  await client.commit();
  return { ...summary, nextUid, migrated: MIGRATIONS.slice(header.migrations.length).map(({ name }) => name) };
}

/** Whether the database holds data that a restore would destroy. Throws `conflict` if anybody else uses it. */
export async function examineTarget(connection: ConnectionOptions, signal: AbortSignal): Promise<boolean> {
  return await withCopyClient(connection, signal, async (client) => {
    await refuseCompany(client);
    return await holdsData(client);
  });
}

/** Throws `invalid` unless the backup was made by this version of the program or an older one. */
export function requireKnownVersion({ migrations, program }: BackupHeader): void {
  const stranger = migrations.find((migration, number) => {
    const known = MIGRATIONS[number];
    return known === undefined || migrationHash(known) !== migration.sha256;
  });
  if (stranger === undefined && migrations.length > 0) return;
  const newer = migrations.length > MIGRATIONS.length;
  throw new UamError(
    "invalid",
    `The backup was made by ${newer ? "a newer version of uam" : "another build of uam"} (${program}); restore it with that one.`,
  );
}

async function requireEmpty(client: CopyClient): Promise<void> {
  if (!(await holdsData(client))) return;
  throw new UamError(
    "conflict",
    "The database is not empty. Restore into a new one, or replace what is there with --force.",
  );
}

/**
 * The indexes to build once the rows are committed; none for a backup of an older version, whose migrations expect them. Until they are
 * built, the database is complete, but slow.
 */
function laterIndexes({ migrations }: BackupHeader): readonly string[] {
  return migrations.length === MIGRATIONS.length ? [...indexesOf(MIGRATIONS).keys()] : [];
}

/**
 * Builds the indexes of `laterIndexes`; the next start of the service builds those that take too long here, or fail.
 */
async function finish({ connection, signal }: RestoreTarget, header: BackupHeader): Promise<string | undefined> {
  const { db, close } = openDatabase(connection, INDEXES_AT_ONCE);
  try {
    await buildIndexes(db, MIGRATIONS, signal);
    // Only now, because the indexes' expressions are analyzed as well. A migration may have removed one of the backup's tables.
    for (const name of await existing(db, [...tableNames()])) {
      if (!signal.aborted) await db.execute(`analyze public.${quote(name)}`);
    }
    return signal.aborted && laterIndexes(header).length > 0 ? "it was stopped before the end" : undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    await close();
  }
}

/** Creates the schema that the backup was made from, and loads its rows; on return all of the file is verified. */
async function load(client: CopyClient, path: string, header: BackupHeader): Promise<BackupSummary> {
  await applyMigrations(client, MIGRATIONS.slice(0, header.migrations.length), 0);
  await requireTables(client, header);
  return await withGuardsDown(client, async () => {
    // The backup also has the rows that migrations put into its tables.
    const all = [...tableNames()].filter((name) => name !== "uam_migrations");
    await client.execute(`truncate ${(await existing(client, all)).map((name) => `public.${quote(name)}`).join(", ")}`);
    const makeIndexes = await dropIndexes(client, laterIndexes(header));
    const summary = await readBackup(path, client.signal, {
      header: async (again) => {
        if (JSON.stringify(again) !== JSON.stringify(header)) throw damaged("it was changed while it was read");
      },
      table: async (table, rows) => {
        const copy = client.copyFrom(copyFromStatement(table));
        await pipeline(Readable.from(rows), copy, { signal: client.signal });
        return copy.rowCount;
      },
    });
    await makeIndexes();
    return summary;
  });
}

/** The file's names go into statements: they have to be those of the tables that were just made. */
async function requireTables(client: CopyClient, header: BackupHeader): Promise<void> {
  const made = new Map((await tablesToCarry(client)).map((table) => [table.name, new Set(table.columns)]));
  for (const { name, columns } of header.tables) {
    const known = made.get(name);
    if (known === undefined || known.size !== columns.length || !columns.every((column) => known.has(column))) {
      throw damaged(`its table ${JSON.stringify(name)} does not match its migrations`);
    }
    made.delete(name);
  }
  const [missing] = made.keys();
  if (missing !== undefined) throw damaged(`the table ${missing} is missing`);
}
