/** Does on the host what the records say is to be done: everything that takes access away before anything that gives it. */

import type { HostState } from "../protocol/fleet.ts";
import type { Account, Closing, Host } from "../protocol/host.ts";
import { UamError } from "../shared/errors.ts";
import type { Times } from "./hours.ts";
import type { Holding } from "./profiles.ts";
import { type AccountRecord, type AgentState, accountOf, isClosing, isPending, keyOf, NOTHING } from "./records.ts";
import type { Turn } from "./turn.ts";

/** The dependencies of the work, and the limits on it. */
export interface Work {
  readonly host: Host;
  readonly status: HostState["status"];
  /** False while what is stored may be older than what the service said last: then access is only taken away. */
  readonly mayOpen: boolean;
  /** The names of accounts that `uam lock` shut here and that the service has not recorded yet, read anew at each call. */
  readonly locked: () => ReadonlySet<string>;
  /** The time, read anew at each call. */
  readonly times: () => Times;
  /** The records that the host refused, and when each was last tried. A record that changes is a new object, and not in here. */
  readonly refused: WeakMap<AccountRecord, number>;
  /** Told what the host holds of profiles before any account is worked on. */
  readonly holding: Holding;
  /** An account is opened in a turn, so that `uam lock` can wait until nobody does who has not read of it. */
  readonly turn: Turn;
}

/**
 * The state with everything tried that was to be taken away, and then given, until `isOver`. What is done is no longer to be
 * done; what the host refused stays, with a problem that says why, and comes last, in turns: an account whose processes do not end takes
 * seconds each time, and must hold up neither the closing nor the opening of another. Never throws for an account.
 */
export async function applyState(
  work: Work,
  given: AgentState,
  isOver: () => boolean = () => false,
): Promise<AgentState> {
  await work.holding.hold(work.host, given.profiles);
  const state = { ...given, records: work.holding.followed(given.records) };
  const records = new Map(state.records.map((record) => [keyOf(record), record]));
  const attempt = async (record: AccountRecord, step: typeof close | typeof open) => {
    const after = await tried(record, () => step(work, record, records.values()));
    if (after === undefined) records.delete(keyOf(record));
    else records.set(keyOf(record), after);
    if (after?.problem !== undefined) work.refused.set(after, performance.now());
    return after;
  };
  const isNew = (record: AccountRecord) => !work.refused.has(record);
  const refused = state.records.filter((record) => isPending(record) && !isNew(record));
  const closed = state.records.filter((record) => isClosing(record.todo) && isNew(record));
  for (const record of closed) await attempt(record, close);
  for (const record of [...records.values()]) {
    if (record.todo.open && isNew(record) && !isOver()) await attempt(record, open);
  }
  const since = (record: AccountRecord) => work.refused.get(record) ?? 0;
  // At least one, so that each is tried again some time, unless there was something new to take away: an answer waits for this.
  let mayGoOn = closed.length === 0;
  for (const record of refused.toSorted((one, other) => since(one) - since(other))) {
    if (!mayGoOn && isOver()) break;
    mayGoOn = false;
    const after = isClosing(record.todo) ? await attempt(record, close) : record;
    if (after?.todo.open) await attempt(after, open);
  }
  return { ...state, records: [...records.values()] };
}

async function tried<T extends AccountRecord | undefined>(
  record: AccountRecord,
  attempt: () => Promise<T>,
  isClosed = isClosing(record.todo),
): Promise<T | AccountRecord> {
  try {
    return await attempt();
  } catch (error) {
    // A conflict is for people to resolve: no such account lets anybody in.
    if (error instanceof UamError && error.code === "conflict")
      return withProblem(settled(record), "conflict", textOf(error));
    return withProblem(isClosed ? { ...record, mayAdmit: true } : record, "refused", textOf(error));
  }
}

