/**
 * Sessions that ended with a window, on record once a day (UTC) for each user. The first end of a day that ends any is recorded with it. What
 * later ends of the day end is kept with the user, and is in the record of a later day.
 */

import { and, eq, gt, gte, isNull, lt, or } from "drizzle-orm";
import { DAY, shift } from "../../shared/time/clock.ts";
import { users } from "../../store/schema.ts";
import type { Operation } from "../operation/context.ts";
import type { User } from "./find-user.ts";

/** The operation that ends them. */
export function windowEntry(userId: number) {
  return { action: "access.window", resourceId: String(userId), subjectId: userId } as const;
}

/** Whose sessions are to be recorded, although none has ended just now. */
export function hasEndedBefore(now: Date) {
  const today = startOfDay(now);
  const { windowRecordedAt: at } = users;
  // A record of a time to come is from before the clock was set back.
  return and(gt(users.windowSessions, 0), or(isNull(at), lt(at, today), gte(at, shift(today, DAY))));
}

/** Has the operation record the sessions that ended, with those that are not recorded yet; or keeps them for another day, and records nothing. */
export async function recordEnded(op: Pick<Operation, "tx" | "context" | "record">, user: User, sessions: number) {
  const now = op.context.clock.now();
  const all = user.windowSessions + sessions;
  const isRecorded =
    user.windowRecordedAt !== null && startOfDay(user.windowRecordedAt).getTime() === startOfDay(now).getTime();
  const records = all > 0 && !isRecorded;
  op.record(records ? { detail: { sessions: all } } : { unneeded: true });
  if (!records && sessions === 0) return;
  const next = records ? { windowSessions: 0, windowRecordedAt: now } : { windowSessions: all };
  await op.tx.update(users).set(next).where(eq(users.id, user.id));
}

function startOfDay(moment: Date): Date {
  return new Date(Math.floor(moment.getTime() / DAY) * DAY);
}
