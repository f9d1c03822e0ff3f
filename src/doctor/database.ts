/** The database: version, role, schema, and what is stored in it. */

import { sql } from "drizzle-orm";
import type { Services } from "../domain/operation/context.ts";
import { lostSponsors } from "../domain/sponsors/sponsors.ts";
import { counted } from "../shared/text/counted.ts";
import type { Database } from "../store/client.ts";
import { engineFaults } from "../store/engine.ts";
import { openUrl } from "../store/nodes/nodes.ts";
import { areaOf, type Finding } from "./finding.ts";

const OLDEST = 14;
const database = areaOf("database");

/** Faults of the external database in behaviour that the service relies on. Throws if it cannot be reached. */
export async function checkEngine(url: string): Promise<readonly Finding[]> {
  const connection = openUrl(url);
  try {
    return (await engineFaults(connection)).map(({ finding, remedy }) => database.fault(finding, remedy));
  } finally {
    connection.nodes?.close();
  }
}

/** Looks at the server and the role; `isExternal` if it is not the embedded one. */
export async function checkDatabase(db: Database, isExternal: boolean): Promise<readonly Finding[]> {
  const [server] = await db.execute<Server>(sql`
    select current_setting('server_version') as version, current_user as role,
      current_setting('transaction_read_only') as readonly, current_setting('fsync') as fsync,
      current_setting('synchronous_commit') as commits,
      (select count(*)::int from pg_stat_replication) as standbys,
      current_setting('synchronous_standby_names') <> '' as waits,
      (select rolsuper from pg_roles where rolname = current_user) as superuser`);
  if (server === undefined) return [database.fault("PostgreSQL does not report its version", "look at its log")];
  const major = Number.parseInt(server.version, 10);
  return [
    major < OLDEST
      ? database.fault(`PostgreSQL ${server.version} is too old`, `upgrade it to ${OLDEST} or later`)
      : database.ok(`PostgreSQL ${server.version} answers`),
    ...(isExternal && server.superuser
      ? [
          database.fault(
            `The role ${server.role} is a superuser of PostgreSQL`,
            "use a separate role that owns the database and nothing else",
          ),
        ]
      : []),
    ...(server.readonly === "on"
      ? [database.fault("The database is read-only", "point UAM_DATABASE_URL at the primary server")]
      : []),
    ...(isExternal ? durability(server) : []),
  ];
}

interface Server extends Record<string, unknown> {
  readonly version: string;
  readonly role: string;
  readonly superuser: boolean;
  readonly readonly: string;
  readonly fsync: string;
  readonly commits: string;
  readonly standbys: number;
  readonly waits: boolean;
}

/** Commits that a crash or a failover could lose although the service was told that they are stored. */
function durability({ fsync, commits, standbys, waits }: Server): readonly Finding[] {
  const isWaiting = commits !== "off" && commits !== "local";
  return [
    ...(fsync === "on"
      ? []
      : [database.fault("fsync is off: a crash of the machine destroys the database", "fsync = on")]),
    ...(commits === "off"
      ? [database.fault("synchronous_commit is off: a crash loses the last changes", "synchronous_commit = on")]
      : []),
    ...(standbys > 0 && !(waits && isWaiting)
      ? [
          database.note(
            "No commit waits for a standby: a failover loses the last changes",
            "synchronous_standby_names, and synchronous_commit = on; see docs/high-availability.md",
          ),
        ]
      : []),
  ];
}

/** Whether there is an administrator, and an owner who can log in. */
export async function checkAdministrators(db: Database): Promise<readonly Finding[]> {
  const area = areaOf("administrators");
  const [row] = await db.execute<{ count: number; owners: number; local: number }>(sql`
    select count(*)::int as count,
      count(*) filter (where role = 'owner' and (password_hash is not null or sso))::int as owners,
      count(*) filter (where role = 'owner' and password_hash is not null)::int as local
    from admins`);
  if (row === undefined || row.count === 0) {
    return [area.fault("There is no administrator", "uam admin add NAME --email ADDRESS")];
  }
  if (row.owners === 0) return [area.fault("No administrator is an owner who can log in", "uam admin role NAME owner")];
  const all = area.ok(counted(row.count, "administrator"));
  if (row.local > 0) return [all];
  const alone = "No owner has a password: while the provider of single sign-on is away, none can log in";
  return [all, area.note(alone, "uam admin passwd NAME, kept in a safe place")];
}

/** Mail that was given up on, and mail that has waited too long. */
export async function checkOutbox(db: Database): Promise<readonly Finding[]> {
  const area = areaOf("mail");
  const [row] = await db.execute<{ dead: number; late: number; error: string | null }>(sql`
    select count(*) filter (where status = 'dead')::int as dead,
      count(*) filter (where status = 'queued' and created_at < now() - interval '1 hour')::int as late,
      (select last_error from outbox where last_error <> '' order by id desc limit 1) as error
    from outbox`);
  const { dead = 0, late = 0, error } = row ?? {};
  const last = error ? `; the last error was: ${error}` : "";
  return [
    ...(dead > 0
      ? [area.fault(`${counted(dead, "mail")} could not be sent${last}`, "correct the address or the mail settings")]
      : []),
    ...(late > 0
      ? [
          area.fault(
            `${counted(late, "mail")} waiting for more than an hour${last}`,
            "check whether the service is running",
          ),
        ]
      : []),
  ];
}

/** Sponsors whom no mail reaches: nobody asks them anything. */
export async function checkSponsors(services: Pick<Services, "db">): Promise<readonly Finding[]> {
  const area = areaOf("sponsors");
  return (await lostSponsors(services)).map(({ email, users, problem }) =>
    area.fault(
      `Mail to ${email}, who answers for ${counted(users, "user")}, was refused for good: ${problem}`,
      `uam sponsor move ${email} NEW, or correct the mail settings`,
    ),
  );
}
