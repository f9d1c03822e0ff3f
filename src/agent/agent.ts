/**
 * The agent of a host: asks the service what the host should be, does it, says so, and asks again. Access that the
 * service does not confirm ends with the lease.
 */

import { setTimeout as sleep } from "node:timers/promises";
import { AGENT_ROUTES, type SshAddress } from "../protocol/fleet.ts";
import { parseHostState } from "../protocol/fleet-answers.ts";
import type { HostMode } from "../protocol/host.ts";
import type { Log } from "../shared/log.ts";
import { NEWER_KEY_TYPES } from "../shared/product/ssh-key-types.ts";
import { type Clock, DAY, HOUR, MINUTE, SECOND } from "../shared/time/clock.ts";
import { NO_LEASE } from "../shared/time/lease.ts";
import { formatTimestamp } from "../shared/time/timestamp.ts";
import { VERSION } from "../shared/version.ts";
import { faultPoint } from "../shared/work/fault-point.ts";
import { require2xx, type ServiceClient, Unanswered } from "./client.ts";
import { type ClockWatch, endingSoon, hoursUntil } from "./hours.ts";
import type { LeaseKeeper } from "./lease-keeper.ts";
import type { Orders } from "./orders.ts";
import { createReporter, type Reporter } from "./reporting.ts";
import { createRetrying } from "./retrying.ts";
import { createKeyRotation, type KeyRotation } from "./rotation.ts";
import { type AgentStatus, writeStatus } from "./status.ts";
import type { AgentIdentity } from "./store.ts";

/** The key types that the agent can read and older agents cannot; the host says whether its sshd can. */
const READS = NEWER_KEY_TYPES.join(",");

export interface AgentParts {
  readonly directory: string;
  readonly runDirectory: string;
  readonly identity: AgentIdentity;
  readonly client: ServiceClient;
  readonly orders: Orders;
  readonly lease: LeaseKeeper;
  readonly clocks: ClockWatch;
  readonly mode: HostMode;
  readonly clock: Clock;
  readonly log: Log;
  /** How clients reach the host's sshd, read anew. */
  readonly ssh: () => Promise<SshAddress>;
  /** From 0 to 1. */
  readonly random: () => number;
  /** Told of each change of the connection. */
  readonly announce: (status: string) => void;
  /** In milliseconds; others only in tests. */
  readonly timing?: Partial<Timing>;
}

type Timing = Readonly<Record<keyof typeof TIMING, number>>;

const TIMING = {
  /** How long the service may hold a request; shorter than any usual proxy's limit. */
  wait: 55 * SECOND,
  /** Beyond that, until the connection counts as lost. */
  patience: 15 * SECOND,
  reconcile: MINUTE,
  /** The longest wait after failures, and between attempts at what the host refused. */
  longest: MINUTE,
  report: HOUR,
  /** Until a report that failed is tried again. */
  retry: 5 * SECOND,
  rotate: 30 * DAY,
};

/** In seconds: nine digits, as the service takes them. */
const LONGEST_HELD = 999_999_999;

type Connection = Pick<AgentStatus, "since" | "last_answer" | "failure">;

/** Runs until `stopped`, after finishing any work under way on the host. Never throws for what the service or the network does. */
export async function runAgent(parts: AgentParts, stopped: AbortSignal): Promise<void> {
  await new Agent(parts, stopped).run();
}

class Agent {
  readonly #parts: AgentParts;
  readonly #stopped: AbortSignal;
  readonly #timing: Timing;
  readonly #reporter: Reporter;
  readonly #rotation: KeyRotation;
  readonly #retrying: () => void;
  #interrupt = new AbortController();
  #failures = 0;
  #connection: Connection = { since: undefined, last_answer: undefined, failure: "not asked yet" };
  /** After a report that failed, or that interrupted a request, the state comes first, at once: news must not cost the lease. */
  #isStateFirst = false;
  #isInterrupted = false;
  #areClocksSure = true;

  constructor(parts: AgentParts, stopped: AbortSignal) {
    this.#parts = parts;
    this.#stopped = stopped;
    this.#timing = { ...TIMING, ...parts.timing };
    this.#reporter = createReporter({ ...parts, timing: this.#timing });
    this.#rotation = createKeyRotation({ ...parts, timing: this.#timing });
    this.#retrying = createRetrying(parts, { longest: this.#timing.longest, pause: this.#pause, stopped });
  }