/** Takes away what is to be taken; undefined once the account is removed for good. */
async function close(
  work: Work,
  record: AccountRecord,
  all: Iterable<AccountRecord>,
): Promise<AccountRecord | undefined> {
  const { host } = work;
  const account = accountNow(work, record);
  const presence = await host.presence(account);
  if (presence === "foreign" && (await isSucceeded(work, record, all))) return await settleGone(work, record, account);
  if (presence === "foreign") {
    // It is not touched. But as long as sshd reads a key for it, nobody is told that it lets nobody in.
    const keys = await host.foreignKeys(account);
    if (keys.length > 0) return withProblem(settled(record), "refused", [foreign(record), ...keys].join(". "));
    return record.todo.remove ? undefined : withProblem(settled(withoutClosings(record)), "conflict", foreign(record));
  }
  if (record.todo.remove) {
    const closing = await host.removeAccount(account);
    return closing.owed.length === 0 ? undefined : refusedBy(closing, record, closing.owed);
  }
  // In no line of /etc/passwd: but sshd may know it from elsewhere.
  if (presence === "missing") return await settleGone(work, record, account, await host.foreignKeys(account));
  if (!account.open) return await shut(work, record, account);
  const limited = await narrowProfile(work, record, account);
  if (limited.todo.profile === true) return limited;
  return await narrow(work, await take(work, limited, account), account);
}

/** Whether the name is that of a later account of ours: a process that died had removed this one, and made that, without storing it. */
async function isSucceeded(
  { host }: Work,
  { name, uid }: AccountRecord,
  all: Iterable<AccountRecord>,
): Promise<boolean> {
  for (const other of all) {
    if (other.name === name && other.uid !== uid && (await host.presence(other)) === "present") return true;
  }
  return false;
}

/** An account that is gone: what it let in may run on. */
async function settleGone(
  work: Work,
  record: AccountRecord,
  account: Account,
  keys: readonly string[] = [],
): Promise<AccountRecord | undefined> {
  const left = [...keys, ...(await stillRunning(work, account))];
  if (left.length > 0) return withProblem(record, "refused", left.join(". "));
  return record.todo.remove ? undefined : settled(withoutClosings(record));
}

/** Ends what runs under the uid that somebody left without an account; sentences about what does not end. */
async function stillRunning({ host }: Work, { uid }: Account): Promise<readonly string[]> {
  return (await host.endStrays([uid], false)).flatMap(({ problem, ended }) => (ended ? [] : [problem]));
}

async function shut({ host }: Work, record: AccountRecord, account: Account): Promise<AccountRecord> {
  const closing = await host.shutAccount(account);
  if (closing.owed.length === 0)
    return settled({ ...record, made: true, todo: { ...NOTHING, open: record.todo.open } });
  return refusedBy(closing, { ...record, todo: { ...record.todo, shut: true } }, closing.owed);
}

/** First what all of its keys open, whatever becomes of one; shuts the account while that cannot be done. */
async function narrowProfile({ host, holding }: Work, record: AccountRecord, account: Account): Promise<AccountRecord> {
  if (record.todo.profile !== true) return record;
  const problem = holding.problemOf(record.profile);
  // A key that goes with it opens nothing meanwhile; whether it is gone, taking it says.
  if (record.todo.take.length > 0) await host.narrowKeys(account);
  const owed = problem === undefined ? (await host.narrowProfile(account)).owed : [problem];
  if (owed.length > 0) return await shutMeanwhile(host, record, owed);
  const { profile: _, ...todo } = record.todo;
  return settled({ ...record, todo });
}

/** Shuts the account while a key cannot be taken away whole. */
async function take({ host }: Work, record: AccountRecord, account: Account): Promise<AccountRecord> {
  const owed: string[] = [];
  const left: string[] = [];
  for (const fingerprint of record.todo.take) {
    const taken = await host.takeKey(account, fingerprint);
    const sentences = taken.rewritten ? taken.owed : [taken.problem];
    if (sentences.length > 0) left.push(fingerprint);
    owed.push(...sentences);
  }
  const after = { ...record, todo: { ...record.todo, shut: false, take: left } };
  return owed.length === 0 ? settled(after) : await shutMeanwhile(host, after, owed);
}

