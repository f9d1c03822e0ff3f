/** User ids for accounts: from a counter that only rises, so that nobody inherits another's files, jobs or processes. */

import { sql } from "drizzle-orm";
import { UamError } from "../../shared/errors.ts";
import { faultPoint } from "../../shared/work/fault-point.ts";
import type { Database } from "../../store/client.ts";
import { givenUids, uidCounter } from "../../store/schema-fleet.ts";
import type { Context } from "../operation/context.ts";

/** Every uid that an account was ever given, and whether a user still has it. */
export async function givenUidsOf(
  db: Database,
): Promise<readonly { readonly uid: number; readonly isStored: boolean }[]> {
  // Qualified with its table: a bare column would be the one of `a`.
  const isStored = sql<boolean>`exists (select from accounts a where a.uid = ${givenUids}.uid)`;
  return await db.select({ uid: givenUids.uid, isStored }).from(givenUids).orderBy(givenUids.uid);
}

/**
 * A uid that this service never gave to an account and that no account on the host has. Its use is committed on its own before it is
 * returned: a create that fails or crashes uses its uid up. Throws `internal` when the configured range is used up.
 */
export async function allocateUid(context: Context): Promise<number> {
  const [uid] = await allocateUids(context, 1);
  if (uid === undefined) throw new Error("no uid was allocated");
  return uid;
}

/** As many of them as are asked for, with a few statements for all. */
export async function allocateUids(context: Context, count: number): Promise<readonly number[]> {
  const uids: number[] = [];
  while (uids.length < count) {
    const taken = await takeUids(context, count - uids.length);
    faultPoint("account: uid taken, not used");
    for (const uid of taken) if (!(await context.host.uidTaken(uid))) uids.push(uid);
  }
  const rows = uids.map((uid) => ({ uid }));
  await context.autocommit.insert(givenUids).values(rows).onConflictDoNothing();
  return uids;
}

/** The next numbers of the counter. */
async function takeUids({ autocommit, policy }: Context, count: number): Promise<readonly number[]> {
  const { first, last } = policy.uidRange;
  const [row] = await autocommit
    .insert(uidCounter)
    .values({ one: 1, last: first + count - 1 })
    .onConflictDoUpdate({
      target: uidCounter.one,
      set: { last: sql`greatest(${uidCounter.last} + ${count}, excluded.last)` },
    })
    .returning({ highest: uidCounter.last });
  if (row === undefined) throw new Error("insert returned no row");
  if (row.highest > last) throw new UamError("internal", `UAM_UID_RANGE (${first}-${last}) is used up; extend it`);
  return Array.from({ length: count }, (_, at) => row.highest - count + 1 + at);
}
