/** The account that a host is told to have for a user, with the stored keys. */

import { and, asc, eq, getTableColumns, sql } from "drizzle-orm";
import type { Account, AccountRef } from "../../protocol/host.ts";
import type { Span } from "../../shared/hours/windows.ts";
import { allowedBy, commonNetworks, type Networks } from "../../shared/net/networks.ts";
import { hostAccountOf } from "../../shared/text/account-name.ts";
import { gathered } from "../../shared/work/batch-loader.ts";
import { type Database, oncePerDatabase, pipelined, preparedOnce, type Transaction } from "../../store/client.ts";
import { isAnyOf } from "../../store/conditions.ts";
import { jsonRows } from "../../store/json-rows.ts";
import { closings, type KeyRow, sshKeys } from "../../store/schema.ts";
import { type Access, accessAt, atOwnHost, openingsBetween, openUntil } from "./access-state.ts";
import { type Closing, closingsOf, isShutting, keepsShut } from "./closings.ts";
import { selectUsers, type User } from "./find-user.ts";
import { profileHere, withProof } from "./profiles.ts";

/** Which account is the user's. */
export function refOf(user: Pick<User, "username" | "uid">): AccountRef {
  return { name: hostAccountOf(user.username), uid: user.uid };
}

/** The fields of a closing that affect the account. */
export type Taking = Pick<Closing, "kind" | "keyId"> & {
  readonly networks: readonly string[];
  readonly expireAt?: Date | null;
};

/** The account as it should be now on the service's own host. Access that is being taken away, or will be by `next`, counts as gone. */
export async function accountOf(
  tx: Transaction | Database,
  user: User,
  now: Date,
  next: readonly Taking[] = [],
): Promise<Account> {
  const [keys, owed] = await pipelined(activeKeys(tx, user.id), closingsOf(tx, user.id));
  return accountAt(now, user, { keys, owed: [...owed, ...next] });
}

/** The same from keys and closings that the caller has already read. */
export function accountAt(
  now: Date,
  stored: User,
  { keys: all, owed }: { readonly keys: readonly KeyRow[]; readonly owed: readonly Taking[] },
): Account {
  const user = atOwnHost({ ...stored, expireAt: endOf(stored, owed) });
  const keys = withProof(profileHere(user), all);
  const access = accessAt(user, now);
  if (access.access === "closed" || owed.some(isShutting)) return shutAccountOf(user);
  if (profileHere(user) === "incomparable") return { ...shutAccountOf(user), keepsJobs: true };
  if (access.access !== "open" && !keepsSessions(user, access)) return { ...shutAccountOf(user), keepsJobs: true };
  if (access.access !== "open") return withoutLogins(withoutTaken(user, { keys, owed }));
  return withoutTaken({ ...user, expireAt: openUntil(user, access) }, { keys, owed });
}

/** Whether only the logins of a user without access end with the hours: what they have open stays. */
export function keepsSessions({ hoursEnd }: Pick<User, "hoursEnd">, { access }: Access): boolean {
  return hoursEnd === "logins" && access === "outside_hours";
}

/** Open, and none of its keys is in a file. */
function withoutLogins(account: Account): Account {
  return { ...account, keys: account.keys.map((key) => ({ ...key, networks: [] })) };
}

/** An account for a host that keeps start and hours by itself. */
export interface TimedAccount extends Account {
  /** When it may be open between now and `until`; undefined for an account that is shut, or open until its end. */
  readonly windows: readonly Span[] | undefined;
}

/**
 * The same for further hosts, between two moments: open, with its keys, if any window may open it without a change. What is left of shutting
 * it on the service's own host at the end of a window is not theirs.
 */
export function timedAccount(
  { now, until }: { readonly now: Date; readonly until: Date },
  stored: User,
  { keys, owed }: { readonly keys: readonly KeyRow[]; readonly owed: readonly (Taking & Pick<Closing, "action">)[] },
): TimedAccount {
  const user = { ...stored, expireAt: endOf(stored, owed) };
  const { access, changesAt } = accessAt(user, now);
  if (access === "closed" || owed.some(keepsShut)) return { ...shutAccountOf(user), windows: undefined };
  const account = withoutTaken(user, { keys, owed });
  const isAlways = access === "open" && changesAt === null;
  return { ...account, windows: isAlways ? undefined : openingsBetween(user, now, until) };
}

