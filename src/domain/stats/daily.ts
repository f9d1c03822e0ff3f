/** Daily counts, so that the dashboard's charts need not read the whole log. */

import { desc, lt } from "drizzle-orm";
import { SERIES_DAYS } from "../../shared/product/limits.ts";
import { DAY, HOUR, shift } from "../../shared/time/clock.ts";
import type { Database } from "../../store/client.ts";
import { changeCounts } from "../../store/schema-audit.ts";
import { userCounts } from "../../store/schema-service.ts";
import { readHeartbeat } from "../lifecycle/heartbeat.ts";
import type { Services } from "../operation/context.ts";
import { countChanges, countStates, dayOf, firstWholeDay, startOf } from "./counts.ts";

/** A record of a day may be committed after its end, by an operation that takes long. */
const SETTLED = HOUR;

/**
 * Stores how many users are in each state today, in place of today's earlier counts, and the changes of past days; deletes days
 * that no series shows. Doing it twice, or at the same time, gives the same result.
 */
export async function storeCounts({ db, clock }: Pick<Services, "db" | "clock">): Promise<void> {
  const now = clock.now();
  const states = await countStates(db, now);
  await db
    .insert(userCounts)
    .values({ date: dayOf(now), ...states })
    .onConflictDoUpdate({ target: userCounts.date, set: states });
  // After a jump of the clock, which may be wrong, past days are neither concluded nor deleted.
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
  // The first run on an old log does not read the part that no series shows.
  const oldest = dayOf(shift(now, -SERIES_DAYS.most * DAY));
  const since = startOf(from < oldest ? oldest : from);
  const days = await countChanges(db, since, startOf(dayOf(shift(now, -SETTLED))));
  if (days.length > 0)
    await db
      .insert(changeCounts)
      .values([...days])
      .onConflictDoNothing();
}
