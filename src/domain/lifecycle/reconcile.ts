/** Reconcile: compares the host with what is stored, and repairs it; every repair is recorded. */

import { setTimeout as sleep } from "node:timers/promises";
import { and, count, eq, gte, like } from "drizzle-orm";
import type { Account, Drift, DriftKind } from "../../protocol/host.ts";
import { lockedAccounts, readLocks } from "../../shared/system/lock-journal.ts";
import { hostAccountOf, withoutPrefix } from "../../shared/text/account-name.ts";
import { HOUR, SECOND, shift } from "../../shared/time/clock.ts";
import { faultPoint } from "../../shared/work/fault-point.ts";
import { audit } from "../../store/schema-audit.ts";
import { disableAccess, owedSentence } from "../accounts/access.ts";
import { accountOf, allAccounts } from "../accounts/account.ts";
import { listClosings } from "../accounts/closings.ts";
import { findUnlocked, findUserByName, lockUserIfStored, selectUsers, type User } from "../accounts/find-user.ts";
import { isDue } from "../accounts/hours.ts";
import { removeUnfinishedAccounts } from "../accounts/intents.ts";
import { finishAdoptions } from "../adoption/finish-adoptions.ts";
import { tellAdministrators } from "../mail/administrators.ts";
import { keyCameBack } from "../mail/host-messages.ts";
import { auditedClosing } from "../operation/audited.ts";
import { type ClosingOperation, type Operation, type Services, systemContext } from "../operation/context.ts";
import { holdStored } from "../profiles/hold.ts";
import { finishClosings } from "./finish-closings.ts";
import { importLocks } from "./locks.ts";
import { noteRepair, takeRepairNotes, usersWithRepairs } from "./repair-notes.ts";
import { endStrays } from "./strays.ts";

/** A user is disabled if their account held a key that is not stored this many times within an hour. */
const RETURNS_TOLERATED = 3;
/** Longer than a user's row lock is free while this host is taken from them. */
const BETWEEN_LOCKS = SECOND;

/**
 * Returns the differences. The comparison takes no lock and writes nothing; each account that differs is then compared again and
 * repaired under its user's row lock, so that a change made in between is never undone from stale data, and one that is under way
 * is never reported. Removes accounts that a crash left half created, and continues owed closings. Accounts that `uam lock` shut
 * while the database was down are recorded first, and never opened. "repair at once" ignores the due times of owed closings.
 */
export async function reconcileHost(
  given: Services,
  dataDir: string,
  mode: "check" | "repair" | "repair at once",
): Promise<readonly Drift[]> {
  // An account's owner may have caused these differences, so repairs wait until the database's disk has room.
  const services = { ...given, reserve: undefined };
  const { db, host, clock } = services;
  const unheld = mode === "check" ? [] : await holdProfiles(services);
  if (mode !== "check") {
    await removeUnfinishedAccounts(services);
    await finishAdoptions(services);
    await importLocks(services, dataDir).catch((error: unknown) => {
      // They stay in the journal, and the accounts that it names are not opened below. The rest need not wait for them.
      services.log.error("locks could not be recorded and will be tried again", { error });
    });
    await finishClosings(services, mode === "repair" ? "due" : "all");
  }
  const locked = lockedNow(services, dataDir);
  const wanted = (await allAccounts(db, clock.now())).map((account) => obeying(locked, account));
  const found = await host.reconcile(wanted, true);
  const owed = await owedDrifts(services);
  if (mode === "check") {
    const strays = await endStrays(services, wanted, true);
    return [...unrecorded(locked), ...owed, ...(await standing(services, dataDir, found)), ...strays];
  }
  const drifts: Drift[] = [...unheld, ...owed];
  await recordCutShort(services, found);
  for (const name of new Set(found.map((drift) => drift.account))) {
    const seen = found.filter(({ account }) => account === name);
    // A drift without an account is about the remains of deleted accounts, or the host as a whole.
    drifts.push(...(name === "" ? await host.reconcile([], false) : await repair(services, dataDir, { name, seen })));
  }
  // Last: repairing a shut account has ended its processes.
  drifts.push(...(await endStrays(services, wanted, false)));
  return drifts;
}

