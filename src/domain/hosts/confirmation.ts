/** Whether a change that takes access away is true on every host, and from when on it certainly is. */

import { setTimeout as sleep } from "node:timers/promises";
import { desc, eq, sql } from "drizzle-orm";
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
 * Waits until every remote host has confirmed the newest change to the user's access, but no longer than `UAM_FLEET_WAIT`. Undefined where
 * no remote host is concerned. Call it once the change is committed. Throws `internal`, saying that the change is made, if the database does
 * not say which hosts have: of hosts of which nothing is known, nothing may be promised.
 */
export async function awaitHosts(services: Services, userId: number): Promise<Confirmation | undefined> {
  return await readAnswers(services, { userId }, () => wait(services, userId));
}

/** The same of a change that is about hosts, by the number of its record. */
export async function awaitRecord(services: Services, recordId: number): Promise<Confirmation | undefined> {
  return await readAnswers(services, { recordId }, () => waitFor(services, recordId));
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
  const [change] = await services.autocommit
    .select({ recordId: fleetChanges.recordId })
    .from(fleetChanges)
    .where(eq(fleetChanges.userId, userId))
    .orderBy(desc(fleetChanges.recordId))
    .limit(1);
  return change === undefined ? undefined : await waitFor(services, change.recordId);
}

async function waitFor(services: Services, recordId: number): Promise<Confirmation | undefined> {
  const known = await readChange(services, recordId);
  if (known === undefined) return undefined;
  const began = performance.now();
  // The leases of the hosts right after the commit: a later lease comes with the change.
  const leases = new Map((await pendingOf(services, known)).map((one) => [one.name, one.leaseUntil]));
  await attempt(services, () => storeEnd(services, known, [...leases.values()]));
  let slowest = [...leases.keys()][0] ?? "";
  let isPending = leases.size > 0;
  for (let wait = FIRST_LOOK; isPending; wait = Math.min(LONGEST_LOOK, wait * 1.5)) {
    const left = services.policy.fleetWait - (performance.now() - began);
    if (left <= 0) break;
    await sleep(Math.min(wait, left));
    const [first] = await pendingOf(services, known, 1);
    slowest = first?.name ?? slowest;
    isPending = first !== undefined;
  }
  const pending = isPending ? (await pendingOf(services, known)).map(({ name }) => name) : [];
  const total = known.hosts.length;
  if (pending.length === 0) await attempt(services, () => settle(services, known, { pending, slowest }));
  const ends = pending.map((name) => leases.get(name) ?? null);
  return {
    total,
    confirmed: total - pending.length,
    pending: pending.slice(0, MAX_NAMES),
    effectiveBy: asEnd(latest(ends, services.clock.now())),
  };
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
    const change = await readChange(services, recordId);
    if (change === undefined) continue;
    const pending = await pendingOf(services, change);
    const now = services.clock.now();
    const leases = pending.map(({ leaseUntil }) => leaseUntil);
    const end = await storeEnd(services, change, leases);
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

async function readChange({ db }: Services, recordId: number): Promise<Change | undefined> {
  const { hosts: _, ...rest } = fleetColumns;
  const [row] = await db
    .select({ ...rest, hosts: sql<number[]>`to_json(${fleetChanges.hosts})` })
    .from(fleetChanges)
    .where(eq(fleetChanges.recordId, recordId));
  return row;
}

const fleetColumns = {
  recordId: fleetChanges.recordId,
  userId: fleetChanges.userId,
  account: fleetChanges.account,
  hosts: fleetChanges.hosts,
  madeAt: fleetChanges.madeAt,
  effectiveBy: fleetChanges.effectiveBy,
};

/** The hosts that have not confirmed the change; by name, unless any one will do. One that is forgotten is not waited for. */
async function pendingOf(
  { db }: Services,
  { recordId, userId, account, hosts }: Change,
  most = hosts.length,
): Promise<readonly Pending[]> {
  const rows = await db.execute<{ name: string; lease_until: string | null }>(sql`
    with c as (select ${recordId}::bigint as record_id, ${userId}::bigint as user_id, ${account}::text as account)
    select h.name, h.lease_until from c
      cross join unnest(${`{${hosts.join(",")}}`}::int[]) as x(id) join hosts h on h.id = x.id
    where ${UNCONFIRMED}
    ${most === 1 ? sql`` : sql`order by h.name`} limit ${most}`);
  return rows.map(({ name, lease_until }) => ({
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
