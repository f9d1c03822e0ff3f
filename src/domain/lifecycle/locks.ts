/** Shuts an account without the database, and records that once the database is back. */

import { eq, sql } from "drizzle-orm";
import type { AccountRef, Host } from "../../protocol/host.ts";
import { UamError } from "../../shared/errors.ts";
import { type LockEntry, readLocks, removeLock } from "../../shared/system/lock-journal.ts";
import { isWithin, OLD_UIDS } from "../../shared/system/uids.ts";
import { hostAccountOf } from "../../shared/text/account-name.ts";
import { MINUTE } from "../../shared/time/clock.ts";
import { formatTimestamp } from "../../shared/time/timestamp.ts";
import { faultPoint } from "../../shared/work/fault-point.ts";
import { LOCKS } from "../../store/advisory-locks.ts";
import { importedLocks } from "../../store/schema-fleet.ts";
import { disableAccess, owedSentence } from "../accounts/access.ts";
import { findUserByName, lockUser } from "../accounts/find-user.ts";
import { auditedClosing } from "../operation/audited.ts";
import type { Context, Policy, Services } from "../operation/context.ts";

/** An entry that was recorded as failed, and why: no such user is stored, or the host refused. */
export interface LockFailure {
  readonly username: string;
  readonly problem: string;
}

/**
 * The account of that username on the host, if it is ours: one that is `known` by name and uid, or by the marker group and the uid range.
 * Undefined in dry-run mode without such an account. Throws `not_found` and `conflict`.
 */
export async function findLockable(
  host: Host,
  policy: Policy,
  username: string,
  known: readonly AccountRef[] = [],
): Promise<AccountRef | undefined> {
  const name = hostAccountOf(username);
  for (const ref of known) {
    if (ref.name === name && host.mode !== "dry-run" && (await host.presence(ref)) === "present") return ref;
  }
  const account = await host.findAccount(name);
  if (account === undefined) {
    if (host.mode === "dry-run") return undefined;
    throw new UamError("not_found", `The host has no account ${name}`);
  }
  const { first, last } = policy.uidRange;
  // Accounts of an older version keep the uids that were the default then.
  if (![policy.uidRange, OLD_UIDS].some((range) => isWithin(account.uid, range))) {
    throw new UamError(
      "conflict",
      `${name} has the uid ${account.uid}, outside UAM_UID_RANGE (${first}-${last}): left alone`,
    );
  }
  return account;
}

/**
 * Records the entries of the journal as `user.disable` by the operators who locked, and stores the users as disabled; an
 * entry is recorded once, however often this runs, and then leaves the journal. Call it before every reconciliation, which
 * would open the accounts again. Yields the entries that were recorded as failed; throws if the database fails.
 */
export async function importLocks(services: Services, dataDir: string): Promise<readonly LockFailure[]> {
  const { log, db } = services;
  if (readLocks(dataDir, log).length === 0) return [];
  return await db.transaction(async (tx) => {
    // Each entry is recorded once, even if several processes try.
    await tx.execute(sql`select pg_advisory_xact_lock(${LOCKS.lockImport})`);
    const failures: LockFailure[] = [];
    // Read again: another process may have recorded them meanwhile.
    for (const entry of readLocks(dataDir, log)) {
      const problem = await importLock(services, entry);
      if (problem !== undefined) failures.push({ username: entry.username, problem });
      faultPoint("lock: recorded, still written down");
      removeLock(dataDir, entry.id);
      faultPoint("lock: no longer written down, mark still there");
      // The file is certainly gone, so the mark is not needed.
      await services.autocommit.delete(importedLocks).where(eq(importedLocks.id, entry.id));
    }
    return failures;
  });
}

/** The sentence of the failure that was recorded, if it was one. */
async function importLock(services: Services, entry: LockEntry): Promise<string | undefined> {
  const context: Context = { ...services, actor: { type: "cli", name: entry.operator, ip: "" }, requestId: "" };
  if (await isImported(services, entry)) return undefined;
  try {
    await recordLock(context, entry);
    return undefined;
  } catch (error) {
    // Committed, with a step owed; or recorded as failed. Any other error has to be retried.
    if (error instanceof UamError && (await isImported(services, entry))) return error.message;
    if (!(error instanceof UamError) || error.code !== "not_found") throw error;
    // A dry run shuts nothing.
    if (entry.uid !== undefined && services.host.mode !== "dry-run")
      services.log.warn("an account was locked whose user is not stored", { username: entry.username, uid: entry.uid });
    return error.message;
  }
}

async function isImported({ autocommit }: Services, entry: LockEntry): Promise<boolean> {
  const rows = await autocommit.select().from(importedLocks).where(eq(importedLocks.id, entry.id));
  return rows.length > 0;
}

async function recordLock(context: Context, entry: LockEntry): Promise<void> {
  const known = await findUserByName(context.autocommit, entry.username);
  const subject = known === undefined ? {} : { resourceId: String(known.id), subjectId: known.id };
  const about = { action: "user.disable", ...subject, detail: { username: entry.username } } as const;
  await auditedClosing(context, about, async (op) => {
    if (known === undefined || (entry.uid !== undefined && known.uid !== entry.uid)) {
      const account = entry.uid === undefined ? "" : " with the account that was locked";
      throw new UamError("not_found", `There is no user named ${entry.username}${account}`);
    }
    const user = await lockUser(op.tx, known.id);
    // The mark commits with the change.
    await op.tx.insert(importedLocks).values({ id: entry.id, at: entry.at });
    // Between the lock and now the service may have opened the account again.
    const closed = await disableAccess(op, user, { at: entry.at });
    const late = context.clock.now().getTime() - entry.at.getTime() > MINUTE;
    op.record({ detail: { status: closed.user.status, ...(late ? { locked_at: formatTimestamp(entry.at) } : {}) } });
    if (closed.owed.length > 0) op.refuse(owedSentence(`${entry.username} is disabled`, closed));
  });
}
