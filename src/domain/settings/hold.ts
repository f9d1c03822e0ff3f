/** The hold that delays a shortened period: the longer value stays in force for a day. */

import { eq, sql } from "drizzle-orm";
import type { SettingKey } from "../../shared/product/setting-keys.ts";
import { DAY, shift } from "../../shared/time/clock.ts";
import { LOCKS } from "../../store/advisory-locks.ts";
import type { Database, Transaction } from "../../store/client.ts";
import { policyState } from "../../store/schema-service.ts";

export type PolicyState = typeof policyState.$inferSelect;

/** No shorter value than this one is in force before that time. */
export interface Hold {
  /** Milliseconds. */
  readonly value: number;
  readonly until: Date;
}

/** Lets no other transaction change settings until this one ends. */
export async function lockSettings(tx: Transaction): Promise<void> {
  await tx.execute(sql`select pg_advisory_xact_lock(${LOCKS.settings})`);
}

/** The stored state of a setting besides its override; undefined before the first start of the service. */
export async function readState(db: Database | Transaction, key: SettingKey): Promise<PolicyState | undefined> {
  const [row] = await db
    .select()
    .from(policyState)
    .where(eq(policyState.key, key))
    .prepare("read_policy_state")
    .execute();
  return row;
}

/**
 * The hold that is in force now. `configured` is the configured default, if no override replaces it: if it was made
 * shorter, its delay begins only when the service notes it.
 */
export function holdFor(state: PolicyState | undefined, configured: number | undefined, now: Date): Hold | undefined {
  if (state === undefined) return undefined;
  const isHeld = state.heldUntil !== null && state.heldValue !== null && state.heldUntil > now;
  const stored = isHeld ? { value: Number(state.heldValue), until: state.heldUntil as Date } : undefined;
  if (configured === undefined || state.configured <= configured) return stored;
  return { value: Math.max(state.configured, stored?.value ?? 0), until: shift(now, DAY) };
}

/** Stores the hold, or its absence, and the configured value. */
export async function storeHold(
  tx: Transaction,
  key: SettingKey,
  { configured, hold }: { readonly configured: number; readonly hold: Hold | undefined },
): Promise<void> {
  const state = { configured, heldValue: hold?.value ?? null, heldUntil: hold?.until ?? null };
  await tx
    .insert(policyState)
    .values({ key, ...state })
    .onConflictDoUpdate({ target: policyState.key, set: state });
}
