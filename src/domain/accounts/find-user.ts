/** Finds users, and takes the row lock that every change to a user or their keys begins with. */

import { and, asc, eq, getTableColumns, gt, inArray, lte, or, type SQL, sql } from "drizzle-orm";
import type { HostProfile } from "../../protocol/profile.ts";
import { UamError } from "../../shared/errors.ts";
import { type Database, pipelined, preparedOnce, type Transaction } from "../../store/client.ts";
import { accounts, LOCAL_HOST, type UserRow, users } from "../../store/schema.ts";
import { PROFILES_HERE } from "./profiles.ts";

/** A user with the uid of their accounts, which is the same on every host. */
export type User = UserRow & {
  readonly uid: number;
  /** Whether they should have an account on the service's own host. */
  readonly local: boolean;
  /** The hours of the groups of that host, one a line; null for always. They count there only (`atOwnHost`). */
  readonly ownHostHours: string | null;
  /** What binds them there, their own profile first; null where nobody has any, because there is none. */
  readonly profiles: readonly HostProfile[] | null;
};

/** By the user's own grants: quick for few users. */
const local = sql<boolean>`exists (select 1 from grants g left join host_group_members m on m.group_id = g.group_id
  where g.user_id = ${users.id} and (g.host_id = ${sql.raw(String(LOCAL_HOST))} or m.host_id = ${sql.raw(String(LOCAL_HOST))}))`;
/** The same for all users, and read once in a statement. */
const ownHostHours = sql<string | null>`(select string_agg(hg.hours, e'\\n' order by hg.id) from host_groups hg
  join host_group_members hm on hm.group_id = hg.id where hm.host_id = ${sql.raw(String(LOCAL_HOST))})`;
/** The columns of a user, from `users` joined with `accounts` on `ownAccount`. */
export const userColumns = {
  ...getTableColumns(users),
  ...{ uid: accounts.uid, local, ownHostHours, profiles: PROFILES_HERE },
};
/** By the grants of all users, which are read once. */
const localOfAll = sql<boolean>`${users.id} in (
  select g.user_id from grants g where g.host_id = ${LOCAL_HOST}
  union all select g.user_id from grants g join host_group_members m on m.group_id = g.group_id where m.host_id = ${LOCAL_HOST})`;
/** The account that a user has, or would have, on the service's own host: there is one for each. */
export const ownAccount = and(eq(accounts.userId, users.id), eq(accounts.hostId, LOCAL_HOST));

/** The user, or undefined. */
export async function findUser(db: Database | Transaction, id: number): Promise<User | undefined> {
  const [user] = await selectUser(db).execute({ id });
  return user;
}

const selectUser = preparedOnce((db) =>
  db
    .select(userColumns)
    .from(users)
    .innerJoin(accounts, ownAccount)
    .where(eq(users.id, sql.placeholder("id")))
    .prepare("find_user"),
);

/** The user of that name, or undefined. */
export async function findUserByName(db: Database | Transaction, username: string): Promise<User | undefined> {
  const [user] = await db
    .select(userColumns)
    .from(users)
    .innerJoin(accounts, ownAccount)
    .where(eq(users.username, username))
    .prepare("find_user_by_name")
    .execute();
  return user;
}

/** Every user, in the order in which they were created. */
export async function selectUsers(db: Database): Promise<readonly User[]> {
  const all = db.select({ ...userColumns, local: localOfAll }).from(users);
  return await all.innerJoin(accounts, ownAccount).orderBy(asc(users.id));
}

/** The users for whom the condition is true, in the order in which they were created. */
export async function selectUsersWhere(db: Database | Transaction, condition: SQL): Promise<readonly User[]> {
  return await db
    .select(userColumns)
    .from(users)
    .innerJoin(accounts, ownAccount)
    .where(condition)
    .orderBy(asc(users.id));
}

/** The user; throws `not_found` if there is none. */
export async function requireUser(db: Database | Transaction, id: number): Promise<User> {
  return requireFound(await findUser(db, id), id);
}

/**
 * Takes the user's row lock until the transaction ends, so that changes to one user and their keys happen one after another,
 * on the host too. Throws `not_found` if there is no such user.
 */
export async function lockUser(tx: Transaction, id: number): Promise<User> {
  return requireFound(await lockUserIfStored(tx, id), id);
}

/** The same; undefined if there is no such user. */
export async function lockUserIfStored(tx: Transaction, id: number): Promise<User | undefined> {
  // Read the user after taking the lock: a statement that waited for the lock sees grants from before the wait.
  const [, user] = await pipelined(lockRow(tx).execute({ id }), findUser(tx, id));
  return user;
}

/** The hours of the groups of the service's own host, as a user has them. */
export async function readOwnHostHours(db: Database | Transaction): Promise<string | null> {
  const [row] = await db.select({ hours: ownHostHours }).from(sql`(select) one`).prepare("own_host_hours").execute();
  return row?.hours ?? null;
}

/** Those of the users whose rows nobody has locked; does not wait. Users who are not stored count as free. */
export async function findUnlocked(db: Database, ids: readonly number[]): Promise<ReadonlySet<number>> {
  if (ids.length === 0) return new Set();
  const asked = inArray(users.id, [...ids]);
  const stored = await db.select({ id: users.id }).from(users).where(asked);
  const free = await db.select({ id: users.id }).from(users).where(asked).for("key share", { skipLocked: true });
  const locked = new Set(stored.map(({ id }) => id));
  for (const { id } of free) locked.delete(id);
  return new Set(ids.filter((id) => !locked.has(id)));
}

/** The row lock alone. A later statement reads state from after the lock was taken. */
export const lockRow = preparedOnce((tx) =>
  tx
    .select({ id: users.id })
    .from(users)
    .where(eq(users.id, sql.placeholder("id")))
    .for("update")
    .prepare("lock_user"),
);

/** Whether the user is past the expiry time, even before the expiry job has run. */
export function isExpired(user: Pick<UserRow, "status" | "expireAt">, now: Date): boolean {
  return user.status === "expired" || user.expireAt <= now;
}

/** The status to show: a user past the expiry time is expired even before the expiry job has run. */
export function statusAt(user: UserRow, now: Date): UserRow["status"] {
  return isExpired(user, now) ? "expired" : user.status;
}

/** The condition for users whose `statusAt` is that status. */
export function hasStatusAt(status: UserRow["status"], now: Date | SQL): SQL | undefined {
  return status === "expired"
    ? or(eq(users.status, "expired"), lte(users.expireAt, now))
    : and(eq(users.status, status), gt(users.expireAt, now));
}

/** Returns the found value for the user with that id; throws `not_found` if there is none. */
export function requireFound<Found>(found: Found | undefined, id: number): Found {
  if (found !== undefined) return found;
  const sentence = id > 0 ? `There is no user with the id ${id}` : "There is no such user";
  throw new UamError("not_found", sentence, { reason: "user.missing" });
}
