/** Where a user has an account, and how far each host is with it. */

import { and, desc, eq, inArray, or, sql } from "drizzle-orm";
import type { AuditAction } from "../../shared/product/audit-actions.ts";
import { hostAccountOf } from "../../shared/text/account-name.ts";
import type { Database, Transaction } from "../../store/client.ts";
import { LOCAL_HOST } from "../../store/schema.ts";
import { audit, isAbout } from "../../store/schema-audit.ts";
import { grants, type HostRow, hostGroupMembers, hostGroups, hostProblems, hosts } from "../../store/schema-fleet.ts";
import { refOf } from "../accounts/account.ts";
import { type Closing, closingsOf } from "../accounts/closings.ts";
import { requireUser, type User } from "../accounts/find-user.ts";
import type { Context } from "../operation/context.ts";
import { PLACES } from "./placements.ts";

/** Whether a host has applied the stored state of the user, has not yet, or cannot. */
export type PlaceState = "applied" | "pending" | "problem";

export interface UserHost {
  readonly host: HostRow;
  /** The group by which the user has the host; "" if it was given by name. */
  readonly group: string;
  readonly state: PlaceState;
  /** Since when it is so. */
  readonly since: Date;
  /** Whether the user no longer has the host, and the account there is still to be removed. */
  readonly removing: boolean;
  /** The problem; "" if there is none. */
  readonly problem: string;
  /** Those of the host's groups, one a line; null for always. */
  readonly hours: string | null;
}

/** Actions that change a user's account on hosts. */
export const TOUCHING: readonly AuditAction[] = [
  ...(["user.create", "user.update", "user.disable", "user.enable", "user.extend", "user.shorten"] as const),
  ...(["user.lock", "sponsor.end", "user.grant", "user.adopt"] as const),
  ...(["key.create", "key.confirm", "key.update", "key.revoke", "lifecycle.expire", "reconcile.repair"] as const),
];

/** Where the user has an account; throws `not_found`. */
export async function listUserHosts(context: Context, userId: number): Promise<readonly UserHost[]> {
  return await context.db.transaction(async (tx) => await listPlaces(context, tx, await requireUser(tx, userId)), {
    isolationLevel: "repeatable read",
    accessMode: "read only",
  });
}

/**
 * The same for a user who is already read: in the order of the hosts' ids, last the hosts that still have to remove the account.
 */
export async function listPlaces(
  { clock }: Pick<Context, "clock">,
  db: Database | Transaction,
  user: User,
): Promise<readonly UserHost[]> {
  const now = clock.now();
  const placed = await placesOf(db, user.id);
  const groupIds = placed.flatMap(({ groupId }) => (groupId === null ? [] : [groupId]));
  const touched = await lastTouched(db, user, groupIds);
  const problems = await problemsOf(db, user);
  const [owed] = await closingsOf(db, user.id);
  const there = placed.map(({ host, hours, group, direct }): UserHost => {
    const named = { host, hours, group: direct ? "" : (group ?? ""), removing: false };
    if (host.id === LOCAL_HOST) {
      if (owed === undefined) return { ...named, state: "applied", since: touched.at, problem: "" };
      const { text, since } = owedFault(owed);
      return { ...named, state: "problem", since, problem: text };
    }
    const problem = problems.get(host.id) ?? faultOf(host, now);
    if (problem !== undefined) return { ...named, state: "problem", since: problem.since, problem: problem.text };
    const state = host.appliedId >= touched.id ? "applied" : "pending";
    return { ...named, state, since: touched.at, problem: "" };
  });
  return [...there, ...(await removalsOf(db, user, problems))];
}

/** Why an account is not as stored, and since when. */
export interface Fault {
  readonly text: string;
  readonly since: Date;
}

/** Of access that is being taken away on the service's own host. */
export function owedFault({ problem, begunAt }: Pick<Closing, "problem" | "begunAt">): Fault {
  return { text: problem || "Access is just being taken away", since: begunAt };
}

/** The kinds of problems that keep a host from applying the stored state of an account. */
export const BLOCKING = ["conflict", "missing", "refused"] as const;

/** Why nobody gets into any account of the host. */
export function faultOf({ status, leaseUntil, lastSeenAt, enrolledAt }: HostRow, now: Date): Fault | undefined {
  if (status === "locked") return { text: "The host is locked", since: lastSeenAt ?? enrolledAt };
  if (status === "retiring") return { text: "The host is being retired", since: lastSeenAt ?? enrolledAt };
  if (leaseUntil === null || leaseUntil > now) return undefined;
  return { text: "The host has not been heard of, and its lease has ended", since: leaseUntil };
}

