/** Stores and carries out the service's orders: one thing at a time, so that a crash at any point ends in the same state. */

import { randomInt } from "node:crypto";
import { createMutex } from "../host/command.ts";
import type { HostProblem, HostState } from "../protocol/fleet.ts";
import type { AccountRef, Host } from "../protocol/host.ts";
import type { Log } from "../shared/log.ts";
import { type LockEntry, lockedAccounts } from "../shared/system/lock-journal.ts";
import { faultPoint } from "../shared/work/fault-point.ts";
import { applyState } from "./apply.ts";
import { compareAccounts, foundOn, toldOf } from "./compare.ts";
import type { Times } from "./hours.ts";
import { forgetLocks, locksIn } from "./lock-journals.ts";
import { findingOf, newProblems, problemList } from "./problems.ts";
import { createHolding, type Holding } from "./profiles.ts";
import {
  type AccountRecord,
  type AgentState,
  accountOf,
  followHours,
  givenTo,
  isClosing,
  mayAdmit,
  mergeAnswer,
  type Present,
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
  readonly times: () => Times;
}

export interface Orders {
  readonly state: () => AgentState | undefined;
  readonly holding: Pick<Holding, "states">;
  /** The accounts that `uam lock` shut and the service has not recorded. */
  locks(): readonly LockEntry[];
  /** Does what the answer says. True if it changed anything. Throws if the host cannot be worked on at all, and knows nothing of it then. */
  take(answer: HostState): Promise<boolean>;
  /** Shuts the accounts whose window has ended, and opens those whose window has begun. True if there was any. Throws as `take` does. */
  followHours(): Promise<boolean>;
  /** Goes on with what is left to do: nothing, what there was no time for, or only what the host refused. */
  retry(): Promise<"done" | "more" | "refused">;
  /** Compares the accounts with the host and repairs what differs. */
  reconcile(): Promise<void>;
  /** Looks at the host itself. */
  examine(): Promise<void>;
  /** The host; undefined until the service has said something of it. */
  host(): Promise<Host | undefined>;
  problems(): ReturnType<typeof problemList>;
  /** Whether sshd may still let in what was to be taken away, because the host failed at it: then the lease must not go on. */
  mayAdmit(): boolean;
  /** Accounts that the service once named and no longer knows. */
  unknown(): readonly AccountRef[];
}

/** How long, in milliseconds, access is given before an answer gets its turn, which may take access away. */
const TURN = 2000;
/** How many accounts are compared before an answer gets its turn. */
const AT_ONCE = 100;

/** Takes up what is stored. */
export function openOrders(parts: OrdersParts): Orders {
  return new StoredOrders(parts);
}

class StoredOrders implements Orders {
  readonly #parts: OrdersParts;
  readonly holding = createHolding();
  readonly #inTurn = createMutex();
  /** All uids that were ever given, also those that the orders of before were lost with. */
  readonly #given: Set<number>;
  readonly #refused = new WeakMap<AccountRecord, number>();
  #givenStored: number;
  #state: AgentState | undefined;
  #differences: readonly HostProblem[] = [];
  #findings: readonly string[] = [];
  /** Why the orders could not be stored, if so. */
  #unstored: string | undefined;
  /** A stored file may be an old copy: trusted if it is of this boot, and nothing newer was stored since. */
  #isBelieved: boolean;

  constructor(parts: OrdersParts) {
    this.#parts = parts;
    this.#given = new Set(readGiven(parts.directory));
    this.#givenStored = this.#given.size;
    const found = readState(parts.directory);
    this.#state = found && this.#withGiven(found);
    const newest = readNewest(parts.runDirectory);
    this.#isBelieved = newest !== undefined && found?.answer === newest;
    const sentence =
      "security: the stored state is older than the last answer: nothing is opened until the service answers";
    if (newest !== undefined && !this.#isBelieved) parts.log.warn(sentence);
  }

  state(): AgentState | undefined {
    return this.#state;
  }

  locks(): readonly LockEntry[] {
    return locksIn(this.#parts);
  }

  take(answer: HostState): Promise<boolean> {
    return this.#inTurn(async () => {
      const { openHost, managed } = this.#parts;
      const found = answer.full ? await foundOn(await openHost(answer.end_sessions), managed()) : [];
      const before = this.#state;
      const wasBelieved = this.#isBelieved;
      const about = { found, isBelieved: wasBelieved, times: this.#parts.times() };
      const merged = this.#withGiven(mergeAnswer(before, answer, about));
      const isNew = !sameOrders(before, merged);
      this.#state = merged;
      this.#isBelieved = true;
      if (isNew) {
        await this.#carryOut(merged).catch((error: unknown) => {
          // Nothing of it counts as done, and the next answer says it again.
          this.#state = before;
          this.#isBelieved = wasBelieved;
          throw error;
        });
      } else if (!wasBelieved) this.#store(merged);
      forgetLocks(this.#parts, new Set(answer.recorded_locks));
      return isNew;
    });
  }

