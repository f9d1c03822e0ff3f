/** What is counted once a day, so that the dashboard's charts need not read the whole log. */

import { desc, lt } from "drizzle-orm";
import { SERIES_DAYS } from "../../shared/product/limits.ts";
import { DAY, HOUR, shift } from "../../shared/time/clock.ts";
import type { Database } from "../../store/client.ts";
import { changeCounts, userCounts } from "../../store/schema.ts";
import { readHeartbeat } from "../lifecycle/heartbeat.ts";
import type { Services } from "../operation/context.ts";
import { countChanges, countStates, dayOf, firstWholeDay, startOf } from "./counts.ts";

/** A record of a day may be committed after its end, by an operation that takes long. */
const SETTLED = HOUR;

/**
 * Stores how many users are in each state today, in place of what was counted earlier today, and the changes of the days that are
 * over; forgets what no series shows. Whoever does it twice, or at once, comes to the same.
 */
export async function storeCounts({ db, clock }: Pick<Services, "db" | "clock">): Promise<void> {
  const now = clock.now();
  const states = await countStates(db, now);
  await db
    .insert(userCounts)
    .values({ date: dayOf(now), ...states })
    .onConflictDoUpdate({ target: userCounts.date, set: states });
  // After a jump of the clock, which may be wrong, what is past is neither concluded nor forgotten.
  if ((await readHeartbeat({ db, clock })).holdUntil !== undefined) return;
  await storeChanges(db, now);
  const oldest = dayOf(shift(now, -SERIES_DAYS.most * DAY));
  await db.delete(userCounts).where(lt(userCounts.date, oldest));
  await db.delete(changeCounts).where(lt(changeCounts.date, oldest));
}

async function storeChanges(db: Database, now: Date): Promise<void> {
  const [last] = await db.select().from(changeCounts).orderBy(desc(changeCounts.date)).limit(1);
  const from = last === undefined ? await firstWholeDay(db) : dayOf(shift(startOf(last.date), DAY));
  if (from === undefined) return;
  // Of the first time with an old log, what no series shows is not read.
  const oldest = dayOf(shift(now, -SERIES_DAYS.most * DAY));
  const since = startOf(from < oldest ? oldest : from);
  const days = await countChanges(db, since, startOf(dayOf(shift(now, -SETTLED))));
  if (days.length > 0)
    await db
      .insert(changeCounts)
      .values([...days])
      .onConflictDoNothing();
}