  async run(): Promise<void> {
    const { lease, orders } = this.#parts;
    this.#stopped.addEventListener("abort", () => this.#wake());
    lease.resume(orders.state());
    this.#show("starting");
    await Promise.all([
      this.#follow(),
      this.#every(this.#timing.reconcile, async () => {
        await orders.reconcile();
        this.#reporter.refresh();
        this.#retrying();
        if (this.#hasNews()) this.#wake();
      }),
      this.#every(this.#timing.report, () => orders.examine()),
      this.#every(HOUR, async () => await (await orders.host())?.forgetJobs()),
      this.#every(MINUTE, async () => {
        const host = await orders.host();
        await host?.endSilent(this.#parts.clock.now());
        await host?.tellEnding(endingSoon(orders.state()?.records ?? [], this.#parts.clocks.times()));
      }),
      this.#every(SECOND, async () => {
        await lease.tick(orders.state());
        if (this.#hasNews()) this.#wake();
      }),
      this.#every(SECOND, async () => {
        this.#watchClocks();
        if (await orders.followHours()) this.#retrying();
      }),
    ]);
  }

  #wake(): void {
    this.#interrupt.abort();
  }

  readonly #pause = (milliseconds: number): Promise<void> =>
    sleep(milliseconds, undefined, { signal: this.#stopped }).catch(() => undefined);

  #hasNews(): boolean {
    return !this.#isStateFirst && this.#reporter.isDue();
  }

  async #follow(): Promise<void> {
    let isReady = false;
    while (!this.#stopped.aborted) {
      try {
        // Finish the work that a crash interrupted before reporting anything.
        if (!isReady) await this.#parts.orders.retry();
        isReady = true;
        if (this.#hasNews()) await this.#report();
        else if (this.#rotation.isDue()) await this.#rotation.rotate();
        else if (!(await this.#askState())) continue;
        this.#answered();
      } catch (error) {
        if (!this.#stopped.aborted) await this.#failed(error);
      }
    }
  }

  async #report(): Promise<void> {
    this.#isStateFirst = true;
    faultPoint("agent: all stored, not reported");
    await this.#reporter.send();
    faultPoint("agent: reported, not noted");
    this.#isStateFirst = this.#isInterrupted;
  }

  /** False where it was interrupted, because there is something to say first. */
  async #askState(): Promise<boolean> {
    const { client, clocks, lease, orders, random } = this.#parts;
    this.#interrupt = new AbortController();
    const { signal } = this.#interrupt;
    const target = this.#stateTarget();
    const sent = lease.now();
    const began = performance.now();
    let given: unknown;
    try {
      const timeout = this.#timing.wait + this.#timing.patience;
      given = require2xx(await client.ask({ method: "GET", target, timeout, signal })).data;
    } catch (error) {
      if (!signal.aborted) throw error;
      this.#isInterrupted = true;
      return false;
    }
    const told = parseHostState(given);
    if (told === undefined)
      throw new Unanswered("The service's answer is not one that this version of uam understands");
    this.#isStateFirst = false;
    this.#isInterrupted = false;
    if (told.now !== undefined) clocks.heard(told.now);
    // One call shuts all of it, whatever else is under way.
    if (told.status === "active") {
      lease.shorten(sent, told);
    } else {
      lease.end();
      faultPoint("agent: lease ended, accounts as they were");
    }
    const isNew = await orders.take(told);
    // Only now: what was to be shut is shut. Where the host fails at that, the lease ends it, as the answer to the change has promised.
    if (told.status === "active" && !orders.mayAdmit()) lease.renew(sent, told);
    // The next request reports the work done now, if the service reads it from there.
    if (told.full || (isNew && told.applied === undefined)) this.#reporter.changed();
    if (isNew) this.#retrying();
    // A service that does not hold the request must not be asked without a pause.
    else if (performance.now() - began < SECOND) await this.#pause(random() * SECOND);
    return true;
  }

  #stateTarget(): string {
    const { lease, orders } = this.#parts;
    const state = orders.state();
    // An agent of before knew no hours, and asks for all of it once.
    const since = encodeURIComponent(state?.keepsHours === true ? state.cursor : "");
    const hours = hoursUntil(state?.records ?? []) ?? "none";
    const wait = this.#isStateFirst ? 0 : Math.round(this.#timing.wait / SECOND);
    // How long the host may stay open if this is the last that the service hears of it.
    const left = lease.left();
    const held = left > LONGEST_HELD ? NO_LEASE : String(left);
    const applied = this.#reporter.applied();
    const said = applied === undefined ? "" : `&applied=${applied}`;
    return `${AGENT_ROUTES.state}?since=${since}&wait=${wait}&held=${held}&reads=${READS}&hours=${hours}&profiles=1${said}`;
  }

  /** The service is told of the host's clock with the report. */
  #watchClocks(): void {
    const { clocks, log } = this.#parts;
    if (this.#connection.last_answer === undefined) return;
    const { areSure } = clocks.times();
    if (areSure === this.#areClocksSure) return;
    this.#areClocksSure = areSure;
    if (areSure) log.info("the clocks of the host and of the service agree: windows are opened");
    else log.warn("the clocks of the host and of the service do not agree: no window is opened");
    this.#reporter.changed();
  }

  #answered(): void {
    const { clock, log, identity } = this.#parts;
    const now = formatTimestamp(clock.now());
    this.#failures = 0;
    this.#rotation.confirmed();
    if (this.#connection.since === undefined) log.info("connected to the service", { service: identity.service });
    this.#connection = { since: this.#connection.since ?? now, last_answer: now, failure: undefined };
    this.#show(`connected to ${identity.service}`);
  }

  async #failed(error: unknown): Promise<void> {
    const { log, random } = this.#parts;
    const failure = error instanceof Error ? error.message : String(error);
    if (!(error instanceof Unanswered)) log.error("the agent failed", { error });
    else if (this.#connection.failure !== failure) log.warn("the service cannot be asked", { problem: failure });
    const { status, wait = 0 } = error instanceof Unanswered ? error : {};
    if (status === 401) this.#rotation.tryOther();
    this.#connection = { ...this.#connection, since: undefined, failure };
    this.#show(`not connected: ${failure}`);
    this.#failures = Math.min(this.#failures + 1, 30);
    await this.#pause(wait * SECOND + random() * Math.min(this.#timing.longest, 2 ** this.#failures * SECOND));
  }

  #show(text: string): void {
    const { announce, runDirectory, orders, log } = this.#parts;
    announce(text);
    try {
      writeStatus(runDirectory, { version: VERSION, ...this.#connection, problems: orders.problems().problems });
    } catch (error) {
      log.warn("the agent's status cannot be written", { error });
    }
  }

  async #every(milliseconds: number, work: () => Promise<void>): Promise<void> {
    const failed = (error: unknown) =>
      this.#parts.log.error("the agent failed at what it does again and again", { error });
    while (!this.#stopped.aborted) {
      await work().catch(failed);
      await this.#pause(milliseconds);
    }
  }
}
