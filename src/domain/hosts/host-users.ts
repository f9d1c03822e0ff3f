/** Who has an account on a host, how far the host is with it, and who is logged in there. */

import { and, desc, eq, inArray, sql } from "drizzle-orm";
import { offsetOf, type Page, type Paged } from "../../shared/product/page.ts";
import { ACCOUNT_PREFIX } from "../../shared/text/account-name.ts";
import type { Transaction } from "../../store/client.ts";
import { closings, LOCAL_HOST, users } from "../../store/schema.ts";
import { type HostRow, hostGroups, hostProblems } from "../../store/schema-fleet.ts";
import { refOf } from "../accounts/account.ts";
import { selectUsersWhere, type User } from "../accounts/find-user.ts";
import type { Context } from "../operation/context.ts";
import { requireHost } from "./find-host.ts";
import { PLACES } from "./placements.ts";
import { BLOCKING, type Fault, faultOf, lastTouched, newestOf, owedFault, type PlaceState } from "./user-hosts.ts";

/** A user with an account on the host. */
export interface HostUser {
  readonly user: User;
  /** The first group by which the user has the host; "" if it was given by name, or is taken away. */
  readonly group: string;
  readonly state: PlaceState;
  /** Since when it is so. */
  readonly since: Date;
  /** Whether the user no longer has the host, and the account there is still to be removed. */
  readonly removing: boolean;
  /** The problem; "" if there is none. */
  readonly problem: string;
  /** How many SSH logins are open there now; undefined where that is not known: only the service's own host is asked. */
  readonly sessions: number | undefined;
}

interface Place {
  readonly userId: number;
  readonly direct: boolean;
  readonly groups: readonly number[];
  /** Since when the account is to be removed; undefined where it is not. */
  readonly removedAt: Date | undefined;
}

/** One page of the users who have the host, or whose account it has still to remove, by name. Throws `not_found` without such a host. */
export async function pageHostUsers(context: Context, hostId: number, page: Page): Promise<Paged<HostUser>> {
  const now = context.clock.now();
  const { total, items } = await context.db.transaction(
    async (tx) => {
      const host = await requireHost(tx, hostId);
      const { total, places } = await placesOn(tx, host, page);
      return { total, items: await describe(tx, { host, places, now }) };
    },
    { isolationLevel: "repeatable read", accessMode: "read only" },
  );
  const isKnown = hostId === LOCAL_HOST && items.length > 0;
  // Outside of the transaction: the host takes its time.
  const counts = isKnown ? await context.host.countSessions(items.map(({ user }) => refOf(user))) : undefined;
  return { total, items: items.map((item) => ({ ...item, sessions: counts?.get(refOf(item.user).name) })) };
}

/** Rows of (user_id, removed_at): who has the host, and, without a place there, who is to be removed from it. */
function thereOf(hostId: number) {
  return sql`(
    select p.user_id, null::timestamptz as removed_at from ${PLACES} p where p.host_id = ${hostId}
    union all
    select a.user_id, max(r.removed_at) from removed_accounts r
      join users u on r.name = ${ACCOUNT_PREFIX}::text || u.username
      join accounts a on a.user_id = u.id and a.host_id = ${LOCAL_HOST} and a.uid = r.uid
      where ${hostId}::int = any(r.hosts) and r.record_id >= 0
        and not exists (select 1 from ${PLACES} p where p.user_id = u.id and p.host_id = ${hostId})
      group by a.user_id)`;
}

