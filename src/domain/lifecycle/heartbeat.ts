/** The service's stored heartbeat: a stop, or a clock that was set, is noticed by it, and then deleting waits for a day. */

import { asc, inArray, sql } from "drizzle-orm";
import { DAY, HOUR, shift } from "../../shared/clock.ts";
import { formatTimestamp } from "../../shared/timestamp.ts";
import type { Transaction } from "../../store/client.ts";
import { LOCKS } from "../../store/locks.ts";
import { admins, counters } from "../../store/schema.ts";
import { clockJump } from "../mail/messages.ts";
import { queueMails } from "../mail/outbox.ts";
import type { Services } from "../operation/context.ts";

/** A longer gap in the heartbeat, forwards or backwards, makes the clock doubtful. */
export const LONGEST_GAP = HOUR;
/** For so long nothing is deleted then. */
export const HOLD = DAY;

const HEARTBEAT = "heartbeat";
const HOLD_UNTIL = "recycle_hold_until";

/** The time that a job goes by from its beginning to its end, whatever happens to the clock meanwhile. */
export interface Heartbeat {
  readonly now: Date;
  /** Until then nothing may be recycled or purged; undefined where nothing is in the way. */
  readonly holdUntil: Date | undefined;
}

/**
 * Stores that the service lives, and returns the time and whether deleting has to wait. A gap of over an hour since the last
 * heartbeat, in either direction, begins the wait anew; the log and the administrators' mail (once a day) say so.
 */
export async function beat(services: Services): Promise<Heartbeat> {
  const { db, clock, log } = services;
  const { now, last, hold } = await db.transaction(async (tx) => {
    // Whoever is first makes the row, so that there is one to lock.
    await tx.insert(counters).values({ name: HEARTBEAT, value: clock.now().getTime() }).onConflictDoNothing();
    const stored = await readMoments(tx);
    const seen = { now: clock.now(), last: stored.get(HEARTBEAT) ?? clock.now() };
    await storeMoment(tx, HEARTBEAT, seen.now);
    if (!isGap(seen.last, seen.now)) return { ...seen, hold: stored.get(HOLD_UNTIL) };
    const hold = shift(seen.now, HOLD);
    await storeMoment(tx, HOLD_UNTIL, hold);
    await tellAdministrators(services, tx, { from: seen.last, to: seen.now, resumesAt: hold });
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

/** Ends the wait, if there is one, on the word of somebody who looked at the clock. */
export async function endHold({ db, clock }: Pick<Services, "db" | "clock">): Promise<Heartbeat> {
  return await db.transaction(async (tx) => {
    await storeMoment(tx, HEARTBEAT, clock.now());
    await storeMoment(tx, HOLD_UNTIL, new Date(0));
    return { now: clock.now(), holdUntil: undefined };
  });
}

/** A heartbeat seen by who only looks. */
export interface StoredHeartbeat extends Heartbeat {
  /** When the service last said that it lives; undefined if it never did. */
  readonly last: Date | undefined;
}

/** The time, and whether deleting waits, without a heartbeat: for who only looks. A gap that nobody noticed yet counts. */
export async function readHeartbeat({ db, clock }: Pick<Services, "db" | "clock">): Promise<StoredHeartbeat> {
  const now = clock.now();
  const rows = await db
    .select()
    .from(counters)
    .where(inArray(counters.name, [HEARTBEAT, HOLD_UNTIL]));
  const moment = (name: string): Date | undefined => {
    const row = rows.find((candidate) => candidate.name === name);
    return row === undefined ? undefined : new Date(row.value);
  };
  const last = moment(HEARTBEAT);
  const hold = isGap(last ?? now, now) ? shift(now, HOLD) : (moment(HOLD_UNTIL) ?? now);
  return { now, last, holdUntil: hold > now ? hold : undefined };
}

function isGap(last: Date, now: Date): boolean {
  return Math.abs(now.getTime() - last.getTime()) > LONGEST_GAP;
}

/** Locked until the transaction ends: of several instances one sees a gap, and the others the hold that it stored. */
async function readMoments(tx: Transaction): Promise<ReadonlyMap<string, Date>> {
  // Row locks alone would not do: who waits for one does not see a row that was inserted meanwhile.
  await tx.execute(sql`select pg_advisory_xact_lock(${LOCKS.heartbeat})`);
  const rows = await tx
    .select()
    .from(counters)
    .where(inArray(counters.name, [HEARTBEAT, HOLD_UNTIL]))
    .orderBy(asc(counters.name));
  return new Map(rows.map((row) => [row.name, new Date(row.value)]));
}

async function storeMoment(tx: Transaction, name: string, at: Date): Promise<void> {
  await tx
    .insert(counters)
    .values({ name, value: at.getTime() })
    .onConflictDoUpdate({ target: counters.name, set: { value: sql`excluded.value` } });
}

async function tellAdministrators(
  services: Services,
  tx: Transaction,
  gap: Parameters<typeof clockJump>[1],
): Promise<void> {
  const message = clockJump(services.policy.site, gap);
  const recipients = await tx.select({ id: admins.id, email: admins.email }).from(admins).orderBy(asc(admins.id));
  const day = formatTimestamp(gap.to).slice(0, 10);
  const mails = recipients.map(({ id, email }) => ({
    recipient: email,
    message,
    dedupeKey: `clock-jump:${day}:${id}`,
  }));
  await queueMails({ tx, context: services }, mails);
}