interface Placed {
  readonly host: HostRow;
  readonly hours: string | null;
  readonly groupId: number | null;
  readonly group: string | null;
  readonly direct: boolean;
}

/** The hours of the groups of a row's host, in the statement that reads it. */
const HOURS = sql<string | null>`(select string_agg(g.hours, E'\\n' order by g.id) from host_group_members m
  join host_groups g on g.id = m.group_id where m.host_id = ${hosts.id} and g.hours is not null)`;

async function placesOf(db: Database | Transaction, userId: number): Promise<readonly Placed[]> {
  const byGroup = await db
    .select({ host: hosts, hours: HOURS, groupId: hostGroups.id, group: hostGroups.name })
    .from(grants)
    .innerJoin(hostGroups, eq(hostGroups.id, grants.groupId))
    .innerJoin(hostGroupMembers, eq(hostGroupMembers.groupId, hostGroups.id))
    .innerJoin(hosts, eq(hosts.id, hostGroupMembers.hostId))
    .where(eq(grants.userId, userId))
    .orderBy(hosts.id, hostGroups.id);
  const byName = await db
    .select({ host: hosts, hours: HOURS })
    .from(grants)
    .innerJoin(hosts, eq(hosts.id, grants.hostId))
    .where(eq(grants.userId, userId));
  const found = new Map<number, Placed>();
  for (const there of byName) found.set(there.host.id, { ...there, groupId: null, group: null, direct: true });
  for (const { host, hours, groupId, group } of byGroup) {
    const known = found.get(host.id);
    if (known === undefined) found.set(host.id, { host, hours, groupId, group, direct: false });
    else if (known.groupId === null) found.set(host.id, { ...known, groupId, group });
  }
  return [...found.values()].sort((a, b) => a.host.id - b.host.id);
}

/** The newest record that changed the user's account on hosts, or the hosts of one of these groups. */
async function lastTouched(
  db: Database | Transaction,
  user: User,
  groupIds: readonly number[],
): Promise<{ readonly id: number; readonly at: Date }> {
  const about = and(eq(audit.subjectId, user.id), inArray(audit.action, [...TOUCHING]));
  const resources = [...new Set(groupIds)].map(String);
  const ofGroup = isAbout(resources, "host_group.update");
  const [row] = await db
    .select({ id: audit.id, at: audit.createdAt })
    .from(audit)
    .where(resources.length === 0 ? about : or(about, ofGroup))
    .orderBy(desc(audit.id))
    .limit(1);
  // The records of an old account are gone.
  return row ?? { id: 0, at: user.createdAt };
}

/** Problems with the user's account that keep hosts from applying the stored state, by the host's id. */
async function problemsOf(db: Database | Transaction, { username }: User): Promise<ReadonlyMap<number, Fault>> {
  const rows = await db
    .select({ hostId: hostProblems.hostId, text: hostProblems.text, since: hostProblems.since })
    .from(hostProblems)
    .where(and(eq(hostProblems.account, hostAccountOf(username)), inArray(hostProblems.kind, [...BLOCKING])))
    .orderBy(desc(hostProblems.id));
  return new Map(rows.map(({ hostId, text, since }) => [hostId, { text, since }]));
}

async function removalsOf(
  db: Database | Transaction,
  user: User,
  problems: ReadonlyMap<number, Fault>,
): Promise<readonly UserHost[]> {
  const { name, uid } = refOf(user);
  const rows = await db
    .select({ host: hosts, since: sql<string>`r.removed_at` })
    .from(hosts)
    .innerJoin(sql`removed_accounts r`, sql`${hosts.id} = any(r.hosts)`)
    .where(
      and(
        sql`r.name = ${name} and r.uid = ${uid} and r.record_id >= 0`,
        sql`not exists (select 1 from ${PLACES} p where p.user_id = ${user.id} and p.host_id = ${hosts.id})`,
      ),
    )
    .orderBy(hosts.id);
  return rows.map(({ host, since }): UserHost => {
    const problem = problems.get(host.id);
    const state = problem === undefined ? "pending" : "problem";
    const named = { host, group: "", hours: null, removing: true };
    return { ...named, state, since: new Date(since), problem: problem?.text ?? "" };
  });
}
