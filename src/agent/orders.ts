/** Stores and carries out the service's orders: one thing at a time, so that a crash at any point ends in the same state. */

import { createMutex } from "../host/execute/command.ts";
import type { HostProblem, HostState } from "../protocol/fleet.ts";
import type { AccountRef, Host } from "../protocol/host.ts";
import type { Log } from "../shared/log.ts";
import { type LockEntry, readLocks, removeLock } from "../shared/system/lock-journal.ts";
import { hostAccountOf } from "../shared/text/account-name.ts";
import { faultPoint } from "../shared/work/fault-point.ts";
import { applyState } from "./apply.ts";
import { findingOf, problemList, problemOf } from "./problems.ts";
import {
  type AccountRecord,
  type AgentState,
  accountOf,
  givenTo,
  isClosing,
  isPending,
  keyOf,
  mergeAnswer,
  NOTHING,
  sameOrders,
  unknownOf,
} from "./records.ts";
import { readGiven, readNewest, readState, writeGiven, writeNewest, writeState } from "./store.ts";
import { endStrays } from "./strays.ts";
import type { Turn } from "./turn.ts";

export interface OrdersParts {
  readonly directory: string;
  /** Where `uam lock` notes the accounts it shut when there is no room in `directory`. */
  readonly runDirectory: string;
  readonly log: Log;
  /** The host; the service decides which processes end with a revoked key. */
  readonly openHost: (endSessions: HostState["end_sessions"]) => Promise<Host>;
  /** Further faults of the host, checked from time to time. */
  readonly examine?: () => Promise<readonly string[]>;
  /** The names of the accounts on the host that are ours by group. */
  readonly managed: () => readonly string[];
  readonly turn: Turn;
}

export interface Orders {
  readonly state: () => AgentState | undefined;
  /** The accounts that `uam lock` shut and the service has not recorded. */
  locks(): readonly LockEntry[];
  /** Does what the answer says. True if it changed anything. Throws if the host cannot be worked on at all, and knows nothing of it then. */
  take(answer: HostState): Promise<boolean>;
  /** Goes on with what is left to do: nothing, what there was no time for, or only what the host refused. */
  retry(): Promise<"done" | "more" | "refused">;
  /** Compares the accounts with the host and repairs what differs. */
  reconcile(): Promise<void>;
  /** Looks at the host itself. */
  examine(): Promise<void>;
  /** See `Host.forgetJobs`. */
  forgetJobs(): Promise<void>;
  problems(): ReturnType<typeof problemList>;
  /** Accounts that the service once named and no longer knows. */
  unknown(): readonly AccountRef[];
}

/** How long, in milliseconds, access is given before an answer gets its turn, which may take access away. */
const TURN = 2000;
/** How many accounts are compared before an answer gets its turn. */
const AT_ONCE = 100;

