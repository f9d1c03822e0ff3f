/** The figures that monitoring asks for. */

import { sql } from "drizzle-orm";
import type { Database } from "../../store/client.ts";
import type { UserRow } from "../../store/schema.ts";
import { hasStatusAt } from "../accounts/find-user.ts";
import { newestBackup } from "./backups.ts";

export interface Figures {
  readonly users: { readonly active: number; readonly disabled: number; readonly expired: number };
  readonly outbox: { readonly queued: number; readonly dead: number };
  readonly pendingApprovals: number;
  /** Number of the newest audit record; 0 if there is none. */
  readonly auditHead: number;
  /** How often access is still to be taken away, and since when the first time, in seconds since 1970; 0 if never. */
  readonly owed: { readonly total: number; readonly since: number };
  /** When the newest backup was made, in seconds since 1970; 0 if none ever was. */
  readonly backedUpAt: number;
}

/** All figures in one statement, so that they describe one moment. */
export async function readFigures(db: Database, now: Date): Promise<Figures> {
  const of = (status: UserRow["status"]) => sql`select count(*)::int from users where ${hasStatusAt(status, now)}`;
  const [row] = await db.execute<Record<string, number>>(sql`
    select
      (${of("active")}) as active,
      (${of("disabled")}) as disabled,
      (${of("expired")}) as expired,
      (select count(*)::int from outbox where status = 'queued') as queued,
      (select count(*)::int from outbox where status = 'dead') as dead,
      (select count(*)::int from approvals where status = 'pending') as pending,
      (select coalesce(max(id), 0)::float8 from audit_head) as head,
      (select count(*)::int from closings) as owed,
      (select coalesce(extract(epoch from min(begun_at)), 0)::float8 from closings) as since,
      coalesce((${newestBackup(sql`extract(epoch from created_at)::float8`, "success")}), 0) as backup`);
  const { active = 0, disabled = 0, expired = 0, queued = 0, dead = 0, pending = 0, head = 0 } = row ?? {};
  const { owed = 0, since = 0, backup = 0 } = row ?? {};
  return {
    users: { active, disabled, expired },
    outbox: { queued, dead },
    pendingApprovals: pending,
    auditHead: head,
    owed: { total: owed, since },
    backedUpAt: backup,
  };
}
