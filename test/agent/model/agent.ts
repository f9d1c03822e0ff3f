/**
 * The model's agent: src/agent's pure functions and its choreography of an answer (`applyState`), with memory in place of its files. The
 * order of steps is that of agent.ts and orders.ts; `Rules` holds what variants.ts replaces by something wrong.
 */

import { applyState } from "../../../src/agent/apply.ts";
import { type Reference, type Times, timesAfter } from "../../../src/agent/hours.ts";
import { endOf, isAlive, type Moment } from "../../../src/agent/lease.ts";
import { EARLY } from "../../../src/agent/lease-keeper.ts";
import type { Holding } from "../../../src/agent/profiles.ts";
import {
  type AccountRecord,
  type AgentState,
  accountOf,
  followHours,
  isClosing,
  isPending,
  mayAdmit,
  mergeAnswer,
  sameOrders,
} from "../../../src/agent/records.ts";
import type { HostState } from "../../../src/protocol/fleet.ts";
import type { Luck, ModelHost } from "./host.ts";

/** What keeps the promises, as far as it is the agent's. */
export interface Rules {
  readonly merge: typeof mergeAnswer;
  readonly apply: typeof applyState;
  readonly followHours: typeof followHours;
  readonly mayAdmit: typeof mayAdmit;
  leaseEnd(at: { readonly sent: Moment; readonly arrived: Moment }, milliseconds: number | null): Moment;
  isAlive(lease: Moment, now: Moment): boolean;
  times(reference: Reference | undefined, now: Moment): Times;
  /** Whether what is on the disk may open anything after a start. */
  isBelieved(answer: number, newest: number | undefined): boolean;
  /** Whether a state that is not believed is not for what was done with it since. */
  readonly staysUnbelieved: boolean;
  /** Whether what is told is done whatever such a state says of the host. */
  readonly redoesUnbelieved: boolean;
  readonly storesClosingsFirst: boolean;
  /** Whether an account that is made for the first time is stored before. */
  readonly storesNewFirst: boolean;
  readonly shortensFirst: boolean;
  readonly renewsLast: boolean;
  /** Whether the answer to a request that was given up counts. */
  readonly takesLate: boolean;
  readonly leaseSurvivesBoot: boolean;
  /** Whether what the host failed at is not confirmed. */
  readonly namesRefused: boolean;
}

export const RULES: Rules = {
  merge: mergeAnswer,
  apply: applyState,
  followHours,
  mayAdmit,
  leaseEnd: ({ sent }, milliseconds) => endOf(sent, milliseconds, EARLY),
  isAlive,
  times: timesAfter,
  isBelieved: (answer, newest) => answer === newest,
  staysUnbelieved: true,
  redoesUnbelieved: true,
  storesClosingsFirst: true,
  storesNewFirst: true,
  shortensFirst: true,
  renewsLast: true,
  takesLate: false,
  leaseSurvivesBoot: false,
  namesRefused: true,
};

/** A request for the state. */
export interface Request {
  /** Rises: the service admits none that comes after a later one. */
  readonly counter: number;
  readonly sent: Moment;
  readonly since: string;
  /** Seconds that the host stays open without an answer. */
  readonly held: number;
}

/** What a report says: up to where everything is applied, but for these accounts. */
export interface Report {
  readonly cursor: string;
  readonly refused: ReadonlySet<string>;
}

export class ModelAgent {
  /** `state.json`. */
  disk: AgentState | undefined;
  isRunning = false;
  request: Request | undefined;
  /** The cursor of the newest answer that came, whatever became of it. */
  heard = "";
  /** What is in /run. */
  #run: { newest?: number; lease?: Moment; clock?: Reference } = {};
  #state: AgentState | undefined;
  #counter = 0;
  #states = 0;
  #isBelieved = false;
  #refused = new WeakMap<AccountRecord, number>();
  readonly #now: () => Moment;
  readonly #host: ModelHost;
  readonly #luck: Luck;
  readonly #rules: Rules;

  constructor(parts: {
    readonly now: () => Moment;
    readonly host: ModelHost;
    readonly luck: Luck;
    readonly rules: Rules;
  }) {
    this.#now = parts.now;
    this.#host = parts.host;
    this.#luck = parts.luck;
    this.#rules = parts.rules;
  }

