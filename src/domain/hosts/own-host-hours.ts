/**
 * The hours of the groups of the service's own host, which count for every account there. A change of them is noted with itself; then each
 * account is due to follow them, which `followDueHours` does: its timer is told, and after a crash the minute's run goes on.
 */

import { setTimeout as sleep } from "node:timers/promises";
import { and, eq, inArray, isNotNull, lte, sql } from "drizzle-orm";
import { LOCAL_NAME } from "../../shared/text/host-name.ts";
import { DAY, SECOND, shift } from "../../shared/time/clock.ts";
import type { Database } from "../../store/client.ts";
import { notify } from "../../store/notify.ts";
import { LOCAL_HOST, users } from "../../store/schema.ts";
import { hosts } from "../../store/schema-fleet.ts";
import { HOURS_AHEAD, lacks } from "../accounts/fewer-hours.ts";
import { readOwnHostHours } from "../accounts/find-user.ts";
import { HOURS_CHANNEL } from "../accounts/hours.ts";
import type { Operation, Services } from "../operation/context.ts";
import { awaitRecord, type Confirmation } from "./confirmation.ts";
import { spansOf } from "./group-hours.ts";
import { PLACES } from "./placements.ts";

/** That hours of the own host have changed, as texts with one group's a line. */
export interface OwnHostChange {
  readonly before: string | null;
  readonly after: string | null;
}

/** The moment lies ahead when it is committed: a run that has begun would not look back for it. */
const AHEAD = SECOND / 4;
const LOOK = 50;

/** Notes, with a change of groups under `lockFleet`, that accounts of the own host have other hours than `before`, if they have. */
export async function noteOwnHostHours(
  { tx, context }: Operation,
  before: string | null,
): Promise<OwnHostChange | undefined> {
  const after = await readOwnHostHours(tx);
  if (after === before) return undefined;
  await tx.update(hosts).set({ hoursDueAt: context.clock.now() }).where(eq(hosts.id, LOCAL_HOST));
  return { before, after };
}

/** Makes every account of the own host due to be followed, if its hours have changed. Also done each minute, and at the start. */
export async function passOwnHostHours({ db, clock }: Pick<Services, "db" | "clock">): Promise<void> {
  const noted = and(eq(hosts.id, LOCAL_HOST), isNotNull(hosts.hoursDueAt));
  const [own] = await db.select({ since: hosts.hoursDueAt }).from(hosts).where(noted);
  if (own?.since == null) return;
  const local = await db.execute<{ user_id: string }>(
    sql`select p.user_id from ${PLACES} p where p.host_id = ${LOCAL_HOST} order by 1`,
  );
  const ids = local.map(({ user_id }) => Number(user_id));
  // One row after the other where somebody has it: who waits for two at once may wait for us.
  const free = sql`(select id from users where id = any(${`{${ids.join(",")}}`}::bigint[]) for no key update skip locked)`;
  const due = () => ({ hoursDueAt: shift(clock.now(), AHEAD) });
  const done = await db.update(users).set(due()).where(sql`${users.id} in ${free}`).returning({ id: users.id });
  const isDone = new Set(done.map(({ id }) => id));
  for (const id of ids) if (!isDone.has(id)) await db.update(users).set(due()).where(eq(users.id, id));
  await db.transaction(async (tx) => {
    await tx
      .update(hosts)
      .set({ hoursDueAt: null })
      .where(and(noted, lte(hosts.hoursDueAt, own.since as Date)));
    await notify(tx, HOURS_CHANNEL);
  });
}

/** What hosts have to confirm of a change of a group's hours. */
export interface Narrowing {
  /** The number of the record that further hosts follow. */
  readonly record: number | undefined;
  readonly own: OwnHostChange | undefined;
}

/** Waits, no longer than `UAM_FLEET_WAIT`, until every host follows fewer hours; undefined where nothing was taken from any. */
export async function awaitNarrowing(
  services: Services,
  { record, own }: Narrowing,
): Promise<Confirmation | undefined> {
  const [further, here] = await Promise.all([
    record === undefined ? undefined : awaitRecord(services, record),
    own === undefined || !isNarrower(own, services.clock.now()) ? undefined : awaitOwnHost(services, own),
  ]);
  if (here === undefined || further === undefined) return here ?? further;
  const ends = [here, further].filter(({ pending }) => pending.length > 0).map(({ effectiveBy }) => effectiveBy);
  const latest = ends.some((end) => end === null) ? null : Math.max(0, ...ends.map((end) => Number(end)));
  return {
    total: further.total + here.total,
    confirmed: further.confirmed + here.confirmed,
    pending: [...here.pending, ...further.pending],
    effectiveBy: latest === null ? null : ends.length === 0 ? further.effectiveBy : new Date(latest),
  };
}

function isNarrower({ before, after }: OwnHostChange, now: Date): boolean {
  const [left, were] = [after, before].map((texts) => spansOf(texts?.split("\n") ?? [], now, shift(now, HOURS_AHEAD)));
  return lacks(left ?? [], were ?? []);
}

async function awaitOwnHost({ db, clock, policy }: Services, { before }: OwnHostChange): Promise<Confirmation> {
  const [now, end] = [clock.now(), performance.now() + policy.fleetWait];
  // sshd itself shuts what was open by the hours of before, at their end.
  const [open] = before === null ? [] : spansOf(before.split("\n"), now, shift(now, 8 * DAY));
  const by = before === null ? null : open !== undefined && open.from <= now ? open.to : now;
  while ((await isFollowing(db, shift(now, AHEAD))) && performance.now() < end) await sleep(LOOK);
  if (!(await isFollowing(db, shift(now, AHEAD)))) return { total: 1, confirmed: 1, pending: [], effectiveBy: now };
  return { total: 1, confirmed: 0, pending: [LOCAL_NAME], effectiveBy: by };
}

/** Whether an account of the own host has still to follow what was due until then. */
async function isFollowing(db: Database, until: Date): Promise<boolean> {
  const here = sql`(select p.user_id from ${PLACES} p where p.host_id = ${LOCAL_HOST})`;
  const due = and(isNotNull(users.hoursDueAt), lte(users.hoursDueAt, until), inArray(users.id, here));
  return (await db.select({ id: users.id }).from(users).where(due).limit(1)).length > 0;
}
