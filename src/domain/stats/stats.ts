/** The figures of the dashboard. */

import { asc, count, eq, getTableColumns, sql } from "drizzle-orm";
import { DAY, shift } from "../../shared/time/clock.ts";
import { gathered } from "../../shared/work/batch-loader.ts";
import { type Database, oncePerDatabase } from "../../store/client.ts";
import { jsonRows } from "../../store/json-rows.ts";
import { approvals, type UserRow, users } from "../../store/schema.ts";
import { hasStatusAt } from "../accounts/find-user.ts";
import type { Context } from "../operation/context.ts";

/** How far ahead `expiringSoon` looks. */
export const EXPIRING_SOON = 30 * DAY;

export interface Stats {
  /** The moment that the figures are of. */
  readonly at: Date;
  readonly total: number;
  readonly active: number;
  readonly disabled: number;
  readonly expired: number;
  /** Active users with an expiry within the next 30 days, soonest first. */
  readonly expiringSoon: readonly UserRow[];
  readonly pendingApprovals: number;
}

/** All figures at one moment: they agree with each other, even while changes are made. */
export async function readStats({ db, clock }: Pick<Context, "db" | "clock">): Promise<Stats> {
  const [answer] = await readersOf(db)(clock.now().getTime());
  if (answer === undefined) throw new Error("an aggregate returned no row");
  return answer.stats;
}

/**
 * One statement for all dashboards that ask at a moment: the figures are the same for each, and the users who expire soon may be
 * thousands. The figures use the last caller's time.
 */
const readersOf = oncePerDatabase((db) => {
  const query = selectStats(db);
  return gathered(
    async (times: readonly number[]) => {
      const at = new Date(Math.max(...times));
      const [row] = await query.execute({ now: at.toISOString(), soon: shift(at, EXPIRING_SOON).toISOString() });
      if (row === undefined) return [];
      const stats = { at, ...row };
      return times.map((time) => ({ time, stats }));
    },
    ({ time }) => time,
  );
});

function selectStats(db: Database) {
  const now = sql`${sql.placeholder("now")}::timestamptz`;
  const of = (status: UserRow["status"]) => sql`count(*) filter (where ${hasStatusAt(status, now)})`.mapWith(Number);
  const soon = sql`${users} where ${hasStatusAt("active", now)} and ${users.expireAt} <= ${sql.placeholder("soon")}::timestamptz`;
  return db
    .select({
      total: count(),
      active: of("active"),
      disabled: of("disabled"),
      expired: of("expired"),
      expiringSoon: jsonRows(getTableColumns(users), soon, [asc(users.expireAt), asc(users.id)]),
      pendingApprovals: sql`(select count(*) from ${approvals} where ${eq(approvals.status, "pending")})`.mapWith(
        Number,
      ),
    })
    .from(users)
    .prepare("read_stats");
}
