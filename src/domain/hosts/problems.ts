/** Problems of hosts: those that their agents report, and those that the service sees. */

import { and, asc, count, desc, eq, gte, inArray, lt, ne, or, sql } from "drizzle-orm";
import type { HOST_PROBLEM_KINDS } from "../../protocol/fleet.ts";
import type { ProfileState } from "../../protocol/profile.ts";
import { offsetOf, type Page, type Paged } from "../../shared/product/page.ts";
import { DAY, MINUTE, SECOND, shift } from "../../shared/time/clock.ts";
import { DEFAULT_LEASE, isForever, leaseInForce } from "../../shared/time/lease.ts";
import { formatTimestamp } from "../../shared/time/timestamp.ts";
import type { Database, Transaction } from "../../store/client.ts";
import { jsonRows } from "../../store/json-rows.ts";
import { audit, isAbout } from "../../store/schema-audit.ts";
import { type HostRow, hostProblems, hosts } from "../../store/schema-fleet.ts";
import type { Context, Services } from "../operation/context.ts";
import { allGroupLeases, leasesOf } from "./leases.ts";

export interface HostProblem {
  readonly hostId: number;
  readonly host: string;
  /** The host account; "" for a problem of the host. */
  readonly account: string;
  readonly kind: (typeof HOST_PROBLEM_KINDS)[number];
  readonly text: string;
  readonly since: Date;
}

/** Reported differences are shown for this long. */
const DRIFT_SHOWN = DAY;
/** A clock that is off by more than the first is worth knowing, by more than the second is wrong. */
const CLOCK_FINDING = 2 * SECOND;
const CLOCK_PROBLEM = MINUTE;

/** A host counts as silent once this part of its lease has passed without a sign of it. */
export const SILENT_PART = 4;

/** What of a host the service itself sees problems in. */
const CONDITION = {
  ...{ id: hosts.id, name: hosts.name, kind: hosts.kind, status: hosts.status, leaseMs: hosts.leaseMs },
  ...{ lastSeenAt: hosts.lastSeenAt, enrolledAt: hosts.enrolledAt, leaseUntil: hosts.leaseUntil },
  ...{ divergedAt: hosts.divergedAt, clockOffsetMs: hosts.clockOffsetMs },
  // Of thousands of hosts only what few of them have to say.
  profiles: {
    sql: sql`case when ${hosts.profiles} like '%"state":"problem"%' then ${hosts.profiles} end`,
    read: (said: unknown) => said as HostRow["profiles"],
  },
};

type Condition = Pick<HostRow, keyof typeof CONDITION>;

/** The inputs beside the stored rows. */
export interface Sight {
  readonly now: Date;
  /** Since when the service has been running: before, it could not hear from anybody. Undefined if unknown. */
  readonly startedAt?: Date | undefined;
}

/** Since when the host has not been heard of: its last sign, or the service's start if that is later. */
export function silentSince(
  { lastSeenAt, enrolledAt }: Pick<HostRow, "lastSeenAt" | "enrolledAt">,
  startedAt?: Date,
): Date {
  const last = lastSeenAt ?? enrolledAt;
  return startedAt !== undefined && startedAt > last ? startedAt : last;
}

/** Whether a host of that lease has been silent for so long that something is wrong. */
export function isSilent(host: Condition, lease: number, { now, startedAt }: Sight): boolean {
  return now.getTime() - silentSince(host, startedAt).getTime() >= (lease || DEFAULT_LEASE) / SILENT_PART;
}

/** Whether the host's lease has ended without a renewal. */
export function hasEnded({ leaseUntil }: Pick<HostRow, "leaseUntil">, lease: number, now: Date): boolean {
  return lease !== 0 && leaseUntil !== null && leaseUntil <= now;
}

/** The profiles that the host does not hold by its newest word, and why; the service's own is asked each minute. */
function unheldOf(host: Condition, { now }: Sight): readonly HostProblem[] {
  if (!host.profiles?.includes('"problem"')) return [];
  const since = host.kind === "local" ? now : (host.lastSeenAt ?? host.enrolledAt);
  return (JSON.parse(host.profiles) as readonly ProfileState[]).flatMap((one) => {
    if (one.state === "applied") return [];
    const text = `It does not hold the profile ${one.name}: ${one.problem}`;
    return [{ hostId: host.id, host: host.name, account: "", kind: "profile" as const, text, since }];
  });
}

