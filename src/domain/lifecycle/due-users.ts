/** Goes through the users with an action due, one operation each; a failure does not stop the others. */

import { type SQL, sql } from "drizzle-orm";
import { HOUR, MINUTE } from "../../shared/time/clock.ts";
import { severalAtOnce } from "../../shared/work/several.ts";
import type { Database } from "../../store/client.ts";
import type { Context } from "../operation/context.ts";

/** A user with an action due. */
export interface DueUser {
  readonly id: number;
  readonly username: string;
}

/** An action, and the condition `where` (about `users` as u) that selects the users for whom it is due at that time. */
export interface Due {
  readonly action: "lifecycle.expire" | "lifecycle.recycle";
  readonly where: SQL;
  readonly now: Date;
  /** How many are worked on at the same time; by default, one. */
  readonly atOnce?: number;
}

/** How many users it was done for, and how many failed. */
export interface Outcome {
  readonly done: number;
  readonly failed: number;
}

const BATCH = 200;
/**
 * A user whose operation failed is skipped for as long as it has been failing, within these limits: 1, 2, 4, 8 minutes and so on.
 */
const SHORTEST_WAIT = MINUTE;
const LONGEST_WAIT = 6 * HOUR;

/**
 * Performs the operation for each user it is due for, begun in the order in which it became due. A failure is logged (the operation
 * records it) and retried in a later run: after a minute, then after as long as it has been failing, at most six
 * hours. That is read from the audit log, so restarts and replicas follow it too. Ends early when `signal` says so, with what
 * was begun.
 */
export async function eachDue(
  context: Context,
  due: Due,
  perform: (user: DueUser) => Promise<boolean>,
  signal?: AbortSignal,
): Promise<Outcome> {
  let done = 0;
  let failed = 0;
  let after = { expireAt: "-infinity", id: 0 };
  for (;;) {
    const batch = await findDue(context.db, due, after);
    await severalAtOnce(batch, { atOnce: due.atOnce ?? 1, signal }, async (user) => {
      try {
        if (await perform(user)) done++;
      } catch (error) {
        failed++;
        context.log.error("an operation failed for a user and will be retried", {
          action: due.action,
          ...user,
          error,
        });
      }
    });
    const last = batch.at(-1);
    if (last === undefined || batch.length < BATCH || signal?.aborted) return { done, failed };
    after = last;
  }
}

interface Cursor {
  readonly expireAt: string;
  readonly id: number;
}

async function findDue(db: Database, { action, where, now }: Due, after: Cursor): Promise<(DueUser & Cursor)[]> {
  const time = sql`${now.toISOString()}::timestamptz`;
  const wait = sql`least(greatest(f.latest - f.first, ${SHORTEST_WAIT} * interval '1 millisecond'), ${LONGEST_WAIT} * interval '1 millisecond')`;
  const rows = await db.execute<{ id: string; username: string; expire_at: string }>(sql`
    select u.id, u.username, u.expire_at from users u
    left join lateral (
      select min(a.created_at) as first, max(a.created_at) as latest from audit a
      where a.subject_id = u.id and a.action = ${action} and a.result = 'failed' and a.created_at >= u.expire_at
    ) f on true
    where ${where} and (u.expire_at, u.id) > (${after.expireAt}::timestamptz, ${after.id}::bigint)
      and (f.latest is null or f.latest > ${time} or f.latest + ${wait} <= ${time})
    order by u.expire_at, u.id limit ${BATCH}`);
  return rows.map((row) => ({ id: Number(row.id), username: row.username, expireAt: row.expire_at }));
}
