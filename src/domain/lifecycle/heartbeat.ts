/** The service's stored heartbeat shows that the service was stopped or the clock was set; deletion then waits for a day. */

import { sql } from "drizzle-orm";
import { DAY, HOUR, shift } from "../../shared/time/clock.ts";
import { formatTimestamp } from "../../shared/time/timestamp.ts";
import { LOCKS } from "../../store/advisory-locks.ts";
import type { Transaction } from "../../store/client.ts";
import { serviceState } from "../../store/schema-service.ts";
import { tellAdministrators } from "../mail/administrators.ts";
import { clockJump } from "../mail/messages.ts";
import type { Services } from "../operation/context.ts";
import { boundTimesToCome } from "./clock-set-back.ts";

/** A longer gap in the heartbeat, forwards or backwards, makes the clock doubtful. */
export const LONGEST_GAP = HOUR;
/** For this long nothing is deleted then. */
export const HOLD = DAY;

/** The time that a job uses from its beginning to its end, even if the clock changes meanwhile. */
export interface Heartbeat {
  readonly now: Date;
  /** Until then nothing may be recycled or purged; undefined if deletion is not on hold. */
  readonly holdUntil: Date | undefined;
}

/**
 * Stores that the service is running, and returns the time and whether deletion is on hold. A gap of over an hour since the last
 * heartbeat, in either direction, restarts the wait; the log and the administrators' mail (once a day) say so. A clock that was set
 * back leaves nothing that waits for the time that it was.
 */
export async function beat(services: Services): Promise<Heartbeat> {
  const { db, clock, log } = services;
  const { now, last, hold } = await db.transaction(async (tx) => {
    const stored = await lockState(tx);
    const now = clock.now();
    const seen = { now, last: stored?.heartbeatAt ?? now };
    const hold = isGap(seen.last, now) ? shift(now, HOLD) : (stored?.holdUntil ?? undefined);
    await storeState(tx, { heartbeatAt: now, holdUntil: hold ?? null });
    if (now < seen.last) await boundTimesToCome(tx, services.policy, now);
    if (isGap(seen.last, now) && hold !== undefined) {
      const message = clockJump(services.policy.site, { from: seen.last, to: now, resumesAt: hold });
      await tellAdministrators({ tx, context: services }, message, {
        about: "policy",
        occasion: `clock-jump:${formatTimestamp(now).slice(0, 10)}`,
      });
    }
    return { ...seen, hold };
  });
  const holdUntil = hold !== undefined && hold > now ? hold : undefined;
  if (isGap(last, now)) {
    log.warn("the heartbeat has a gap: the service was stopped, or the clock was set; nothing is recycled or purged", {
      from: formatTimestamp(last),
      to: formatTimestamp(now),
      until: formatTimestamp(shift(now, HOLD)),
      remedy: "check the clock; if it is right, uam recycle --now ends the wait",
    });
  }
  return { now, holdUntil };
}

/** Ends the wait, if there is one; for an operator who has checked the clock. */
export async function endHold({ db, clock }: Pick<Services, "db" | "clock">): Promise<Heartbeat> {
  return await db.transaction(async (tx) => {
    const now = clock.now();
    await lockState(tx);
    await storeState(tx, { heartbeatAt: now, holdUntil: null });
    return { now, holdUntil: undefined };
  });
}

/** Lets deletion, and disabling for want of an answer, wait for a day, as after a gap: a restore is one in what is known. */
export async function beginHold(tx: Transaction, now: Date): Promise<void> {
  const stored = await lockState(tx);
  await storeState(tx, { heartbeatAt: stored?.heartbeatAt ?? now, holdUntil: shift(now, HOLD) });
}

/** The heartbeat, for callers that do not store one. */
export interface StoredHeartbeat extends Heartbeat {
  /** When the service last stored a heartbeat; undefined if it never did. */
  readonly last: Date | undefined;
}

/** The time, and whether deletion is on hold, without storing a heartbeat. A gap that was not noticed yet counts. */
export async function readHeartbeat({ db, clock }: Pick<Services, "db" | "clock">): Promise<StoredHeartbeat> {
  const now = clock.now();
  const [stored] = await db.select().from(serviceState);
  const last = stored?.heartbeatAt;
  const hold = isGap(last ?? now, now) ? shift(now, HOLD) : (stored?.holdUntil ?? now);
  return { now, last, holdUntil: hold > now ? hold : undefined };
}

function isGap(last: Date, now: Date): boolean {
  return Math.abs(now.getTime() - last.getTime()) > LONGEST_GAP;
}

type State = Omit<typeof serviceState.$inferSelect, "one">;

/** Locked until the transaction ends: of several instances one sees a gap, and the others see the hold that it stored. */
async function lockState(tx: Transaction): Promise<State | undefined> {
  // A row lock alone would not do: there may be no row yet.
  await tx.execute(sql`select pg_advisory_xact_lock(${LOCKS.heartbeat})`);
  const [stored] = await tx.select().from(serviceState);
  return stored;
}

async function storeState(tx: Transaction, state: State): Promise<void> {
  await tx
    .insert(serviceState)
    .values({ one: 1, ...state })
    .onConflictDoUpdate({ target: serviceState.one, set: state });
}