  async followHours(): Promise<boolean> {
    // Each second: nobody waits for a turn where nothing begins or ends.
    const before = this.#state;
    if (before === undefined || followHours(before, this.#parts.times()) === before) return false;
    return await this.#inTurn(async () => {
      const known = this.#state ?? before;
      const now = followHours(known, this.#parts.times());
      if (now === known) return false;
      this.#state = now;
      await this.#carryOut(now).catch((error: unknown) => {
        // It is due again.
        this.#state = known;
        throw error;
      });
      return true;
    });
  }

  retry(): Promise<"done" | "more" | "refused"> {
    return this.#inTurn(async () => {
      const before = this.#state;
      if (before === undefined || this.#actionable(before).length === 0) return "done";
      const after = await this.#doAll(before);
      const known = new Set(before.records.map((record) => JSON.stringify(record)));
      const isChanged =
        after.records.length < before.records.length ||
        after.records.some((record) => !known.has(JSON.stringify(record)));
      if (isChanged) this.#store(after);
      const left = this.#actionable(after);
      if (left.length === 0) return "done";
      return isChanged && left.some(({ problem }) => problem === undefined) ? "more" : "refused";
    });
  }

  async reconcile(): Promise<void> {
    const all: HostProblem[] = [];
    await this.#inTurn(async () => {
      this.#state = await this.holding.look(this.#parts.openHost, this.#state);
    });
    const records = this.#state?.records ?? [];
    for (let from = 0; from < Math.max(1, records.length); from += AT_ONCE) {
      all.push(...(await this.#inTurn(() => this.#compare(records.slice(from, from + AT_ONCE)))));
    }
    all.push(...(await this.#lookForStrays()));
    this.#differences = all;
    // There may be room again.
    await this.#inTurn(async () => {
      if (this.#unstored !== undefined && this.#state !== undefined) this.#store(this.#state);
    });
  }

  async examine(): Promise<void> {
    this.#findings = (await this.#parts.examine?.()) ?? [];
  }

  async host(): Promise<Host | undefined> {
    return this.#state === undefined ? undefined : await this.#parts.openHost(this.#state.end_sessions);
  }

  problems(): ReturnType<typeof problemList> {
    const unstored = this.#unstored === undefined ? [] : [`The agent cannot store what it is told: ${this.#unstored}`];
    const own = [...unstored, ...this.#findings].map(findingOf);
    return problemList(this.#state?.records ?? [], [...this.#differences, ...own]);
  }

  mayAdmit(): boolean {
    return mayAdmit(this.#state ?? { records: [] });
  }

  unknown(): readonly AccountRef[] {
    return unknownOf(this.#state ?? { records: [] });
  }

  #locked(): ReadonlySet<string> {
    return lockedAccounts(this.locks());
  }

  #present(status: HostState["status"]): Present {
    return { status, locked: this.#locked(), times: this.#parts.times() };
  }

  #withGiven(orders: AgentState): AgentState {
    for (const uid of givenTo(orders)) this.#given.add(uid);
    return { ...orders, given: [...this.#given] };
  }

  async #carryOut(orders: AgentState): Promise<void> {
    // First, so that a crash does not open again what was being shut, nor leave a new account open that nothing compares.
    faultPoint("agent: told, nothing stored");
    if (orders.records.some(({ todo, made }) => isClosing(todo) || (todo.open && !made))) this.#store(orders);
    faultPoint("agent: orders stored, host untouched");
    const done = await this.#doAll(orders);
    faultPoint("agent: host done, not stored");
    this.#store(done);
  }

  /** Everything that takes access away, and as much of what gives it as the turn has time for. */
  async #doAll(orders: AgentState): Promise<AgentState> {
    const { openHost, log, turn, times } = this.#parts;
    const host = await openHost(orders.end_sessions);
    const end = performance.now() + TURN;
    const about = { status: orders.status, mayOpen: this.#isBelieved, locked: () => this.#locked(), times };
    const work = { host, ...about, refused: this.#refused, turn, holding: this.holding };
    const done = await applyState(work, orders, () => performance.now() > end);
    for (const problem of newProblems(orders.records, done.records))
      log.warn("the host is not as the service wants it", { ...problem });
    this.#state = done;
    return done;
  }

  /** The work to do now, without work that waits for a host to be unlocked. */
  #actionable({ status, records }: AgentState): readonly AccountRecord[] {
    const about = this.#present(status);
    const isSure = ({ hours }: AccountRecord) => this.#isBelieved && (hours === undefined || about.times.areSure);
    const mayOpen = (record: AccountRecord) => isSure(record) && record.todo.open && accountOf(record, about).open;
    return records.filter((record) => isClosing(record.todo) || mayOpen(record));
  }

  #store(orders: AgentState): void {
    const { directory, runDirectory, log } = this.#parts;
    // No earlier state has this number, whatever was set back to what.
    const newest = randomInt(1, 2 ** 48 - 1);
    try {
      // First: no earlier state is believed, whatever becomes of this one. Work on one that is not believed does not change that.
      if (this.#isBelieved) writeNewest(directory, runDirectory, newest);
      if (this.#given.size > this.#givenStored) writeGiven(directory, this.#given);
      this.#givenStored = this.#given.size;
      writeState(directory, { ...orders, answer: newest });
      this.#unstored = undefined;
    } catch (error) {
      this.#unstored = error instanceof Error ? error.message : String(error);
      log.error("the service's answer cannot be stored; it is done, and asked for again after a restart", { error });
    }
  }

  /** Compares some of the accounts; returns the differences. */
  async #compare(known: readonly AccountRecord[]): Promise<readonly HostProblem[]> {
    if (this.#state === undefined) return [];
    const about = {
      known,
      isBelieved: this.#isBelieved,
      present: (status: HostState["status"]) => this.#present(status),
    };
    const { state, problems } = await compareAccounts(this.#parts, this.#state, about);
    this.#state = state;
    return problems;
  }

  /** Last: what a shut account runs has ended with its repair. */
  async #lookForStrays(): Promise<readonly HostProblem[]> {
    const state = this.#state;
    if (state === undefined) return [];
    const host = await this.#parts.openHost(state.end_sessions);
    const strays = await endStrays(host, state, { ...this.#present(state.status), checkOnly: false });
    return toldOf(this.#parts.log, strays);
  }
}
