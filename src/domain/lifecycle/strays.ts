/** Processes that belong to nobody: they have the uid of an account of ours that is gone, or that should have no access. */

import { and, eq, inArray, isNotNull, sql } from "drizzle-orm";
import type { Account, Drift, Stray } from "../../protocol/host.ts";
import { isDatabaseFull } from "../../shared/database-lost.ts";
import type { Database } from "../../store/client.ts";
import { isAnyOf } from "../../store/conditions.ts";
import { givenUids } from "../../store/schema-fleet.ts";
import { auditedClosing } from "../operation/audited.ts";
import { type Services, systemContext } from "../operation/context.ts";
import { type FormerAccount, formerAccount } from "./former-accounts.ts";

const CUT_SHORT =
  "processes of a uid that no account has were ended earlier, and that was cut short before it was recorded";

/**
 * Ends processes under uids that this service gave to accounts, if neither an account of the host nor an open one of `accounts` has the
 * uid; each uid is a record. A process that does not end is only reported, every time.
 */
export async function endStrays(
  services: Services,
  accounts: readonly Account[],
  checkOnly: boolean,
): Promise<readonly Drift[]> {
  const { autocommit, host } = services;
  const open = new Set(accounts.filter((account) => account.open).map(({ uid }) => uid));
  const orphans = (await host.orphanUids()).filter((uid) => !open.has(uid));
  const uids = await givenOf(autocommit, orphans);
  if (checkOnly) return (await host.endStrays(uids, true)).map(driftOf);
  const unrecorded = await notedUids(services);
  const found = uids.length === 0 ? [] : await noteAndEnd(services, uids);
  for (const stray of found) if (stray.ended) await record(services, stray.uid, stray.problem);
  const running = new Set(found.map(({ uid }) => uid));
  for (const uid of unrecorded) if (!running.has(uid)) await record(services, uid, CUT_SHORT);
  return found.map(driftOf);
}

/** The uids that were given to accounts; other processes are not ours to judge. */
async function givenOf(db: Database, uids: readonly number[]): Promise<readonly number[]> {
  const rows = await db
    .select({ uid: givenUids.uid })
    .from(givenUids)
    .where(isAnyOf(givenUids.uid, "bigint[]", sql`${`{${uids.join(",")}}`}`));
  return rows.map(({ uid }) => uid);
}

async function notedUids({ autocommit }: Services): Promise<readonly number[]> {
  const rows = await autocommit.select({ uid: givenUids.uid }).from(givenUids).where(isNotNull(givenUids.strayAt));
  return rows.map(({ uid }) => uid);
}

/** Notes only uids with processes to end: a container's processes may come and go with such a uid. */
async function noteAndEnd(services: Services, uids: readonly number[]): Promise<readonly Stray[]> {
  const { autocommit, clock, host, log } = services;
  const seen = (await host.endStrays(uids, true)).map(({ uid }) => uid);
  if (seen.length === 0) return [];
  try {
    await autocommit.update(givenUids).set({ strayAt: clock.now() }).where(inArray(givenUids.uid, seen));
  } catch (error) {
    // They end all the same.
    if (!isDatabaseFull(error)) throw error;
    log.error("processes of a uid that no account has cannot be noted, because the disk of the database is full", {});
  }
  return await host.endStrays(seen, false);
}

/** Once, even if another process ended it too. */
async function record(services: Services, uid: number, found: string): Promise<void> {
  const former = await formerAccount(services.autocommit, uid);
  const entry = { action: "reconcile.repair", ...subjectOf(former), detail: { kinds: "stray", uid } } as const;
  await auditedClosing(systemContext(services), entry, async (op) => {
    const mine = await op.tx
      .update(givenUids)
      .set({ strayAt: null })
      .where(and(eq(givenUids.uid, uid), isNotNull(givenUids.strayAt)))
      .returning({ uid: givenUids.uid });
    if (mine.length === 0) return op.record({ unneeded: true });
    op.record({ detail: former === undefined ? { found } : { username: former.username, found } });
  }).catch((error: unknown) => {
    services.log.error("processes of a uid that no account has were ended, which could not be recorded", {
      uid,
      error,
    });
  });
}

function subjectOf(former: FormerAccount | undefined) {
  return former === undefined ? {} : { resourceId: String(former.userId), subjectId: former.userId };
}

function driftOf({ problem, ended }: Stray): Drift {
  return { account: "", kind: "stray", problem, repaired: ended };
}
