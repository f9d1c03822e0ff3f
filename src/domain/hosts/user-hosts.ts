/** Where a user has an account, and how far each host is with it. */

import { and, desc, eq, inArray, sql } from "drizzle-orm";
import { AUDIT_ACTIONS, type AuditAction, hostEffectOf } from "../../shared/product/audit-actions.ts";
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

/** Actions after which hosts are told anew of their subject's account. */
const TOUCHING = AUDIT_ACTIONS.filter((action) => ["user", "new user", "removal"].includes(hostEffectOf(action)));

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
  const touched = await lastTouched(
    db,
    [user.id],
    placed.flatMap(({ groups }) => groups),
  );
  const problems = await problemsOf(db, user);
  const [owed] = await closingsOf(db, user.id);
  const there = placed.map(({ host, hours, group, groups }): UserHost => {
    const named = { host, hours, group, removing: false };
    const last = newestOf(touched, user.id, groups);
    const since = last.id === 0 ? user.createdAt : last.at;
    if (host.id === LOCAL_HOST) {
      if (owed === undefined) return { ...named, state: "applied", since, problem: "" };
      const fault = owedFault(owed);
      return { ...named, state: "problem", since: fault.since, problem: fault.text };
    }
    const problem = problems.get(host.id) ?? faultOf(host, now);
    if (problem !== undefined) return { ...named, state: "problem", since: problem.since, problem: problem.text };
    const state = host.appliedId >= last.id ? "applied" : "pending";
    return { ...named, state, since, problem: "" };
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
  /** The name of the first group by which the user has the host; "" if it was given by name. */
  readonly group: string;
  /** All of them. */
  readonly groups: readonly number[];
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
  for (const there of byName) found.set(there.host.id, { ...there, group: "", groups: [] });
  for (const { host, hours, groupId, group } of byGroup) {
    const known = found.get(host.id) ?? { host, hours, group, groups: [] };
    found.set(host.id, { ...known, groups: [...known.groups, groupId] });
  }
  return [...found.values()].sort((a, b) => a.host.id - b.host.id);
}

/** A record of the audit log. */
interface Touched {
  readonly id: number;
  readonly at: Date;
}

/** The newest records by what they are about. */
export interface LastTouched {
  readonly users: ReadonlyMap<number, Touched>;
  readonly groups: ReadonlyMap<number, Touched>;
}

/** The newest record after which hosts are told anew of each user's account, and of the accounts of each group, a change of what their profile allows included. */
export async function lastTouched(
  db: Database | Transaction,
  userIds: readonly number[],
  groupIds: readonly number[],
): Promise<LastTouched> {
  const [ids, named] = [userIds, [...new Set(groupIds)]].map((each) => `{${each.join(",")}}`);
  const rows = await db.execute<{ of: string; id: string; at: string }>(sql`
    select o.of, a.id, a.created_at as at from unnest(${ids}::bigint[]) as o(of)
    cross join lateral (
      select id, created_at from audit where subject_id = o.of
        and action in (select json_array_elements_text(${JSON.stringify(TOUCHING)}::text::json)) order by id desc limit 1) a`);
  const bound = await db.execute<{ user_id: string | null; group_id: string | null; profile: string }>(sql`
    select u.id as user_id, null::bigint as group_id, p.id as profile from users u join profiles p on p.name = u.profile
      where u.id = any(${ids}::bigint[])
    union all
    select null, g.id, p.id from host_groups g join profiles p on p.name = g.profile where g.id = any(${named}::bigint[])`);
  const users = new Map(rows.map(({ of, id, at }) => [Number(of), { id: Number(id), at: new Date(at) }]));
  const groups = new Map<number, Touched>();
  for (const id of new Set(groupIds)) put(groups, id, await newestAbout(db, id, "host_group.update"));
  for (const [profile, theirs] of Map.groupBy(bound, (row) => Number(row.profile))) {
    const changed = await newestAbout(db, profile, "profile.update");
    for (const { user_id: user, group_id: group } of theirs)
      put(group === null ? users : groups, Number(group ?? user), changed);
  }
  return { users, groups };
}

function put(known: Map<number, Touched>, of: number, one: Touched | undefined): void {
  if (one !== undefined && one.id > (known.get(of)?.id ?? 0)) known.set(of, one);
}

async function newestAbout(
  db: Database | Transaction,
  resource: number,
  action: AuditAction,
): Promise<Touched | undefined> {
  const [row] = await db
    .select({ id: audit.id, at: audit.createdAt })
    .from(audit)
    .where(isAbout([String(resource)], action))
    .orderBy(desc(audit.id))
    .limit(1);
  return row;
}

const NEVER: Touched = { id: 0, at: new Date(0) };

/** The newest that a host of these groups was told of the user; number 0 if there is none any more: the records of an old account are gone. */
export function newestOf({ users, groups: known }: LastTouched, user: number, groups: readonly number[]): Touched {
  const all = [users.get(user), ...groups.map((id) => known.get(id))];
  return all.reduce<Touched>((last, one) => (one !== undefined && one.id > last.id ? one : last), NEVER);
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