/** Before the accounts, which are to be in their groups; returns what this host does not hold as it should. */
async function holdProfiles(services: Services): Promise<readonly Drift[]> {
  try {
    return (await holdStored(services)).flatMap((one) =>
      one.state === "applied"
        ? []
        : [{ account: "", kind: "failed", problem: `the profile ${one.name}: ${one.problem}`, repaired: false }],
    );
  } catch (error) {
    services.log.error("the profiles could not be held and will be tried again", { error });
    return [];
  }
}

/** The differences that remain once changes under way are done. */
async function standing(services: Services, dataDir: string, found: readonly Drift[]): Promise<readonly Drift[]> {
  const { clock, db, host } = services;
  const drifts: Drift[] = [];
  for (const name of new Set(found.map(({ account }) => account))) {
    const user = name === "" ? undefined : await findUserByName(db, withoutPrefix(name));
    if (user === undefined) {
      // Remains of deleted accounts. An account whose user was deleted meanwhile is gone with them.
      if (name === "") drifts.push(...found.filter(({ account }) => account === ""));
      continue;
    }
    await db.transaction(async (tx) => {
      const stored = await lockUserIfStored(tx, user.id);
      if (stored?.local !== true || isDue(stored, clock.now())) return;
      const account = await accountOf(tx, stored, clock.now());
      const wanted = obeying(lockedNow(services, dataDir), account);
      drifts.push(...ofAccount(name, await host.reconcile([wanted], true)));
    });
  }
  return drifts;
}

/** Leaves out differences without an account, which the first look reported. */
function ofAccount(name: string, drifts: readonly Drift[]): readonly Drift[] {
  return drifts.filter(({ account }) => account === name);
}

/**
 * One account, under its user's row lock. Repairs are recorded; differences that cannot be repaired are only reported, every
 * time.
 */
async function repair(services: Services, dataDir: string, { name, seen }: Differing): Promise<readonly Drift[]> {
  const { clock, host } = services;
  const known = await findUserByName(services.autocommit, withoutPrefix(name));
  if (known?.local !== true) return [];
  const entry = {
    action: "reconcile.repair",
    resourceId: String(known.id),
    subjectId: known.id,
    detail: { username: known.username },
  } as const;
  let drifts: readonly Drift[] = [];
  await auditedClosing(systemContext(services), entry, async (op) => {
    const user = await lockUserIfStored(op.tx, known.id);
    // What the hours open and shut just now is no repair.
    if (user?.local !== true || isDue(user, clock.now())) return op.record({ unneeded: true });
    const account = await accountOf(op.tx, user, clock.now());
    // Read again: it may have been locked since.
    const wanted = obeying(lockedNow(services, dataDir), account);
    await noteRepair(services, { userId: user.id, kinds: seen.map(({ kind }) => kind) });
    faultPoint("reconcile: difference seen, not repaired");
    drifts = ofAccount(name, await host.reconcile([wanted], false));
    faultPoint("reconcile: repaired, not recorded");
    await takeRepairNotes(op.tx, user.id);
    const repaired = drifts.filter((drift) => drift.repaired);
    if (repaired.length === 0) return op.record({ unneeded: true });
    const kinds = repaired.map(({ kind }) => kind);
    await recordRepair(op, user, { kinds, found: repaired.map(({ problem }) => problem).join("; ") });
  }).catch((error: unknown) => {
    services.log.error("an account that differs could not be repaired", { account: name, error });
  });
  return drifts;
}

interface Differing {
  /** Of the account. */
  readonly name: string;
  /** The differences at the first look. */
  readonly seen: readonly Drift[];
}

async function recordRepair(
  op: ClosingOperation,
  user: User,
  { kinds, found }: { readonly kinds: readonly DriftKind[]; readonly found: string },
): Promise<void> {
  op.record({ detail: { kinds: [...new Set(kinds)].join(" "), found } });
  if (kinds.includes("key_added")) await answerReturn(op, user);
}

