/** Which remote hosts each user has an account on, in memory: a change is then matched with the hosts that it concerns without asking again. */

import { sql } from "drizzle-orm";
import type { Database } from "../../store/client.ts";
import { LOCAL_HOST } from "../../store/schema.ts";

/** The numbers of the hosts of some users; many users share one. */
type HostSet = ReadonlySet<number>;

export interface Membership {
  /** The remote hosts of the user. */
  hostsOf(user: number): HostSet;
  /** The remote hosts of the group. */
  membersOf(group: number): HostSet;
  /** Reads everything. */
  load(): Promise<void>;
  /** Reads these users' grants again; a deleted user has none. */
  reloadUsers(users: readonly number[]): Promise<void>;
  /** Reads the hosts and their groups again. */
  reloadHosts(): Promise<void>;
}

const NONE: HostSet = new Set();

/** A user's grants; users with the same grants share one object, so that a hundred thousand cost little. */
interface Given {
  readonly groups: readonly number[];
  readonly hosts: readonly number[];
  expanded: HostSet | undefined;
}

export function createMembership(db: Database): Membership {
  const users = new Map<number, Given>();
  const shared = new Map<string, Given>();
  let groups = new Map<number, Set<number>>();
  let remote: HostSet = new Set();

  function given(text: string): Given {
    const known = shared.get(text);
    if (known !== undefined) return known;
    const numbers = (kind: string) =>
      text.split(",").flatMap((one) => (one.startsWith(kind) ? [Number(one.slice(1))] : []));
    const made = { groups: numbers("g"), hosts: numbers("h"), expanded: undefined };
    shared.set(text, made);
    return made;
  }

  function expand({ groups: ids, hosts }: Given): HostSet {
    const all = new Set(hosts.filter((id) => remote.has(id)));
    for (const id of ids) for (const host of groups.get(id) ?? NONE) all.add(host);
    return all;
  }

  async function readUsers(only: readonly number[] | undefined): Promise<void> {
    const where = only === undefined ? sql`` : sql`where user_id = any(${`{${only.join(",")}}`}::bigint[])`;
    const rows = await db.execute<{ user_id: string; given: string }>(sql`
      select user_id, string_agg(case when group_id is null then 'h' || host_id else 'g' || group_id end, ',' order by group_id, host_id) as given
      from grants ${where} group by user_id`);
    for (const user of only ?? []) users.delete(user);
    if (only === undefined) users.clear();
    for (const row of rows) users.set(Number(row.user_id), given(row.given));
  }

  async function reloadHosts(): Promise<void> {
    const rows = await db.execute<{ id: number; group_id: string | null }>(
      sql`select h.id, m.group_id from hosts h left join host_group_members m on m.host_id = h.id where h.id <> ${LOCAL_HOST}`,
    );
    remote = new Set(rows.map(({ id }) => Number(id)));
    groups = new Map();
    for (const { id, group_id } of rows) {
      if (group_id === null) continue;
      const members = groups.get(Number(group_id)) ?? new Set();
      members.add(Number(id));
      groups.set(Number(group_id), members);
    }
    for (const one of shared.values()) one.expanded = undefined;
  }

  return {
    hostsOf: (user) => {
      const one = users.get(user);
      if (one === undefined) return NONE;
      one.expanded ??= expand(one);
      return one.expanded;
    },
    membersOf: (group) => groups.get(group) ?? NONE,
    load: async () => {
      await reloadHosts();
      await readUsers(undefined);
    },
    reloadUsers: (ids) => (ids.length === 0 ? Promise.resolve() : readUsers(ids)),
    reloadHosts,
  };
}
