/** Prepares the database for the service: up to date, and the audit log out of its reach. */

import type { Log } from "../shared/log.ts";
import { DAY } from "../shared/time/clock.ts";
import { readAuditFloor, storeAuditFloor } from "./audit-floor.ts";
import { type ConnectionOptions, type Database, openDatabase } from "./client.ts";
import { buildIndexes, INDEXES_AT_ONCE, missingIndexes } from "./indexes.ts";
import { migrate, pendingMigrations } from "./migrate.ts";
import { MIGRATIONS, type Migration } from "./migrations.ts";
import { auditProtectionFaults, protectAudit } from "./protect.ts";

/** The settings of a preparation. */
export interface Preparation {
  /** A connection of the role that owns the tables, where that is not the service's; see protectAudit. */
  readonly owner: ConnectionOptions | undefined;
  /** Milliseconds for which every audit record is kept. */
  readonly auditFloor: number;
  readonly log: Log;
}

/**
 * On return the schema is this program's. With a connection as `owner` the role of `service` can then not change the audit
 * log, nor switch that off; without one, `service` migrates, and the log says what only guards hold back.
 */
export async function prepareDatabase(service: Database, { owner, auditFloor, log }: Preparation): Promise<void> {
  const pending = await pendingMigrations(service);
  await requireIndexes(service, owner, MIGRATIONS.slice(0, MIGRATIONS.length - pending.length), log);
  // Logged beforehand: it cannot be undone, and an older program no longer works with the database.
  if (pending.length > 0 && pending.length < MIGRATIONS.length) {
    log.warn("the database is from an older version of uam: bringing it up to date", { migrations: pending.length });
  }
  if (owner === undefined) {
    report(log, await migrate(service));
    await setFloor(service, auditFloor, log);
  } else if (pending.length > 0 || (await needsOwner(service, auditFloor))) {
    const handle = openDatabase(owner, 1);
    try {
      const role = await roleOf(service);
      // In one transaction: a service that is left without rights could not even see that they are missing.
      const applied = await migrate(handle.db, MIGRATIONS, async (tx) => {
        await protectAudit(tx, role);
        await storeAuditFloor(tx, auditFloor);
      });
      report(log, applied);
    } finally {
      await handle.close();
    }
  }
  const faults = await auditProtectionFaults(service);
  if (faults.length > 0) {
    log.warn("the database role of the service could switch off the protection of the audit log", {
      faults,
      remedy: "set UAM_DATABASE_OWNER_URL to a role that owns the database, and UAM_DATABASE_URL to one that does not",
    });
  }
}

/** Before a migration, which expects them; without them all works, slowly. */
async function requireIndexes(
  service: Database,
  owner: ConnectionOptions | undefined,
  applied: readonly Migration[],
  log: Log,
): Promise<void> {
  const missing = await missingIndexes(service, applied);
  if (missing.length === 0) return;
  log.warn("indexes are missing, as after a restore that was cut short: building them", { indexes: missing });
  const handle = owner === undefined ? undefined : openDatabase(owner, INDEXES_AT_ONCE);
  try {
    await buildIndexes(handle?.db ?? service, applied);
  } catch (error) {
    log.error("indexes could not be built, and are tried again at the next start; until then much is slow", { error });
  } finally {
    await handle?.close();
  }
}

async function needsOwner(service: Database, floor: number): Promise<boolean> {
  return (await auditProtectionFaults(service)).length > 0 || (await readAuditFloor(service)) !== floor;
}

/** Without the owner's connection only a role that owns the table itself can keep the floor up to date. */
async function setFloor(service: Database, floor: number, log: Log): Promise<void> {
  const stored = await readAuditFloor(service);
  if (stored === floor) return;
  const [right] = await service.execute<{ may: boolean }>(
    "select has_table_privilege('public.audit_floor', 'INSERT, UPDATE') as may",
  );
  if (right?.may === true) return await storeAuditFloor(service, floor);
  if (stored === undefined || stored < floor) return;
  log.warn("the database keeps audit records for longer than UAM_AUDIT_RETENTION_MIN says", {
    days: stored / DAY,
    remedy: "set UAM_DATABASE_OWNER_URL once: only the owner of the tables may lower the shortest retention",
  });
}

function report(log: Log, applied: readonly string[]): void {
  if (applied.length > 0) log.info("the database was brought up to date", { migrations: applied });
}

async function roleOf(db: Database): Promise<string> {
  const [row] = await db.execute<{ name: string }>("select current_user as name");
  if (row === undefined) throw new Error("current_user returned no row");
  return row.name;
}
