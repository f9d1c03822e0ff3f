/** The wanted accounts of hosts, read from the stored state. */

import { asc, type SQL, sql } from "drizzle-orm";
import type { AccountState } from "../../protocol/fleet.ts";
import type { AccountRef } from "../../protocol/host.ts";
import { type Allowed, readAllowed } from "../../shared/hours/allowed.ts";
import { shift } from "../../shared/time/clock.ts";
import { formatTimestamp } from "../../shared/time/timestamp.ts";
import type { Database, Transaction } from "../../store/client.ts";
import { closings, type KeyRow, sshKeys } from "../../store/schema.ts";
import { grants } from "../../store/schema-fleet.ts";
import { findZone } from "../accounts/access-state.ts";
import { timedAccount } from "../accounts/account.ts";
import { HOURS_AHEAD } from "../accounts/fewer-hours.ts";
import { selectUsersWhere, type User } from "../accounts/find-user.ts";
import { isProven } from "../accounts/profiles.ts";
import { PLACES } from "../hosts/placements.ts";
import type { Services } from "../operation/context.ts";
import { hoursState } from "./hours-state.ts";

/** An account, and its user. */
export interface UserState {
  readonly user: number;
  readonly state: ToldAccount;
}

/** An account as no host alone is told of it: with the user's own profile, and the groups by which they may come to a host. */
export type ToldAccount = AccountState & {
  readonly groups?: readonly number[];
  /** Ids of its keys without proof of their make, where a profile may ask for it. */
  readonly unproven?: readonly number[];
  /** Where access on request is allowed on some hosts. */
  readonly allowed?: Allowed;
};

const SNAPSHOT = { isolationLevel: "repeatable read", accessMode: "read only" } as const;

/** Those who have an account on the host. */
export async function readUsersOf(db: Database, host: number): Promise<readonly number[]> {
  const rows = await db.execute<{ user_id: string }>(
    sql`select p.user_id from ${PLACES} p where p.host_id = ${host} order by p.user_id`,
  );
  return rows.map(({ user_id }) => Number(user_id));
}

/** The accounts of these users, on any host; deleted users have none. */
export async function readUserStates(
  { db, clock }: Pick<Services, "db" | "clock">,
  users: readonly number[],
): Promise<readonly UserState[]> {
  if (users.length === 0) return [];
  return await db.transaction(
    (tx) => readStates(tx, clock.now(), sql`(select unnest(${`{${users.join(",")}}`}::bigint[]))`),
    SNAPSHOT,
  );
}

/** The accounts that the host has to remove because of a record after `since`, or of one that is not known yet. */
export async function readRemoved(
  db: Database | Transaction,
  host: number,
  since: number,
): Promise<readonly AccountRef[]> {
  const rows = await db.execute<{ name: string; uid: number }>(sql`
    select name, uid from removed_accounts where ${host}::int = any(hosts) and (record_id > ${since} or record_id = 0) order by id`);
  return rows.map(({ name, uid }) => ({ name, uid: Number(uid) }));
}

/** Shut accounts come first: an agent works from the beginning. */
export function closedFirst(accounts: readonly ToldAccount[]): readonly ToldAccount[] {
  return [...accounts].sort((a, b) => Number(a.open) - Number(b.open));
}

async function readStates(tx: Transaction, now: Date, ids: SQL): Promise<readonly UserState[]> {
  const until = shift(now, HOURS_AHEAD);
  const rows = await selectUsersWhere(tx, sql`users.id in ${ids}`);
  const keys = await tx
    .select()
    .from(sshKeys)
    .where(sql`status = 'active' and user_id in ${ids}`)
    .orderBy(asc(sshKeys.id));
  const owed = await tx.select().from(closings).where(sql`user_id in ${ids}`);
  const given = await tx
    .select({ userId: grants.userId, groupId: grants.groupId })
    .from(grants)
    .where(sql`user_id in ${ids} and group_id in (select id from host_groups where profile is not null)`);
  const groupsByUser = Map.groupBy(given, ({ userId }) => userId);
  const keysByUser = Map.groupBy(keys, (key) => key.userId);
  const owedByUser = Map.groupBy(owed, (closing) => closing.userId);
  return rows.map((user) => {
    const stored = { keys: keysByUser.get(user.id) ?? [], owed: owedByUser.get(user.id) ?? [] };
    // What binds them on the service's own host binds them nowhere else.
    const { expireAt, windows, profile: _, ...account } = timedAccount({ now, until }, user, stored);
    const bound = user.profile === null ? {} : { profile: user.profile };
    const groups = (groupsByUser.get(user.id) ?? []).flatMap(({ groupId }) => groupId ?? []);
    const state = {
      ...account,
      ...bound,
      ...(groups.length === 0 ? {} : { groups }),
      ...(groups.length === 0 && user.profile === null ? {} : unprovenOf(stored.keys)),
      ...allowedTo(user),
      ...{ expire_at: formatTimestamp(expireAt), ...hoursEndOf(user) },
    };
    return {
      user: user.id,
      state: windows === undefined ? state : { ...state, hours: hoursState(windows, until, findZone(user)) },
    };
  });
}

function unprovenOf(keys: readonly KeyRow[]): Pick<ToldAccount, "unproven"> {
  const unproven = keys.filter((key) => !isProven(key)).map(({ id }) => id);
  return unproven.length === 0 ? {} : { unproven };
}

/** Whose access on request is allowed on some hosts only. */
function allowedTo({ requestRule, allowedUntil, allowedHosts }: User): Pick<ToldAccount, "allowed"> {
  if (requestRule === null || allowedUntil === null || allowedHosts === null) return {};
  return { allowed: readAllowed(allowedUntil, allowedHosts) };
}

/** Where access is on request, everything ends with what was allowed. */
function hoursEndOf({ hoursEnd, requestRule }: User): Pick<AccountState, "hours_end"> {
  return hoursEnd === "logins" && requestRule === null ? { hours_end: hoursEnd } : {};
}
