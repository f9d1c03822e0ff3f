/** Whether a change that takes access away is true on every host, and from when on it certainly is. */

import { setTimeout as sleep } from "node:timers/promises";
import { eq, type SQL, sql } from "drizzle-orm";
import { UamError } from "../../shared/errors.ts";
import type { LogFields } from "../../shared/log.ts";
import { withoutPrefix } from "../../shared/text/account-name.ts";
import { isForever } from "../../shared/time/lease.ts";
import { formatTimestamp } from "../../shared/time/timestamp.ts";
import { fleetChanges } from "../../store/schema-fleet.ts";
import { hadNoRemoteHosts, hasRemoteHosts } from "../accounts/remote.ts";
import { NOT_REMOVED } from "../accounts/remote-changes.ts";
import { audited } from "../operation/audited.ts";
import { readCommitted } from "../operation/committed.ts";
import { type Services, systemContext } from "../operation/context.ts";
import { PLACES } from "./placements.ts";

/** The state of a change on the remote hosts that had the account. */
export interface Confirmation {
  readonly total: number;
  readonly confirmed: number;
  /** Names of the hosts that have not confirmed, at most MAX_NAMES. */
  readonly pending: readonly string[];
  /** From then on it is true on every host; null if a host without a lease has not confirmed it. */
  readonly effectiveBy: Date | null;
}

/** More names help nobody; the figures say how many there are. */
export const MAX_NAMES = 100;
/** How often the hosts are looked at, in milliseconds: often at first, since most confirm at once. */
const FIRST_LOOK = 20;
const LONGEST_LOOK = 200;

type Change = typeof fleetChanges.$inferSelect;

interface Pending {
  /** Of the change. */
  readonly recordId: number;
  readonly name: string;
  /** Null for a host that never had a lease, and so has never opened anything. */
  readonly leaseUntil: Date | null;
}

/**
 * Whether the host h has not confirmed the change c, in SQL: it has not applied the record, or was refused something about the account. A
 * host that was to remove the account already when the change was made never hears of it: it has confirmed once that is done.
 */
export const UNCONFIRMED = sql`(
  (h.applied_id < c.record_id and (
    c.account = ''
    or exists (select 1 from ${PLACES} p where p.user_id = c.user_id and p.host_id = h.id)
    or exists (select 1 from removed_accounts r where r.name = c.account and h.id = any(r.hosts) and ${NOT_REMOVED})))
  or exists (select 1 from host_problems p where p.host_id = h.id and p.account = c.account and p.kind = 'refused'))`;

/**
 * Waits until every remote host has confirmed all that was taken from the user, but no longer than `UAM_FLEET_WAIT`: not the newest change
 * alone, which may be somebody else's, or leave out a host that an earlier one was about. Undefined where no remote host is concerned. Call it
 * once the change is committed. Throws `internal`, saying that the change is made, if the database does not say which hosts have: of hosts of
 * which nothing is known, nothing may be promised.
 */
export async function awaitHosts(services: Services, userId: number): Promise<Confirmation | undefined> {
  return await readAnswers(services, { userId }, () => wait(services, userId));
}

/** The same of a change that is about hosts, by the number of its record. */
export async function awaitRecord(services: Services, recordId: number): Promise<Confirmation | undefined> {
  return await readAnswers(services, { recordId }, async () =>
    waitFor(services, await readChanges(services, eq(fleetChanges.recordId, recordId))),
  );
}

async function readAnswers(
  services: Services,
  about: LogFields,
  read: () => Promise<Confirmation | undefined>,
): Promise<Confirmation | undefined> {
  try {
    return await readCommitted(services, read);
  } catch (error) {
    services.log.error("the hosts' answers to a change cannot be read", { ...about, error });
    if (hadNoRemoteHosts(services)) return undefined;
    const sentence =
      "The change is made, but which further hosts have followed it cannot be read now. Look again in a moment";
    throw new UamError("internal", sentence, { cause: error });
  }
}

async function wait(services: Services, userId: number): Promise<Confirmation | undefined> {
  if (!(await hasRemoteHosts(services))) return undefined;
  return await waitFor(services, notCovered(await readChanges(services, eq(fleetChanges.userId, userId))));
}