/** The problems that the service itself sees on a host, with the lease in force; of its own, only what it says of profiles. */
export function conditionsOf(host: Condition, lease: number, sight: Sight): readonly HostProblem[] {
  const unheld = unheldOf(host, sight);
  if (host.kind === "local") return unheld;
  const { now, startedAt } = sight;
  const found: HostProblem[] = [];
  const note = (kind: HostProblem["kind"], text: string, since: Date) =>
    found.push({ hostId: host.id, host: host.name, account: "", kind, text, since });
  const seen = host.lastSeenAt ?? host.enrolledAt;
  if (isSilent(host, lease, sight)) {
    const since = silentSince(host, startedAt);
    const heard =
      host.lastSeenAt === null ? "Never heard of" : `Not heard of since ${formatTimestamp(host.lastSeenAt)}`;
    if (hasEnded(host, lease, now)) {
      note("lease_ended", `${heard}. Its lease has ended: nobody can log in there until it is back`, since);
    } else note("silent", `${heard}. ${openUntilSentence(host, lease)}`, since);
  }
  if (host.divergedAt !== null) {
    const why = "It has applied changes that the service does not know: the database has lost some";
    note("diverged", `${why}. It opens nothing until uam fleet accept`, host.divergedAt);
  }
  const offset = Math.abs(host.clockOffsetMs);
  if (offset > CLOCK_FINDING) {
    const direction = host.clockOffsetMs > 0 ? "ahead of" : "behind";
    const by = `Its clock is ${Math.round(offset / SECOND)} seconds ${direction} the service's`;
    if (offset > CLOCK_PROBLEM) note("clock", `${by}: accounts expire at another time there`, seen);
    else note("finding", by, seen);
  }
  if (lease === 0)
    note("no_lease", "It has no lease: cut off from the service, it stays open indefinitely", host.enrolledAt);
  if (host.status === "locked") note("locked", "It is locked: nobody can log in there", seen);
  return [...found, ...unheld];
}

/** Until when a silent host lets people in, as a sentence. */
export function openUntilSentence({ leaseUntil }: Pick<HostRow, "leaseUntil">, lease: number): string {
  if (lease === 0 || (leaseUntil !== null && isForever(leaseUntil))) return "It has no lease, and stays open";
  if (leaseUntil === null) return "It never had a lease, and is shut";
  return `Unless it is back, it shuts by ${formatTimestamp(leaseUntil)}`;
}

/** All problems of these hosts, the oldest first. */
export async function problemsOf(
  db: Database | Transaction,
  rows: readonly HostRow[],
  sight: Sight,
): Promise<readonly HostProblem[]> {
  const remote = rows.filter(({ kind }) => kind === "remote");
  const own = rows.filter(({ kind }) => kind === "local").flatMap((host) => unheldOf(host, sight));
  if (remote.length === 0) return own;
  const leases = await leasesOf(db, remote);
  const byId = new Map(remote.map((host) => [host.id, host]));
  const reported = await db
    .select()
    .from(hostProblems)
    .where(and(inArray(hostProblems.hostId, [...byId.keys()]), isShown(sight.now)))
    .orderBy(asc(hostProblems.id));
  const lockedAt = await lockTimes(
    db,
    remote.filter(({ status }) => status === "locked"),
  );
  const seen = remote
    .flatMap((host) => conditionsOf(host, leases.get(host.id) ?? DEFAULT_LEASE, sight))
    .map((found) => (found.kind === "locked" ? { ...found, since: lockedAt.get(found.hostId) ?? found.since } : found));
  const told = reported.map(({ hostId, account, kind, text, since }): HostProblem => {
    return { hostId, host: byId.get(hostId)?.name ?? "", account, kind, text, since };
  });
  return [...own, ...seen, ...told].sort((a, b) => a.since.getTime() - b.since.getTime() || a.hostId - b.hostId);
}

