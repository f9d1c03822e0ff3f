/** Shutting an account without the database, and recording it once the database is there. */

import { eq, sql } from "drizzle-orm";
import type { AccountRef, Host } from "../../protocol/host.ts";
import { MINUTE } from "../../shared/clock.ts";
import { publicMessage, UamError } from "../../shared/errors.ts";
import { formatTimestamp } from "../../shared/timestamp.ts";
import { counters, type UserRow, users } from "../../store/schema.ts";
import { accountOf } from "../keys/keys.ts";
import { audited, type Operation } from "../operation/audited.ts";
import type { Context, Policy, Services } from "../operation/context.ts";
import { findUserByName, lockUser } from "../users/find.ts";
import { hostAccountOf } from "../users/username.ts";
import { type LockEntry, readLocks, removeLock } from "./lock-journal.ts";

/** An entry that was recorded as failed, and why: no such user is stored, or the host refused. */
export interface LockFailure {
  readonly username: string;
  readonly problem: string;
}

/** Held while entries are recorded, so that each is recorded once whoever else tries. */
const IMPORT_LOCK = 0x75616d_6c6b;

/**
 * The account of that username on the host, if it is ours by name, marker group and uid range; undefined in dry-run mode
 * without such an account. Throws `not_found` and `conflict`.
 */
export async function findLockable(host: Host, policy: Policy, username: string): Promise<AccountRef | undefined> {
  const name = hostAccountOf(username);
  const account = await host.findAccount(name);
  if (account === undefined) {
    if (host.mode === "dry-run") return undefined;
    throw new UamError("not_found", `The host has no account ${name}`);
  }
  const { first, last } = policy.uidRange;
  if (account.uid < first || account.uid > last) {
    throw new UamError(
      "conflict",
      `${name} has the uid ${account.uid}, outside UAM_UID_RANGE (${first}-${last}): left alone`,
    );
  }
  return account;
}

/** Shuts the account on the host: no login, no process and no key is left when this returns. */
export async function shutAccount(host: Host, account: AccountRef, now: Date): Promise<void> {
  await host.applyAccess({ ...account, expireAt: now, open: false, keys: [] });
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
    await tx.execute(sql`select pg_advisory_xact_lock(${IMPORT_LOCK}::bigint)`);
    const failures: LockFailure[] = [];
    // Read again: another process may have recorded them meanwhile.
    for (const entry of readLocks(dataDir, log)) {
      const problem = await importLock(services, entry);
      if (problem !== undefined) failures.push({ username: entry.username, problem });
      removeLock(dataDir, entry.id);
      // The file is gone for certain, so nobody asks for the mark any more.
      await services.side.delete(counters).where(eq(counters.name, markOf(entry)));
    }
    return failures;
  });
}

/** The sentence of the failure that was recorded, if it was one. */
async function importLock(services: Services, entry: LockEntry): Promise<string | undefined> {
  const context: Context = { ...services, actor: { type: "cli", name: entry.operator, ip: "" }, requestId: "" };
  const [recorded] = await services.side
    .select()
    .from(counters)
    .where(eq(counters.name, markOf(entry)));
  if (recorded !== undefined) return undefined;
  try {
    return await recordLock(context, entry);
  } catch (error) {
    // Recorded as failed; anything but this refusal is to be tried again.
    if (!(error instanceof UamError) || error.code !== "not_found") throw error;
    services.log.warn("an account was locked whose user is not stored", { username: entry.username, uid: entry.uid });
    return error.message;
  }
}

async function recordLock(context: Context, entry: LockEntry): Promise<string | undefined> {
  const known = await findUserByName(context.side, entry.username);
  const subject = known === undefined ? {} : { resourceId: String(known.id), subjectId: known.id };
  return await audited(context, { action: "user.disable", ...subject }, async (op) => {
    if (known === undefined || (entry.uid !== undefined && known.uid !== entry.uid)) {
      throw new UamError("not_found", `There is no user named ${entry.username} with the account that was locked`);
    }
    const locked = await storeDisabled(op, await lockUser(op.tx, known.id), entry);
    const refused = await shutAgain(op, locked);
    const late = context.clock.now().getTime() - entry.at.getTime() > MINUTE;
    op.learn({
      detail: { status: locked.status, ...(late ? { locked_at: formatTimestamp(entry.at) } : {}) },
      ...(refused === undefined ? {} : { refused }),
    });
    return refused;
  });
}

/** An expired user stays expired, and returns as disabled when extended. The mark commits with the change. */
async function storeDisabled(op: Operation, user: UserRow, entry: LockEntry): Promise<UserRow> {
  await op.tx.insert(counters).values({ name: markOf(entry), value: entry.at.getTime() });
  const status = user.status === "expired" ? "expired" : "disabled";
  const changes = { status, disabledAt: user.disabledAt ?? entry.at, updatedAt: op.context.clock.now() } as const;
  await op.tx.update(users).set(changes).where(eq(users.id, user.id));
  return { ...user, ...changes };
}

/**
 * Between the lock and now the service may have opened the account again. If the host refuses, the user stays stored as
 * disabled, so that every reconciliation shuts the account, and the record says what failed.
 */
async function shutAgain(op: Operation, user: UserRow): Promise<string | undefined> {
  try {
    await op.context.host.applyAccess(await accountOf(op.tx, user, op.context.clock.now()));
    return undefined;
  } catch (error) {
    op.context.log.error("a locked account could not be shut; it is tried again", { username: user.username, error });
    return publicMessage(error);
  }
}

const MARK = "lock:";

function markOf(entry: LockEntry): string {
  return MARK + entry.id;
}
