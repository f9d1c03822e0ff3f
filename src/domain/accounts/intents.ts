/** Accounts that are being created: finds and removes accounts that a crash between host and commit left behind. */

import { and, eq, sql } from "drizzle-orm";
import type { AccountRef } from "../../protocol/host.ts";
import { faultPoint } from "../../shared/work/fault-point.ts";
import { LOCKS } from "../../store/advisory-locks.ts";
import type { Database, Transaction } from "../../store/client.ts";
import { accounts, LOCAL_HOST } from "../../store/schema.ts";
import { accountIntents } from "../../store/schema-fleet.ts";
import type { Operation, Services } from "../operation/context.ts";
import { requireClosed } from "./access.ts";

/**
 * Notes, committed at once, that the account is about to be created; until the operation ends nothing treats it as a leftover.
 */
export async function recordIntent({ tx, context }: Operation, account: AccountRef): Promise<void> {
  await tx.execute(sql`select pg_advisory_xact_lock(${LOCKS.accountIntent}, ${account.uid})`);
  await context.autocommit.insert(accountIntents).values({ uid: account.uid, name: account.name });
}

/** Call it in the transaction that stores the user, or once the account is gone again. */
export async function forgetIntent(db: Database | Transaction, uid: number): Promise<void> {
  await db.delete(accountIntents).where(eq(accountIntents.uid, uid));
}

/**
 * Removes the accounts that a crash left without a user. Leaves an account alone that is being created at this moment,
 * here or on another replica; if the host refuses to remove one, it stays noted and the next call retries it.
 */
export async function removeUnfinishedAccounts({ db, host, log }: Services): Promise<void> {
  for (const { uid, name } of await db.select().from(accountIntents)) {
    try {
      await db.transaction(async (tx) => {
        const [lock] = await tx.execute<{ free: boolean }>(
          sql`select pg_try_advisory_xact_lock(${LOCKS.accountIntent}, ${uid}) as free`,
        );
        if (lock?.free !== true) return;
        const [noted] = await tx.select().from(accountIntents).where(eq(accountIntents.uid, uid));
        if (noted === undefined) return;
        const [user] = await tx
          .select({ id: accounts.userId })
          .from(accounts)
          .where(and(eq(accounts.uid, uid), eq(accounts.hostId, LOCAL_HOST)));
        if (user === undefined) requireClosed(await host.removeAccount({ name, uid }));
        faultPoint("account: remains removed, intent still noted");
        await forgetIntent(tx, uid);
        log.warn("an account that a crash had left half created was removed", { account: name, uid });
      });
    } catch (error) {
      log.error("an account that a crash left half created cannot be removed", { account: name, uid, error });
    }
  }
}
