/**
 * The first step of every change to a user's keys: takes the user's row lock, and reads everything stored about the
 * keys under it.
 */

import { and, asc, eq, getTableColumns, sql } from "drizzle-orm";
import { pipelined, preparedOnce } from "../../store/client.ts";
import { jsonRows } from "../../store/json-rows.ts";
import { accounts, closings, type KeyRow, sshKeys, users } from "../../store/schema.ts";
import type { Closing } from "../accounts/closings.ts";
import { lockRow, ownAccount, requireFound, type User, userColumns } from "../accounts/find-user.ts";
import type { Operation } from "../operation/context.ts";

/** A user under the row lock, with the active keys and the open closings, each oldest first. */
export interface LockedUser {
  readonly user: User;
  readonly keys: readonly KeyRow[];
  readonly owed: readonly Closing[];
}

/** Takes the user's row lock, and reads the stored keys under it. Throws `not_found` without such a user. */
export async function lockUserAndKeys(op: Operation, userId: number): Promise<LockedUser> {
  // The lock in a statement of its own, as in lockUser(), and the rest in one: each costs driver and database as much as its rows.
  const [, [found]] = await pipelined(
    lockRow(op.tx).execute({ id: userId }),
    selectWithKeys(op.tx).execute({ id: userId }),
  );
  const { keys, owed, ...user } = requireFound(found, userId);
  op.about({ detail: { username: user.username } });
  return { user, keys, owed };
}

const selectWithKeys = preparedOnce((tx) => {
  const active = and(eq(sshKeys.userId, users.id), eq(sshKeys.status, "active"));
  const keys = jsonRows(getTableColumns(sshKeys), sql`${sshKeys} where ${active}`, [asc(sshKeys.id)]);
  const own = eq(closings.userId, users.id);
  const owed = jsonRows(getTableColumns(closings), sql`${closings} where ${own}`, [asc(closings.id)]);
  return tx
    .select({ ...userColumns, keys, owed })
    .from(users)
    .innerJoin(accounts, ownAccount)
    .where(eq(users.id, sql.placeholder("id")))
    .prepare("user_with_keys");
});
