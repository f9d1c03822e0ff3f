/** The condition that finds users by whether their access is open, as `accessAt` says it of each. */

import { and, gt, isNotNull, isNull, lte, not, or, type SQL, sql } from "drizzle-orm";
import type { AccessState } from "../../shared/product/statuses.ts";
import type { Database } from "../../store/client.ts";
import { isAnyOf } from "../../store/conditions.ts";
import { users } from "../../store/schema.ts";
import { calendarAt } from "./access-state.ts";
import { hasStatusAt } from "./find-user.ts";

/**
 * Whose access is so at that moment. Which of the stored hours are open then is read first: PostgreSQL's zones may differ from the runtime's. There are
 * few different ones, most users of a company having the same.
 */
export async function haveAccess(db: Database, access: AccessState, now: Date): Promise<SQL | undefined> {
  const isActive = hasStatusAt("active", now);
  if (access === "closed") return not(isActive as SQL);
  const isToStart = gt(users.startsAt, now);
  if (access === "not_yet") return and(isActive, isToStart);
  const began = or(isNull(users.startsAt), lte(users.startsAt, now));
  const open = await openHours(db, now);
  const within = (column: typeof users.hours | typeof users.companyHours) =>
    or(isNull(column), isAnyOf(column, "text[]", sql`${`{${open.map((hours) => JSON.stringify(hours)).join(",")}}`}`));
  const inHours = and(within(users.hours), within(users.companyHours));
  if (access === "outside_hours") return and(isActive, began, not(inHours as SQL));
  const allowed = and(
    isNotNull(users.allowedFrom),
    lte(users.allowedFrom, now),
    isNotNull(users.allowedUntil),
    gt(users.allowedUntil, now),
  ) as SQL;
  const asked = isNotNull(users.requestRule);
  if (access === "on_request") return and(isActive, began, inHours, asked, not(allowed));
  return and(isActive, began, inHours, or(not(asked), allowed));
}

/** The stored hours, of users and of companies, within which it is then. */
async function openHours(db: Database, now: Date): Promise<readonly string[]> {
  const rows = await db.execute<{ hours: string }>(sql`
    select ${users.hours} as hours from ${users} where ${isNotNull(users.hours)}
    union select ${users.companyHours} from ${users} where ${isNotNull(users.companyHours)}`);
  const always = { startsAt: null, companyHours: null };
  return rows.map(({ hours }) => hours).filter((hours) => calendarAt({ ...always, hours }, now).open);
}