/** Open, with the keys that are not being revoked. */
function withoutTaken(
  user: User,
  { keys, owed }: { readonly keys: readonly KeyRow[]; readonly owed: readonly Taking[] },
): Account {
  const dead = new Set(owed.filter(({ kind }) => kind === "revoke").map(({ keyId }) => keyId));
  const alive = keys.filter(({ id }) => !dead.has(id));
  return openAccountOf(user, alive, owed);
}

/** The user's end, or an earlier one that is being brought. */
function endOf({ expireAt }: User, owed: readonly Taking[]): Date {
  return owed.reduce((end, closing) => (closing.expireAt && closing.expireAt < end ? closing.expireAt : end), expireAt);
}

/** The networks from which a key may be used: the intersection of the user's networks and its own. */
export function networksOf(
  user: Pick<User, "sourceNetworks">,
  key: { readonly sourceNetworks: readonly string[] },
): Networks {
  return commonNetworks(allowedBy(user.sourceNetworks), allowedBy(key.sourceNetworks));
}

/** The account of a user with access, with these keys; networks that are being narrowed count as narrowed. */
export function openAccountOf(user: User, keys: readonly KeyRow[], owed: readonly Taking[] = []): Account {
  const narrowings = owed.filter(({ kind }) => kind === "narrow");
  return {
    ...refOf(user),
    ...boundBy(user),
    expireAt: user.expireAt,
    open: true,
    keys: keys.map((key) => {
      const { id, fingerprint } = key;
      const [type = "", base64 = ""] = key.publicKey.split(" ");
      const networks = narrowings
        .filter(({ keyId }) => keyId === 0 || keyId === id)
        .reduce((left, narrowing) => commonNetworks(left, allowedBy(narrowing.networks)), networksOf(user, key));
      return { id, type, base64, fingerprint, ...(networks === undefined ? {} : { networks }) };
    }),
  };
}

/** The account of a user who has no access. */
export function shutAccountOf(user: User): Account {
  return { ...refOf(user), ...boundBy(user), expireAt: user.expireAt, open: false, keys: [] };
}

/** Where none of them is the narrowest, the account is shut. */
function boundBy(user: Pick<User, "profiles">): Pick<Account, "profile"> {
  const here = profileHere(user);
  const profile = here === "incomparable" ? user.profiles?.[0]?.name : here?.name;
  return profile === undefined ? {} : { profile };
}

/** The wanted account of every user on the service's own host, for comparison with the host. */
export async function allAccounts(db: Database, now: Date): Promise<readonly Account[]> {
  const rows = (await selectUsers(db)).filter(({ local }) => local);
  const keys = await db.select().from(sshKeys).where(eq(sshKeys.status, "active")).orderBy(asc(sshKeys.id));
  const owed = await db.select().from(closings);
  const keysByUser = Map.groupBy(keys, (key) => key.userId);
  const owedByUser = Map.groupBy(owed, (closing) => closing.userId);
  return rows.map((user) =>
    accountAt(now, user, { keys: keysByUser.get(user.id) ?? [], owed: owedByUser.get(user.id) ?? [] }),
  );
}

const selectActiveKeys = preparedOnce((db) =>
  db
    .select()
    .from(sshKeys)
    .where(and(eq(sshKeys.userId, sql.placeholder("userId")), eq(sshKeys.status, "active")))
    .orderBy(asc(sshKeys.id))
    .prepare("active_keys"),
);

/** The same as activeKeys(), with one statement for all callers of a moment. */
export const activeKeysOf = oncePerDatabase((db) => {
  const isWanted = isAnyOf(sshKeys.userId, "bigint[]", sql`${sql.placeholder("ids")}`);
  const active = sql`${sshKeys} where ${and(isWanted, eq(sshKeys.status, "active"))}`;
  const keys = jsonRows(getTableColumns(sshKeys), active, [asc(sshKeys.id)]);
  const query = db.select({ keys }).from(sql`(select) one`).prepare("active_keys_of");
  return gathered(
    async (ids: readonly number[]) => (await query.execute({ ids: `{${ids.join(",")}}` }))[0]?.keys ?? [],
    ({ userId }) => userId,
  );
});

/** The user's active keys, oldest first. */
export async function activeKeys(db: Transaction | Database, userId: number): Promise<KeyRow[]> {
  return await selectActiveKeys(db).execute({ userId });
}
