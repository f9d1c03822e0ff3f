/** User ids for accounts: from a counter that only rises, so that nobody inherits another's files, jobs or processes. */

import { sql } from "drizzle-orm";
import { UamError } from "../../shared/errors.ts";
import { faultPoint } from "../../shared/work/fault-point.ts";
import type { Database } from "../../store/client.ts";
import { givenUids, uidCounter } from "../../store/schema.ts";
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
export async function allocateUid({ autocommit, host, policy }: Context): Promise<number> {
  for (;;) {
    const [row] = await autocommit
      .insert(uidCounter)
      .values({ one: 1, last: policy.uidRange.first })
      .onConflictDoUpdate({
        target: uidCounter.one,
        set: { last: sql`greatest(${uidCounter.last} + 1, excluded.last)` },
      })
      .returning({ uid: uidCounter.last });
    if (row === undefined) throw new Error("insert returned no row");
    const { uid } = row;
    if (uid > policy.uidRange.last) {
      throw new UamError(
        "internal",
        `UAM_UID_RANGE (${policy.uidRange.first}-${policy.uidRange.last}) is used up; extend it`,
      );
    }
    faultPoint("account: uid taken, not used");
    if (await host.uidTaken(uid)) continue;
    await autocommit.insert(givenUids).values({ uid }).onConflictDoNothing();
    return uid;
  }
}
