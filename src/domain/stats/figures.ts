/** The figures that monitoring asks for. */

import { sql } from "drizzle-orm";
import type { Database } from "../../store/client.ts";
import type { UserRow } from "../../store/schema.ts";
import { hasStatusAt } from "../accounts/find-user.ts";

export interface Figures {
  readonly users: { readonly active: number; readonly disabled: number; readonly expired: number };
  readonly outbox: { readonly queued: number; readonly dead: number };
  readonly pendingApprovals: number;
  /** Number of the newest audit record; 0 if there is none. */
  readonly auditHead: number;
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
      (select coalesce(max(id), 0)::float8 from audit_head) as head`);
  const { active = 0, disabled = 0, expired = 0, queued = 0, dead = 0, pending = 0, head = 0 } = row ?? {};
  return {
    users: { active, disabled, expired },
    outbox: { queued, dead },
    pendingApprovals: pending,
    auditHead: head,
  };
}