/** The changes that have a host which no later one has: a host that confirms a change has confirmed those before it, too. */
function notCovered(changes: readonly Change[]): readonly Change[] {
  const later = new Set<number>();
  return changes.toReversed().filter(({ hosts }) => {
    const isCovered = hosts.every((id) => later.has(id));
    for (const id of hosts) later.add(id);
    return !isCovered;
  });
}

async function waitFor(services: Services, changes: readonly Change[]): Promise<Confirmation | undefined> {
  if (changes.length === 0) return undefined;
  const began = performance.now();
  // The leases of the hosts right after the commit: a later lease comes with the change.
  const atFirst = await pendingOf(services, changes);
  const leases = new Map(atFirst.map((one) => [one.name, one.leaseUntil]));
  for (const change of changes) await attempt(services, () => storeEnd(services, change, leasesOf(change, atFirst)));
  const slowest = new Map(atFirst.toReversed().map((one) => [one.recordId, one.name]));
  let isPending = atFirst.length > 0;
  for (let wait = FIRST_LOOK; isPending; wait = Math.min(LONGEST_LOOK, wait * 1.5)) {
    const rest = services.policy.fleetWait - (performance.now() - began);
    if (rest <= 0) break;
    await sleep(Math.min(wait, rest));
    const [first] = await pendingOf(services, changes, 1);
    if (first !== undefined) slowest.set(first.recordId, first.name);
    isPending = first !== undefined;
  }
  const unconfirmed = isPending ? await pendingOf(services, changes) : [];
  for (const change of changes) {
    const { recordId } = change;
    if (unconfirmed.some((one) => one.recordId === recordId)) continue;
    await attempt(services, () => settle(services, change, { pending: [], slowest: slowest.get(recordId) ?? "" }));
  }
  const pending = [...new Set(unconfirmed.map(({ name }) => name))];
  const total = new Set(changes.flatMap(({ hosts }) => hosts)).size;
  const ends = pending.map((name) => leases.get(name) ?? null);
  return {
    total,
    confirmed: total - pending.length,
    pending: pending.slice(0, MAX_NAMES),
    effectiveBy: asEnd(latest(ends, services.clock.now())),
  };
}

function leasesOf({ recordId }: Change, pending: readonly Pending[]): readonly (Date | null)[] {
  return pending.filter((one) => one.recordId === recordId).map(({ leaseUntil }) => leaseUntil);
}

/** What is noted of a change is no part of the answer: settleChanges() does it again. A full disk refuses it, and says who is pending. */
async function attempt({ log }: Services, note: () => Promise<unknown>): Promise<void> {
  try {
    await note();
  } catch (error) {
    log.error("what hosts confirmed of a change could not be noted yet", { error });
  }
}

/**
 * Records the outcome of every change that all hosts have confirmed, or that outlived the last lease; run it each minute.
 */
export async function settleChanges(services: Services): Promise<void> {
  if (!(await hasRemoteHosts(services))) return;
  await sweepRemoved(services);
  for (const { recordId } of await services.db.select({ recordId: fleetChanges.recordId }).from(fleetChanges)) {
    const [change] = await readChanges(services, eq(fleetChanges.recordId, recordId));
    if (change === undefined) continue;
    const pending = await pendingOf(services, [change]);
    const now = services.clock.now();
    const end = await storeEnd(services, change, leasesOf(change, pending));
    if (pending.length > 0 && end > now) continue;
    await settle(services, { ...change, effectiveBy: end }, { pending: pending.map(({ name }) => name), slowest: "" });
  }
}

/** Deletes entries of hosts that have removed the account. */
async function sweepRemoved({ db }: Services): Promise<void> {
  await db.execute(sql`update removed_accounts set record_id = (select id from audit_head) where record_id = 0`);
  const left = sql`array(select h.id from unnest(r.hosts) as x(id) join hosts h on h.id = x.id
    where ${NOT_REMOVED} order by 1)`;
  await db.execute(
    sql`update removed_accounts r set hosts = ${left} where r.record_id > 0 and cardinality(${left}) < cardinality(r.hosts)`,
  );
  await db.execute(sql`delete from removed_accounts where hosts = '{}'`);
}

