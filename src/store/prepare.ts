/** Brings the database to where the service may work in it: up to date, and the audit log out of its reach. */

import type { Log } from "../shared/log.ts";
import { type ConnectionOptions, type Database, openDatabase } from "./client.ts";
import { migrate, pendingMigrations } from "./migrate.ts";
import { MIGRATIONS } from "./migrations.ts";
import { auditProtectionFaults, protectAudit } from "./protect.ts";

/**
 * On return the schema is this program's. With a connection as `owner` (see protectAudit) the role of `service` can then not
 * change the audit log, nor switch that off; without one, `service` migrates, and the log says what only guards hold back.
 */
export async function prepareDatabase(
  service: Database,
  owner: ConnectionOptions | undefined,
  log: Log,
): Promise<void> {
  const pending = await pendingMigrations(service);
  // Said beforehand: it cannot be taken back, and an older program no longer works with the database.
  if (pending.length > 0 && pending.length < MIGRATIONS.length) {
    log.warn("the database is from an older version of uam: bringing it up to date", { migrations: pending.length });
  }
  if (owner === undefined) {
    report(log, await migrate(service));
  } else if (pending.length > 0 || (await auditProtectionFaults(service)).length > 0) {
    const handle = openDatabase(owner, 1);
    try {
      const role = await roleOf(service);
      // In one transaction: a service that is left without rights could not even see that they are missing.
      report(log, await migrate(handle.db, MIGRATIONS, (tx) => protectAudit(tx, role)));
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

function report(log: Log, applied: readonly string[]): void {
  if (applied.length > 0) log.info("the database was brought up to date", { migrations: applied });
}

async function roleOf(db: Database): Promise<string> {
  const [row] = await db.execute<{ name: string }>("select current_user as name");
  if (row === undefined) throw new Error("current_user returned no row");
  return row.name;
}