/** Takes up what is stored. */
export function openOrders(parts: OrdersParts): Orders {
  const { directory, runDirectory, log, turn } = parts;
  const inTurn = createMutex();
  const given = new Set(readGiven(directory));
  let givenStored = given.size;
  const found = readState(directory);
  let state = found && withGiven(found);
  let differences: readonly HostProblem[] = [];
  let unstored: string | undefined;
  let newest = readNewest(runDirectory);
  // A stored file may be an old copy: it is trusted if it is of this boot, and nothing newer was stored since.
  let isBelieved = state !== undefined && newest !== undefined && (state.answer ?? 0) >= newest;
  if (newest !== undefined && !isBelieved)
    log.warn("security: what is stored is older than what the service said last: nothing is opened until it answers");
  let findings: readonly string[] = [];

  const refused = new WeakMap<AccountRecord, number>();

  const locks = () => [directory, runDirectory].flatMap((place) => readLocks(place, log));
  const locked = () => new Set(locks().map(({ username }) => hostAccountOf(username)));

  /** With all uids that were ever given, also those that the orders of before were lost with. */
  function withGiven(orders: AgentState): AgentState {
    for (const uid of givenTo(orders)) given.add(uid);
    return { ...orders, given: [...given] };
  }

  /** Everything that takes access away, and as much of what gives it as the turn has time for. */
  async function doAll(orders: AgentState): Promise<AgentState> {
    const host = await parts.openHost(orders.end_sessions);
    const end = performance.now() + TURN;
    const work = { host, status: orders.status, mayOpen: isBelieved, locked, refused, turn };
    const done = await applyState(work, orders, () => performance.now() > end);
    const before = new Set(orders.records.map((record) => `${keyOf(record)} ${record.problem?.text}`));
    for (const record of done.records) {
      const { name, problem } = record;
      if (problem === undefined || before.has(`${keyOf(record)} ${problem.text}`)) continue;
      log.warn("the host is not as the service wants it", { account: name, ...problem });
    }
    state = done;
    return done;
  }

  /** The work to do now, without work that waits for a host to be unlocked. */
  function actionable({ status, records }: AgentState): readonly AccountRecord[] {
    const about = { status, locked: locked() };
    const mayOpen = (record: AccountRecord) => isBelieved && record.todo.open && accountOf(record, about).open;
    return records.filter((record) => isClosing(record.todo) || mayOpen(record));
  }

  function store(orders: AgentState): void {
    newest = Math.max(newest ?? 0, orders.answer ?? 0) + 1;
    try {
      // First: what was stored before is not believed any more, whatever becomes of this one.
      writeNewest(directory, runDirectory, newest);
      if (given.size > givenStored) writeGiven(directory, given);
      givenStored = given.size;
      writeState(directory, { ...orders, answer: newest });
      unstored = undefined;
    } catch (error) {
      unstored = error instanceof Error ? error.message : String(error);
      log.error(
        "what the service said cannot be stored; it is done all the same, and asked for again after a restart",
        {
          error,
        },
      );
    }
  }

  /** Compares some of the accounts; returns the differences. */
  async function compare(known: readonly AccountRecord[]): Promise<readonly HostProblem[]> {
    if (state === undefined) return [];
    const host = await parts.openHost(state.end_sessions);
    const { status } = state;
    const uids = new Set(known.map(({ uid }) => uid));
    // As they are by now, in their turn. One that is to stay shut for as long as it is locked is compared, too.
    const made = state.records.filter((record) => uids.has(record.uid) && record.made && !isClosing(record.todo));
    let current: readonly AccountRecord[] = [];
    const drifts = await turn(async () => {
      const about = { status, locked: locked() };
      const isOpen = (record: AccountRecord) => accountOf(record, about).open;
      current = made.filter((record) => (isBelieved && !isPending(record)) || !isOpen(record));
      return await host.reconcile(
        current.map((record) => accountOf(record, about)),
        false,
      );
    });
    for (const drift of drifts) log.warn("the host differed from what is stored", { ...drift });
    const absent = new Set(
      drifts.filter(({ kind }) => kind === "missing" || kind === "foreign").map(({ account }) => account),
    );
    const compared = new Set(current);
    // A problem that is gone: somebody brought the account back.
    const records = state.records.map((record) =>
      record.problem === undefined || !compared.has(record) || absent.has(record.name)
        ? record
        : { ...record, problem: undefined, todo: { ...NOTHING, open: record.open, shut: !record.open } },
    );
    state = { ...state, records };
    return drifts.map(problemOf);
  }

  /** Last: what a shut account runs has ended with its repair. */
  async function lookForStrays(): Promise<readonly HostProblem[]> {
    if (state === undefined) return [];
    const host = await parts.openHost(state.end_sessions);
    const strays = await endStrays(host, state, { status: state.status, locked: locked(), checkOnly: false });
    for (const stray of strays) log.warn("the host differed from what is stored", { ...stray });
    return strays.map(problemOf);
  }

  return {
    state: () => state,
    locks,
    take: (answer) =>
      inTurn(async () => {
        const found = answer.full ? await foundOn(await parts.openHost(answer.end_sessions), parts.managed()) : [];
        const before = state;
        const merged = withGiven(mergeAnswer(before, answer, found));
        const isNew = !sameOrders(before, merged);
        state = merged;
        const wasBelieved = isBelieved;
        isBelieved = true;
        if (isNew) {
          // Before anything is touched, so that a crash on the way does not open again what was being shut.
          faultPoint("agent: told, nothing stored");
          if (merged.records.some(({ todo }) => isClosing(todo))) store(merged);
          faultPoint("agent: orders stored, host untouched");
          try {
            const done = await doAll(merged);
            faultPoint("agent: host done, not stored");
            store(done);
          } catch (error) {
            // Nothing of it counts as done, and the next answer says it again.
            state = before;
            isBelieved = wasBelieved;
            throw error;
          }
        } else if (!wasBelieved) store(merged);
        const recorded = new Set(answer.recorded_locks);
        for (const place of [directory, runDirectory]) {
          for (const { id } of readLocks(place, log)) if (recorded.has(id)) removeLock(place, id);
        }
        return isNew;
      }),
    retry: () =>
      inTurn(async () => {
        const before = state;
        if (before === undefined || actionable(before).length === 0) return "done";
        const after = await doAll(before);
        const known = new Set(before.records.map((record) => JSON.stringify(record)));
        const isChanged =
          after.records.length < before.records.length ||
          after.records.some((record) => !known.has(JSON.stringify(record)));
        if (isChanged) store(after);
        const left = actionable(after);
        if (left.length === 0) return "done";
        return isChanged && left.some(({ problem }) => problem === undefined) ? "more" : "refused";
      }),
    reconcile: async () => {
      const all: HostProblem[] = [];
      const records = state?.records ?? [];
      for (let from = 0; from < Math.max(1, records.length); from += AT_ONCE) {
        all.push(...(await inTurn(() => compare(records.slice(from, from + AT_ONCE)))));
      }
      all.push(...(await lookForStrays()));
      differences = all;
      // There may be room again.
      await inTurn(async () => {
        if (unstored !== undefined && state !== undefined) store(state);
      });
    },
    forgetJobs: async () => {
      if (state !== undefined) await (await parts.openHost(state.end_sessions)).forgetJobs();
    },
    examine: async () => {
      findings = (await parts.examine?.()) ?? [];
    },
    unknown: () => unknownOf(state ?? { records: [] }),
    problems: () => {
      const own =
        unstored === undefined ? findings : [`The agent cannot store what it is told: ${unstored}`, ...findings];
      return problemList(state?.records ?? [], [...differences, ...own.map(findingOf)]);
    },
  };
}

/** Those that are ours by uid and group, too; the others are nobody's to shut. */
async function foundOn(host: Host, names: readonly string[]): Promise<readonly AccountRef[]> {
  const found: AccountRef[] = [];
  for (const name of names) {
    const account = await host.findAccount(name).catch(() => undefined);
    if (account !== undefined) found.push(account);
  }
  return found;
}