async function readChanges({ autocommit }: Services, which: SQL): Promise<readonly Change[]> {
  const { hosts: _, ...rest } = fleetColumns;
  return await autocommit
    .select({ ...rest, hosts: sql<number[]>`to_json(${fleetChanges.hosts})` })
    .from(fleetChanges)
    .where(which)
    .orderBy(fleetChanges.recordId);
}

const fleetColumns = {
  recordId: fleetChanges.recordId,
  userId: fleetChanges.userId,
  account: fleetChanges.account,
  hosts: fleetChanges.hosts,
  madeAt: fleetChanges.madeAt,
  effectiveBy: fleetChanges.effectiveBy,
};

/** The hosts that have not confirmed the changes; by name, unless any one will do. One that is forgotten is not waited for. */
async function pendingOf({ db }: Services, changes: readonly Change[], most?: 1): Promise<readonly Pending[]> {
  const given = changes.map(
    ({ recordId, userId, account, hosts }) =>
      sql`(${recordId}::bigint, ${userId}::bigint, ${account}::text, ${`{${hosts.join(",")}}`}::int[])`,
  );
  const rows = await db.execute<{ record_id: string; name: string; lease_until: string | null }>(sql`
    with c (record_id, user_id, account, hosts) as (values ${sql.join(given, sql`, `)})
    select c.record_id, h.name, h.lease_until from c cross join unnest(c.hosts) as x(id) join hosts h on h.id = x.id
    where ${UNCONFIRMED}
    ${most === 1 ? sql`limit 1` : sql`order by h.name`}`);
  return rows.map(({ record_id, name, lease_until }) => ({
    recordId: Number(record_id),
    name,
    leaseUntil: lease_until === null ? null : new Date(lease_until),
  }));
}

/**
 * Stores the time from which the change is true everywhere; the first to compute it wins. After that it only moves earlier, when a host that
 * has not confirmed the change reports a shortened lease: a lease granted later comes with the change.
 */
async function storeEnd(
  services: Services,
  { recordId, effectiveBy }: Change,
  leases: readonly (Date | null)[],
): Promise<Date> {
  const end = latest(leases, services.clock.now());
  if (effectiveBy !== null && effectiveBy <= end) return effectiveBy;
  // A forgotten host may be open until then, and nothing more can be learned about it.
  const isForgotten = sql`exists (select 1 from unnest(${fleetChanges.hosts}) as x(id) where not exists (select 1 from hosts h where h.id = x.id))`;
  const nearer = sql`least(${fleetChanges.effectiveBy}, ${end.toISOString()}::timestamptz)`;
  const [row] = await services.db
    .update(fleetChanges)
    .set({
      effectiveBy: sql`case when ${isForgotten} then coalesce(${fleetChanges.effectiveBy}, ${nearer}) else ${nearer} end`,
    })
    .where(eq(fleetChanges.recordId, recordId))
    .returning({ effectiveBy: fleetChanges.effectiveBy });
  return row?.effectiveBy ?? end;
}

function latest(leases: readonly (Date | null)[], now: Date): Date {
  return new Date(Math.max(now.getTime(), ...leases.map((lease) => lease?.getTime() ?? 0)));
}

function asEnd(end: Date): Date | null {
  return isForever(end) ? null : end;
}

/** Writes one record for each change, even if several instances find that it is over. */
async function settle(
  services: Services,
  change: Change,
  { pending, slowest }: { readonly pending: readonly string[]; readonly slowest: string },
): Promise<void> {
  const now = services.clock.now();
  const detail = {
    ...(change.account === "" ? {} : { username: withoutPrefix(change.account) }),
    hosts: change.hosts.length,
    confirmed: change.hosts.length - pending.length,
    outstanding: pending.slice(0, MAX_NAMES).join(", "),
    seconds: Math.max(0, now.getTime() - change.madeAt.getTime()) / 1000,
    ...(slowest === "" ? {} : { slowest }),
    ...(pending.length === 0 ? {} : { effective_by: formatTimestamp(change.effectiveBy ?? now) }),
  };
  const entry = { action: "fleet.confirmed", resourceId: String(change.recordId), detail } as const;
  await audited(systemContext(services), entry, async (op) => {
    const [row] = await op.tx
      .delete(fleetChanges)
      .where(eq(fleetChanges.recordId, change.recordId))
      .returning({ id: fleetChanges.recordId });
    if (row === undefined) op.record({ unneeded: true });
  });
}
