/** Reconcile: what the host has is compared with what is stored, and set right. */

import type { Account, Drift } from "../../protocol/host.ts";
import { removeUnfinishedAccounts } from "../accounts/intents.ts";
import { accountOf, allAccounts } from "../keys/keys.ts";
import type { Services } from "../operation/context.ts";
import { lockUserByName } from "../users/find.ts";
import { ACCOUNT_PREFIX, hostAccountOf } from "../users/username.ts";
import { readLocks } from "./lock-journal.ts";
import { importLocks } from "./locks.ts";
import { finishRemovals } from "./removals.ts";

/**
 * Returns what differed. The comparison takes no lock and writes nothing; each account that differs is then looked at
 * again and repaired under its user's row lock, so that a change made in between is never undone from stale data.
 * Accounts that a crash left half made are removed, and users that it left half deleted. Accounts that `uam lock` shut while the database was away are recorded first, and never opened.
 */
export async function reconcileHost(
  services: Services,
  dataDir: string,
  mode: "check" | "repair",
): Promise<readonly Drift[]> {
  const { db, host, clock } = services;
  if (mode === "repair") {
    await removeUnfinishedAccounts(services);
    await importLocks(services, dataDir);
    await finishRemovals(services);
  }
  const locked = lockedAccounts(services, dataDir);
  const wanted = (await allAccounts(db, clock.now())).map((account) =>
    locked.has(account.name) ? shut(account) : account,
  );
  const found = await host.reconcile(wanted, true);
  if (mode === "check") return [...unrecorded(locked), ...found];
  const drifts: Drift[] = [];
  for (const name of new Set(found.map((drift) => drift.account))) {
    // Without an account it is about what deleted accounts left.
    drifts.push(...(name === "" ? await host.reconcile([], false) : await repair(services, dataDir, name)));
  }
  return drifts;
}

async function repair(services: Services, dataDir: string, name: string): Promise<readonly Drift[]> {
  const { db, host, clock } = services;
  return await db.transaction(async (tx) => {
    const user = await lockUserByName(tx, name.slice(ACCOUNT_PREFIX.length));
    if (user === undefined) return [];
    const account = await accountOf(tx, user, clock.now());
    // Looked at anew: it may have been locked since.
    const isLocked = lockedAccounts(services, dataDir).has(name);
    return await host.reconcile([isLocked ? shut(account) : account], false);
  });
}

function lockedAccounts({ log }: Services, dataDir: string): ReadonlySet<string> {
  return new Set(readLocks(dataDir, log).map((entry) => hostAccountOf(entry.username)));
}

function shut(account: Account): Account {
  return { ...account, open: false, keys: [] };
}

function unrecorded(locked: ReadonlySet<string>): readonly Drift[] {
  const problem = "locked by uam lock, and not yet recorded as disabled";
  return [...locked].map((account) => ({ account, problem, repaired: false }));
}