/** How many problems each of the hosts has. */
export async function countProblems(
  db: Database | Transaction,
  rows: readonly HostRow[],
  sight: Sight,
): Promise<ReadonlyMap<number, number>> {
  if (rows.length === 0) return new Map();
  const leases = await leasesOf(db, rows);
  const ids = rows.map(({ id }) => id);
  const counted = await db
    .select({ hostId: hostProblems.hostId, problems: count() })
    .from(hostProblems)
    .where(and(inArray(hostProblems.hostId, ids), isShown(sight.now)))
    .groupBy(hostProblems.hostId);
  const reported = new Map(counted.map(({ hostId, problems }) => [hostId, problems]));
  return new Map(
    rows.map((host) => {
      const seen = conditionsOf(host, leases.get(host.id) ?? DEFAULT_LEASE, sight).length;
      return [host.id, seen + (reported.get(host.id) ?? 0)];
    }),
  );
}

/** One page of the problems of all hosts, the oldest first; undefined where the service's own is the only one, and has none. */
export async function pageHostProblems(
  { db, clock }: Pick<Context, "db" | "clock">,
  page: Page,
  startedAt?: Date,
): Promise<Paged<HostProblem> | undefined> {
  return await db.transaction(
    async (tx) => {
      const rows = await tx.select().from(hosts).orderBy(asc(hosts.id));
      const all = await problemsOf(tx, rows, { now: clock.now(), startedAt });
      if (all.length === 0 && rows.every(({ kind }) => kind === "local")) return undefined;
      return { total: all.length, items: all.slice(offsetOf(page), offsetOf(page) + page.pageSize) };
    },
    { isolationLevel: "repeatable read", accessMode: "read only" },
  );
}

/** How many problems all hosts have. */
export async function countHostProblems(context: Pick<Context, "db" | "clock">, startedAt?: Date): Promise<number> {
  const counted = await countProblemsByKind(context, startedAt);
  return [...counted.values()].reduce((sum, problems) => sum + problems, 0);
}

/** How many problems of each kind all hosts have: with thousands of hosts a fraction of the cost of naming them. */
export async function countProblemsByKind(
  { db, clock }: Pick<Context, "db" | "clock">,
  startedAt?: Date,
): Promise<ReadonlyMap<HostProblem["kind"], number>> {
  const now = clock.now();
  const stored = jsonRows(CONDITION, sql`${hosts}`, [asc(hosts.id)]);
  const [{ rows } = { rows: [] }] = await db.select({ rows: stored }).from(sql`(select) one`);
  const isAlone = rows.every(({ kind }) => kind === "local");
  const leases = isAlone ? new Map<number, readonly number[]>() : await allGroupLeases(db);
  const reported = isAlone
    ? []
    : await db
        .select({ kind: hostProblems.kind, problems: count() })
        .from(hostProblems)
        .innerJoin(hosts, eq(hosts.id, hostProblems.hostId))
        .where(and(eq(hosts.kind, "remote"), isShown(now)))
        .groupBy(hostProblems.kind);
  const counted = new Map<HostProblem["kind"], number>(reported.map(({ kind, problems }) => [kind, problems]));
  for (const host of rows) {
    const lease = leaseInForce(host.leaseMs, leases.get(host.id) ?? []);
    for (const { kind } of conditionsOf(host, lease, { now, startedAt })) {
      counted.set(kind, (counted.get(kind) ?? 0) + 1);
    }
  }
  return counted;
}

/** Removes drift that is no longer shown. */
export async function purgeDrift({ db, clock }: Pick<Services, "db" | "clock">): Promise<void> {
  const old = lt(hostProblems.since, shift(clock.now(), -DRIFT_SHOWN));
  await db.delete(hostProblems).where(and(eq(hostProblems.kind, "drift"), old));
}

function isShown(now: Date) {
  return or(ne(hostProblems.kind, "drift"), gte(hostProblems.since, shift(now, -DRIFT_SHOWN)));
}

/** When each of the hosts was locked, by its id. */
async function lockTimes(db: Database | Transaction, locked: readonly HostRow[]): Promise<ReadonlyMap<number, Date>> {
  if (locked.length === 0) return new Map();
  const ids = locked.map(({ id }) => String(id));
  const rows = await db
    .select({ id: audit.resourceId, at: audit.createdAt })
    .from(audit)
    .where(and(isAbout(ids, "host.lock"), eq(audit.result, "success")))
    .orderBy(desc(audit.id));
  // The newest comes first, and stays.
  return new Map(rows.reverse().map(({ id, at }) => [Number(id), at]));
}
