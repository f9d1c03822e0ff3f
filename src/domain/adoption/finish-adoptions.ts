/** Adoptions that were cut short: the account is the user's who is stored, or what it was before. */

import { and, eq, sql } from "drizzle-orm";
import { publicMessage } from "../../shared/errors.ts";
import { LOCKS } from "../../store/advisory-locks.ts";
import { type Transaction, transactionToItsEnd } from "../../store/client.ts";
import { accounts, LOCAL_HOST } from "../../store/schema.ts";
import type { Services } from "../operation/context.ts";

/** No uid: one adoption at a time. */
const ANY = 0;

/** Waits for any other adoption, and keeps others waiting until the transaction ends. */
export async function lockAdoptions(tx: Transaction): Promise<void> {
  await tx.execute(sql`select pg_advisory_xact_lock(${LOCKS.accountIntent}, ${ANY})`);
}

/** Finishes or takes back what a crash or a failure left, unless an adoption is under way. Never throws: what fails is tried again. */
export async function finishAdoptions(services: Services): Promise<void> {
  const { adopter, log } = services;
  if (adopter === undefined) return;
  try {
    for (const { uid } of adopter.adoptions()) {
      await settleAdoption(services, uid, "unless busy").catch((error: unknown) => {
        log.error("an adoption that was cut short could not be finished", {
          uid,
          problem: publicMessage(error),
          error,
        });
      });
    }
  } catch (error) {
    log.error("what is written down of adopted accounts cannot be read", { error });
  }
}

/**
 * Holds what is written down of the account against what is stored: a stored user keeps it; without one, an account that was being taken, or
 * given back, becomes what it was, and one that was a user's is gone with the user.
 */
export async function settleAdoption(
  { db, adopter, log }: Services,
  uid: number,
  when: "unless busy" | "at once" = "at once",
): Promise<void> {
  if (adopter === undefined) return;
  await transactionToItsEnd(db, async (tx) => {
    if (when === "at once") await lockAdoptions(tx);
    else {
      const locked = sql`select pg_try_advisory_xact_lock(${LOCKS.accountIntent}, ${ANY}) as free`;
      const [lock] = await tx.execute<{ free: boolean }>(locked);
      if (lock?.free !== true) return;
    }
    const adoption = adopter.adoption(uid);
    if (adoption === undefined) return;
    const isOwn = and(eq(accounts.uid, uid), eq(accounts.hostId, LOCAL_HOST));
    const [stored] = await tx.select({ userId: accounts.userId }).from(accounts).where(isOwn);
    if (stored !== undefined) adopter.mark(uid, "held");
    else if (adoption.state === "held") adopter.forget(uid);
    else {
      await adopter.giveBack(uid);
      log.warn("an account was given back to what it was", { account: adoption.former, uid });
    }
  });
}
