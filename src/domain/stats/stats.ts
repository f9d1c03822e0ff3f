/** The figures of the dashboard. */

import { and, asc, count, eq, lte, sql } from "drizzle-orm";
import { DAY, shift } from "../../shared/clock.ts";
import { approvals, type UserRow, users } from "../../store/schema.ts";
import type { Context } from "../operation/context.ts";
import { hasStatusAt } from "../users/find.ts";

/** How far ahead `expiringSoon` looks. */
export const EXPIRING_SOON = 30 * DAY;

export interface Stats {
  /** The moment that the figures are of. */
  readonly at: Date;
  readonly total: number;
  readonly active: number;
  readonly disabled: number;
  readonly expired: number;
  /** Active users whose expiry falls within the next 30 days, soonest first. */
  readonly expiringSoon: readonly UserRow[];
  readonly pendingApprovals: number;
}

/** All figures of one moment: they agree with each other, whatever is changed meanwhile. */
export async function readStats(context: Context): Promise<Stats> {
  const now = context.clock.now();
  return await context.db.transaction(
    async (tx) => {
      const of = (status: UserRow["status"]) =>
        sql`count(*) filter (where ${hasStatusAt(status, now)})`.mapWith(Number);
      const [counted] = await tx
        .select({ total: count(), active: of("active"), disabled: of("disabled"), expired: of("expired") })
        .from(users)
        .prepare("count_by_status")
        .execute();
      if (counted === undefined) throw new Error("an aggregate returned no row");
      const expiringSoon = await tx
        .select()
        .from(users)
        .where(and(hasStatusAt("active", now), lte(users.expireAt, shift(now, EXPIRING_SOON))))
        .orderBy(asc(users.expireAt), asc(users.id))
        .prepare("expiring_soon")
        .execute();
      const [pending] = await tx
        .select({ total: count() })
        .from(approvals)
        .where(eq(approvals.status, "pending"))
        .prepare("count_pending")
        .execute();
      return {
        at: now,
        ...counted,
        expiringSoon,
        pendingApprovals: pending?.total ?? 0,
      };
    },
    { isolationLevel: "repeatable read", accessMode: "read only" },
  );
}