async function placesOn(
  tx: Transaction,
  { id }: HostRow,
  page: Page,
): Promise<{ readonly total: number; readonly places: readonly Place[] }> {
  const [counted] = await tx.execute<{ total: number }>(sql`select count(*)::int as total from ${thereOf(id)} t`);
  const total = counted?.total ?? 0;
  const offset = offsetOf(page);
  // A page far beyond the end has an offset that no database takes.
  if (offset >= total) return { total, places: [] };
  const rows = await tx.execute<{
    user_id: string;
    removed_at: string | null;
    direct: boolean;
    groups: string | null;
  }>(sql`
    select t.user_id, t.removed_at,
      exists (select 1 from grants g where g.user_id = t.user_id and g.host_id = ${id}) as direct,
      (select string_agg(g.group_id::text, ',' order by g.group_id) from grants g
        join host_group_members m on m.group_id = g.group_id and m.host_id = ${id} where g.user_id = t.user_id) as groups
    from ${thereOf(id)} t join users u on u.id = t.user_id order by u.username limit ${page.pageSize} offset ${offset}`);
  const places = rows.map(({ user_id, removed_at, direct, groups }) => ({
    userId: Number(user_id),
    direct,
    groups: (groups ?? "").split(",").filter(Boolean).map(Number),
    removedAt: removed_at === null ? undefined : new Date(removed_at),
  }));
  return { total, places };
}

type Described = Omit<HostUser, "sessions">;

interface Shown {
  readonly host: HostRow;
  readonly places: readonly Place[];
  readonly now: Date;
}

/** In the order of the places. */
async function describe(tx: Transaction, { host, places, now }: Shown): Promise<readonly Described[]> {
  if (places.length === 0) return [];
  const isLocal = host.id === LOCAL_HOST;
  const ids = places.map(({ userId }) => userId);
  const found = await selectUsersWhere(tx, inArray(users.id, ids));
  const byId = new Map(found.map((user) => [user.id, user]));
  const groupIds = [...new Set(places.flatMap(({ groups }) => groups))];
  const names = await groupNames(tx, groupIds);
  const problems = isLocal ? await owedOf(tx, ids) : await problemsOn(tx, host, found);
  const touched = await lastTouched(tx, ids, groupIds);
  return places.flatMap(({ userId, direct, groups, removedAt }): Described[] => {
    const user = byId.get(userId);
    if (user === undefined) return [];
    const removing = removedAt !== undefined;
    const group = direct || removing ? "" : (names.get(groups[0] ?? 0) ?? "");
    const fault = problems.get(userId) ?? (isLocal || removing ? undefined : faultOf(host, now));
    if (fault !== undefined) {
      return [{ user, group, removing, state: "problem", since: removedAt ?? fault.since, problem: fault.text }];
    }
    const last = newestOf(touched, userId, groups);
    const isApplied = isLocal || (!removing && host.appliedId >= last.id);
    const since = removedAt ?? (last.id === 0 ? user.createdAt : last.at);
    return [{ user, group, removing, state: isApplied ? "applied" : "pending", since, problem: "" }];
  });
}

async function groupNames(tx: Transaction, ids: readonly number[]): Promise<ReadonlyMap<number, string>> {
  if (ids.length === 0) return new Map();
  const wanted = inArray(hostGroups.id, [...ids]);
  const rows = await tx.select({ id: hostGroups.id, name: hostGroups.name }).from(hostGroups).where(wanted);
  return new Map(rows.map(({ id, name }) => [id, name]));
}

/** Access that is being taken away on the service's own host, by the user's id; of several, what began first. */
async function owedOf(tx: Transaction, ids: readonly number[]): Promise<ReadonlyMap<number, Fault>> {
  const rows = await tx
    .select()
    .from(closings)
    .where(inArray(closings.userId, [...ids]))
    .orderBy(desc(closings.id));
  return new Map(rows.map((owed) => [owed.userId, owedFault(owed)]));
}

/** Problems that keep the host from applying the stored state of these users, by the user's id. */
async function problemsOn(
  tx: Transaction,
  { id }: HostRow,
  them: readonly User[],
): Promise<ReadonlyMap<number, Fault>> {
  const ids = new Map(them.map((user) => [refOf(user).name, user.id]));
  const { hostId, account, kind, text, since } = hostProblems;
  const rows = await tx
    .select({ account, text, since })
    .from(hostProblems)
    .where(and(eq(hostId, id), inArray(account, [...ids.keys()]), inArray(kind, [...BLOCKING])))
    .orderBy(desc(hostProblems.id));
  return new Map(rows.map((problem) => [ids.get(problem.account) ?? 0, problem]));
}