  async start(): Promise<void> {
    this.isRunning = true;
    this.request = undefined;
    this.#state = this.disk;
    this.#refused = new WeakMap();
    this.#isBelieved = this.disk !== undefined && this.#rules.isBelieved(this.disk.answer ?? 0, this.#run.newest);
    if (this.#state !== undefined && this.#state.status !== "active") this.#endLease();
    this.enforce();
    await this.retry();
  }

  kill(): void {
    this.isRunning = false;
    this.request = undefined;
    this.#state = undefined;
  }

  /** Both the host and the agent: what is in /run is gone. */
  boot(): void {
    this.kill();
    const { lease } = this.#run;
    this.#run = this.#rules.leaseSurvivesBoot && lease !== undefined ? { lease: { ...lease, boot: lease.wall } } : {};
    this.enforce();
  }

  /** What the agent does each second, and the timer at least each 15 seconds, also where the agent is dead. */
  enforce(): void {
    const { lease } = this.#run;
    this.#host.isLinked = lease !== undefined && this.#rules.isAlive(lease, this.#now());
  }

  ask(): Request {
    const { lease } = this.#run;
    const now = this.#now();
    const held = Math.ceil(Math.max(0, (lease?.boot ?? 0) - now.boot));
    this.request = { counter: ++this.#counter, sent: now, since: this.#state?.cursor ?? "", held };
    return this.request;
  }

  async receive(request: Request, answer: HostState): Promise<void> {
    if (!this.isRunning || (request !== this.request && !this.#rules.takesLate)) return;
    this.request = undefined;
    if (this.#luck.stepsLeft > 0) this.heard = answer.cursor;
    const at = { sent: request.sent, arrived: this.#now() };
    if (answer.now !== undefined) this.#run.clock = { boot: at.arrived.boot, time: Date.parse(answer.now) };
    const end = this.#rules.leaseEnd(at, answer.lease_ms);
    if (answer.status !== "active") this.#endLease();
    else if (this.#rules.shortensFirst && this.#run.lease !== undefined && this.#run.lease.boot > end.boot) {
      if (this.#step()) this.#run.lease = end;
    }
    const renew = () => {
      if (answer.status !== "active" || (this.#state !== undefined && this.#rules.mayAdmit(this.#state))) return;
      if (!this.#step()) return;
      this.#run.lease = end;
      this.enforce();
    };
    if (!this.#rules.renewsLast) renew();
    await this.#take(answer);
    if (this.#rules.renewsLast) renew();
    this.#dieIfDue();
  }

  /** Undefined before anything was told. */
  report(): Report | undefined {
    if (this.#state === undefined) return undefined;
    const isRefused = ({ problem }: AccountRecord) => this.#rules.namesRefused && problem?.kind === "refused";
    const refused = this.#state.records.filter(isRefused).map(({ name }) => name);
    return { cursor: this.#state.cursor, refused: new Set(refused) };
  }

  /** The accounts that it reports to be other than they should. */
  problems(): ReadonlySet<string> {
    return new Set(this.#state?.records.filter(({ problem }) => problem !== undefined).map(({ name }) => name));
  }

  async tick(): Promise<void> {
    this.enforce();
    const before = this.#state;
    if (before === undefined) return;
    const now = this.#rules.followHours(before, this.#times());
    if (now !== before) await this.#carryOut(now);
    this.#dieIfDue();
  }

  async retry(): Promise<void> {
    if (this.#state?.records.some(isPending)) {
      const after = await this.#doAll(this.#state);
      if (this.#step()) this.#store(after);
    }
    this.#dieIfDue();
  }

  /** Each minute: as compare.ts has it. */
  async reconcile(): Promise<void> {
    const state = this.#state;
    if (state === undefined) return;
    const about = { status: state.status, locked: NOBODY, times: this.#times() };
    const made = state.records.filter((record) => record.made && !isClosing(record.todo));
    const compared = made.map((record) => ({ record, account: accountOf(record, about) }));
    const current = compared.filter(({ record, account }) => (this.#isBelieved && !isPending(record)) || !account.open);
    await this.#host.asHost
      .reconcile(
        current.map(({ account }) => account),
        false,
      )
      .catch(() => []);
    this.#dieIfDue();
  }

  async #take(answer: HostState): Promise<void> {
    const before = this.#state;
    const names = answer.full ? [...this.#host.accounts].map(([name, { uid }]) => ({ name, uid })) : [];
    const wasBelieved = this.#isBelieved;
    const isBelieved = wasBelieved || !this.#rules.redoesUnbelieved;
    const merged = this.#rules.merge(before, answer, { found: names, isBelieved, times: this.#times() });
    const isNew = !sameOrders(before, merged);
    this.#state = merged;
    this.#isBelieved = true;
    if (isNew) await this.#carryOut(merged);
    else if (!wasBelieved && this.#step()) this.#store(merged);
  }

  async #carryOut(orders: AgentState): Promise<void> {
    const { storesClosingsFirst, storesNewFirst } = this.#rules;
    const isClosed = storesClosingsFirst && orders.records.some(({ todo }) => isClosing(todo));
    const isNew = storesNewFirst && orders.records.some(({ todo, made }) => todo.open && !made);
    if ((isClosed || isNew) && this.#step()) this.#store(orders);
    const done = await this.#doAll(orders);
    if (this.#step()) this.#store(done);
  }

  async #doAll(orders: AgentState): Promise<AgentState> {
    const work = {
      host: this.#host.asHost,
      status: orders.status,
      mayOpen: this.#isBelieved,
      locked: () => NOBODY,
      times: () => this.#times(),
      refused: this.#refused,
      holding: NOTHING_HELD,
      turn: async <T>(inTurn: () => Promise<T>) => await inTurn(),
    };
    const done = await this.#rules.apply(work, orders, () => false);
    this.#state = done;
    return done;
  }

  #store(orders: AgentState): void {
    const newest = ++this.#states;
    if (this.#isBelieved || !this.#rules.staysUnbelieved) this.#run.newest = newest;
    this.disk = { ...orders, answer: newest };
  }

  #endLease(): void {
    this.#run.lease = undefined;
    this.#host.isLinked = false;
  }

  #times(): Times {
    return this.#rules.times(this.#run.clock, this.#now());
  }

  /** False once the process has died in the middle of what it does. */
  #step(): boolean {
    if (this.#luck.stepsLeft <= 0) return false;
    this.#luck.stepsLeft--;
    return true;
  }

  #dieIfDue(): void {
    if (this.#luck.stepsLeft > 0) return;
    this.kill();
    this.#luck.stepsLeft = Number.POSITIVE_INFINITY;
  }
}

const NOBODY: ReadonlySet<string> = new Set();
/** Profiles are not in the model. */
const NOTHING_HELD: Holding = {
  hold: async () => {},
  look: async (_, stored) => stored,
  followed: (records) => records,
  problemOf: () => undefined,
  states: () => undefined,
};