/** Records repairs that a crash cut short after the host was right. If the account still differs, it is repaired and recorded then. */
async function recordCutShort(services: Services, found: readonly Drift[]): Promise<void> {
  const differing = new Set(found.map(({ account }) => account));
  for (const userId of await usersWithRepairs(services.autocommit)) {
    const entry = { action: "reconcile.repair", resourceId: String(userId), subjectId: userId } as const;
    await auditedClosing(systemContext(services), entry, async (op) => {
      const user = await lockUserIfStored(op.tx, userId);
      if (user !== undefined && differing.has(hostAccountOf(user.username))) return op.record({ unneeded: true });
      const kinds = await takeRepairNotes(op.tx, userId);
      if (user === undefined || kinds.length === 0) return op.record({ unneeded: true });
      op.about({ detail: { username: user.username } });
      await recordRepair(op, user, {
        kinds,
        found: "an earlier repair was cut short before it was recorded, and nothing differs now",
      });
    }).catch((error: unknown) => {
      services.log.error("a repair that was cut short could not be recorded", { userId, error });
    });
  }
}

/** Somebody with access to the account put a key into its file: the administrators are mailed, and if it goes on, the user is disabled. */
async function answerReturn(op: ClosingOperation, user: User): Promise<void> {
  const before = await countReturns(op, user);
  const disabled = user.status === "active" && before + 1 >= RETURNS_TOLERATED;
  if (disabled) {
    const closed = await disableAccess(op, user);
    const detail = {
      username: user.username,
      status: closed.user.status,
      reason: `keys that are not stored were put into the authorized-keys file ${before + 1} times within an hour`,
    };
    const { actor } = op.context;
    const subject = { resourceId: String(user.id), subjectId: user.id };
    op.alsoRecord({ actor, entry: { action: "user.disable", ...subject, detail }, result: "success" });
    if (closed.owed.length > 0) op.refuse(owedSentence(`${user.username} is disabled`, closed));
  }
  const message = keyCameBack(op.context.policy.site, { id: user.id, username: user.username, disabled });
  await tellAdministrators(op, message, {
    about: "users",
    occasion: `key-came-back:${user.id}:${op.context.clock.now().getTime()}`,
  });
}

/** How often it was recorded in the last hour. */
async function countReturns({ tx, context }: Operation, user: User): Promise<number> {
  const [row] = await tx
    .select({ returns: count() })
    .from(audit)
    .where(
      and(
        eq(audit.subjectId, user.id),
        eq(audit.action, "reconcile.repair"),
        gte(audit.createdAt, shift(context.clock.now(), -HOUR)),
        like(audit.detail, '%"kinds":"%key_added%'),
      ),
    );
  return row?.returns ?? 0;
}

/** Access that is still to be taken away is a difference, too, unless somebody is just taking it away. */
async function owedDrifts({ db }: Services): Promise<readonly Drift[]> {
  const noted = await listClosings(db);
  if (noted.length === 0) return [];
  const begun = noted.filter(({ problem }) => problem === "").map(({ userId }) => userId);
  // A closing holds the user's row lock from before the note until it is settled. Removing this host from a user is different: it
  // stores the note with the change, and then locks the row once more to remove the account.
  let atRest = await findUnlocked(db, begun);
  if (atRest.size > 0) {
    await sleep(BETWEEN_LOCKS);
    atRest = await findUnlocked(db, [...atRest]);
  }
  const left = new Set((await listClosings(db)).map(({ id }) => id));
  const owed = noted.filter(({ id, problem, userId }) => left.has(id) && (problem !== "" || atRest.has(userId)));
  const names = new Map((await selectUsers(db)).map((user) => [user.id, hostAccountOf(user.username)]));
  return owed.map(({ userId, problem }) => {
    const left = problem === "" ? "it was cut short" : problem;
    const sentence = `access is still to be taken away: ${left}`;
    return { account: names.get(userId) ?? `user ${userId}`, kind: "failed", problem: sentence, repaired: false };
  });
}

function lockedNow({ log }: Services, dataDir: string): ReadonlySet<string> {
  return lockedAccounts(readLocks(dataDir, log));
}

/** The account; shut, if it is locked. */
function obeying(locked: ReadonlySet<string>, account: Account): Account {
  return locked.has(account.name) ? { ...account, open: false, keys: [] } : account;
}

function unrecorded(locked: ReadonlySet<string>): readonly Drift[] {
  const problem = "locked by uam lock, and not yet recorded as disabled";
  return [...locked].map((account) => ({ account, kind: "expiry_date", problem, repaired: false }));
}
