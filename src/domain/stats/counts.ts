/** Counts by day (UTC), from the users and from the audit log. */

import { and, asc, gte, lt, notInArray, notLike, type SQL, sql } from "drizzle-orm";
import type { AuditAction } from "../../shared/product/audit-actions.ts";
import { DAY, shift } from "../../shared/time/clock.ts";
import type { Database, Transaction } from "../../store/client.ts";
import { type UserRow, users } from "../../store/schema.ts";
import { audit } from "../../store/schema-audit.ts";
import { hasStatusAt } from "../accounts/find-user.ts";

type Stored = Database | Transaction;

export interface States {
  readonly date: string;
  readonly active: number;
  readonly disabled: number;
  readonly expired: number;
}

export interface Changes {
  readonly date: string;
  readonly changes: number;
  readonly failed: number;
}

/** How many users there are in each state. */
export async function countStates(tx: Stored, now: Date): Promise<Omit<States, "date">> {
  const of = (status: UserRow["status"]) => sql`count(*) filter (where ${hasStatusAt(status, now)})`.mapWith(Number);
  const [row] = await tx.select({ active: of("active"), disabled: of("disabled"), expired: of("expired") }).from(users);
  return row ?? { active: 0, disabled: 0, expired: 0 };
}

/** What is on record and changes nothing. */
const READS: AuditAction[] = ["audit.read", "audit.export", "user.export"];

/** The changes of each day from `since` until before `until`, both midnights, as the log has them. */
export async function countChanges(tx: Stored, since: Date, until: Date): Promise<readonly Changes[]> {
  const day = utcDay(audit.createdAt);
  const rows = await tx
    .select({
      date: written(day),
      changes: sql`count(*) filter (where ${audit.result} = 'success')`.mapWith(Number),
      failed: sql`count(*) filter (where ${audit.result} = 'failed')`.mapWith(Number),
    })
    .from(audit)
    .where(
      and(
        gte(audit.createdAt, since),
        lt(audit.createdAt, until),
        notLike(audit.action, "auth.%"),
        notInArray(audit.action, READS),
      ),
    )
    .groupBy(day);
  const found = new Map(rows.map((row) => [row.date, row]));
  const length = Math.max(0, Math.round((until.getTime() - since.getTime()) / DAY));
  return datesFrom(dayOf(since), length).map((date) => found.get(date) ?? { date, changes: 0, failed: 0 });
}

/** The day of a moment, in UTC: "2026-11-20". */
export function dayOf(moment: Date): string {
  return moment.toISOString().slice(0, 10);
}

/** The moment at which the day begins. */
export function startOf(day: string): Date {
  return new Date(`${day}T00:00:00Z`);
}

/** So many days from that one on. */
export function datesFrom(first: string, days: number): readonly string[] {
  return Array.from({ length: days }, (_, index) => dayOf(shift(startOf(first), index * DAY)));
}

/** The day of a time in the database, to group by. */
export function utcDay(column: typeof users.expireAt | typeof audit.createdAt): SQL {
  return sql`(${column} at time zone 'UTC')::date`;
}

/** It as `dayOf` gives it: once for each group, because writing it takes longer than all else. */
export function written(day: SQL): SQL<string> {
  return sql<string>`to_char(${day}, 'YYYY-MM-DD')`;
}

/** The first day that the log has from its beginning on; undefined while there is none. */
export async function firstWholeDay(db: Stored): Promise<string | undefined> {
  const [first] = await db
    .select({ id: audit.id, createdAt: audit.createdAt })
    .from(audit)
    .orderBy(asc(audit.id))
    .limit(1);
  if (first === undefined) return undefined;
  // Retention may have removed a part of that day.
  return dayOf(first.id === 1 ? first.createdAt : shift(first.createdAt, DAY));
}