async function narrow({ host }: Work, record: AccountRecord, account: Account): Promise<AccountRecord> {
  if (!record.todo.narrow || record.todo.take.length > 0) return record;
  // Outside hours with which only logins end, no key is left in a file, and what runs goes on.
  const owed = record.outside === true ? await host.shortenAccount(account) : await host.narrowKeys(account);
  if (owed.length > 0) return await shutMeanwhile(host, record, owed);
  return settled({ ...record, todo: { ...record.todo, narrow: false } });
}

async function shutMeanwhile(host: Host, record: AccountRecord, owed: readonly string[]): Promise<AccountRecord> {
  const closing = await host.shutAccount(record);
  const sentences = [...owed, ...closing.owed, `${record.name} is shut until that is done`];
  return refusedBy(closing, { ...record, todo: { ...record.todo, open: true } }, sentences);
}

/** Gives what is to be given, unless something is still to be taken. */
async function open(work: Work, record: AccountRecord): Promise<AccountRecord> {
  if (!work.mayOpen || isClosing(record.todo)) return record;
  return await work.turn(() => openInTurn(work, record));
}

async function openInTurn(work: Work, record: AccountRecord): Promise<AccountRecord> {
  const { host } = work;
  const account = accountNow(work, record);
  // It stays to be done: for when the host is unlocked, or its clock right.
  if (!account.open || (record.hours !== undefined && !work.times().areSure)) return record;
  const presence = await host.presence(account);
  if (presence === "foreign") return withProblem(settled(record), "conflict", foreign(record));
  if (presence === "missing" && record.made) {
    const done = { ...record, todo: NOTHING };
    return withProblem(done, "missing", `The account ${record.name} is missing on the host; somebody removed it there`);
  }
  const known = presence === "missing" ? settled(record) : record;
  const after = await tried(known, () => openFound(work, known, { account, presence }));
  const isPutRight = after.problem === undefined || isClosing(after.todo);
  if (presence === "missing" || record.made || isPutRight) return after;
  // Whom it lets in is not known: nobody, as long as it cannot be put right.
  return await tried(record, () => shutMeanwhile(host, record, [after.problem?.text ?? ""]), true);
}

/** Makes the account, or puts right the one that is there, and lets its keys in. */
async function openFound(
  work: Work,
  record: AccountRecord,
  { account, presence }: { readonly account: Account; readonly presence: "present" | "missing" },
): Promise<AccountRecord> {
  const { host } = work;
  const problem = work.holding.problemOf(record.profile);
  if (problem !== undefined) return withProblem(record, "refused", problem);
  const lacking = presence === "present" ? await host.lacking(account) : undefined;
  if (presence === "missing" || lacking === "rest") await host.createAccount(account);
  // Found here, not made by this agent as far as it knows: sessions of unknown keys end with what they came by.
  else if (!record.made || lacking === "group") await host.reconcile([account], false);
  await host.openAccount(account);
  const made = settled({ ...record, made: true, todo: NOTHING });
  // `uam lock` may have come between, and its process ended since.
  if (!work.locked().has(record.name)) return made;
  const { owed } = await host.shutAccount(account);
  const again = { ...made, todo: { ...NOTHING, shut: owed.length > 0, open: true } };
  return owed.length === 0 ? again : withProblem(again, "refused", owed.join(". "));
}

function accountNow({ status, locked, times }: Work, record: AccountRecord): Account {
  return accountOf(record, { status, locked: locked(), times: times() });
}

function withoutClosings(record: AccountRecord): AccountRecord {
  return { ...record, todo: { ...NOTHING, open: record.todo.open } };
}

function settled({ mayAdmit: _, ...record }: AccountRecord): AccountRecord {
  return { ...record, problem: undefined };
}

function refusedBy({ refused }: Closing, record: AccountRecord, sentences: readonly string[]): AccountRecord {
  return withProblem({ ...record, mayAdmit: refused ? undefined : true }, "refused", sentences.join(". "));
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function withProblem(record: AccountRecord, kind: "conflict" | "missing" | "refused", text: string): AccountRecord {
  return { ...record, problem: { kind, text } };
}

function foreign({ name, uid }: AccountRecord): string {
  return `The host has ${name} or the uid ${uid}, but not both as uam made them: it is left alone`;
}
