/** The dashboard's figures by day (UTC). */

import { and, asc, count, gt, gte, lt } from "drizzle-orm";
import { DAY, shift } from "../../shared/time/clock.ts";
import type { Transaction } from "../../store/client.ts";
import { users } from "../../store/schema.ts";
import { changeCounts } from "../../store/schema-audit.ts";
import { userCounts } from "../../store/schema-service.ts";
import { hasStatusAt } from "../accounts/find-user.ts";
import type { Context } from "../operation/context.ts";
import {
  type Changes,
  countChanges,
  countStates,
  datesFrom,
  dayOf,
  firstWholeDay,
  type States,
  startOf,
  utcDay,
  written,
} from "./counts.ts";

export interface Series {
  readonly days: number;
  /** How many users there were in each state, as last counted on that day; without the days on which nobody counted. */
  readonly states: readonly States[];
  /** The days to come, today included: how many active users expire. */
  readonly ends: readonly { readonly date: string; readonly users: number }[];
  /** Recorded changes, and failed ones; logins and reading do not count. Leaves out days that the log no longer has. */
  readonly changes: readonly Changes[];
}

/** The series of the `days` days until today, and of as many from today on; of one moment. */
export async function readSeries(context: Context, days: number): Promise<Series> {
  const now = context.clock.now();
  const first = dayOf(shift(now, -(days - 1) * DAY));
  return await context.db.transaction(
    async (tx) => ({
      days,
      states: await readStates(tx, first, now),
      ends: await readEnds(tx, days, now),
      changes: await readChanges(tx, first, now),
    }),
    { isolationLevel: "repeatable read", accessMode: "read only" },
  );
}

async function readStates(tx: Transaction, first: string, now: Date): Promise<readonly States[]> {
  const past = await tx
    .select()
    .from(userCounts)
    .where(and(gte(userCounts.date, first), lt(userCounts.date, dayOf(now))))
    .orderBy(asc(userCounts.date));
  return [...past, { date: dayOf(now), ...(await countStates(tx, now)) }];
}

async function readEnds(tx: Transaction, days: number, now: Date): Promise<Series["ends"]> {
  const day = utcDay(users.expireAt);
  const end = startOf(dayOf(shift(now, days * DAY)));
  const rows = await tx
    .select({ date: written(day), users: count() })
    .from(users)
    .where(and(hasStatusAt("active", now), gt(users.expireAt, now), lt(users.expireAt, end)))
    .groupBy(day);
  const found = new Map(rows.map(({ date, users }) => [date, users]));
  return datesFrom(dayOf(now), days).map((date) => ({ date, users: found.get(date) ?? 0 }));
}

/** From the stored days, and from the log for those after them: today, and the days that the job has not stored yet. */
async function readChanges(tx: Transaction, first: string, now: Date): Promise<readonly Changes[]> {
  const stored = await tx
    .select()
    .from(changeCounts)
    .where(gte(changeCounts.date, first))
    .orderBy(asc(changeCounts.date));
  const last = stored.at(-1)?.date;
  const known = last === undefined ? await firstWholeDay(tx) : dayOf(shift(startOf(last), DAY));
  if (known === undefined) return stored;
  const from = known < first ? first : known;
  return [...stored, ...(await countChanges(tx, startOf(from), startOf(dayOf(shift(now, DAY)))))];
}
