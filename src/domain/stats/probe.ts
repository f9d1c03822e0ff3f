/** Whether the database answers. */

import { sql } from "drizzle-orm";
import { SECOND } from "../../shared/time/clock.ts";
import type { Database } from "../../store/client.ts";

/** After this long, it is better to say that the database does not answer than to keep the caller waiting. */
const PATIENCE = 2 * SECOND;
/** How long an answer is reused, so that frequent callers do not mean frequent queries. */
const FRESH = SECOND;

/** A check of the database, made at most once a second however often the function is called. It never throws. */
export function createDatabaseProbe(db: Database): () => Promise<boolean> {
  let last: { readonly asked: number; readonly answer: Promise<boolean> } | undefined;
  return () => {
    if (last === undefined || performance.now() - last.asked > FRESH) {
      last = { asked: performance.now(), answer: answersInTime(db) };
    }
    return last.answer;
  };
}

async function answersInTime(db: Database): Promise<boolean> {
  const answered = Promise.withResolvers<boolean>();
  const timer = setTimeout(answered.resolve, PATIENCE, false);
  // A standby answers too, but nearly every request changes something.
  db.execute<{ standby: boolean }>(sql`select pg_is_in_recovery() as standby`).then(
    ([row]) => answered.resolve(row?.standby !== true),
    () => answered.resolve(false),
  );
  try {
    return await answered.promise;
  } finally {
    clearTimeout(timer);
  }
}
